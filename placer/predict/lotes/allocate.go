package lotes

import (
	"fmt"
	"math"

	"github.com/nomad-placer/nomad-placer/placer/numeric/lp"
)

// Allocation is stage 1: the machines of a configuration pooled into one.
type Allocation struct {
	Lambda float64     // arrivals per unit of time that can be served
	Jobs   [][]float64 // y: of a class on a configuration, [configuration][class]
	// Reduced is what a pairing would lose per job, relative to what its room is
	// worth: 0 for those that may be used, [configuration][class].
	Reduced    [][]float64
	Iterations int
}

// Allocate solves the allocation program (Tran 2016, §4.1), in the form with
// one variable for each pairing: y = δ·c·n/r jobs of class k run on configuration j.
//
//	max λ   Σ_j y_jk·μ_jk ≥ λ·α_k   Σ_k y_jk·r_kl ≤ c_jl·n_j   y ≥ 0
//
// As printed, a pooled machine holds jobs in pieces: also of classes of which no
// single machine holds one.
func Allocate(p *Program) (*Allocation, error) {
	shares, err := p.check()
	if err != nil {
		return nil, err
	}
	classes, resources := len(p.Classes), len(p.Configurations[0].Capacity)
	problem := lp.Problem{Maximise: true}
	rate := lp.NonNegative(1)
	for k := range classes {
		problem.Rows = append(problem.Rows, lp.AtLeast(0))
		if shares[k] > 0 {
			rate.Entries = append(rate.Entries, lp.Entry{Row: k, Value: -shares[k]})
		}
	}
	problem.Columns = append(problem.Columns, rate)
	var pairs [][2]int
	for j := range p.Configurations {
		c := &p.Configurations[j]
		for l := range resources {
			problem.Rows = append(problem.Rows, lp.AtMost(c.Capacity[l]*float64(c.Machines)))
		}
		for k := range classes {
			if c.Machines == 0 || p.Classes[k].Rate[j] == 0 || shares[k] == 0 {
				continue
			}
			column := lp.NonNegative(0, lp.Entry{Row: k, Value: p.Classes[k].Rate[j]})
			for l, need := range p.Classes[k].Need {
				if need > 0 {
					column.Entries = append(column.Entries, lp.Entry{Row: classes + j*resources + l, Value: need})
				}
			}
			pairs = append(pairs, [2]int{j, k})
			problem.Columns = append(problem.Columns, column)
		}
	}
	solver, err := lp.New(problem)
	if err != nil {
		return nil, fmt.Errorf("lotes: allocation: %w", err)
	}
	s, err := solver.Solve()
	if err != nil {
		return nil, fmt.Errorf("lotes: allocation: %w", err)
	}
	out := &Allocation{Lambda: s.X[0], Jobs: table(len(p.Configurations), classes), Reduced: table(len(p.Configurations), classes), Iterations: s.Iterations}
	for j := range out.Reduced {
		for k := range out.Reduced[j] {
			out.Reduced[j][k] = math.Inf(1)
		}
	}
	for i, pair := range pairs {
		j, k := pair[0], pair[1]
		out.Jobs[j][k] = s.X[i+1]
		worth := p.Classes[k].Rate[j] * math.Abs(s.Dual[k])
		if worth > 0 {
			out.Reduced[j][k] = max(0, -s.Reduced[i+1]) / worth
		} else {
			out.Reduced[j][k] = 0
		}
	}
	return out, nil
}

func table(rows, columns int) [][]float64 {
	out := make([][]float64, rows)
	for j := range out {
		out[j] = make([]float64, columns)
	}
	return out
}
