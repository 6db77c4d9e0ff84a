package profiler

import (
	"math"

	"github.com/nomad-placer/nomad-placer/profiler/stat"
)

// activeKernel is a kernel at work, with what was seen of it.
type activeKernel struct {
	kernel   Kernel
	achieved map[int][]float64 // percent of the demand, by level
}

func newActiveKernel(k Kernel) *activeKernel {
	return &activeKernel{kernel: k, achieved: map[int][]float64{}}
}

// achieve notes the share of the demanded operations that were done.
func (p *activeKernel) achieve(percent float64, a, b KernelStats) {
	if demand := b.DemandOps - a.DemandOps; demand > 0 {
		share := 100 * (b.Ops - a.Ops) / demand
		p.achieved[int(percent)] = append(p.achieved[int(percent)], share)
	}
}

// achievedPercent is the median share; ok is false where the kernel states no
// demand.
func (p *activeKernel) achievedPercent(percent int) (v float64, ok bool) {
	v = stat.Median(p.achieved[percent])
	return v, !math.IsNaN(v)
}

// shares says whether one window under pressure serves both comparisons. On the
// workload's own CPUs the kernel presses with a high weight for one and yields
// for the other; and a service would catch up after every pause.
func (r *run) shares(p *activeKernel) bool {
	_, yields := p.kernel.(Yielder)
	return !(yields && p.kernel.Placement() == PlacementSame) && !r.serves()
}
