package tables

import (
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
)

// A matrix is anybody's table of measurements: rows are workloads, columns are what they
// were measured on. Its file has a line per row with a field per column (wide), or a line
// per measurement with the fields column and value (long); see placer/docs/import.md.

// The columns of a matrix that have a meaning of their own.
const (
	matrixRow       = "row"
	matrixColumn    = "column"
	matrixValue     = "value"
	matrixLow       = "low"
	matrixHigh      = "high"
	matrixDeviation = "deviation"
	matrixReplicate = "replicate"
	matrixGroup     = "group"
)

// Cells is what the values of a matrix are.
type Cells string

// The kinds of values.
const (
	SpeedCells Cells = "speed"  // above 0, each row in its own unit: only ratios mean something
	PointCells Cells = "points" // percent, from 0 to 100
)

// Matrix is what was read of one.
type Matrix struct {
	Columns []string // in order of appearance
	Rows    []MatrixRow
	Copies  []int // lines that are exact copies of another
}

// MatrixRow is a workload.
type MatrixRow struct {
	Name  string
	Group string         // rows of one are left out together; the row's own name where none is said
	Cells [][]MatrixCell // by column: a measurement for each replicate; none is unknown
}

// MatrixCell is one measurement.
type MatrixCell struct {
	Value     float64
	Low, High float64 // 95 % interval; NaN where none is said
	Deviation float64 // standard deviation: said, or by the interval; NaN where neither is
}

// Interval is the 95 % interval: as it was said, or by the deviation.
func (c MatrixCell) Interval() (low, high float64) {
	if !math.IsNaN(c.Low) {
		return c.Low, c.High
	}
	return c.Value - normalHalfWidth*c.Deviation, c.Value + normalHalfWidth*c.Deviation
}

// normalHalfWidth is half a 95 % interval in standard deviations.
const normalHalfWidth = 1.96

// Bounds of a matrix: what is larger is another kind of file (chosen by us).
const (
	maxMatrixColumns = 2_000
	maxMatrixRows    = 100_000
	mostValue        = 1e18
	leastSpeed       = 1 / mostValue
)

// ReadMatrixFile reads the matrix of a file.
func ReadMatrixFile(path string, cells Cells) (Matrix, error) {
	raw, err := os.Open(path)
	if err != nil {
		return Matrix{}, fmt.Errorf("matrix: %w", err)
	}
	defer func() { _ = raw.Close() }() // nothing is lost when a read side fails to close
	return ReadMatrix(path, raw, cells)
}

// ReadMatrix reads a matrix. All faults that it has are the error, with file and line.
func ReadMatrix(file string, raw io.Reader, cells Cells) (Matrix, error) {
	var problems Problems
	t, err := Open(file, raw, &problems)
	if err != nil {
		return Matrix{}, err
	}
	r := &matrixReader{
		table: t, cells: cells, rows: map[string]int{}, columns: map[string]int{}, seen: map[[3]string]int{}, grouped: map[string]int{},
		numbered: slices.Contains(t.Columns, matrixReplicate), groups: slices.Contains(t.Columns, matrixGroup),
	}
	long, err := r.form()
	if err != nil {
		return Matrix{}, err
	}
	for row, err := range t.Rows(Spec{Unnumbered: !r.numbered}) {
		if err != nil {
			return Matrix{}, err
		}
		if long {
			r.measurement(row)
		} else {
			r.wideRow(row)
		}
		if len(r.matrix.Columns) > maxMatrixColumns || len(r.matrix.Rows) > maxMatrixRows {
			return Matrix{}, &InputError{File: file, Line: row.Line, Problem: fmt.Sprintf("is beyond %d rows or %d columns", maxMatrixRows, maxMatrixColumns)}
		}
	}
	if err := problems.Err(); err != nil {
		return Matrix{}, err
	}
	if len(r.matrix.Rows) == 0 {
		return Matrix{}, &InputError{File: file, Problem: "has a header and no measurement"}
	}
	r.matrix.Copies = t.Copies
	for i := range r.matrix.Rows {
		row := &r.matrix.Rows[i]
		row.Cells = append(row.Cells, make([][]MatrixCell, len(r.matrix.Columns)-len(row.Cells))...)
	}
	return r.matrix, nil
}

type matrixReader struct {
	table            *Table
	cells            Cells
	matrix           Matrix
	rows, columns    map[string]int    // by name
	seen             map[[3]string]int // line of row, column and replicate
	grouped          map[string]int    // line that said the group of a row first
	numbered, groups bool
}

// form says whether the file is long, and what its header lacks.
func (r *matrixReader) form() (long bool, err error) {
	has := func(c string) bool { return slices.Contains(r.table.Columns, c) }
	fault := func(hint, format string, args ...any) error {
		return &InputError{File: r.table.File, Line: 1, Problem: fmt.Sprintf(format, args...), Hint: hint}
	}
	if !has(matrixRow) {
		return false, fault("one column, named row, says whose measurements a line has", "the header lacks %q", matrixRow)
	}
	long = has(matrixColumn) && has(matrixValue)
	if !long {
		for _, c := range []string{matrixColumn, matrixValue, matrixLow, matrixHigh, matrixDeviation} {
			if has(c) {
				return false, fault("a line per measurement has row, column and value; else this column needs another name", "the header has %q, but not both %q and %q", c, matrixColumn, matrixValue)
			}
		}
		return false, r.wideColumns(fault)
	}
	known := []string{matrixRow, matrixColumn, matrixValue, matrixLow, matrixHigh, matrixDeviation, matrixReplicate, matrixGroup}
	for _, c := range r.table.Columns {
		if !slices.Contains(known, c) {
			return true, fault("the columns of a line per measurement are "+strings.Join(known, ", "), "the header has %q", c)
		}
	}
	switch {
	case has(matrixLow) != has(matrixHigh):
		return true, fault("", "the header has one of %q and %q: an interval has both", matrixLow, matrixHigh)
	case has(matrixLow) && has(matrixDeviation):
		return true, fault("say one of the two", "the header has both an interval and %q", matrixDeviation)
	}
	return true, nil
}

func (r *matrixReader) wideColumns(fault func(hint, format string, args ...any) error) error {
	for _, c := range r.table.Columns {
		switch {
		case c == matrixRow || c == matrixReplicate || c == matrixGroup:
		case strings.TrimSpace(c) == "":
			return fault("", "a column has no name")
		default:
			r.columnOf(c)
		}
	}
	if len(r.matrix.Columns) == 0 {
		return fault("a line per row has a column for each of what was measured", "the header names no column of measurements")
	}
	return nil
}

func (r *matrixReader) columnOf(name string) int {
	j, ok := r.columns[name]
	if !ok {
		j = len(r.matrix.Columns)
		r.columns[name] = j
		r.matrix.Columns = append(r.matrix.Columns, name)
	}
	return j
}

// rowOf finds the row of a line and notes where its groups differ. ok is false where it has
// no name.
func (r *matrixReader) rowOf(line Row) (row *MatrixRow, ok bool) {
	before := line.table.problems.Count()
	name := line.Text(matrixRow)
	group := name
	if r.groups {
		group = line.Text(matrixGroup)
	}
	if line.table.problems.Count() > before {
		return nil, false
	}
	i, known := r.rows[name]
	if !known {
		i = len(r.matrix.Rows)
		r.rows[name], r.grouped[name] = i, line.Line
		r.matrix.Rows = append(r.matrix.Rows, MatrixRow{Name: name, Group: group})
	}
	if own := r.matrix.Rows[i].Group; own != group {
		line.Problem(matrixGroup, "a row is of one group", "row %q is of %q here, and of %q in line %d", name, group, own, r.grouped[name])
	}
	return &r.matrix.Rows[i], true
}

func (r *matrixReader) measurement(line Row) {
	row, ok := r.rowOf(line)
	if !ok {
		return
	}
	before := line.table.problems.Count()
	column := line.Text(matrixColumn)
	cell := MatrixCell{Value: r.value(line, matrixValue), Low: math.NaN(), High: math.NaN(), Deviation: math.NaN()}
	has := func(c string) bool { return slices.Contains(r.table.Columns, c) && line.Field(c) != "" }
	switch {
	case has(matrixLow) != has(matrixHigh):
		line.Problem(matrixLow, "leave both empty where there is no interval", "an interval has a lower and an upper end")
	case has(matrixLow):
		cell.Low, cell.High = line.Number(matrixLow), line.Number(matrixHigh)
		if cell.Low > cell.Value || cell.High < cell.Value {
			line.Problem(matrixLow, "low ≤ value ≤ high", "the interval from %s to %s does not hold %s", line.Field(matrixLow), line.Field(matrixHigh), line.Field(matrixValue))
		}
		r.bounded(line, matrixLow, cell.Low)
		r.bounded(line, matrixHigh, cell.High)
		cell.Deviation = (cell.High - cell.Low) / (2 * normalHalfWidth)
	case has(matrixDeviation):
		cell.Deviation = line.ZeroOrMore(matrixDeviation)
		r.bounded(line, matrixDeviation, cell.Deviation)
	}
	if line.table.problems.Count() == before {
		r.add(line, row, column, matrixValue, cell)
	}
}

func (r *matrixReader) bounded(line Row, field string, v float64) {
	if math.Abs(v) > mostValue {
		line.Problem(field, "", "%s is beyond %g", line.Field(field), mostValue)
	}
}

func (r *matrixReader) wideRow(line Row) {
	row, ok := r.rowOf(line)
	if !ok {
		return
	}
	for _, c := range r.table.Columns {
		if c == matrixRow || c == matrixGroup || c == matrixReplicate || line.Field(c) == "" {
			continue
		}
		before := line.table.problems.Count()
		v := r.value(line, c)
		if line.table.problems.Count() == before {
			r.add(line, row, c, c, MatrixCell{Value: v, Low: math.NaN(), High: math.NaN(), Deviation: math.NaN()})
		}
	}
}

// value of a field, as the kind of cells allows it.
func (r *matrixReader) value(line Row, field string) float64 {
	if line.Field(field) == "" {
		line.Problem(field, "a line per measurement has a value; leave the line out where nothing was measured", "is empty")
		return math.NaN()
	}
	if r.cells == SpeedCells {
		v := line.Positive(field)
		if v < leastSpeed || v > mostValue {
			line.Problem(field, "use another unit", "%s is not from %g to %g", line.Field(field), leastSpeed, mostValue)
		}
		return v
	}
	v := line.Number(field)
	if v < 0 || v > 100 {
		line.Problem(field, "points are percent, from 0 to 100; speeds are read with -cells speed", "%s is not possible", line.Field(field))
	}
	return v
}

// add notes a measurement, or that it is there twice.
func (r *matrixReader) add(line Row, row *MatrixRow, column, field string, cell MatrixCell) {
	replicate := ""
	if r.numbered {
		replicate = line.Field(matrixReplicate)
	}
	key := [3]string{row.Name, column, replicate}
	if first, twice := r.seen[key]; twice {
		hint := "number repeated measurements in a column named replicate"
		if r.numbered {
			hint = "give each replicate of a row another number"
		}
		line.Problem(field, hint, "row %q in column %q is measured in line %d already", row.Name, column, first)
		return
	}
	r.seen[key] = line.Line
	j := r.columnOf(column)
	for len(row.Cells) <= j {
		row.Cells = append(row.Cells, nil)
	}
	row.Cells[j] = append(row.Cells[j], cell)
}
