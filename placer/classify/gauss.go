package classify

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/nomad-placer/nomad-placer/placer/numeric/gauss"
)

var gaussDescriptor = Descriptor{
	Name:    "gauss",
	Summary: "ours: rows as one normal distribution with shrunk covariance, speeds in logarithms",
	New:     func() Classifier { return inLogs{gaussian{}} },
}

// shrinkages are the weights of constant correlation cross-validation chooses
// from, the first where it cannot (chosen by us).
var shrinkages = []float64{0.2, 0.02, 0.05, 0.1, 0.4, 0.7}

// The prior of gaussian: rows differ from the mean row in proportion to it, by
// priorSpread of it (what the scaled column mean assumes), and a little in each
// cell. It counts as priorRows rows. Chosen by us.
const (
	priorRows   = 1
	priorSpread = 0.5
	priorOwn    = 0.05
)

// cellNoise is the least standard deviation of a cell, relative to the root
// mean square of all: a short measurement is hardly better than that (chosen by
// us).
const cellNoise = 0.01

// emSteps bounds the fit and emTolerance ends it, in standard deviations.
const (
	emSteps     = 20
	emTolerance = 1e-2
)

type gaussian struct{}

func (gaussian) Fit(m Matrix, seed uint64) (Model, error) {
	known, err := trainingMatrix(m)
	if err != nil {
		return nil, err
	}
	best, err := bestShrinkage(known, seed)
	if err != nil {
		return nil, err
	}
	fit := func(train Matrix) (filler, error) {
		model, err := fitGauss(train, best)
		return gaussFiller{model}, err
	}
	width, err := calibrate(known, seed, true, fit)
	if err != nil {
		return nil, err
	}
	model, err := fitGauss(known, best)
	if err != nil {
		return nil, err
	}
	return &normal{model: model, width: width}, nil
}

func bestShrinkage(m Matrix, seed uint64) (float64, error) {
	return bestOf(m, seed, shrinkages, func(train Matrix, s float64) (filler, error) {
		model, err := fitGauss(train, s)
		return gaussFiller{model}, err
	})
}

func fitGauss(m Matrix, shrinkage float64) (*gauss.Model, error) {
	columns := len(m.Columns)
	return gauss.Fit(m.Rows, m.Deviations, columns, gaussConfig(m.Rows, columns, shrinkage))
}

func gaussConfig(rows [][]float64, columns int, shrinkage float64) gauss.Config {
	mean, square := columnMeansOf(rows, columns)
	prior := mat.NewSymDense(columns, nil)
	for i := range columns {
		for j := i; j < columns; j++ {
			prior.SetSym(i, j, priorSpread*priorSpread*mean[i]*mean[j])
		}
	}
	for j := range columns {
		prior.SetSym(j, j, prior.At(j, j)+priorOwn*priorOwn*square)
	}
	return gauss.Config{
		Shrinkage: shrinkage, Noise: max(cellNoise*math.Sqrt(square), math.SmallestNonzeroFloat32),
		Prior: prior, PriorRows: priorRows, Iterations: emSteps, Tolerance: emTolerance,
	}
}

// columnMeansOf also returns the mean square of all cells.
func columnMeansOf(rows [][]float64, columns int) (means []float64, square float64) {
	sums, counts, n := make([]float64, columns), make([]int, columns), 0
	for _, row := range rows {
		for j, v := range row {
			if !math.IsNaN(v) {
				sums[j] += v
				counts[j]++
				square += v * v
				n++
			}
		}
	}
	for j := range sums {
		if counts[j] > 0 {
			sums[j] /= float64(counts[j])
		}
	}
	return sums, square / float64(n)
}

type gaussFiller struct{ model *gauss.Model }

func (f gaussFiller) complete(row, noise, out, deviation []float64) error {
	return f.model.Complete(row, noise, out, deviation)
}

func (f gaussFiller) informed(j int) bool { return f.model.Informed(j) }

// normal is a fitted distribution; its intervals are in conditional standard deviations.
type normal struct {
	model *gauss.Model
	width *intervals
}

func (n *normal) Complete(row, deviations []float64) ([]Cell, error) {
	if _, _, err := observed(row, deviations, n.model.Columns()); err != nil {
		return nil, err
	}
	return completeWith(gaussFiller{n.model}, row, deviations, n.width)
}

// Plan returns which further columns are worth measuring most.
func (n *normal) Plan(known []int, count int, allowed func(int) bool) ([]int, error) {
	return n.model.Plan(known, count, allowed)
}

// Leftovers are the variances of the columns when known are measured.
func (n *normal) Leftovers(known []int) ([]float64, error) { return n.model.Leftovers(known) }
