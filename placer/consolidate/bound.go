package consolidate

import (
	"errors"
	"fmt"
	"math"

	"github.com/nomad-placer/nomad-placer/placer/numeric/lp"
)

// LowerBound is a power, in watts, that no placement under a demand can do with less: the
// best that free moves and perfect knowledge could reach. It is the least of a program in
// which instances may be divided over types of nodes as they like, and lose nothing by one
// another:
//
//	min  Σ_k n_k·idle_k + Σ_ak x_ak·b_a/rated_k·(most_k − idle_k)
//	Σ_k x_ak = 1,  Σ_a x_ak·u_ak ≤ n_k,  Σ_a x_ak·v_ak ≤ n_k,  n_k whole, 0 ≤ n_k ≤ nodes of k
//
// with u_ak the sum over the instance's objects of b/(MB_a·rated_k), of which each counts 1
// at most, for an object in isolation may exceed its limit; v_ak is the same of capacity. It
// is a bound: with MB_s ≤ MB_a, Σ b/(MB_a·rated) ≤ Σ b/(MB_s·rated) ≤ 1 on every node. The
// whole numbers are found by branch and bound; there are as many as types of nodes.
func (s *Scene) LowerBound(demand []Demand) (float64, error) {
	p, bounds := s.boundProgram(demand)
	b := &branching{problem: p, best: math.Inf(1)}
	if err := b.search(bounds); err != nil {
		return 0, err
	}
	if math.IsInf(b.best, 1) {
		return 0, fmt.Errorf("%w: the demand is more than all nodes have", ErrScene)
	}
	return b.best, nil
}

// span bounds the number of nodes of a type.
type span struct{ least, most int }

// boundProgram has the columns n_k first, then x_ak by instance and type.
func (s *Scene) boundProgram(demand []Demand) (lp.Problem, []span) {
	kinds, instances := len(s.Types), len(s.Instances)
	bounds := make([]span, kinds)
	for _, k := range s.Nodes {
		bounds[k].most++
	}
	p := lp.Problem{}
	for range instances {
		p.Rows = append(p.Rows, lp.Equal(1))
	}
	for range 2 * kinds {
		p.Rows = append(p.Rows, lp.AtMost(0))
	}
	bandwidthRow, capacityRow := instances, instances+kinds
	for k, t := range s.Types {
		p.Columns = append(p.Columns, lp.Column{Cost: t.Power.IdleWatts, Upper: float64(bounds[k].most), Entries: []lp.Entry{{Row: bandwidthRow + k, Value: -1}, {Row: capacityRow + k, Value: -1}}})
	}
	sums := s.byInstance(demand)
	for a := range s.Instances {
		for k, t := range s.Types {
			u, v := s.loads(a, k, demand)
			cost := sums[a].BandwidthBytesPerSec / t.BandwidthBytesPerSec * (t.Power.MostWatts - t.Power.IdleWatts)
			p.Columns = append(p.Columns, lp.NonNegative(cost, lp.Entry{Row: a, Value: 1}, lp.Entry{Row: bandwidthRow + k, Value: u}, lp.Entry{Row: capacityRow + k, Value: v}))
		}
	}
	return p, bounds
}

// loads are how many nodes of a type an instance needs by bandwidth and by capacity.
func (s *Scene) loads(instance, kind int, demand []Demand) (bandwidth, capacity float64) {
	t, a := s.Types[kind], s.Applications[s.Instances[instance].Application]
	for i, o := range s.Objects {
		if o.Instance != instance {
			continue
		}
		bandwidth += min(1, demand[i].BandwidthBytesPerSec/(a.MostBandwidth[kind]*t.BandwidthBytesPerSec))
		capacity += min(1, demand[i].Bytes/(a.MostCapacity[kind]*t.CapacityBytes))
	}
	return bandwidth, capacity
}

// branching searches whole numbers of nodes.
type branching struct {
	problem lp.Problem
	best    float64
}

// wholeTolerance is how far from a whole number one may be: the solver's is finer.
const wholeTolerance = 1e-6

// search solves the program inside bounds, and divides them at a number that is not whole.
func (b *branching) search(bounds []span) error {
	p := b.problem
	p.Columns = append([]lp.Column(nil), b.problem.Columns...)
	for k, s := range bounds {
		p.Columns[k].Lower, p.Columns[k].Upper = float64(s.least), float64(s.most)
	}
	x, err := solve(p)
	if err != nil || x == nil || x.Objective >= b.best-wholeTolerance {
		return err
	}
	for k, s := range bounds {
		v := x.X[k]
		if math.Abs(v-math.Round(v)) <= wholeTolerance {
			continue
		}
		for _, half := range []span{{s.least, int(math.Floor(v))}, {int(math.Ceil(v)), s.most}} {
			divided := append([]span(nil), bounds...)
			divided[k] = half
			if err := b.search(divided); err != nil {
				return err
			}
		}
		return nil
	}
	b.best = x.Objective
	return nil
}

// solve solves a program; nil where no point keeps its bounds.
func solve(p lp.Problem) (*lp.Solution, error) {
	s, err := lp.New(p)
	if err != nil {
		return nil, err
	}
	x, err := s.Solve()
	if errors.Is(err, lp.ErrInfeasible) {
		return nil, nil //nolint:nilnil // no solution is an answer
	}
	return x, err
}
