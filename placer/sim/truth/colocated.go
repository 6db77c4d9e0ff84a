package truth

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/nomad-placer/nomad-placer/profiler/training/backgrounds"
)

// Colocated is a world of machines with a few equal slots, in which applications do
// next to each other what was measured of them (profiler/training/backgrounds): the
// median over the repeats of each pair. Next to several co-runners the shares that each
// of them leaves multiply, which was not measured. No curve or model is in between.
type Colocated struct {
	applications []*Application
	isolated     map[uint64]measuredPair
	pairs        map[pairKey]measuredPair
}

type measuredPair struct{ rate, iops float64 }

var _ World = (*Colocated)(nil)

// ErrColocated: the tables do not hold what is needed.
var ErrColocated = errors.New("truth: co-located applications")

// NewColocated reads the applications of a set, by rising requests to the disk: the
// rank of the paper's §4.1.
func NewColocated(set *backgrounds.Set) (*Colocated, error) {
	c := &Colocated{isolated: map[uint64]measuredPair{}, pairs: map[pairKey]measuredPair{}}
	for _, name := range set.Applications() {
		solo, err := isolatedOf(set.Rows[name])
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrColocated, name, err)
		}
		a := identify(&Application{
			Name: name, Class: MeasuredClass, Unit: "units/s", Cores: 1, MemoryMB: 1, Isolated: []float64{solo.rate},
			Phases: []Phase{{Share: 1, MemoryMB: 1, Intensity: 1}}, Origin: "profiler/training/backgrounds",
		})
		c.applications = append(c.applications, a)
		c.isolated[a.id] = solo
	}
	slices.SortStableFunc(c.applications, func(a, b *Application) int { return cmp.Compare(c.isolated[a.id].iops, c.isolated[b.id].iops) })
	return c, c.read(set.Pairs)
}

// read takes the median of the repeats of each pair.
func (c *Colocated) read(pairs []backgrounds.Pair) error {
	rates, iops := map[pairKey][]float64{}, map[pairKey][]float64{}
	for _, p := range pairs {
		if math.IsNaN(p.RatePerSec) {
			continue
		}
		key := pairKey{identity(p.Application), identity(p.CoRunner)}
		rates[key], iops[key] = append(rates[key], p.RatePerSec), append(iops[key], p.IOPS())
	}
	for _, a := range c.applications {
		for _, b := range c.applications {
			key := pairKey{a.id, b.id}
			if len(rates[key]) == 0 {
				return fmt.Errorf("%w: %s co-located with %s was not measured", ErrColocated, a.Name, b.Name)
			}
			c.pairs[key] = measuredPair{median(rates[key]), median(iops[key])}
		}
	}
	return nil
}

// isolatedOf is the median of the rows without any background.
func isolatedOf(rows []backgrounds.Row) (measuredPair, error) {
	var rates, iops []float64
	for _, r := range rows {
		if r.Sweep == backgrounds.SoloSweep && r.RatePerSec > 0 {
			rates, iops = append(rates, r.RatePerSec), append(iops, r.IOPS())
		}
	}
	if len(rates) == 0 {
		return measuredPair{}, errors.New("it was not measured in isolation")
	}
	return measuredPair{median(rates), median(iops)}, nil
}

func median(v []float64) float64 {
	sorted := slices.Sorted(slices.Values(v))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// Applications are all of them, by rising requests to the disk.
func (c *Colocated) Applications() []*Application { return c.applications }

// NextTo is what an application does next to another: its speed, and the requests per
// second it makes.
func (c *Colocated) NextTo(a, b *Application) (rate, iops float64) {
	p := c.pairs[pairKey{a.id, b.id}]
	return p.rate, p.iops
}

// Isolated is the same in isolation.
func (c *Colocated) Isolated(a *Application) (rate, iops float64) {
	p := c.isolated[a.id]
	return p.rate, p.iops
}

// Speeds implements World.
func (c *Colocated) Speeds(_ int, on []Placed, out []Speed) []Speed {
	out = out[:0]
	for i := range on {
		isolated := c.isolated[on[i].Application.id]
		s := Speed{Value: isolated.rate, Isolated: isolated.rate, IOPS: isolated.iops}
		for j := range on {
			if i == j {
				continue
			}
			p := c.pairs[pairKey{on[i].Application.id, on[j].Application.id}]
			s.Value *= p.rate / isolated.rate
			if isolated.iops > 0 {
				s.IOPS *= p.iops / isolated.iops
			}
		}
		out = append(out, s)
	}
	return out
}

// Group implements World.
func (c *Colocated) Group(*Application, int) float64 { return 1 }

// Measure implements World: what was measured has its noise already.
func (c *Colocated) Measure(_ *Application, value, _ float64, _ *rand.Rand) float64 { return value }
