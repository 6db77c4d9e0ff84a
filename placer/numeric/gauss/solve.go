package gauss

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
)

// solver solves (Σ_oo + D)·x = Σ_om in memory that it uses again: a fit solves one such system
// per pattern, iteration and candidate of a shrinkage, each so small that mat.Cholesky spends
// most of its time on the estimate of a condition number and on memory.
type solver struct {
	known   []float64 // known×known, its upper triangle, then its factor
	solved  []float64 // known×missing
	cross   []float64 // known×missing
	left    []float64 // missing×missing
	product []float64 // missing×missing
}

// worstCondition is the condition number above which float64 has no digit left.
const worstCondition = 1e16

// general is n×m in a slice that grows where it has to; what is in it is undefined.
func general(memory *[]float64, rows, columns int) blas64.General {
	*memory = slices.Grow((*memory)[:0], rows*columns)[:rows*columns]
	return blas64.General{Rows: rows, Cols: columns, Stride: columns, Data: *memory}
}

// block copies Σ at rows and columns.
func (m *Model) block(memory *[]float64, rows, columns []int) blas64.General {
	out, cov := general(memory, len(rows), len(columns)), m.cov.RawSymmetric()
	for a, i := range rows {
		line := out.Data[a*out.Stride:]
		for b, j := range columns {
			line[b] = cov.Data[min(i, j)*cov.Stride+max(i, j)]
		}
	}
	return out
}

// factorise a positive definite n×n matrix whose upper triangle is in known. The squared ratio
// of the factor's diagonal is a lower bound of the condition number.
func (s *solver) factorise(n int) (blas64.Triangular, error) {
	factor, ok := lapack64.Potrf(blas64.Symmetric{Uplo: blas.Upper, N: n, Stride: n, Data: s.known})
	if !ok {
		return factor, ErrSingular
	}
	least, most := math.Inf(1), 0.0
	for i := range n {
		v := math.Abs(factor.Data[i*n+i])
		least, most = min(least, v), max(most, v)
	}
	if ratio := most / least; !(ratio*ratio <= worstCondition) {
		return factor, ErrSingular
	}
	return factor, nil
}

// solve puts (Σ_oo + D)⁻¹·right into solved; noise is by column, nil: none.
func (s *solver) solve(m *Model, at []int, noise []float64, right blas64.General) (blas64.General, error) {
	known := m.block(&s.known, at, at)
	if noise != nil {
		for a, i := range at {
			known.Data[a*known.Stride+a] += noise[i] * noise[i]
		}
	}
	return s.solveKnown(len(at), right)
}

// solveKnown is solve of what is in known.
func (s *solver) solveKnown(n int, right blas64.General) (blas64.General, error) {
	factor, err := s.factorise(n)
	if err != nil {
		return blas64.General{}, err
	}
	solved := general(&s.solved, right.Rows, right.Cols)
	copy(solved.Data, right.Data)
	lapack64.Potrs(factor, solved)
	return solved, nil
}

// conditional is what the known columns of a row say of the missing ones. It is in the memory
// of its solver, until that solves another.
type conditional struct {
	at, missing []int
	solved      blas64.General // known×missing: (Σ_oo + D)⁻¹·Σ_om; empty where either is
	left        blas64.General // missing×missing conditional covariance
}

// condition prepares the conditional distribution of missing given at, which has noise D.
func (s *solver) condition(m *Model, at, missing []int, noise []float64) (conditional, error) {
	c := conditional{at: at, missing: missing, left: m.block(&s.left, missing, missing)}
	if len(at) == 0 || len(missing) == 0 {
		return c, nil
	}
	cross := m.block(&s.cross, at, missing)
	var err error
	if c.solved, err = s.solve(m, at, noise, cross); err != nil {
		return c, err
	}
	explained := general(&s.product, len(missing), len(missing))
	blas64.Gemm(blas.Trans, blas.NoTrans, 1, c.solved, cross, 0, explained)
	for i, v := range explained.Data {
		c.left.Data[i] -= v
	}
	return c, nil
}

// fill writes the conditional mean into the missing cells of out.
func (c conditional) fill(mean, row, out []float64) {
	for a, i := range c.missing {
		v := mean[i]
		if c.solved.Rows > 0 {
			for b, j := range c.at {
				v += c.solved.Data[b*c.solved.Stride+a] * (row[j] - mean[j])
			}
		}
		out[i] = v
	}
}

// addCovariance adds rows times the conditional covariance.
func (c conditional) addCovariance(cov *mat.SymDense, rows float64) {
	sum := cov.RawSymmetric()
	for a, i := range c.missing {
		left := c.left.Data[a*c.left.Stride:]
		for b := a; b < len(c.missing); b++ {
			sum.Data[i*sum.Stride+c.missing[b]] += rows * left[b]
		}
	}
}
