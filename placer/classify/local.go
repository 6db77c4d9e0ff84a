package classify

import (
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/numeric/gauss"
)

var localDescriptor = Descriptor{
	Name:    "local",
	Summary: "ours: gauss with training rows weighted by how near they are in the known cells",
	New:     func() Classifier { return inLogs{localised{}} },
}

// bandwidths are what cross-validation chooses from, in standard deviations; the
// widest is hardly different from gauss (chosen by us).
var bandwidths = []float64{4, 0.1, 0.2, 0.4, 0.8, 1.5}

// localPriorRows is how many rows the distribution of all rows counts as, next to the near
// ones (chosen by us).
const localPriorRows = 1

type localised struct{}

func (localised) Fit(m Matrix, seed uint64) (Model, error) {
	known, err := trainingMatrix(m)
	if err != nil {
		return nil, err
	}
	shrinkage, err := bestShrinkage(known, seed)
	if err != nil {
		return nil, err
	}
	folds := localFolds{shrinkage: shrinkage}
	fit := folds.fit
	bandwidth, err := bestOf(known, seed, bandwidths, fit)
	if err != nil {
		return nil, err
	}
	width, err := calibrate(known, seed, true, func(train Matrix) (filler, error) { return fit(train, bandwidth) })
	if err != nil {
		return nil, err
	}
	model, err := newLocal(known, shrinkage, bandwidth)
	if err != nil {
		return nil, err
	}
	return &near{localFiller: model, width: width}, nil
}

// localFolds keeps what was fitted to the folds of one matrix: no bandwidth changes it.
type localFolds struct {
	shrinkage float64
	fitted    []foldFit
}

type foldFit struct {
	rows  [][]float64
	model localFiller
}

func (f *localFolds) fit(train Matrix, bandwidth float64) (filler, error) {
	for _, known := range f.fitted {
		if sameRows(known.rows, train.Rows) {
			return localFiller{known.model.model.With(bandwidth)}, nil
		}
	}
	model, err := newLocal(train, f.shrinkage, bandwidth)
	if err != nil {
		return nil, err
	}
	f.fitted = append(f.fitted, foldFit{train.Rows, model})
	return model, nil
}

// sameRows reports whether both are the very same rows, which parts of a matrix share.
func sameRows(a, b [][]float64) bool {
	return slices.EqualFunc(a, b, func(x, y []float64) bool { return len(x) > 0 && len(y) > 0 && &x[0] == &y[0] })
}

type localFiller struct{ model *gauss.Local }

func newLocal(m Matrix, shrinkage, bandwidth float64) (localFiller, error) {
	model, err := fitGauss(m, shrinkage)
	if err != nil {
		return localFiller{}, err
	}
	local, err := gauss.NewLocal(model, m.Rows, m.Deviations, bandwidth, localPriorRows)
	return localFiller{local}, err
}

func (f localFiller) complete(row, noise, out, deviation []float64) error {
	return f.model.Complete(row, noise, out, deviation)
}

func (f localFiller) informed(j int) bool { return f.model.Informed(j) }

// near is a fitted Local; its intervals are in conditional standard deviations.
type near struct {
	localFiller
	width *intervals
}

func (n *near) Complete(row, deviations []float64) ([]Cell, error) {
	if _, _, err := observed(row, deviations, n.model.Columns()); err != nil {
		return nil, err
	}
	return completeWith(n.localFiller, row, deviations, n.width)
}

// Plan returns which further columns are worth measuring most, by the distribution
// of all rows: which of them are near is not known before.
func (n *near) Plan(known []int, count int, allowed func(int) bool) ([]int, error) {
	return n.model.Plan(known, count, allowed)
}

// Leftovers are the variances of the columns when known are measured.
func (n *near) Leftovers(known []int) ([]float64, error) { return n.model.Leftovers(known) }
