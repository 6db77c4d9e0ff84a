package classify

import (
	"errors"
	"fmt"

	"github.com/nomad-placer/nomad-placer/placer/numeric/pq"
)

var cfDescriptor = Descriptor{
	Name:    "cf",
	Summary: "collaborative filtering: SVD, then PQ with stochastic gradient descent; new rows folded in",
	Paper:   "Delimitrou 2015, §3.2",
	New:     func() Classifier { return collaborative{} },
}

// ranks are the numbers of similarity concepts cross-validation chooses from. One
// is for small and sparse training sets: on synthetic rows with a third of the
// cells known, leaving it out made predictions from 20 rows worse than the mean.
var ranks = []int{1, 2, 3, 4}

type collaborative struct{}

// Fit factorises the matrix at the rank cross-validation prefers. With too few
// rows to hold any out it uses pq's default rank, and predictions have no
// interval.
func (collaborative) Fit(m Matrix, seed uint64) (Model, error) {
	entries, rows, err := entriesOf(m)
	if err != nil {
		return nil, err
	}
	cfg := pq.Defaults()
	cfg.Seed = seed
	columns := len(m.Columns)
	rank, validation, err := pq.ChooseRank(rows, columns, entries, ranks, cfg, pq.DefaultFolding())
	switch {
	case err == nil:
		cfg.Rank = rank
	case errors.Is(err, pq.ErrTooFew):
		validation.Residuals = make([][]float64, columns)
	default:
		return nil, fmt.Errorf("choose the rank: %w", err)
	}
	fitted, err := pq.Fit(rows, columns, entries, cfg)
	if err != nil {
		return nil, fmt.Errorf("fit: %w", err)
	}
	return &factors{model: fitted, width: halfWidths(validation.Residuals)}, nil
}

// entriesOf lists the observed cells; rows without any are dropped.
func entriesOf(m Matrix) (entries []pq.Entry, rows int, err error) {
	for _, row := range m.Rows {
		at, values, err := observed(row, len(m.Columns))
		if err != nil {
			return nil, 0, err
		}
		if len(at) == 0 {
			continue
		}
		for i, j := range at {
			entries = append(entries, pq.Entry{Row: rows, Column: j, Value: values[i]})
		}
		rows++
	}
	if rows == 0 {
		return nil, 0, ErrNoTraining
	}
	return entries, rows, nil
}

// factors is a fitted factorisation with the width of its intervals.
type factors struct {
	model *pq.Model
	width []float64
}

func (f *factors) Complete(row []float64) ([]Cell, error) {
	at, values, err := observed(row, f.model.Columns())
	if err != nil {
		return nil, err
	}
	completed := make([]float64, len(row))
	if err := f.model.FoldIn(at, values, completed); err != nil {
		return nil, err
	}
	return cells(row, completed, f.width, f.model.Informed), nil
}
