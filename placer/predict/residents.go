package predict

import (
	"math"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// DemandNextTo is what a resident wants of the CPU time of another resident's node. On the
// same node that is what it uses there; on another node of the machine, a part of the
// machine's time.
func DemandNextTo(r, of *board.Resident, k int) TimeDemand {
	amount := r.Caused[k]
	if r.Node == of.Node {
		amount = TimeUsed(r, k)
	}
	return TimeDemand{Amount: amount, Weight: Weight(r.Size), Run: time.Duration(r.RunMS * float64(time.Millisecond))}
}

// TimeUsed is the part of its node's CPU time that a resident uses through a source, percent.
func TimeUsed(r *board.Resident, k int) float64 {
	return min(100, r.Caused[k]*max(1, r.DemandFactor))
}

// Weight is an allocation's weight in the division of contended CPU time, as Nomad sets it:
// its MHz. A reserved core counts as one of usual clock.
func Weight(size cluster.Resources) float64 {
	const coreMHz = 2000
	return math.Max(1, float64(size.CPUMHz+coreMHz*size.Cores))
}

// TimeSharedAmong marks the sources through which CPU time is shared. There a co-runner takes
// at most its fair share of the time, where a kernel takes the intensity it is set to
// (decision 0017).
func TimeSharedAmong(columns []interference.Source) []bool {
	out := make([]bool, len(columns))
	for i, s := range columns {
		out[i] = interference.TimeShared(s)
	}
	return out
}
