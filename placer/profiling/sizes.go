package profiling

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/policy"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/store"
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

// labSize is what the sized task of a profiled copy gets beside kernels. Where
// the user asks for MHz, which bound nothing while a node is idle, it is as many
// whole cores as the smallest size has; and it is all the memory that may be
// chosen, so that what the workload uses is seen.
func (l *Lab) labSize(w cluster.Workload) cluster.Resources {
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

// labCores is how many whole cores the interference run has; 0: all that the node
// gives it.
func (l *Lab) labCores(w cluster.Workload) int {
	return cmp.Or(l.labSize(w).Cores, w.Sizable.Own.Cores)
}

// sizedCopy is the workload as one copy of that size.
func sizedCopy(w cluster.Workload, size cluster.Resources) cluster.Workload {
	w.Count = 1
	if size == (cluster.Resources{}) {
		return w
	}
	own := w.Sizable.Own
	if size.Cores > 0 {
		own.Cores, own.CPUMHz = size.Cores, 0
	}
	own.MemoryMB = cmp.Or(size.MemoryMB, own.MemoryMB)
	w.Ask = w.Sizable.Group(own)
	return w
}

// profiledCopy is a copy of that size with the profiler beside it: a size of all
// cores of a node leaves it no room.
func profiledCopy(w cluster.Workload, size cluster.Resources) cluster.Workload {
	w = sizedCopy(w, size)
	w.Ask = w.Ask.Add(cluster.Resources{CPUMHz: cluster.ProfilerCPUMHz, MemoryMB: cluster.ProfilerMemoryMB})
	return w
}

// otherSizes are the sizes to choose a second run from: the furthest from the
// first, so that the others lie between the two.
func (l *Lab) otherSizes(w cluster.Workload) []cluster.Resources {
	first := l.labCores(w)
	cores := slices.DeleteFunc(slices.Clone(w.Spec.Scale.Cores), func(n int) bool { return n == first })
	slices.SortFunc(cores, func(a, b int) int {
		return cmp.Or(cmp.Compare(distance(b, first), distance(a, first)), cmp.Compare(b, a))
	})
	out := make([]cluster.Resources, len(cores))
	for i, n := range cores {
		out[i] = cluster.Resources{Cores: n, MemoryMB: l.labSize(w).MemoryMB}
	}
	return out
}

func distance(a, b int) int { return max(a-b, b-a) }

// missing says which runs a stored profile leaves to be made.
type missing struct {
	base bool // beside kernels, and alone elsewhere
	size bool // alone at another size
}

func (m missing) any() bool { return m.base || m.size }

func (l *Lab) missingOf(p *profile.Profile, w cluster.Workload) missing {
	sized := l.sizesCores(w)
	switch {
	case p == nil:
		return missing{base: true, size: sized}
	case !sized:
		return missing{}
	case len(p.ScaleUp) == 0 && w.Sizable.Own.Cores == 0:
		// Its runs had no bound but the node's, so their speeds are of no size.
		return missing{base: true, size: true}
	}
	known := map[int]bool{len(p.Machine.CPUs): true}
	for _, point := range p.ScaleUp {
		known[point.Cores] = true
	}
	wanted := min(scaleUpKnown, len(l.otherSizes(w))+1)
	return missing{size: len(known) < wanted}
}

// asScalePoint is the result of a run alone at another size: a point of the
// workload's scale-up, and nothing else. The run says itself how many CPUs it had.
func asScalePoint(p profile.Profile, r cluster.ProfileRequest) profile.Profile {
	points := pointsOf(p, r)
	p.Machine = profile.Machine{} // the profile's is that of the interference run
	p.Alone, p.ScaleUp, p.Ramp, p.CPUShareAlone = nil, points, nil, nil
	p.Sensitivity.Tolerated, p.Sensitivity.Caused = nil, nil
	return p
}

// pointsOf is the scale-up of a run by its performance alone.
func pointsOf(p profile.Profile, r cluster.ProfileRequest) []profile.ScalePoint {
	alone, ok := p.Alone[r.Node.Configuration]
	cores := cmp.Or(len(p.Machine.CPUs), r.Size.Cores)
	if !ok || cores == 0 {
		return nil
	}
	return []profile.ScalePoint{{Cores: cores, MemoryMB: int64(r.Size.MemoryMB), Speed: alone}}
}

// withFirstPoint adds the interference run's own size to the scale-up of a stored
// profile that was taken before sizes mattered.
func withFirstPoint(p profile.Profile) profile.Profile {
	alone, ok := p.Alone[p.Machine.Configuration]
	cores := len(p.Machine.CPUs)
	if !ok || cores == 0 || slices.ContainsFunc(p.ScaleUp, func(s profile.ScalePoint) bool { return s.Cores == cores }) {
		return p
	}
	p.ScaleUp = append(slices.Clone(p.ScaleUp), profile.ScalePoint{Cores: cores, Speed: alone})
	return p
}

// keep stores what was measured. The unbound runs of an earlier profile do not mix
// with bound ones.
func (l *Lab) keep(ctx context.Context, old *profile.Profile, measured profile.Profile, m missing) (profile.Profile, error) {
	profiles := store.Profiles{Store: l.cfg.Store}
	if old != nil && m.base {
		_, err := profiles.Put(ctx, measured, store.Any)
		return measured, err
	}
	return profiles.PutMerged(ctx, measured)
}

func sizeName(r cluster.Resources) string {
	if r.Cores == 1 {
		return "1 core"
	}
	return fmt.Sprintf("%d cores", r.Cores)
}
