package policy

import (
	"fmt"
	"math"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// bestEffortWaits says why best-effort work is not placed now: wherever there is room it would
// hurt somebody who is known to have something to lose, and would have to leave again
// (Delimitrou 2015, §4.3.3: best effort uses what is left over). Empty for other work,
// and where some node is spared.
func (v *view) bestEffortWaits() string {
	if v.Workload.Spec.Target.Kind != performance.BestEffort || len(v.options) == 0 {
		return ""
	}
	// Itself it stands everything.
	newcomer := board.Resident{Tolerated: slices.Repeat([]float64{fullPressurePercent}, len(v.caused)), Caused: v.caused}
	for i, o := range v.options {
		known := slices.DeleteFunc(v.residents(i), func(r board.Resident) bool { return r.Assumed })
		if o.incumbent || Live().newlyHurt(known, newcomer) == 0 {
			return ""
		}
	}
	return fmt.Sprintf("best effort waits: on %s with room somebody would be pressed beyond what their target leaves", plural(len(v.options), "node"))
}

// newlyHurt counts the allocations that do well without a newcomer and would not with
// it, among residents that press on each other, and the newcomer where it would not.
// Who is hurt already is not counted: where somebody must be hurt, those who come later
// go where no further one is.
func (o Options) newlyHurt(residents []board.Resident, newcomer board.Resident) int {
	together := append(slices.Clone(residents), newcomer)
	before, after := o.crowdOf(residents), o.crowdOf(together)
	hurt := 0
	for i := range together {
		if after.hurts(&together[i]) && (i == len(residents) || !before.hurts(&together[i])) {
			hurt++
		}
	}
	return hurt
}

// Harm is how many allocations are hurt, and by how many points in all beyond the worst
// of their bounds.
type Harm struct {
	Hurt   int
	Points float64
}

// Less reports whether h is less harm than o: fewer hurt, or as many by noticeably less.
func (h Harm) Less(o Harm) bool {
	if h.Hurt != o.Hurt {
		return h.Hurt < o.Hurt
	}
	return h.Points+relaxStepPoints <= o.Points
}

// HarmOn is the harm on the machines of some nodes.
func HarmOn(s *cluster.Snapshot, nodes []cluster.NodeID, columns []interference.Source) Harm {
	var h Harm
	seen := map[cluster.NodeID]bool{}
	for _, n := range s.Nodes {
		if seen[n.ID] || !slices.Contains(nodes, n.ID) {
			continue
		}
		for _, of := range s.Machine(n) {
			seen[of.ID] = true
		}
		residents := board.PressingIn(s, n, columns, cluster.WorkloadID{})
		c := Live().crowdOf(residents)
		for i := range residents {
			if points := c.excess(&residents[i]); points > epsilonPoints {
				h.Hurt++
				h.Points += points
			}
		}
	}
	return h
}

// crowd is what allocations on one place make together.
type crowd struct {
	options Options
	caused  []float64 // sum, by column
	fair    []float64 // what a source gives each at the most: see fairShare
}

func (o Options) crowdOf(residents []board.Resident) crowd {
	c := crowd{options: o}
	if len(residents) == 0 {
		return c
	}
	c.caused = make([]float64, len(residents[0].Caused))
	c.fair = make([]float64, len(c.caused))
	demands := make([]float64, len(residents))
	for k := range c.caused {
		for i, r := range residents {
			demands[i] = r.Caused[k]
			c.caused[k] += r.Caused[k]
		}
		c.fair[k] = fairShare(demands)
	}
	return c
}

// hurts reports whether one of the crowd is pressed by the others beyond a bound of its
// own, or is left less of a source than its target needs of it.
func (c crowd) hurts(r *board.Resident) bool { return c.excess(r) > epsilonPoints }

// excess is by how many points the worst of that is exceeded.
func (c crowd) excess(r *board.Resident) float64 {
	worst := math.Inf(-1)
	for k, caused := range r.Caused {
		worst = max(worst, c.options.pressed(c.caused[k]-caused)-r.Tolerated[k])
		if r.Needs != nil {
			worst = max(worst, *r.Needs*caused-c.fair[k])
		}
	}
	return worst
}

// fairShare is the most that each gets of 100 when nobody who wants less gives way to
// somebody who wants more (max-min fairness): bounds saturate at full pressure, and say
// nothing of how many share a source that is full. Infinite where it is not.
func fairShare(demands []float64) float64 {
	sorted := slices.Sorted(slices.Values(demands))
	left := fullPressurePercent
	for i, d := range sorted {
		if share := left / float64(len(sorted)-i); d > share {
			return share
		}
		left -= d
	}
	return math.Inf(1)
}
