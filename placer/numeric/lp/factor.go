package lp

import (
	"math"
	"slices"
)

// Bounds of the factorisation (chosen by us, as usual in the literature).
const (
	pivotShare  = 0.1   // a pivot is at least this share of the largest of its column
	pivotLeast  = 1e-11 // below this a column counts as dependent
	dropBelow   = 1e-14 // smaller entries of factors are dropped
	refactorAll = 64    // steps between factorisations
)

// factors is L·U of a basis, times a product of steps.
type factors struct {
	rows  int
	pivot []int32 // row of step k
	at    []int32 // position in the basis of step k
	diag  []float64
	lower []triangle // by step: rows not yet pivoted
	upper []triangle // by step: rows pivoted before
	etas  []eta

	work []float64
}

// triangle is a sparse column.
type triangle struct {
	row   []int32
	value []float64
}

// eta is one exchange in the basis: the column at position p became column.
type eta struct {
	p      int32
	pivot  float64
	column triangle // without p
}

// factorise a basis of sparse columns. Where columns depend on each other it
// returns the positions that had no pivot, and the rows that have none.
func (f *factors) factorise(rows int, column func(position int) ([]int32, []float64)) (positions, unpivoted []int32) {
	f.rows = rows
	f.pivot, f.at, f.diag = f.pivot[:0], f.at[:0], f.diag[:0]
	f.lower, f.upper, f.etas = f.lower[:0], f.upper[:0], f.etas[:0]
	f.work = grown(f.work, rows)
	done := make([]int32, rows) // step that pivoted a row
	count := make([]int32, rows)
	order := make([]int32, rows)
	for p := range rows {
		done[p], order[p] = -1, int32(p)
		index, _ := column(p)
		for _, r := range index {
			count[r]++
		}
	}
	length := func(p int32) int { index, _ := column(int(p)); return len(index) }
	slices.SortStableFunc(order, func(a, b int32) int { return length(a) - length(b) })
	x := f.work
	for _, p := range order {
		index, value := column(int(p))
		for k, r := range index {
			x[r] = value[k]
		}
		f.forwardLower(x)
		best, most := int32(-1), 0.0
		for r := range rows {
			if done[r] < 0 {
				most = max(most, math.Abs(x[r]))
			}
		}
		if most < pivotLeast {
			positions = append(positions, p)
			clear(x)
			continue
		}
		for r := range rows {
			if done[r] < 0 && math.Abs(x[r]) >= pivotShare*most && (best < 0 || count[r] < count[best]) {
				best = int32(r)
			}
		}
		var low, up triangle
		for r := range rows {
			v := x[r]
			x[r] = 0
			switch {
			case int32(r) == best || math.Abs(v) < dropBelow:
			case done[r] >= 0:
				up.row, up.value = append(up.row, int32(r)), append(up.value, v)
			default:
				low.row, low.value = append(low.row, int32(r)), append(low.value, v)
			}
			if int32(r) == best {
				f.diag = append(f.diag, v)
			}
		}
		d := f.diag[len(f.diag)-1]
		for k := range low.value {
			low.value[k] /= d
		}
		done[best] = int32(len(f.pivot))
		f.pivot, f.at = append(f.pivot, best), append(f.at, p)
		f.lower, f.upper = append(f.lower, low), append(f.upper, up)
	}
	for r := range rows {
		if done[r] < 0 {
			unpivoted = append(unpivoted, int32(r))
		}
	}
	return positions, unpivoted
}

func (f *factors) forwardLower(x []float64) {
	for k, r := range f.pivot {
		v := x[r]
		if v == 0 {
			continue
		}
		l := &f.lower[k]
		for i, row := range l.row {
			x[row] -= l.value[i] * v
		}
	}
}

// forward solves B·out = x, x by row and destroyed, out by position.
func (f *factors) forward(x, out []float64) {
	f.forwardLower(x)
	for k := len(f.pivot) - 1; k >= 0; k-- {
		v := x[f.pivot[k]]
		if v != 0 {
			v /= f.diag[k]
			u := &f.upper[k]
			for i, row := range u.row {
				x[row] -= u.value[i] * v
			}
		}
		out[f.at[k]] = v
	}
	for k := range f.etas {
		e := &f.etas[k]
		v := out[e.p]
		if v == 0 {
			continue
		}
		v /= e.pivot
		for i, p := range e.column.row {
			out[p] -= e.column.value[i] * v
		}
		out[e.p] = v
	}
}

// backward solves Bᵀ·out = c, c by position and destroyed, out by row.
func (f *factors) backward(c, out []float64) {
	for k := len(f.etas) - 1; k >= 0; k-- {
		e := &f.etas[k]
		v := c[e.p]
		for i, p := range e.column.row {
			v -= e.column.value[i] * c[p]
		}
		c[e.p] = v / e.pivot
	}
	for k, r := range f.pivot {
		v := c[f.at[k]]
		u := &f.upper[k]
		for i, row := range u.row {
			v -= u.value[i] * out[row]
		}
		out[r] = v / f.diag[k]
	}
	for k := len(f.pivot) - 1; k >= 0; k-- {
		v := out[f.pivot[k]]
		l := &f.lower[k]
		for i, row := range l.row {
			v -= l.value[i] * out[row]
		}
		out[f.pivot[k]] = v
	}
}

// exchange the column at position p for the one whose forward solution is alpha.
func (f *factors) exchange(p int, alpha []float64) {
	e := eta{p: int32(p), pivot: alpha[p]}
	for i, v := range alpha {
		if i != p && math.Abs(v) > dropBelow {
			e.column.row, e.column.value = append(e.column.row, int32(i)), append(e.column.value, v)
		}
	}
	f.etas = append(f.etas, e)
}

// grown returns a slice of n zeros, reusing storage.
func grown(v []float64, n int) []float64 {
	if cap(v) < n {
		return make([]float64, n)
	}
	v = v[:n]
	clear(v)
	return v
}
