package adaptation

import (
	"math"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

func TestWhereARunningWorkloadMayCome(t *testing.T) {
	t.Parallel()
	spec := performance.Spec{Target: rate(100)}
	short := func(d cluster.Direction, points float64) []cluster.Relaxation {
		return []cluster.Relaxation{{Direction: d, Points: points}}
	}
	for name, c := range map[string]struct {
		relaxed   []cluster.Relaxation
		predicted float64
		share     float64
		want      bool
	}{
		"nobody's bound breaks":           {nil, 10, math.NaN(), true},
		"a resident is pressed too far":   {short(cluster.D1, 10), 100, 0.3, false},
		"within a score's own step":       {short(cluster.D1, 5), 100, math.NaN(), true},
		"it does better than now":         {short(cluster.D2, 40), 70, 0.5, true},
		"it does little better":           {short(cluster.D2, 40), 55, 0.5, false},
		"it reaches its target":           {short(cluster.D2, 40), 150, 1.0, false},
		"what it does now is not known":   {short(cluster.D2, 40), 100, math.NaN(), false},
		"better for it, not for the rest": {append(short(cluster.D2, 40), short(cluster.D1, 40)...), 100, 0.3, false},
	} {
		d := cluster.Decision{Relaxed: c.relaxed, Predicted: cluster.Prediction{Known: true, RatePerSec: c.predicted}}
		if got := goodEnough(d, spec, c.share); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func rate(perSec float64) performance.Target {
	return performance.Target{Kind: performance.Rate, Rate: perSec}
}
