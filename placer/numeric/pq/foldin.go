package pq

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// fitPrior estimates the distribution of row factors: mean q̄ and covariance S,
// shrunk to the rows' mean square by priorRows pseudo-rows. FoldIn needs
// σ²·S⁻¹, which is dims×dims.
func (m *Model) fitPrior() error {
	d := m.dims
	m.priorMean = make([]float64, d)
	var square float64
	for i := range m.rows {
		for k, v := range m.q[i*d : (i+1)*d] {
			m.priorMean[k] += v / float64(m.rows)
			square += v * v / float64(m.rows*d)
		}
	}
	cov := mat.NewSymDense(d, nil)
	for i := range m.rows {
		q := m.q[i*d : (i+1)*d]
		for a := range d {
			for b := a; b < d; b++ {
				cov.SetSym(a, b, cov.At(a, b)+(q[a]-m.priorMean[a])*(q[b]-m.priorMean[b]))
			}
		}
	}
	for a := range d {
		cov.SetSym(a, a, cov.At(a, a)+priorRows*max(square, noiseFloor))
	}
	cov.ScaleSym(1/float64(m.rows+priorRows), cov)
	var factor mat.Cholesky
	if !factor.Factorize(cov) {
		return fmt.Errorf("%w: the rows' factors have no covariance", ErrDiverged)
	}
	var inverse mat.SymDense
	if err := factor.InverseTo(&inverse); err != nil {
		return fmt.Errorf("%w: %w", ErrDiverged, err)
	}
	variance := max(m.rmse, noiseFloor) * max(m.rmse, noiseFloor)
	m.penalty = make([]float64, d*d)
	for a := range d {
		for b := range d {
			m.penalty[a*d+b] = variance * inverse.At(a, b)
		}
	}
	return nil
}

// FoldIn completes a new row from its observed cells, leaving the model as it
// is. columns and values are parallel, out has Columns elements and receives
// the model's value of every cell, the observed ones included. It minimises
//
//	Σ over observed j of (value_j − q·p_j)² + σ²·(q−q̄)ᵀ·S⁻¹·(q−q̄)
//
// where q̄ and S are mean and covariance of the training rows' factors and σ is
// the fit's error: the conditional mean of a Gaussian row. With no observed
// cell the result is the mean row. A cell of a column that is not Informed is
// passed over. Cost: O(observed·dims² + dims³).
//
// It returns ErrShape and ErrNotFinite; out is then untouched.
func (m *Model) FoldIn(columns []int, values []float64, out []float64) error {
	if len(columns) != len(values) || len(out) != m.columns {
		return fmt.Errorf("%w: %d columns, %d values, %d out for %d columns", ErrShape, len(columns), len(values), len(out), m.columns)
	}
	d := m.dims
	a, b := make([]float64, d*d), make([]float64, d)
	copy(a, m.penalty)
	for i, j := range columns {
		if j < 0 || j >= m.columns {
			return fmt.Errorf("%w: column %d of %d", ErrShape, j, m.columns)
		}
		if math.IsNaN(values[i]) || math.IsInf(values[i], 0) {
			return fmt.Errorf("%w: column %d", ErrNotFinite, j)
		}
		if !m.informed[j] {
			continue // nothing is known that could relate this cell to others
		}
		p := m.p[j*d : (j+1)*d]
		residual := values[i]/m.scale - m.mean - m.offset[j]
		for k, v := range p {
			residual -= v * m.priorMean[k]
		}
		for x := range d {
			b[x] += p[x] * residual
			for y := range d {
				a[x*d+y] += p[x] * p[y]
			}
		}
	}
	solve(a, b)
	for k := range b {
		b[k] += m.priorMean[k]
	}
	for j := range out {
		out[j] = m.value(b, j)
	}
	return nil
}

// solve overwrites b with a⁻¹·b by Cholesky factors, in place. a is symmetric
// positive definite, len(b)×len(b): the penalty is, and the rest only adds to
// it.
func solve(a, b []float64) {
	n := len(b)
	for j := range n {
		for k := range j {
			a[j*n+j] -= a[j*n+k] * a[j*n+k]
		}
		a[j*n+j] = math.Sqrt(a[j*n+j])
		for i := j + 1; i < n; i++ {
			for k := range j {
				a[i*n+j] -= a[i*n+k] * a[j*n+k]
			}
			a[i*n+j] /= a[j*n+j]
		}
	}
	for i := range n {
		for k := range i {
			b[i] -= a[i*n+k] * b[k]
		}
		b[i] /= a[i*n+i]
	}
	for i := n - 1; i >= 0; i-- {
		for k := i + 1; k < n; k++ {
			b[i] -= a[k*n+i] * b[k]
		}
		b[i] /= a[i*n+i]
	}
}
