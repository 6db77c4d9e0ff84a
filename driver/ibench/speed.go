package ibench

import (
	"math"

	"github.com/nomad-placer/nomad-placer/profiler"
)

func placement(same bool) string {
	if same {
		return "same"
	}
	return "beside"
}

// speed is ops per second and thread between two stats: K_busy of the design
// for footprint kernels and for rate kernels on other CPUs than the workload's, ops
// per wall time otherwise. Footprint kernels on the workload's CPUs count busy time
// too: they work in short bursts on a fixed beat, so ops per wall time would
// stay constant whatever the workload does to them.
func speed(knob Knob, same bool, a, b profiler.KernelStats) float64 {
	elapsed := b.BusyNanoseconds - a.BusyNanoseconds
	if knob == Duty || (same && knob == Rate) {
		elapsed = b.WallNanoseconds - a.WallNanoseconds
	}
	ops := b.Ops - a.Ops
	if elapsed <= 0 || ops < 0 {
		return math.NaN()
	}
	return ops / elapsed * 1e9
}
