package policy

import (
	"math"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/predict"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// coRunners are the allocations of one machine, with what they exert together.
type coRunners struct {
	options   Options
	shared    []bool // by column; see timeShared
	residents []board.Resident
	caused    []float64 // sum, by column
}

// coRunnersOf are the residents of one machine.
func (o Options) coRunnersOf(columns []interference.Source, residents []board.Resident) coRunners {
	return o.coRunnersAmong(timeShared(columns), residents)
}

// coRunnersAmong is coRunnersOf for many machines with the same columns.
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

// violates reports whether one of the co-runners experiences more pressure from the others
// than it tolerates, or is left less of a source than its target requires.
func (c coRunners) violates(i int) bool { return c.excess(i) > epsilonPoints }

// excess is by how many points that is exceeded, on the source where it is most.
func (c coRunners) excess(i int) float64 {
	r, worst := &c.residents[i], math.Inf(-1)
	for k, caused := range r.Caused {
		taken, wanted := c.taken(k, i, r)
		pressure := c.options.experienced(c.caused[k] - caused)
		if c.isShared(k) {
			pressure = predict.TimePressure(taken, wanted, r, k)
		}
		worst = max(worst, pressure-r.Tolerated[k])
		if r.RequiredFraction != nil {
			worst = max(worst, *r.RequiredFraction*predict.TimeUsed(r, k)-(fullPressurePercent-taken))
		}
	}
	return worst
}

func (c coRunners) isShared(k int) bool { return k < len(c.shared) && c.shared[k] }

// noIndex is the index of a workload that is not in the set.
const noIndex = -1

// taken is how much of a source the co-runners take from a workload that would use all of
// it (predict.TimeShares). The workload may be one of the co-runners: then except is its
// index, else noIndex. wanted is what they want of it.
func (c coRunners) taken(k, except int, of *board.Resident) (taken float64, wanted []predict.TimeDemand) {
	wanted = make([]predict.TimeDemand, 0, len(c.residents)+1)
	for i := range c.residents {
		if i != except && c.residents[i].Caused[k] > 0 {
			wanted = append(wanted, predict.DemandNextTo(&c.residents[i], of, k))
		}
	}
	return predict.TimeTaken(fullPressurePercent, predict.Weight(of.Size), wanted), wanted
}

// timeShared marks the sources through which CPU time is shared.
func timeShared(columns []interference.Source) []bool { return predict.TimeSharedAmong(columns) }

// mutualPressure is what the residents of a machine and a newcomer exert on each other, by
// column.
type mutualPressure struct{ onNewcomer, byNewcomer []float64 }

// mutualPressureOf is exact for the newcomer; what it takes from the residents is what it
// would take from the one of least weight, if that were the only one.
func (c coRunners) mutualPressureOf(newcomer board.Resident) mutualPressure {
	b := mutualPressure{make([]float64, len(newcomer.Caused)), slices.Clone(newcomer.Caused)}
	lightest := math.Inf(1)
	for i := range c.residents {
		lightest = min(lightest, predict.Weight(c.residents[i].Size))
	}
	for k := range b.onNewcomer {
		switch {
		case len(c.residents) == 0:
		case c.isShared(k):
			taken, wanted := c.taken(k, noIndex, &newcomer)
			b.onNewcomer[k] = predict.TimePressure(taken, wanted, &newcomer, k)
			b.byNewcomer[k] = predict.TimeTaken(fullPressurePercent, lightest, []predict.TimeDemand{predict.DemandNextTo(&newcomer, &newcomer, k)})
		default:
			b.onNewcomer[k] = c.caused[k]
		}
	}
	return b
}
