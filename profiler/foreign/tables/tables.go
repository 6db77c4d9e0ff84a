package tables

import (
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"
)

// Spec is one table of a data set, known by its columns.
type Spec struct {
	Name    string   // of the file, without .csv or .csv.gz
	Columns []string // those that are read; a table has them all
}

// With is the table with more columns that are read.
func (s Spec) With(columns ...string) Spec {
	return Spec{Name: s.Name, Columns: slices.Concat(s.Columns, columns)}
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
	at       map[string]int
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
	t.Columns = columns
	return t, nil
}

// Rows gives the rows one by one; after an error there are no more.
func (t *Table) Rows() iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		for {
			fields, err := t.csv.Read()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(Row{}, t.fault(err))
				return
			}
			line, _ := t.csv.FieldPos(0)
			if !yield(Row{Line: line, table: t, fields: fields}, nil) {
				return
			}
		}
	}
}

// fault gives an error of the file our form.
func (t *Table) fault(err error) error {
	e := &InputError{File: t.File, Problem: err.Error()}
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
