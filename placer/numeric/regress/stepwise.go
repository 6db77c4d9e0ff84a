package regress

import (
	"fmt"
	"math"
	"slices"
)

// Selection is a subset of columns.
type Selection struct {
	Columns []int // ascending; the intercept is not one of them
	AIC     float64
	AICc    float64 // with the correction for few observations; +Inf where there are too few for it
	SSE     float64
	Steps   int
	// Forward: there were too few observations to begin with the full model.
	Forward bool
}

// AIC of a least-squares fit with p coefficients, the intercept among them.
func AIC(n int, sse float64, p int) float64 {
	return float64(n)*math.Log(sse/float64(n)) + 2*float64(p)
}

// corrected is AICc.
func corrected(aic float64, n, p int) float64 {
	if n <= p+1 {
		return math.Inf(1)
	}
	return aic + 2*float64(p)*float64(p+1)/float64(n-p-1)
}

// dependent is the share of a column's variance that must be left besides those
// chosen for it to be one more.
const dependent = 1e-9

// exact is the share of the variance of the response below which an error counts
// as none: AIC would go on for ever.
const exact = 1e-14

// Stepwise chooses columns of rows, which hold no column of ones, by AIC. Constant
// columns are never chosen. A response without variance is ErrConstant.
func Stepwise(rows [][]float64, y []float64) (Selection, error) {
	if err := check(rows, y); err != nil {
		return Selection{}, err
	}
	s := newSearch(rows, y)
	if !(s.total > 0) {
		return Selection{}, fmt.Errorf("%w: %v in %d observations", ErrConstant, y[0], len(y))
	}
	if len(y) > s.usable()+1+2 {
		s.fill()
	} else {
		s.forward = true
	}
	steps := 0
	for ; steps < 10*s.p+100; steps++ {
		k, gain := s.best()
		if k < 0 || gain >= -1e-9 {
			break
		}
		s.sweep(k)
	}
	return s.selection(steps), nil
}

// search is the matrix of cross products of the centred columns and the response,
// swept by the columns chosen.
type search struct {
	n, p    int
	a       [][]float64
	own     []float64 // variance of each column before any sweep
	in      []bool
	total   float64
	forward bool
}

func newSearch(rows [][]float64, y []float64) *search {
	n, p := len(rows), len(rows[0])
	s := &search{n: n, p: p, in: make([]bool, p), own: make([]float64, p)}
	mean := make([]float64, p+1)
	at := func(i, j int) float64 {
		if j == p {
			return y[i]
		}
		return rows[i][j]
	}
	for j := range mean {
		for i := range n {
			mean[j] += at(i, j) / float64(n)
		}
	}
	s.a = make([][]float64, p+1)
	for j := range s.a {
		s.a[j] = make([]float64, p+1)
	}
	centred := make([]float64, p+1)
	for i := range n {
		for j := range centred {
			centred[j] = at(i, j) - mean[j]
		}
		for j, v := range centred {
			for k := j; k <= p; k++ {
				s.a[j][k] += v * centred[k]
			}
		}
	}
	for j := range s.a {
		for k := range j {
			s.a[j][k] = s.a[k][j]
		}
	}
	for j := range s.own {
		s.own[j] = s.a[j][j]
		if s.own[j] <= 1e-24*float64(n)*(1+mean[j]*mean[j]) {
			s.own[j] = 0 // rounding of a constant
		}
	}
	s.total = s.a[p][p]
	if s.total <= 1e-24*float64(n)*mean[p]*mean[p] {
		s.total = 0
	}
	return s
}

// usable is the number of columns that are not constant.
func (s *search) usable() int {
	n := 0
	for _, v := range s.own {
		if v > 0 {
			n++
		}
	}
	return n
}

// free reports whether a column can be added.
func (s *search) free(k int) bool {
	return !s.in[k] && s.own[k] > 0 && s.a[k][k] > dependent*s.own[k]
}

// fill chooses all columns, as far as they are independent: the least dependent
// first.
func (s *search) fill() {
	for {
		best, most := -1, 0.0
		for k := range s.p {
			if s.free(k) && s.a[k][k]/s.own[k] > most {
				best, most = k, s.a[k][k]/s.own[k]
			}
		}
		if best < 0 {
			return
		}
		s.sweep(best)
	}
}

// sweep adds a column, or takes it out again.
func (s *search) sweep(k int) {
	d := s.a[k][k]
	row := s.a[k]
	for j := range row {
		row[j] /= d
	}
	for i := range s.a {
		if i == k {
			continue
		}
		b := s.a[i][k]
		for j, v := range row {
			s.a[i][j] -= b * v
		}
		s.a[i][k] = -b / d
	}
	row[k] = 1 / d
	s.in[k] = !s.in[k]
}

func (s *search) sse() float64 { return max(s.a[s.p][s.p], exact*s.total) }

func (s *search) coefficients() int {
	n := 1
	for _, in := range s.in {
		if in {
			n++
		}
	}
	return n
}

// best is the change that lowers AIC most, and by how much.
func (s *search) best() (column int, gain float64) {
	now, p := s.sse(), s.coefficients()
	aic := AIC(s.n, now, p)
	column = -1
	for k := range s.p {
		var sse float64
		next := p + 1
		switch {
		case s.in[k]:
			sse, next = now+s.a[k][s.p]*s.a[k][s.p]/s.a[k][k], p-1
		case s.free(k) && s.n > p+1:
			sse = max(now-s.a[k][s.p]*s.a[k][s.p]/s.a[k][k], exact*s.total)
		default:
			continue
		}
		if change := AIC(s.n, sse, next) - aic; column < 0 || change < gain {
			column, gain = k, change
		}
	}
	return column, gain
}

func (s *search) selection(steps int) Selection {
	out := Selection{SSE: s.sse(), Steps: steps, Forward: s.forward}
	for k, in := range s.in {
		if in {
			out.Columns = append(out.Columns, k)
		}
	}
	slices.Sort(out.Columns)
	p := len(out.Columns) + 1
	out.AIC = AIC(s.n, out.SSE, p)
	out.AICc = corrected(out.AIC, s.n, p)
	return out
}
