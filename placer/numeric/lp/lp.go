package lp

import (
	"errors"
	"fmt"
	"math"
)

// Errors of a program.
var (
	ErrShape      = errors.New("lp: the program cannot be read")
	ErrInfeasible = errors.New("lp: no point keeps all bounds")
	ErrUnbounded  = errors.New("lp: the objective has no bound")
	ErrIterations = errors.New("lp: the limit of steps was reached")
	ErrNumeric    = errors.New("lp: rounding errors grew beyond the tolerance")
)

// Inf is the bound of what has none.
var Inf = math.Inf(1)

// Row bounds A·x; −Inf and Inf are no bound.
type Row struct{ Lower, Upper float64 }

// AtMost is A·x ≤ v.
func AtMost(v float64) Row { return Row{-Inf, v} }

// AtLeast is A·x ≥ v.
func AtLeast(v float64) Row { return Row{v, Inf} }

// Equal is A·x = v.
func Equal(v float64) Row { return Row{v, v} }

// Entry is one coefficient of a column.
type Entry struct {
	Row   int
	Value float64
}

// Column is a variable with its coefficients; a row occurs at most once.
type Column struct {
	Cost         float64
	Lower, Upper float64
	Entries      []Entry
}

// NonNegative is a column with the bounds 0 and Inf.
func NonNegative(cost float64, entries ...Entry) Column {
	return Column{Cost: cost, Upper: Inf, Entries: entries}
}

// Problem is a linear program.
type Problem struct {
	Maximise bool
	Rows     []Row
	Columns  []Column
}

// Solution is an optimal vertex.
type Solution struct {
	Objective float64
	X         []float64 // by column
	// Dual is the gain of the objective per unit of a row's bound. Reduced is that
	// per unit of a column's value: c − dual·column.
	Dual, Reduced []float64
	Iterations    int
}

// check one column or row.
func checkBounds(kind string, at int, lower, upper float64) error {
	if math.IsNaN(lower) || math.IsNaN(upper) || lower > upper || math.IsInf(lower, 1) || math.IsInf(upper, -1) {
		return fmt.Errorf("%w: %s %d has the bounds %v and %v", ErrShape, kind, at, lower, upper)
	}
	return nil
}

func (c *Column) check(at, rows int) error {
	if err := checkBounds("column", at, c.Lower, c.Upper); err != nil {
		return err
	}
	if math.IsNaN(c.Cost) || math.IsInf(c.Cost, 0) {
		return fmt.Errorf("%w: column %d costs %v", ErrShape, at, c.Cost)
	}
	seen := make(map[int]bool, len(c.Entries))
	for _, e := range c.Entries {
		if e.Row < 0 || e.Row >= rows || seen[e.Row] {
			return fmt.Errorf("%w: column %d has row %d twice, or there are only %d", ErrShape, at, e.Row, rows)
		}
		if math.IsNaN(e.Value) || math.IsInf(e.Value, 0) {
			return fmt.Errorf("%w: column %d has %v in row %d", ErrShape, at, e.Value, e.Row)
		}
		seen[e.Row] = true
	}
	return nil
}
