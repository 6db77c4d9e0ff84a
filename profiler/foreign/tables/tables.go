package tables

import (
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Spec is one table of a data set, known by its columns.
type Spec struct {
	Name    string   // of the file, without .csv or .csv.gz
	Columns []string // those that are read; a table has them all
	// Unnumbered: repetitions of a measurement are not numbered, so that equal rows may be
	// several. In any other table a row that is there again is a copy.
	Unnumbered bool
}

// With is the table with more columns that are read.
func (s Spec) With(columns ...string) Spec {
	return Spec{Name: s.Name, Columns: slices.Concat(s.Columns, columns), Unnumbered: s.Unnumbered}
}

// Missing lists the columns that are not among those given.
func (s Spec) Missing(columns []string) []string {
	var out []string
	for _, c := range s.Columns {
		if !slices.Contains(columns, c) {
			out = append(out, c)
		}
	}
	return out
}

// Quoted is a list of names for a person.
func Quoted(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = strconv.Quote(n)
	}
	return strings.Join(out, ", ")
}

// Table is an open table.
type Table struct {
	File     string   // as given, for faults
	Columns  []string // of the header
	Copies   []int    // lines of rows that are exact copies of an earlier one, which Rows left out
	at       map[string]int
	line     int // of the last row
	csv      *csv.Reader
	problems *Problems
}

// maxBytes bounds a table as read, decompressed: a small gzip file can hold
// anything. The largest known table has 6 MB (chosen by us).
const maxBytes = 256 << 20

var errTooLarge = fmt.Errorf("the table has more than %d MiB", maxBytes>>20)

// bounded fails beyond maxBytes instead of cutting silently.
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

// Open reads the header of a table. What is wrong with a row later is noted in
// problems; what is wrong with the file is the error.
func Open(file string, raw io.Reader, problems *Problems) (*Table, error) {
	t := &Table{File: file, at: map[string]int{}, problems: problems}
	if strings.HasSuffix(file, ".gz") {
		unzipped, err := gzip.NewReader(raw)
		if err != nil {
			return nil, &InputError{File: file, Problem: "is not gzip: " + err.Error(), Hint: "a plain table ends in .csv"}
		}
		raw = unzipped
	}
	t.csv = csv.NewReader(&bounded{Reader: raw, left: maxBytes})
	columns, err := t.csv.Read()
	if errors.Is(err, io.EOF) {
		return nil, &InputError{File: file, Problem: "is empty", Hint: "the first line names the columns"}
	}
	if err != nil {
		return nil, t.fault(err)
	}
	columns[0] = strings.TrimPrefix(columns[0], "\ufeff")
	for i, c := range columns {
		if _, twice := t.at[c]; twice {
			return nil, &InputError{File: file, Line: 1, Problem: fmt.Sprintf("names the column %q twice", c)}
		}
		t.at[c] = i
	}
	t.Columns, t.line = columns, 1
	return t, nil
}

// Rows gives the rows of the table that it is one by one; after an error there are no more.
// A row that is an exact copy of another is no second measurement: it is left out and noted
// in Copies.
func (t *Table) Rows(s Spec) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		seen := map[uint64]int{} // times, by hash
		for {
			fields, err := t.csv.Read()
			if errors.Is(err, io.EOF) {
				if s.Unnumbered {
					t.checkCopies(seen)
				}
				return
			}
			if err != nil {
				yield(Row{}, t.fault(err))
				return
			}
			t.line, _ = t.csv.FieldPos(0)
			h := hash(fields)
			if seen[h]++; seen[h] > 1 && !s.Unnumbered {
				t.Copies = append(t.Copies, t.line)
				continue
			}
			if !yield(Row{Line: t.line, table: t, fields: fields}, nil) {
				return
			}
		}
	}
}

// hash of a row (FNV-1a).
func hash(fields []string) uint64 {
	h := fnv.New64a()
	for _, f := range fields {
		_, _ = h.Write([]byte(f)) // a hash does not fail
		_, _ = h.Write([]byte{0})
	}
	return h.Sum64()
}

// fewestForCopies is how many different rows must all be there again for chance to be no
// explanation (chosen by us).
const fewestForCopies = 10

// checkCopies refuses a table whose repetitions are not numbered and of which every row is
// there several times: that is a file joined with itself.
func (t *Table) checkCopies(times map[uint64]int) {
	least := math.MaxInt
	for _, n := range times {
		least = min(least, n)
	}
	if len(times) >= fewestForCopies && least > 1 {
		t.problems.Add(&InputError{
			File: t.File, Problem: fmt.Sprintf("every row is there %d times or more", least),
			Hint: "was the file joined with itself? Copies are no repetitions",
		})
	}
}

// fault gives an error of the file our form.
func (t *Table) fault(err error) error {
	e := &InputError{File: t.File, Line: t.line + 1, Problem: err.Error()}
	var parse *csv.ParseError
	switch {
	case errors.As(err, &parse) && errors.Is(parse.Err, csv.ErrFieldCount):
		e.Line, e.Problem, e.Hint = parse.Line, "has another number of fields than the header", "is the line cut off?"
	case errors.As(err, &parse):
		e.Line, e.Problem = parse.Line, fmt.Sprintf("character %d: %s", parse.Column, parse.Err)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, gzip.ErrChecksum), errors.Is(err, gzip.ErrHeader):
		e.Problem, e.Hint = "the compressed file is damaged from here on: "+err.Error(), "was it copied whole?"
	}
	return e
}
