package foreign

import (
	"cmp"
	"compress/gzip"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxTableBytes bounds a table as read, decompressed: a small gzip file can
// hold anything. The largest known table has 2 MB (chosen by us).
const maxTableBytes = 256 << 20

// reportEvery is the number of rows between two looks at the context and two
// calls of the progress function.
const reportEvery = 1024

// table is one file, read whole.
type table struct {
	spec     tableSpec
	path     string // as given, for problems
	file     string // its last part, for counts
	columns  map[string]int
	rows     []row
	per      int // measurements in one row
	taken    int
	skipped  map[string]int
	problems *problems
}

// row is one line of a table.
type row struct {
	table  *table
	line   int
	fields []string
}

// openReading reads every file of the format; the others are left out by name.
func openReading(ctx context.Context, f Format, heads []head, progress func(float64, string)) (*reading, error) {
	r := &reading{ctx: ctx, format: f, problems: &problems{}}
	total, before := int64(0), int64(0)
	for _, h := range heads {
		total += h.size
	}
	first := map[string]string{}
	for _, h := range heads {
		spec, ok := f.spec(h)
		if !ok {
			spec = tableSpec{name: h.name(), leave: "not a table of this data set"}
		}
		if other, twice := first[spec.name]; twice && !spec.several {
			return nil, &InputError{File: h.path, Problem: fmt.Sprintf("is the table %s, and so is %s", spec.name, other), Hint: "keep one of them"}
		}
		first[spec.name] = h.name()
		report := func(read int64) {
			if progress != nil && total > 0 {
				progress(float64(before+read)/float64(total), h.name())
			}
		}
		t, err := readTable(ctx, h, spec, r.problems, report)
		if err != nil {
			return nil, err
		}
		before += h.size
		r.tables = append(r.tables, t)
	}
	return r, nil
}

// source is an open file with the decompressed text.
type source struct {
	file *os.File
	text *csv.Reader
	read *counter
}

// counter counts the stored bytes, for progress.
type counter struct {
	io.Reader
	bytes int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.bytes += int64(n)
	return n, err
}

var errTooLarge = fmt.Errorf("the table has more than %d MiB", maxTableBytes>>20)

// bounded fails beyond maxTableBytes instead of cutting silently.
type bounded struct {
	io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, errTooLarge
	}
	return n, err
}

func open(h head) (*source, error) {
	file, err := os.Open(h.path)
	if err != nil {
		return nil, fmt.Errorf("data set: %w", err)
	}
	s := &source{file: file, read: &counter{Reader: file}}
	var text io.Reader = s.read
	if strings.HasSuffix(h.path, ".gz") {
		if text, err = gzip.NewReader(s.read); err != nil {
			_ = file.Close()
			return nil, &InputError{File: h.path, Problem: "is not gzip: " + err.Error(), Hint: "a plain table ends in .csv"}
		}
	}
	s.text = csv.NewReader(&bounded{Reader: text, left: maxTableBytes})
	return s, nil
}

func readHeader(h head) ([]string, error) {
	s, err := open(h)
	if err != nil {
		return nil, err
	}
	defer s.file.Close()
	columns, err := s.text.Read()
	if errors.Is(err, io.EOF) {
		return nil, &InputError{File: h.path, Problem: "is empty", Hint: "the first line names the columns"}
	}
	if err != nil {
		return nil, csvError(h, err)
	}
	columns[0] = strings.TrimPrefix(columns[0], "\ufeff")
	for i, c := range columns {
		if slices.Contains(columns[:i], c) {
			return nil, &InputError{File: h.path, Line: 1, Problem: fmt.Sprintf("names the column %q twice", c)}
		}
	}
	return columns, nil
}

// csvError gives the reader's error our form.
func csvError(h head, err error) error {
	e := &InputError{File: h.path, Problem: err.Error()}
	var parse *csv.ParseError
	switch {
	case errors.As(err, &parse) && errors.Is(parse.Err, csv.ErrFieldCount):
		e.Line, e.Problem, e.Hint = parse.Line, "has another number of fields than the header", "is the line cut off?"
	case errors.As(err, &parse):
		e.Line, e.Problem = parse.Line, fmt.Sprintf("character %d: %s", parse.Column, parse.Err)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, gzip.ErrChecksum), errors.Is(err, gzip.ErrHeader):
		e.Problem, e.Hint = "the compressed file is damaged: "+err.Error(), "was it copied whole?"
	}
	return e
}

func readTable(ctx context.Context, h head, spec tableSpec, p *problems, report func(int64)) (*table, error) {
	s, err := open(h)
	if err != nil {
		return nil, err
	}
	defer s.file.Close()
	if _, err := s.text.Read(); err != nil {
		return nil, csvError(h, err)
	}
	t := &table{spec: spec, path: h.path, file: h.name(), columns: map[string]int{}, per: 1, skipped: map[string]int{}, problems: p}
	for i, c := range h.columns {
		t.columns[c] = i
	}
	for {
		fields, err := s.text.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, csvError(h, err)
		}
		line, _ := s.text.FieldPos(0)
		t.rows = append(t.rows, row{t, line, fields})
		if len(t.rows)%reportEvery == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			report(s.read.bytes)
		}
	}
	if len(t.rows) == 0 {
		return nil, &InputError{File: h.path, Problem: "has a header and no rows"}
	}
	if spec.leave != "" {
		t.skipped[spec.leave] = len(t.rows)
	}
	return t, nil
}

// take counts n measurements as used.
func (t *table) take(n int) { t.taken += n }

// skip counts n measurements as left out.
func (t *table) skip(n int, reason string) {
	if n > 0 {
		t.skipped[reason] += n
	}
}

func (t *table) counts() (Count, []Skip) {
	var skips []Skip
	for reason, n := range t.skipped {
		skips = append(skips, Skip{File: t.file, Reason: reason, Measurements: n})
	}
	slices.SortFunc(skips, func(a, b Skip) int {
		return cmp.Or(cmp.Compare(b.Measurements, a.Measurements), cmp.Compare(a.Reason, b.Reason))
	})
	return Count{File: t.file, Measurements: t.per * len(t.rows), Taken: t.taken}, skips
}

// problem notes a fault of the row.
func (r row) problem(column, hint, format string, args ...any) {
	r.table.problems.add(&InputError{File: r.table.path, Line: r.line, Column: column, Problem: fmt.Sprintf(format, args...), Hint: hint})
}

func (r row) field(column string) string { return strings.TrimSpace(r.fields[r.table.columns[column]]) }

// text returns a name; it must not be empty.
func (r row) text(column string) string {
	v := r.field(column)
	switch {
	case v == "":
		r.problem(column, "", "is empty")
	case !utf8.ValidString(v):
		r.problem(column, "files are UTF-8", "%q is not UTF-8", v)
		return strings.ToValidUTF8(v, "?")
	}
	return v
}

// number returns a finite number, or NaN with the fault noted.
func (r row) number(column string) float64 {
	text := r.field(column)
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		r.problem(column, "a plain number like 12.5 is expected", "%q is not a number", text)
		return math.NaN()
	}
	return v
}

// positive returns a number above zero: a time, a rate.
func (r row) positive(column string) float64 {
	v := r.number(column)
	if v <= 0 {
		r.problem(column, "it must be above 0", "%s is not possible", r.field(column))
		return math.NaN()
	}
	return v
}

// zeroOrMore returns a number that may be zero.
func (r row) zeroOrMore(column string) float64 {
	v := r.number(column)
	if v < 0 {
		r.problem(column, "it cannot be negative", "%s is not possible", r.field(column))
		return math.NaN()
	}
	return v
}

// count returns a whole number from low to high, or low with the fault noted.
func (r row) count(column string, low, high int) int {
	v, err := strconv.Atoi(r.field(column))
	if err != nil || v < low || v > high {
		r.problem(column, fmt.Sprintf("a whole number from %d to %d is expected", low, high), "%q is not possible", r.field(column))
		return low
	}
	return v
}
