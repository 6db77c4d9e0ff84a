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
	New:     func() Classifier { return onlyCertain{collaborative{bias: pq.NoBias}} },
}

var cfBiasDescriptor = Descriptor{
	Name:    "cf-bias",
	Summary: "cf with the mean and a learned offset per workload",
	Paper:   "Delimitrou 2015, §4.3.1",
	New:     func() Classifier { return onlyCertain{collaborative{bias: pq.LearnedBias}} },
}

var cfLogDescriptor = Descriptor{
	Name:    "cf-log",
	Summary: "ours: cf with speeds in logarithms",
	New:     func() Classifier { return inLogs{onlyCertain{collaborative{bias: pq.NoBias}}} },
}

var cfShrunkDescriptor = Descriptor{
	Name:    "cf-shrunk",
	Summary: "cf with the mean and a fixed offset per workload, shrunk to none",
	Paper:   "Delimitrou 2015, §4.3.1, the offset's rule ours",
	New:     func() Classifier { return onlyCertain{collaborative{bias: pq.ShrunkBias}} },
}

// ranks are the numbers of similarity concepts cross-validation chooses from. One
// is for small and sparse training sets: on synthetic rows with a third of the
// cells known, leaving it out made predictions from 20 rows worse than the mean.
var ranks = []int{1, 2, 3, 4}

type collaborative struct{ bias pq.Bias }

// Fit factorises the matrix at the rank cross-validation prefers. With too few
// rows to hold any out it uses pq's default rank, and predictions have no
// interval.
func (c collaborative) Fit(m Matrix, seed uint64) (Model, error) {
	entries, rows, err := entriesOf(m)
	if err != nil {
		return nil, err
	}
	cfg := pq.Defaults()
	cfg.Seed, cfg.Bias = seed, c.bias
	columns := len(m.Columns)
	rank, validation, err := pq.ChooseRank(rows, columns, entries, ranks, cfg, folding(m))
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

func folding(m Matrix) pq.Folding {
	f := pq.DefaultFolding()
	f.Always = m.Always
	return f
}

// entriesOf lists the observed cells; rows without any are dropped.
func entriesOf(m Matrix) (entries []pq.Entry, rows int, err error) {
	for _, row := range m.Rows {
		at, values, err := observed(row, nil, len(m.Columns))
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

func (f *factors) Complete(row, _ []float64) ([]Cell, error) {
	at, values, err := observed(row, nil, f.model.Columns())
	if err != nil {
		return nil, err
	}
	completed := make([]float64, len(row))
	if err := f.model.FoldIn(at, values, completed); err != nil {
		return nil, err
	}
	return cells(row, completed, f.width, f.model.Informed), nil
}

// Concepts is how much of what workloads have in common each similarity concept
// carries, descending, in sum 1 (Delimitrou 2015, §3.2: the singular values of
// the completed matrix as confidence). How the paper uses it is not stated; here
// it is shown.
func (f *factors) Concepts() []float64 { return f.model.Concepts() }
