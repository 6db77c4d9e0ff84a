package profiling

import (
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

func rate(perSec float64) performance.Target {
	return performance.Target{Kind: performance.Rate, Rate: perSec}
}

func TestFastest(t *testing.T) {
	t.Parallel()
	k := cluster.Knowledge{Speed: map[string]profile.Measurement{"slow": {Value: 40}, "fast": {Value: 100, Unit: "units/s"}, "other": {Value: 500, Unit: "runs/s"}}}
	if got := fastest(&k, rate(20)); got != 100 {
		t.Errorf("fastest is %g, want 100: another unit says nothing of the target", got)
	}
	if got := fastest(&cluster.Knowledge{}, rate(20)); got != 0 {
		t.Errorf("of no speed the fastest is %g, want 0", got)
	}
}
