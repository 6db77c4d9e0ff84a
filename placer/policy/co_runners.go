package policy

import (
	"math"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// crowd is what allocations on one place make together.
type coRunners struct {
	options   Options
	shared    []bool // by column; see timeShared
	residents []board.Resident
	caused    []float64 // sum, by column
}

func (o Options) coRunnersOf(columns []interference.Source, residents []board.Resident) coRunners {
	return o.coRunnersAmong(timeShared(columns), residents)
}

// coRunnersAmong is coRunnersOf for many places of the same columns.
func (o Options) coRunnersAmong(shared []bool, residents []board.Resident) coRunners {
	c := coRunners{options: o, shared: shared, residents: residents}
	if len(residents) > 0 {
		c.caused = make([]float64, len(residents[0].Caused))
	}
	for _, r := range residents {
		for k, v := range r.Caused {
			c.caused[k] += v
		}
	}
	return c
}

// violates reports whether one of the crowd is pressed by the others beyond a bound of its
// own, or is left less of a source than its target needs of it.
func (c coRunners) violates(i int) bool { return c.excess(i) > epsilonPoints }

// excess is by how many points the worst of that is exceeded.
func (c coRunners) excess(i int) float64 {
	r, worst := &c.residents[i], math.Inf(-1)
	for k, caused := range r.Caused {
		taken := c.taken(k, i, r)
		pressure := c.options.experienced(c.caused[k] - caused)
		if c.isShared(k) {
			pressure = taken
		}
		worst = max(worst, pressure-r.Tolerated[k])
		if r.RequiredFraction != nil {
			worst = max(worst, *r.RequiredFraction*timeOf(r, k)-(fullPressurePercent-taken))
		}
	}
	return worst
}

func (c coRunners) isShared(k int) bool { return k < len(c.shared) && c.shared[k] }

// noIndex is the index of a workload that is not in the set.
const noIndex = -1

// taken is how much of a source the crowd takes beside somebody who would take all of
// it, by weighted max-min fairness: who wants less than its part gets that, and the
// others divide what is left by weight. One of the crowd may be meant itself.
func (c coRunners) taken(k, except int, beside *board.Resident) float64 {
	own := weightOf(beside.Size)
	left, weights := fullPressurePercent, own
	var open []int
	for i := range c.residents {
		if i != except && c.residents[i].Caused[k] > 0 {
			open = append(open, i)
			weights += weightOf(c.residents[i].Size)
		}
	}
	for settled := true; settled; {
		settled = false
		level := left / weights
		for at, i := range open {
			if w, wants := weightOf(c.residents[i].Size), wantsNextTo(&c.residents[i], beside, k); wants <= level*w {
				left, weights = left-wants, weights-w
				open, settled = slices.Delete(open, at, at+1), true
				break
			}
		}
	}
	return fullPressurePercent - left*own/weights
}

// wantsNextTo is what a resident wants of the CPU time of another's node: where it is on
// the same, what it takes there; where it is on another of the machine, a part of the
// machine's time.
func wantsNextTo(r, of *board.Resident, k int) float64 {
	if r.Node != of.Node {
		return r.Caused[k]
	}
	return timeOf(r, k)
}

// timeOf is the part of its node's CPU time that a resident takes through a source.
func timeOf(r *board.Resident, k int) float64 {
	return min(fullPressurePercent, r.Caused[k]*max(1, r.DemandFactor))
}

// weightOf is an allocation's part of contended CPU time, as Nomad gives it: its MHz. A
// reserved core counts as one of usual clock.
func weightOf(size cluster.Resources) float64 {
	const coreMHz = 2000
	return math.Max(1, float64(size.CPUMHz+coreMHz*size.Cores))
}

// timeShared tells the sources through which CPU time is shared. There a neighbour takes
// at most its fair part of the time, where a kernel takes the intensity it is set to
// (decision 0017).
func timeShared(columns []interference.Source) []bool {
	out := make([]bool, len(columns))
	for i, s := range columns {
		out[i] = interference.TimeShared(s)
	}
	return out
}

// beside are pressures between the residents of a place and a newcomer, by column.
type mutualPressure struct{ onNewcomer, byNewcomer []float64 }

// mutualPressureOf is exact for the newcomer; what it takes from residents is what it would take
// from the lightest of them alone.
func (c coRunners) mutualPressureOf(newcomer board.Resident) mutualPressure {
	b := mutualPressure{make([]float64, len(newcomer.Caused)), slices.Clone(newcomer.Caused)}
	lightest, own := math.Inf(1), weightOf(newcomer.Size)
	for i := range c.residents {
		lightest = min(lightest, weightOf(c.residents[i].Size))
	}
	for k := range b.onNewcomer {
		switch {
		case len(c.residents) == 0:
		case c.isShared(k):
			b.onNewcomer[k] = c.taken(k, noIndex, &newcomer)
			b.byNewcomer[k] = min(timeOf(&newcomer, k), fullPressurePercent*own/(own+lightest))
		default:
			b.onNewcomer[k] = c.caused[k]
		}
	}
	return b
}
