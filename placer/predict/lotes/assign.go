package lotes

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/numeric/lp"
)

// Bounds of stage 2.
const (
	binsMost    = 20_000 // enumerated of one configuration; beyond, bins are generated as they are wanted
	roundsMost  = 2_000  // of column generation
	gainedLeast = 1e-9   // relative gain for which a bin is taken in
)

// Share is machines of a configuration that emulate one bin.
type Share struct {
	Bin      Bin
	Machines float64 // x; whole after rounding
}

// Assignment is stage 2: the bins that machines emulate.
type Assignment struct {
	Lambda float64
	Shares [][]Share // by configuration; only bins in use
	Bins   int       // looked at
	// Generated: bins were made as wanted instead of all beforehand, and Exact: no
	// bin left out could be better.
	Generated, Exact bool
	Iterations       int
}

// Assign solves the machine assignment program (Tran 2016, §4.2), one row for each
// class, as r_kl cancels:
//
//	max λ   Σ_j Σ_i N_ijk·μ_jk·x_ij ≥ λ·α_k   Σ_i x_ij = n_j   x ≥ 0
//
// support lists the classes K^j of every configuration. Where a configuration has
// more than binsMost bins, they are generated: a bin is priced by a knapsack whose
// values are the classes' duals times their rates (Gilmore and Gomory 1961).
func Assign(p *Program, support [][]int) (*Assignment, error) { return assign(p, support, binsMost) }

func assign(p *Program, support [][]int, most int) (*Assignment, error) {
	shares, err := p.check()
	if err != nil {
		return nil, err
	}
	a := &assigning{program: p, classes: len(p.Classes), out: &Assignment{Exact: true}}
	problem := lp.Problem{Maximise: true}
	rate := lp.NonNegative(1)
	for k := range p.Classes {
		problem.Rows = append(problem.Rows, lp.AtLeast(0))
		if shares[k] > 0 {
			rate.Entries = append(rate.Entries, lp.Entry{Row: k, Value: -shares[k]})
		}
	}
	problem.Columns = append(problem.Columns, rate)
	a.generate = make([]*whole, len(p.Configurations))
	for j := range p.Configurations {
		problem.Rows = append(problem.Rows, lp.Equal(float64(p.Configurations[j].Machines)))
		bins, complete := p.Bins(j, support[j], most)
		if !complete {
			a.generate[j], a.out.Generated = p.whole(j, support[j]), true
			bins = a.seeds(j)
		}
		for _, b := range bins {
			a.bins = append(a.bins, placed{j, b})
			problem.Columns = append(problem.Columns, a.column(j, b))
		}
	}
	if a.solver, err = lp.New(problem); err != nil {
		return nil, fmt.Errorf("lotes: assignment: %w", err)
	}
	s, err := a.solve()
	if err != nil {
		return nil, fmt.Errorf("lotes: assignment: %w", err)
	}
	a.read(s)
	return a.out, nil
}

type placed struct {
	configuration int
	bin           Bin
}

type assigning struct {
	program  *Program
	classes  int
	bins     []placed
	generate []*whole // by configuration; nil: all its bins are there
	solver   *lp.Solver
	out      *Assignment
}

// seeds are the bins full of one class, filled up with the others.
func (a *assigning) seeds(j int) []Bin {
	w := a.generate[j]
	var out []Bin
	for i, k := range w.classes {
		bin := make(Bin, w.total)
		bin[k] = int32(w.most(i, w.capacity))
		w.fill(bin)
		out = append(out, bin)
	}
	return out
}

func (a *assigning) column(j int, bin Bin) lp.Column {
	c := lp.NonNegative(0)
	for k, n := range bin {
		if v := float64(n) * a.program.Classes[k].Rate[j]; v > 0 {
			c.Entries = append(c.Entries, lp.Entry{Row: k, Value: v})
		}
	}
	c.Entries = append(c.Entries, lp.Entry{Row: a.classes + j, Value: 1})
	return c
}

// solve until no bin that was left out gains.
func (a *assigning) solve() (*lp.Solution, error) {
	for range roundsMost {
		s, err := a.solver.Solve()
		if err != nil {
			return nil, err
		}
		a.out.Iterations += s.Iterations
		more := false
		for j, w := range a.generate {
			if w == nil || a.program.Configurations[j].Machines == 0 {
				continue
			}
			value := func(k int) float64 { return math.Abs(s.Dual[k]) * a.program.Classes[k].Rate[j] }
			bin, top, exact := w.best(value)
			a.out.Exact = a.out.Exact && exact
			if price := s.Dual[a.classes+j]; top <= price+gainedLeast*math.Abs(price) {
				continue
			}
			more = true
			a.bins = append(a.bins, placed{j, bin})
			if err := a.solver.AddColumn(a.column(j, bin)); err != nil {
				return nil, err
			}
		}
		if !more {
			return s, nil
		}
	}
	a.out.Exact = false
	return a.solver.Solve()
}

func (a *assigning) read(s *lp.Solution) {
	a.out.Lambda, a.out.Bins = s.X[0], len(a.bins)
	a.out.Shares = make([][]Share, len(a.program.Configurations))
	for i, b := range a.bins {
		if x := s.X[i+1]; x > 1e-9 {
			a.out.Shares[b.configuration] = append(a.out.Shares[b.configuration], Share{b.bin, x})
		}
	}
	for j := range a.out.Shares {
		if len(a.out.Shares[j]) == 0 { // no machines, or none of use
			a.out.Shares[j] = []Share{{make(Bin, a.classes), float64(a.program.Configurations[j].Machines)}}
		}
		slices.SortStableFunc(a.out.Shares[j], func(x, y Share) int { return slices.CompareFunc(y.Bin, x.Bin, cmp.Compare[int32]) })
	}
}

// Round makes the machines of every bin whole (ibid.): the q bins with the largest
// fractions are rounded up, the others down, where q is the sum of the fractions.
func Round(shares []Share) []Share {
	out := slices.Clone(shares)
	order := make([]int, len(out))
	fraction := make([]float64, len(out))
	sum := 0.0
	for i := range out {
		order[i] = i
		floor := math.Floor(out[i].Machines + 1e-7) // 2.99999999 is three
		fraction[i] = max(0, out[i].Machines-floor)
		sum += out[i].Machines - floor
		out[i].Machines = floor
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(quantised(fraction[b]), quantised(fraction[a])) })
	for _, i := range order[:min(len(order), max(0, int(math.Round(sum))))] {
		out[i].Machines++
	}
	return slices.DeleteFunc(out, func(s Share) bool { return s.Machines == 0 })
}

// quantised fractions make ties of what differs by rounding errors.
func quantised(v float64) float64 { return math.Round(v * 1e6) }

// Served is the rate of arrivals that machines emulating these bins serve.
func Served(p *Program, shares [][]Share) float64 {
	out, sum := math.Inf(1), 0.0
	for _, c := range p.Classes {
		sum += c.Share
	}
	for k, c := range p.Classes {
		if c.Share == 0 {
			continue
		}
		rate := 0.0
		for j := range shares {
			for _, s := range shares[j] {
				rate += s.Machines * float64(s.Bin[k]) * c.Rate[j]
			}
		}
		out = min(out, rate/(c.Share/sum))
	}
	return out
}
