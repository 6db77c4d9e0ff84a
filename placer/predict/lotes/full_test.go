package lotes

import (
	"fmt"

	"github.com/nomad-placer/nomad-placer/placer/numeric/lp"
)

// AllocateFull solves the program as printed (equations 1 to 5), with one variable
// for each class, configuration and resource. It is the oracle of Allocate.
func AllocateFull(p *Program) (float64, error) {
	shares, err := p.check()
	if err != nil {
		return 0, err
	}
	problem := lp.Problem{Maximise: true}
	rate := lp.NonNegative(1)
	row := func(r lp.Row) int { problem.Rows = append(problem.Rows, r); return len(problem.Rows) - 1 }
	resources := len(p.Configurations[0].Capacity)
	serves, fits := map[[2]int]int{}, map[[2]int]int{}
	for k := range p.Classes {
		for l := range resources {
			serves[[2]int{k, l}] = row(lp.AtLeast(0)) // (2)
			rate.Entries = append(rate.Entries, lp.Entry{Row: serves[[2]int{k, l}], Value: -shares[k] * p.Classes[k].Need[l]})
		}
	}
	problem.Columns = append(problem.Columns, rate)
	for j := range p.Configurations {
		for l := range resources {
			fits[[2]int{j, l}] = row(lp.AtMost(1)) // (4)
		}
	}
	for j, c := range p.Configurations {
		for k, class := range p.Classes {
			if class.Rate[j] == 0 {
				continue
			}
			for l := range resources {
				column := lp.NonNegative(0, lp.Entry{Row: serves[[2]int{k, l}], Value: c.Capacity[l] * float64(c.Machines) * class.Rate[j]}, lp.Entry{Row: fits[[2]int{j, l}], Value: 1})
				if l == 0 {
					for other := 1; other < resources; other++ { // (3)
						column.Entries = append(column.Entries, lp.Entry{Row: row(lp.Equal(0)), Value: c.Capacity[0] / class.Need[0]})
					}
				} else {
					column.Entries = append(column.Entries, lp.Entry{Row: len(problem.Rows) - resources + l, Value: -c.Capacity[l] / class.Need[l]})
				}
				problem.Columns = append(problem.Columns, column)
			}
		}
	}
	solver, err := lp.New(problem)
	if err != nil {
		return 0, fmt.Errorf("lotes: full allocation: %w", err)
	}
	s, err := solver.Solve()
	if err != nil {
		return 0, fmt.Errorf("lotes: full allocation: %w", err)
	}
	return s.X[0], nil
}
