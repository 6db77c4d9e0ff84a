package classify

import (
	"math"
	"slices"
)

var knnDescriptor = Descriptor{
	Name:    "knn",
	Summary: "the nearest training rows in the known cells, averaged: a baseline",
	New:     func() Classifier { return inLogs{onlyCertain{neighbours{}}} },
}

// neighbourCounts are what cross-validation chooses from, the first where it
// cannot (chosen by us).
var neighbourCounts = []int{5, 1, 3, 10, 20}

type neighbours struct{}

func (neighbours) Fit(m Matrix, seed uint64) (Model, error) {
	known, err := trainingMatrix(m)
	if err != nil {
		return nil, err
	}
	fit := func(train Matrix, k int) (filler, error) { return newNearest(train.Rows, len(m.Columns), k), nil }
	k, err := bestOf(known, seed, neighbourCounts, fit)
	if err != nil {
		return nil, err
	}
	model := newNearest(known.Rows, len(m.Columns), k)
	model.width, err = calibrate(known, seed, false, func(train Matrix) (filler, error) { return fit(train, k) })
	return model, err
}

// nearest keeps the training rows.
type nearest struct {
	rows  [][]float64
	mean  []float64 // NaN for a column without cells
	k     int
	width *intervals
}

func newNearest(rows [][]float64, columns, k int) *nearest {
	sums, counts := make([]float64, columns), make([]int, columns)
	for _, row := range rows {
		for j, v := range row {
			if !math.IsNaN(v) {
				sums[j] += v
				counts[j]++
			}
		}
	}
	return &nearest{rows: rows, mean: meansOf(sums, counts), k: k}
}

func (n *nearest) informed(j int) bool { return !math.IsNaN(n.mean[j]) }

type neighbour struct {
	distance float64 // root mean square over the cells both know
	row      []float64
}

// complete averages, per column, the k nearest rows that know it; a column none
// of the comparable rows knows gets its mean. Cost: O(rows·(columns + log rows)).
func (n *nearest) complete(row, _, out, deviation []float64) error {
	order := n.byDistance(row)
	for j := range out {
		out[j], deviation[j] = n.mean[j], 1
		var sum float64
		count := 0
		for _, c := range order {
			if v := c.row[j]; !math.IsNaN(v) {
				sum += v
				if count++; count == n.k {
					break
				}
			}
		}
		if count > 0 {
			out[j] = sum / float64(count)
		}
	}
	return nil
}

// byDistance sorts the rows that share a known cell, nearest first, in the order
// of training where equal.
func (n *nearest) byDistance(row []float64) []neighbour {
	var at []int
	for j, v := range row {
		if !math.IsNaN(v) {
			at = append(at, j)
		}
	}
	var out []neighbour
	for _, other := range n.rows {
		var sum, shared float64
		for _, j := range at {
			if v := other[j]; !math.IsNaN(v) {
				sum, shared = sum+(v-row[j])*(v-row[j]), shared+1
			}
		}
		if shared > 0 {
			out = append(out, neighbour{math.Sqrt(sum / shared), other})
		}
	}
	slices.SortStableFunc(out, func(a, b neighbour) int {
		switch {
		case a.distance < b.distance:
			return -1
		case a.distance > b.distance:
			return 1
		}
		return 0
	})
	return out
}

func (n *nearest) Complete(row, _ []float64) ([]Cell, error) {
	if _, _, err := observed(row, nil, len(n.mean)); err != nil {
		return nil, err
	}
	return completeWith(n, row, nil, n.width)
}
