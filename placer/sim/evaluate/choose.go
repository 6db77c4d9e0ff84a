package evaluate

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/nomad-placer/nomad-placer/placer/classify"
)

// planned asks the normal distribution of the training rows; nil where they know
// nothing of the row's columns.
func (f *fold) planned(known []int) ([]int, error) {
	if !f.set.Ratio {
		model, err := f.plannerFor(-1)
		if err != nil {
			return nil, err
		}
		return model.Plan(nil, f.options.Entries, func(j int) bool { return slices.Contains(known, j) })
	}
	var best []int
	least := math.Inf(1)
	for _, reference := range known {
		model, err := f.plannerFor(reference)
		if errors.Is(err, classify.ErrNoTraining) {
			continue
		}
		if err != nil {
			return nil, err
		}
		rest, err := model.Plan([]int{reference}, f.options.Entries-1, func(j int) bool { return slices.Contains(known, j) })
		if err != nil {
			return nil, err
		}
		at := append([]int{reference}, rest...)
		each, err := model.Leftovers(at)
		if err != nil {
			return nil, err
		}
		if left := floats.Sum(each); left < least {
			best, least = at, left
		}
	}
	return best, nil
}

// plannerIndex is the key of the planning model among the classifiers'.
const plannerIndex = -1

func (f *fold) plannerFor(reference int) (classify.Planner, error) {
	d, err := classify.Lookup(classify.PlannerName)
	if err != nil {
		return nil, err
	}
	model, err := f.model(modelKey{plannerIndex, reference}, d)
	if err != nil {
		return nil, err
	}
	planner, ok := model.(classify.Planner)
	if !ok {
		return nil, fmt.Errorf("classifier %s cannot plan", d.Name)
	}
	return planner, nil
}

// pair asks it for the two columns that together leave the least: what planned
// finds one after the other, at the price of trying all.
func (f *fold) pair(known []int) ([]int, error) {
	model, err := f.plannerFor(-1)
	if err != nil {
		return nil, err
	}
	var best []int
	least := math.Inf(1)
	for a, i := range known {
		for _, j := range known[a+1:] {
			each, err := model.Leftovers([]int{i, j})
			if err != nil {
				return nil, err
			}
			if left := floats.Sum(each); left < least {
				best, least = []int{i, j}, left
			}
		}
	}
	return best, nil
}

// widest are the columns along which the training rows differ most.
func (f *fold) widest(known []int) []int {
	spread := make([]float64, len(f.train.Columns))
	for j := range spread {
		var n, sum, squares float64
		for _, row := range f.train.Rows {
			if v := row[j]; !math.IsNaN(v) {
				n, sum, squares = n+1, sum+v, squares+v*v
			}
		}
		if n >= 2 {
			spread[j] = squares/n - sum*sum/(n*n)
		}
	}
	order := slices.Clone(known)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(spread[b], spread[a]) })
	return order[:f.options.Entries]
}

// mostColumns is the widest set whose cells are predicted from all others: the
// work grows with the fourth power (chosen by us).
const mostColumns = 40

// fromOthers predicts each cell of a row from all others, by the best linear
// completion of the training rows. ok is false where that says nothing.
func (f *fold) fromOthers(i int) (trial, bool, error) {
	truth := truthOf(f.set.Rows[i])
	var known []int
	for j, v := range truth {
		if !math.IsNaN(v) {
			known = append(known, j)
		}
	}
	if len(truth) > mostColumns || len(known) <= f.options.Entries+1 {
		return trial{}, false, nil
	}
	all := trial{row: i, classifier: len(f.classifiers), ratio: f.set.Ratio}
	for _, j := range known {
		at := slices.DeleteFunc(slices.Clone(known), func(k int) bool { return k == j })
		cells, unit, err := f.completeFrom(truth, at)
		if err != nil {
			return trial{}, false, err
		}
		if cells != nil && cells[j].Known {
			all.cells = append(all.cells, outcome{column: j, want: truth[j], got: f.inUnit(cells[j].Value, unit)})
		}
	}
	return all, len(all.cells) > 0, nil
}

// completeFrom shows the planning model the cells at; nil where no training row
// knows the reference.
func (f *fold) completeFrom(truth []float64, at []int) ([]classify.Cell, float64, error) {
	reference, unit := -1, 1.0
	if f.set.Ratio {
		reference, unit = at[0], truth[at[0]]
	}
	model, err := f.plannerFor(reference)
	if errors.Is(err, classify.ErrNoTraining) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	row := slices.Repeat([]float64{math.NaN()}, len(truth))
	for _, j := range at {
		row[j] = truth[j] / unit
	}
	cells, err := model.Complete(row, nil)
	return cells, unit, err
}
