package classify

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"
)

var svdDescriptor = Descriptor{
	Name:    "svd",
	Summary: "singular value decomposition of the matrix with holes filled, no descent: a baseline",
	Paper:   "Delimitrou 2015, §3.2, its first step alone",
	New:     func() Classifier { return onlyCertain{plainSVD{}} },
}

var errSVD = errors.New("classify: the singular value decomposition did not converge")

type plainSVD struct{}

func (plainSVD) Fit(m Matrix, seed uint64) (Model, error) {
	known, err := trainingMatrix(m)
	if err != nil {
		return nil, err
	}
	fit := func(train Matrix, rank int) (filler, error) { return newSpace(train.Rows, len(m.Columns), rank) }
	rank, err := bestOf(known, seed, ranks, fit)
	if err != nil {
		return nil, err
	}
	model, err := newSpace(known.Rows, len(m.Columns), rank)
	if err != nil {
		return nil, err
	}
	model.width, err = calibrate(known, seed, false, func(train Matrix) (filler, error) { return fit(train, rank) })
	return model, err
}

// space is what the first rank right singular vectors span.
type space struct {
	mean    []float64 // NaN for a column without cells
	vectors *mat.Dense
	rank    int
	width   *intervals
}

// newSpace decomposes the matrix whose holes are filled as a new row's are: by
// the column means, scaled by the row's known cells. The right singular vectors
// are the eigenvectors of AᵀA, so the cost is O(rows·columns² + columns³).
func newSpace(rows [][]float64, columns, rank int) (*space, error) {
	s := &space{mean: newNearest(rows, columns, 1).mean, rank: min(rank, columns)}
	square := mat.NewSymDense(columns, nil)
	filled := mat.NewVecDense(columns, nil)
	for _, row := range rows {
		s.fillRow(row, filled.RawVector().Data)
		square.SymRankOne(square, 1, filled)
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(square, true) {
		return nil, errSVD
	}
	s.vectors = mat.NewDense(columns, columns, nil)
	eigen.VectorsTo(s.vectors) // ascending eigenvalues
	return s, nil
}

func (s *space) fillRow(row, out []float64) {
	var at []int
	for j, v := range row {
		if !math.IsNaN(v) {
			at = append(at, j)
		}
	}
	ratio := ratioTo(s.mean, row, at)
	for j, v := range row {
		switch {
		case !math.IsNaN(v):
			out[j] = v
		case s.informed(j):
			out[j] = ratio * s.mean[j]
		default:
			out[j] = 0
		}
	}
}

func (s *space) informed(j int) bool { return !math.IsNaN(s.mean[j]) }

// complete projects the filled row on the space.
func (s *space) complete(row, _, out, deviation []float64) error {
	columns := len(row)
	filled := make([]float64, columns)
	s.fillRow(row, filled)
	clear(out)
	for k := columns - s.rank; k < columns; k++ {
		var along float64
		for j, v := range filled {
			along += v * s.vectors.At(j, k)
		}
		for j := range out {
			out[j] += along * s.vectors.At(j, k)
		}
	}
	for j := range deviation {
		deviation[j] = 1
	}
	return nil
}

func (s *space) Complete(row, _ []float64) ([]Cell, error) {
	if _, _, err := observed(row, nil, len(s.mean)); err != nil {
		return nil, err
	}
	return completeWith(s, row, nil, s.width)
}
