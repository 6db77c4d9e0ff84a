package report

import (
	"math"
	"slices"
)

func waitedHour(r *run) float64 {
	all := r.waits()
	at, _ := slices.BinarySearch(all, math.Nextafter(3600, math.Inf(1)))
	return percent(len(all)-at, len(all))
}

// queue is the samples until the last submission.
func queue(r *run) (hours, waiting []float64) {
	last := lastArrival(r)
	for i := range r.Samples {
		if s := &r.Samples[i]; s.At <= last {
			hours, waiting = append(hours, s.At.Hours()), append(waiting, float64(s.Waiting))
		}
	}
	return hours, waiting
}

func queueMean(r *run) float64 {
	_, waiting := queue(r)
	return mean(waiting)
}

// queueGrowth is the slope of least squares. A queue that is stable has about none.
func queueGrowth(r *run) float64 {
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
