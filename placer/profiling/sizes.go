package profiling

import (
	"cmp"
	"errors"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/policy"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// errNoTime: a run was not begun because it could not end before the hold deadline.
var errNoTime = errors.New("no time was left for it before the hold deadline")

// scaleUpKnown is how many sizes a profile must have been measured at (Delimitrou
// 2015, §4.3.2: two entries in a row).
const scaleUpKnown = 2

// sizesCores reports whether the policy may choose the workload's cores, so that
// its performance must be known at more than one size.
func (l *Lab) sizesCores(w cluster.Workload) bool {
	d, err := policy.Lookup(cmp.Or(w.Spec.Policy, l.cfg.Policy))
	return err == nil && d.Sizes && d.NeedsProfile && len(w.Spec.Scale.Cores) > 0 &&
		w.Sizable.Task != "" && w.Sizable.SizeFixed == "" && w.Spec.Target.Kind != performance.BestEffort
}

// profiledSize is what the sized task of a profiled copy gets next to kernels. Where
// the user asks for MHz, which bound nothing while a node is idle, it is as many
// whole cores as the smallest size has; and it is all the memory that may be
// chosen, so that what the workload uses is seen.
func (l *Lab) profiledSize(w cluster.Workload) cluster.Resources {
	var size cluster.Resources
	if l.sizesCores(w) && w.Sizable.Own.Cores == 0 {
		size.Cores = slices.Min(w.Spec.Scale.Cores)
	}
	if mb := w.Spec.Scale.MemoryMB; len(mb) > 0 && w.Sizable.Task != "" {
		if most := slices.Max(mb); most > w.Sizable.Own.MemoryMB {
			size.MemoryMB = most
		}
	}
	return size
}

// profiledCores is how many whole cores the interference run has; 0: all that the node
// gives it.
func (l *Lab) profiledCores(w cluster.Workload) int {
	return cmp.Or(l.profiledSize(w).Cores, w.Sizable.Own.Cores)
}

// otherSizes are the sizes to choose a second run from: the furthest from the
// first, so that the others lie between the two.
func (l *Lab) otherSizes(w cluster.Workload) []cluster.Resources {
	first := l.profiledCores(w)
	cores := slices.DeleteFunc(slices.Clone(w.Spec.Scale.Cores), func(n int) bool { return n == first })
	slices.SortFunc(cores, func(a, b int) int {
		return cmp.Or(cmp.Compare(distance(b, first), distance(a, first)), cmp.Compare(b, a))
	})
	out := make([]cluster.Resources, len(cores))
	for i, n := range cores {
		out[i] = cluster.Resources{Cores: n, MemoryMB: l.profiledSize(w).MemoryMB}
	}
	return out
}

func distance(a, b int) int { return max(a-b, b-a) }
