package lotes

import (
	"fmt"
	"math"
)

// Pairings says which classes the bins of a configuration may hold.
type Pairings int

// The pairings.
const (
	// Near are those the allocation uses, and those it could use at no loss: it is
	// degenerate where rates do not depend on the machine, and its vertex arbitrary.
	Near    Pairings = iota
	Support          // those the allocation uses, as printed
	All              // without stage 1
)

// Tolerances of pairings.
const (
	supportLeast = 1e-9 // of all jobs
	reducedNear  = 1e-6
)

// Plan is the outcome of stages 1 and 2.
type Plan struct {
	Program Program
	// Pooled, Binned and Served are the rates of arrivals that the pooled machines,
	// the bins, and the bins rounded to whole machines can serve.
	Pooled, Binned, Served float64
	Bins                   int
	Generated, Exact       bool
	Shares                 [][]Share // by configuration; whole machines
	// Stock is how many jobs of a class the bins of a configuration hold together:
	// Δ·n/r of the paper, [configuration][class].
	Stock [][]float64
}

// Make runs stages 1 and 2, and rounds.
func Make(p Program, pairings Pairings) (*Plan, error) {
	allocation, err := Allocate(&p)
	if err != nil {
		return nil, err
	}
	assignment, err := Assign(&p, allocation.support(pairings))
	if err != nil {
		return nil, err
	}
	out := &Plan{
		Program: p, Pooled: allocation.Lambda, Binned: assignment.Lambda, Bins: assignment.Bins,
		Generated: assignment.Generated, Exact: assignment.Exact, Stock: table(len(p.Configurations), len(p.Classes)),
	}
	for j := range p.Configurations {
		shares := Round(assignment.Shares[j])
		machines := 0.0
		for _, s := range shares {
			machines += s.Machines
			for k, n := range s.Bin {
				out.Stock[j][k] += s.Machines * float64(n)
			}
		}
		if int(machines) != p.Configurations[j].Machines {
			return nil, fmt.Errorf("lotes: %v of %d machines of configuration %d have a bin", machines, p.Configurations[j].Machines, j)
		}
		out.Shares = append(out.Shares, shares)
	}
	out.Served = Served(&p, out.Shares)
	return out, nil
}

// support is K^j by configuration.
func (a *Allocation) support(pairings Pairings) [][]int {
	total := 0.0
	for _, row := range a.Jobs {
		for _, y := range row {
			total += y
		}
	}
	out := make([][]int, len(a.Jobs))
	for j := range a.Jobs {
		for k, y := range a.Jobs[j] {
			used := y > supportLeast*total
			switch {
			case math.IsInf(a.Reduced[j][k], 1): // no machine holds it, or may run it
			case used || pairings == All || pairings == Near && a.Reduced[j][k] <= reducedNear:
				out[j] = append(out[j], k)
			}
		}
	}
	return out
}

// Routes are ρ: how the arrivals of a class are split over configurations,
// [class][configuration]. Printed, they follow the stock of jobs in place; the
// flow through a configuration is that times its rate, and they agree where rates
// do not depend on the machine.
func (p *Plan) Routes(literal bool) [][]float64 {
	out := table(len(p.Program.Classes), len(p.Program.Configurations))
	for k := range out {
		sum := 0.0
		for j := range out[k] {
			out[k][j] = p.Stock[j][k]
			if !literal {
				out[k][j] *= p.Program.Classes[k].Rate[j]
			}
			sum += out[k][j]
		}
		for j := range out[k] {
			if sum > 0 {
				out[k][j] /= sum
			}
		}
	}
	return out
}
