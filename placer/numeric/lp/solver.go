package lp

import (
	"fmt"
	"math"
)

// Tolerances, on scaled numbers (chosen by us, as usual in the literature).
const (
	feasible    = 1e-9 // a bound may be broken by this
	optimal     = 1e-9 // a reduced cost of this counts as none
	stepLeast   = 1e-9 // least entry a step may pivot on
	stalledMost = 200  // steps without gain before Bland's rule takes over
	acceptable  = 1e-6 // relative error of the final point, else ErrNumeric
)

// where a variable is.
type place uint8

const (
	atLower place = iota
	atUpper
	atZero // free, and not basic
	basic
)

// variable is a column, or the logical of a row, scaled.
type variable struct {
	cost, lower, upper float64
	row                []int32
	value              []float64
	norm               float64 // of the column with 1 for itself
	place              place
}

// Solver holds a program and its present basis. It is for one goroutine.
type Solver struct {
	// Limit of steps of one Solve; 0 is 50 for each row and column, at least 10,000.
	Limit int

	sign      float64 // 1 to minimise, −1 to maximise
	objective float64 // scale of the costs
	rows      int
	columns   int // structural: variables from rows on
	rowScale  []float64
	scale     []float64 // of columns
	original  []Column
	bounds    []Row
	vars      []variable // first the logicals
	basis     []int32    // variable at each position
	x         []float64  // by variable
	factors   factors

	fresh                 bool // the factors are of the present basis
	iterations, stalled   int
	alpha, dual, rhs, tmp []float64
}

// New reads a program.
func New(p Problem) (*Solver, error) {
	s := &Solver{sign: 1, rows: len(p.Rows), bounds: p.Rows}
	if p.Maximise {
		s.sign = -1
	}
	for i, r := range p.Rows {
		if err := checkBounds("row", i, r.Lower, r.Upper); err != nil {
			return nil, err
		}
	}
	for j := range p.Columns {
		if err := p.Columns[j].check(j, s.rows); err != nil {
			return nil, err
		}
	}
	var columnScales []float64
	s.rowScale, columnScales = scaling(s.rows, p.Columns)
	s.objective = costScale(p.Columns, columnScales)
	for i, r := range p.Rows {
		v := variable{lower: r.Lower * s.rowScale[i], upper: r.Upper * s.rowScale[i], row: []int32{int32(i)}, value: []float64{-1}, norm: math.Sqrt2, place: basic}
		s.vars, s.basis = append(s.vars, v), append(s.basis, int32(i))
	}
	s.x = make([]float64, s.rows)
	for j := range p.Columns {
		s.add(&p.Columns[j], columnScales[j])
	}
	return s, nil
}

// costScale brings the largest scaled cost near 1.
func costScale(columns []Column, scale []float64) float64 {
	most := 0.0
	for j := range columns {
		most = max(most, math.Abs(columns[j].Cost)*scale[j])
	}
	if most == 0 {
		return 1
	}
	return power(1 / most)
}

// AddColumn adds a variable, at the bound nearest to 0: the present basis stays.
func (s *Solver) AddColumn(c Column) error {
	if err := c.check(s.columns, s.rows); err != nil {
		return err
	}
	s.add(&c, power(columnScale(&c, s.rowScale)))
	s.fresh = false
	return nil
}

func (s *Solver) add(c *Column, scale float64) {
	v := variable{cost: s.sign * s.objective * c.Cost * scale, lower: c.Lower / scale, upper: c.Upper / scale}
	squares := 1.0
	for _, e := range c.Entries {
		if e.Value == 0 {
			continue
		}
		scaled := e.Value * s.rowScale[e.Row] * scale
		v.row, v.value = append(v.row, int32(e.Row)), append(v.value, scaled)
		squares += scaled * scaled
	}
	v.norm = math.Sqrt(squares)
	at := 0.0
	switch {
	case math.IsInf(v.lower, -1) && math.IsInf(v.upper, 1):
		v.place = atZero
	case math.IsInf(v.lower, -1) || math.Abs(v.upper) < math.Abs(v.lower):
		v.place, at = atUpper, v.upper
	default:
		v.place, at = atLower, v.lower
	}
	s.vars, s.x = append(s.vars, v), append(s.x, at)
	s.scale, s.original = append(s.scale, scale), append(s.original, *c)
	s.columns++
}

// Solve goes on from the present basis to an optimal one.
func (s *Solver) Solve() (*Solution, error) {
	limit := s.Limit
	if limit == 0 {
		limit = max(10_000, 50*(s.rows+s.columns))
	}
	s.iterations, s.stalled = 0, 0
	s.alpha, s.dual, s.rhs, s.tmp = grown(s.alpha, s.rows), grown(s.dual, s.rows), grown(s.rhs, s.rows), grown(s.tmp, s.rows)
	s.refactor()
	for {
		if s.iterations >= limit {
			return nil, fmt.Errorf("%w: %d steps with %d rows and %d columns", ErrIterations, limit, s.rows, s.columns)
		}
		if len(s.factors.etas) >= refactorAll {
			s.refactor()
		}
		infeasible := s.price()
		q, direction := s.enter(infeasible)
		if q < 0 {
			if !s.fresh { // the answer is given on fresh factors only
				s.refactor()
				continue
			}
			if infeasible {
				return nil, fmt.Errorf("%w: by %.3g after %d steps", ErrInfeasible, s.broken(), s.iterations)
			}
			return s.solution()
		}
		bounded := s.step(q, direction, infeasible)
		if !bounded && s.fresh {
			if infeasible {
				return nil, fmt.Errorf("%w: no step keeps the bounds", ErrNumeric)
			}
			return nil, ErrUnbounded
		}
		if !bounded {
			s.refactor()
		}
		s.iterations++
	}
}

// refactor the basis, and compute the basic variables anew. Columns that depend
// on others are replaced by logicals.
func (s *Solver) refactor() {
	column := func(p int) ([]int32, []float64) { v := &s.vars[s.basis[p]]; return v.row, v.value }
	positions, rows := s.factors.factorise(s.rows, column)
	for len(positions) > 0 {
		for k, p := range positions {
			out := s.basis[p]
			s.leaveAt(out)
			s.basis[p] = rows[k]
			s.vars[rows[k]].place = basic
		}
		positions, rows = s.factors.factorise(s.rows, column)
	}
	s.compute()
	s.fresh = true
}

// leaveAt puts a variable at its nearest bound.
func (s *Solver) leaveAt(j int32) {
	v := &s.vars[j]
	switch {
	case math.IsInf(v.lower, -1) && math.IsInf(v.upper, 1):
		v.place, s.x[j] = atZero, 0
	case math.IsInf(v.lower, -1) || math.Abs(s.x[j]-v.upper) < math.Abs(s.x[j]-v.lower):
		v.place, s.x[j] = atUpper, v.upper
	default:
		v.place, s.x[j] = atLower, v.lower
	}
}

// compute x of the basis from the others.
func (s *Solver) compute() {
	clear(s.rhs)
	for j := range s.vars {
		v := &s.vars[j]
		if v.place == basic || s.x[j] == 0 {
			continue
		}
		for k, r := range v.row {
			s.rhs[r] -= v.value[k] * s.x[j]
		}
	}
	s.factors.forward(s.rhs, s.tmp)
	clear(s.rhs) // what forward left there
	for p, j := range s.basis {
		s.x[j] = s.tmp[p]
	}
}

// breaks is −1 below the lower bound, 1 above the upper, else 0.
func (s *Solver) breaks(j int32) float64 {
	v := &s.vars[j]
	switch slack := feasible * max(1, math.Abs(s.x[j])); {
	case s.x[j] < v.lower-slack:
		return -1
	case s.x[j] > v.upper+slack:
		return 1
	default:
		return 0
	}
}

// broken is the sum of all bounds broken.
func (s *Solver) broken() float64 {
	sum := 0.0
	for _, j := range s.basis {
		switch s.breaks(j) {
		case -1:
			sum += s.vars[j].lower - s.x[j]
		case 1:
			sum += s.x[j] - s.vars[j].upper
		}
	}
	return sum
}

// price computes the dual values, of phase 1 where a bound is broken.
func (s *Solver) price() (infeasible bool) {
	for p, j := range s.basis {
		s.tmp[p] = s.breaks(j)
		infeasible = infeasible || s.tmp[p] != 0
	}
	if !infeasible {
		for p, j := range s.basis {
			s.tmp[p] = s.vars[j].cost
		}
	}
	s.factors.backward(s.tmp, s.dual)
	return infeasible
}

// reduced cost of a variable.
func (s *Solver) reduced(v *variable, infeasible bool) float64 {
	d := v.cost
	if infeasible {
		d = 0
	}
	for k, r := range v.row {
		d -= s.dual[r] * v.value[k]
	}
	return d
}

// enter chooses the variable that comes into the basis, and which way it goes; −1
// where none gains.
func (s *Solver) enter(infeasible bool) (q int, direction float64) {
	q, most := -1, 0.0
	bland := s.stalled > stalledMost
	for j := range s.vars {
		v := &s.vars[j]
		if v.place == basic || v.lower == v.upper {
			continue
		}
		d := s.reduced(v, infeasible)
		if math.Abs(d) <= optimal || v.place == atLower && d > 0 || v.place == atUpper && d < 0 {
			continue
		}
		if gain := math.Abs(d) / v.norm; gain > most {
			q, most, direction = j, gain, -math.Copysign(1, d)
			if bland {
				break
			}
		}
	}
	return q, direction
}

// step moves a variable until a basic one, or itself, meets a bound. False is a
// step without end.
func (s *Solver) step(q int, direction float64, infeasible bool) bool {
	v := &s.vars[q]
	for k, r := range v.row {
		s.rhs[r] = v.value[k]
	}
	s.factors.forward(s.rhs, s.alpha)
	clear(s.rhs)
	p, length := s.leave(direction, infeasible)
	if span := v.upper - v.lower; span <= length && !math.IsInf(span, 1) {
		s.move(q, direction, span)
		if v.place == atLower {
			v.place, s.x[q] = atUpper, v.upper
		} else {
			v.place, s.x[q] = atLower, v.lower
		}
		s.progress(span)
		return true
	}
	if p < 0 {
		return false
	}
	s.move(q, direction, length)
	out := s.basis[p]
	s.leaveAt(out)
	s.factors.exchange(p, s.alpha)
	s.basis[p], v.place, s.fresh = int32(q), basic, false
	s.progress(length)
	return true
}

// progress: a step of no length is a stall.
func (s *Solver) progress(length float64) {
	if length > feasible {
		s.stalled = 0
		return
	}
	s.stalled++
}

func (s *Solver) move(q int, direction, length float64) {
	if length == 0 {
		return
	}
	s.x[q] += direction * length
	for p, j := range s.basis {
		s.x[j] -= direction * length * s.alpha[p]
	}
}

// room is how far the basic variable at p may go, and whether it meets a bound at
// all. What is broken goes as far as the bound it breaks.
func (s *Solver) room(p int, direction float64, infeasible bool) (float64, bool) {
	j := s.basis[p]
	v := &s.vars[j]
	speed := -direction * s.alpha[p]
	if math.Abs(speed) < stepLeast {
		return 0, false
	}
	bound := v.upper
	if speed < 0 {
		bound = v.lower
	}
	if infeasible {
		switch broken := s.breaks(j); {
		case broken < 0 && speed > 0:
			bound = v.lower
		case broken > 0 && speed < 0:
			bound = v.upper
		case broken != 0:
			return 0, false // it goes farther off, which the costs know
		}
	}
	if math.IsInf(bound, 0) {
		return 0, false
	}
	return (bound - s.x[j]) / speed, true
}

// leave chooses the basic variable that leaves (Harris 1973): within the
// tolerance of the shortest step, the largest pivot; by Bland's rule the variable
// of the least number.
func (s *Solver) leave(direction float64, infeasible bool) (at int, length float64) {
	shortest := math.Inf(1)
	for p := range s.basis {
		if room, ok := s.room(p, direction, infeasible); ok {
			shortest = min(shortest, room+feasible/math.Abs(s.alpha[p]))
		}
	}
	at, length = -1, math.Inf(1)
	most := 0.0
	bland := s.stalled > stalledMost
	for p, j := range s.basis {
		room, ok := s.room(p, direction, infeasible)
		if !ok || room > shortest {
			continue
		}
		better := math.Abs(s.alpha[p]) > most
		if bland {
			better = at < 0 || j < s.basis[at]
		}
		if better {
			at, length, most = p, max(0, room), math.Abs(s.alpha[p])
		}
	}
	return at, length
}

// solution is the present point without scales, after a check of its own.
func (s *Solver) solution() (*Solution, error) {
	out := &Solution{X: make([]float64, s.columns), Dual: make([]float64, s.rows), Reduced: make([]float64, s.columns), Iterations: s.iterations}
	for i := range out.Dual {
		out.Dual[i] = s.sign * s.dual[i] * s.rowScale[i] / s.objective
	}
	sums, sizes := make([]float64, s.rows), make([]float64, s.rows)
	for j := range out.X {
		c := &s.original[j]
		x := s.x[s.rows+j] * s.scale[j]
		x = min(c.Upper, max(c.Lower, x))
		out.X[j] = x
		out.Objective += c.Cost * x
		out.Reduced[j] = c.Cost
		for _, e := range c.Entries {
			sums[e.Row] += e.Value * x
			sizes[e.Row] = max(sizes[e.Row], math.Abs(e.Value*x))
			out.Reduced[j] -= out.Dual[e.Row] * e.Value
		}
	}
	for i, r := range s.bounds {
		slack := acceptable * max(1/s.rowScale[i], sizes[i])
		if sums[i] < r.Lower-slack || sums[i] > r.Upper+slack {
			return nil, fmt.Errorf("%w: row %d is %v, not within %v and %v", ErrNumeric, i, sums[i], r.Lower, r.Upper)
		}
	}
	return out, nil
}
