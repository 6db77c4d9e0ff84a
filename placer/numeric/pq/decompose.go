package pq

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
)

// exactSide is the shorter side up to which a matrix is decomposed exactly; it
// takes a second at 256×10,000 (chosen by us).
const exactSide = 256

// oversampling and powerSteps are Halko 2011, §4.2 and §4.5: a few more random
// directions than wanted, turned towards the leading ones.
const (
	oversampling = 10
	powerSteps   = 4
)

// decompose returns at least the first rank singular vectors, as columns of u
// and v, and values, descending. A large matrix is decomposed within a random
// subspace (Halko 2011, algorithm 4.4): the descent only starts from there.
func decompose(a *mat.Dense, rank int, seed uint64) (u, v *mat.Dense, values []float64, err error) {
	rows, columns := a.Dims()
	if min(rows, columns) <= exactSide || rank+oversampling >= min(rows, columns) {
		return thin(a)
	}
	rng := rand.New(rand.NewPCG(seed, uint64(rank)))
	directions := mat.NewDense(columns, rank+oversampling, nil)
	for i := range columns {
		for k := range rank + oversampling {
			directions.Set(i, k, rng.NormFloat64())
		}
	}
	basis := orthonormal(product(a, directions))
	for range powerSteps {
		basis = orthonormal(product(a.T(), basis))
		basis = orthonormal(product(a, basis))
	}
	small, v, values, err := thin(product(basis.T(), a))
	if err != nil {
		return nil, nil, nil, err
	}
	return product(basis, small), v, values, nil
}

func thin(a *mat.Dense) (u, v *mat.Dense, values []float64, err error) {
	var svd mat.SVD
	if !svd.Factorize(a, mat.SVDThin) {
		return nil, nil, nil, ErrSVD
	}
	u, v = new(mat.Dense), new(mat.Dense)
	svd.UTo(u)
	svd.VTo(v)
	return u, v, svd.Values(nil), nil
}

func product(a, b mat.Matrix) *mat.Dense {
	var out mat.Dense
	out.Mul(a, b)
	return &out
}

// orthonormal is a basis of the columns of a, tall, by modified Gram-Schmidt
// done twice; a column within the others' span becomes zero.
func orthonormal(a *mat.Dense) *mat.Dense {
	rows, columns := a.Dims()
	list := make([][]float64, columns)
	for k := range list {
		list[k] = mat.Col(nil, k, a)
		before := norm(list[k])
		for range 2 {
			for _, other := range list[:k] {
				along := dot(list[k], other)
				for i := range list[k] {
					list[k][i] -= along * other[i]
				}
			}
		}
		length := norm(list[k])
		if length <= spanTolerance*before {
			clear(list[k])
			continue
		}
		for i := range list[k] {
			list[k][i] /= length
		}
	}
	out := mat.NewDense(rows, columns, nil)
	for k, column := range list {
		out.SetCol(k, column)
	}
	return out
}

// spanTolerance is the share of a column's length below which what is left of it
// is rounding.
const spanTolerance = 1e-12

func dot(a, b []float64) float64 {
	var sum float64
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

func norm(a []float64) float64 { return math.Sqrt(dot(a, a)) }

// Concepts are the singular values of the completed matrix Q·Pᵀ without offsets,
// descending, each as a share of their sum: how much of what rows have in common
// each similarity concept carries (Delimitrou 2015, §3.2: the second
// decomposition). nil where nothing is in common.
func (m *Model) Concepts() []float64 {
	first := 0
	if m.bias != NoBias {
		first = 1
	}
	rank := m.dims - first
	if rank == 0 {
		return nil
	}
	left, right := gram(m.q, m.rows, m.dims, first), gram(m.p, m.columns, m.dims, first)
	var factor mat.EigenSym
	if !factor.Factorize(left, true) {
		return nil
	}
	var vectors mat.Dense
	factor.VectorsTo(&vectors)
	for k, v := range factor.Values(nil) {
		for i := range rank {
			vectors.Set(i, k, vectors.At(i, k)*math.Sqrt(max(0, v)))
		}
	}
	inner := product(vectors.T(), product(right, &vectors))
	symmetric := mat.NewSymDense(rank, nil)
	for i := range rank {
		for j := i; j < rank; j++ {
			symmetric.SetSym(i, j, (inner.At(i, j)+inner.At(j, i))/2)
		}
	}
	if !factor.Factorize(symmetric, false) {
		return nil
	}
	return shares(factor.Values(nil))
}

// shares turns ascending squares into descending roots that sum to one.
func shares(squares []float64) []float64 {
	out := make([]float64, len(squares))
	var sum float64
	for k, v := range squares {
		out[len(squares)-1-k] = math.Sqrt(max(0, v))
		sum += out[len(squares)-1-k]
	}
	if sum == 0 {
		return nil
	}
	for k := range out {
		out[k] /= sum
	}
	return out
}

// gram is XᵀX of the last dims−first columns of the row-major n×dims matrix x.
func gram(x []float64, n, dims, first int) *mat.SymDense {
	out := mat.NewSymDense(dims-first, nil)
	for i := range n {
		out.SymRankOne(out, 1, mat.NewVecDense(dims-first, x[i*dims+first:(i+1)*dims]))
	}
	return out
}
