package report

import (
	"math"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/sim"
)

func waitedHour(r *sim.Result) float64 {
	all := waits(r)
	at, _ := slices.BinarySearch(all, math.Nextafter(3600, math.Inf(1)))
	return percent(len(all)-at, len(all))
}

// queue is the samples until the last submission.
func queue(r *sim.Result) (hours, waiting []float64) {
	last := lastArrival(r)
	for i := range r.Samples {
		if s := &r.Samples[i]; s.At <= last {
			hours, waiting = append(hours, s.At.Hours()), append(waiting, float64(s.Waiting))
		}
	}
	return hours, waiting
}

func queueMean(r *sim.Result) float64 {
	_, waiting := queue(r)
	return mean(waiting)
}

// queueGrowth is the slope of least squares. A queue that is stable has about none.
func queueGrowth(r *sim.Result) float64 {
	x, y := queue(r)
	x, y = x[len(x)/2:], y[len(y)/2:]
	if len(x) < 3 {
		return math.NaN()
	}
	mx, my := mean(x), mean(y)
	sxy, sxx := 0.0, 0.0
	for i := range x {
		sxy += (x[i] - mx) * (y[i] - my)
		sxx += (x[i] - mx) * (x[i] - mx)
	}
	return sxy / sxx
}
