package trace

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// nan marks a size that is not known.
var nan = math.NaN()

// cell is the text of a column; empty where the file or the row has none.
func (r *rows) cell(column int) []byte {
	if i := r.at[column]; i >= 0 && i < len(r.cells) {
		return r.cells[i]
	}
	return nil
}

// text is the cell as a string of its own.
func (r *rows) text(column int) string { return string(r.cell(column)) }

// integer reads a whole number; false where the cell is empty.
func (r *rows) integer(column int) (int64, bool, error) {
	cell := r.cell(column)
	if len(cell) == 0 {
		return 0, false, nil
	}
	if v, ok := parseInteger(cell); ok {
		return v, true, nil
	}
	v, ok := parseNumber(cell)
	if !ok || v != math.Trunc(v) || math.Abs(v) > 1<<62 {
		return 0, false, r.bad(column, "not a whole number", "")
	}
	return int64(v), true, nil
}

// count reads a whole number that must be there.
func (r *rows) count(column int) (int64, error) {
	v, given, err := r.integer(column)
	if err == nil && !given {
		err = r.bad(column, "nothing where a whole number must be", "")
	}
	return v, err
}

// number reads a finite number; NaN where the cell is empty.
func (r *rows) number(column int) (float64, error) {
	cell := r.cell(column)
	if len(cell) == 0 {
		return math.NaN(), nil
	}
	v, ok := parseNumber(cell)
	if !ok {
		return 0, r.bad(column, "not a number", "leave the cell empty where the value is not known")
	}
	return v, nil
}

// size reads a number, 0 or above; NaN where the cell is empty or negative,
// which is how most logs write "unknown".
func (r *rows) size(column int) (float64, error) {
	v, err := r.number(column)
	if v < 0 {
		v = math.NaN()
	}
	return v, err
}

// longest is the longest time a cell may hold, 146 years: the distance of two
// such times is still a time.Duration.
const longest = math.MaxInt64 / 2

// span reads a number of units of time that must be there.
func (r *rows) span(column int, unit time.Duration) (time.Duration, error) {
	cell := r.cell(column)
	if len(cell) == 0 {
		return 0, r.bad(column, "nothing where a time must be", "")
	}
	if v, ok := parseInteger(cell); ok && v <= longest/int64(unit) && v >= -longest/int64(unit) {
		return time.Duration(v) * unit, nil
	}
	v, ok := parseNumber(cell)
	if !ok {
		return 0, r.bad(column, "not a number", "")
	}
	v *= float64(unit)
	if math.Abs(v) >= longest {
		return 0, r.bad(column, "a time of more than 146 years", "is this in the right unit?")
	}
	return time.Duration(math.Round(v)), nil
}

// moment reads a time on the trace's own clock that must be there: one before its
// zero would become the origin that all others count from.
func (r *rows) moment(column int, unit time.Duration) (time.Duration, error) {
	return r.notBefore(0, column, unit)
}

// notBefore is moment, for traces that begin with what was there already.
func (r *rows) notBefore(earliest time.Duration, column int, unit time.Duration) (time.Duration, error) {
	v, err := r.span(column, unit)
	if err != nil || v >= earliest {
		return v, err
	}
	problem := "a time before the trace's own zero"
	if earliest < 0 {
		problem = fmt.Sprintf("a time more than %s before the trace's own zero", -earliest)
	}
	return 0, r.bad(column, problem, "remove the row, or add the same to all times; -1 is no time")
}

// optionalSpan is span, with false where the cell is empty.
func (r *rows) optionalSpan(column int, unit time.Duration) (time.Duration, bool, error) {
	if len(r.cell(column)) == 0 {
		return 0, false, nil
	}
	v, err := r.span(column, unit)
	return v, err == nil, err
}

// bad is the error of one cell.
func (r *rows) bad(column int, problem, hint string) error {
	e := &FormatError{File: r.name, Line: r.line, Field: r.layout.columns[column].names[0], Hint: hint}
	cell := r.cell(column)
	e.Problem = fmt.Sprintf("%.40q: %s", cell, problem)
	if len(cell) == 0 {
		e.Problem = problem
	}
	e.Column = r.place(r.at[column])
	return e
}

// place is the byte, from 1, at which a cell of the line starts.
func (r *rows) place(cell int) int {
	if cell < 0 || cell >= len(r.cells) {
		return len(r.raw) + 1
	}
	if r.layout.separator == ' ' {
		// Both slices end in the same array: the difference of what is behind their
		// starts is their distance.
		return cap(r.raw) - cap(r.cells[cell]) + 1
	}
	column := 1
	for i := range cell {
		column += len(r.cells[i]) + 1
	}
	return column
}

// parseInteger reads an optional sign and digits, without allocating.
func parseInteger(b []byte) (int64, bool) {
	negative := false
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		negative = b[0] == '-'
		b = b[1:]
	}
	if len(b) == 0 || len(b) > 18 {
		return parseLongInteger(b, negative)
	}
	var v int64
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		v = v*10 + int64(c-'0')
	}
	if negative {
		v = -v
	}
	return v, true
}

// parseLongInteger reads what may overflow.
func parseLongInteger(digits []byte, negative bool) (int64, bool) {
	if len(digits) == 0 || digits[0] < '0' || digits[0] > '9' {
		return 0, false
	}
	text := string(digits)
	if negative {
		text = "-" + text
	}
	v, err := strconv.ParseInt(text, 10, 64)
	return v, err == nil
}

// exactPowers are the powers of ten a float64 holds exactly.
var exactPowers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// parseNumber reads a finite decimal number. Plain ones of up to 15 digits need
// one division, which rounds correctly (both numbers are exact); the rest goes to
// strconv.
func parseNumber(b []byte) (float64, bool) {
	i, negative := 0, false
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		negative = b[0] == '-'
		i++
	}
	var mantissa int64
	digits, decimals, point := 0, 0, false
	for ; i < len(b); i++ {
		c := b[i]
		if c == '.' && !point {
			point = true
			continue
		}
		if c < '0' || c > '9' || digits == 15 {
			return parseOddNumber(b)
		}
		mantissa = mantissa*10 + int64(c-'0')
		digits++
		if point {
			decimals++
		}
	}
	if digits == 0 {
		return 0, false
	}
	v := float64(mantissa) / exactPowers[decimals]
	if negative {
		v = -v
	}
	return v, true
}

// parseOddNumber reads exponents and long fractions. Hexadecimal, underscores,
// NaN and infinities are not numbers of a trace.
func parseOddNumber(b []byte) (float64, bool) {
	for _, c := range b {
		if (c < '0' || c > '9') && c != '.' && c != '-' && c != '+' && c != 'e' && c != 'E' {
			return 0, false
		}
	}
	v, err := strconv.ParseFloat(string(b), 64)
	if err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
		return 0, false
	}
	return v, true
}
