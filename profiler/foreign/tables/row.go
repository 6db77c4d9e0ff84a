package tables

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Row is one line of a table. A column that is read must be one of the table's.
type Row struct {
	Line   int
	table  *Table
	fields []string
}

// Where is file:line of the row.
func (r Row) Where() string { return fmt.Sprintf("%s:%d", r.table.File, r.Line) }

// Columns of the table, in its order.
func (r Row) Columns() []string { return r.table.Columns }

// Problem notes a fault of the row.
func (r Row) Problem(column, hint, format string, args ...any) {
	r.table.problems.Add(&InputError{File: r.table.File, Line: r.Line, Column: column, Problem: fmt.Sprintf(format, args...), Hint: hint})
}

// Field is a value as it is written, without spaces around it; it may be empty.
func (r Row) Field(column string) string { return strings.TrimSpace(r.fields[r.table.at[column]]) }

// Text is a name; it must not be empty.
func (r Row) Text(column string) string {
	v := r.Field(column)
	switch {
	case v == "":
		r.Problem(column, "", "is empty")
	case !utf8.ValidString(v):
		r.Problem(column, "files are UTF-8", "%q is not UTF-8", v)
		return strings.ToValidUTF8(v, "?")
	}
	return v
}

// Number is a finite number, or NaN with the fault noted.
func (r Row) Number(column string) float64 {
	text := r.Field(column)
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		r.Problem(column, "a plain number like 12.5 is expected", "%q is not a number", text)
		return math.NaN()
	}
	return v
}

// Positive is a number above zero: a time, a rate.
func (r Row) Positive(column string) float64 {
	v := r.Number(column)
	if v <= 0 {
		r.Problem(column, "it must be above 0", "%s is not possible", r.Field(column))
		return math.NaN()
	}
	return v
}

// ZeroOrMore is a number that may be zero.
func (r Row) ZeroOrMore(column string) float64 {
	v := r.Number(column)
	if v < 0 {
		r.Problem(column, "it cannot be negative", "%s is not possible", r.Field(column))
		return math.NaN()
	}
	return v
}

// Count is a whole number from low to high, or low with the fault noted.
func (r Row) Count(column string, low, high int) int {
	v, err := strconv.Atoi(r.Field(column))
	if err != nil || v < low || v > high {
		r.Problem(column, fmt.Sprintf("a whole number from %d to %d is expected", low, high), "%q is not possible", r.Field(column))
		return low
	}
	return v
}
