package classify

import (
	"errors"
	"fmt"
	"math"

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

// Fit factorises the matrix at the rank cross-validation prefers, or at pq's default with too
// few rows to hold any out.
func (c collaborative) Fit(m Matrix, seed uint64) (Model, error) {
	known, err := trainingMatrix(m)
	if err != nil {
		return nil, err
	}
	cfg := pq.Defaults()
	cfg.Seed, cfg.Bias = seed, c.bias
	entries := entriesOf(known)
	rank, _, err := pq.ChooseRank(len(known.Rows), len(m.Columns), entries, ranks, cfg, folding(m))
	switch {
	case err == nil:
		cfg.Rank = rank
	case errors.Is(err, pq.ErrTooFew):
	default:
		return nil, fmt.Errorf("choose the rank: %w", err)
	}
	fitted, err := factorise(known, cfg)
	if err != nil {
		return nil, err
	}
	cfg.MaxEpochs = min(cfg.MaxEpochs, pq.DefaultFolding().Epochs)
	fitted.width, err = calibrate(known, seed, false, func(train Matrix) (filler, error) { return factorise(train, cfg) })
	return fitted, err
}

func factorise(m Matrix, cfg pq.Config) (*factors, error) {
	fitted, err := pq.Fit(len(m.Rows), len(m.Columns), entriesOf(m), cfg)
	if err != nil {
		return nil, fmt.Errorf("fit: %w", err)
	}
	return &factors{model: fitted}, nil
}

func folding(m Matrix) pq.Folding {
	f := pq.DefaultFolding()
	f.Always = m.Always
	return f
}

// entriesOf lists the observed cells.
func entriesOf(m Matrix) (entries []pq.Entry) {
	for i, row := range m.Rows {
		for j, v := range row {
			if !math.IsNaN(v) {
				entries = append(entries, pq.Entry{Row: i, Column: j, Value: v})
			}
		}
	}
	return entries
}

// factors is a fitted factorisation with the width of its intervals.
type factors struct {
	model *pq.Model
	width *intervals
}

func (f *factors) informed(j int) bool { return f.model.Informed(j) }

// complete implements filler.
func (f *factors) complete(row, _, out, deviation []float64) error {
	at, values, err := observed(row, nil, f.model.Columns())
	if err != nil {
		return err
	}
	for j := range deviation {
		deviation[j] = 1
	}
	return f.model.FoldIn(at, values, out)
}

func (f *factors) Complete(row, _ []float64) ([]Cell, error) {
	if _, _, err := observed(row, nil, f.model.Columns()); err != nil {
		return nil, err
	}
	return completeWith(f, row, nil, f.width)
}

// Concepts is how much of what workloads have in common each similarity concept
// carries, descending, in sum 1 (Delimitrou 2015, §3.2: the singular values of
// the completed matrix as confidence). How the paper uses it is not stated; here
// it is shown.
func (f *factors) Concepts() []float64 { return f.model.Concepts() }
