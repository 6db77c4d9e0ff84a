package network

import (
	"bufio"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

// rows reads a CSV table with a header, gzip transparently, row by row.
type rows struct {
	name   string
	file   fs.File
	csv    *csv.Reader
	header []string
	cells  []string // of the present row, good until the next
	line   int

	size, read int64 // bytes of the file; 0 where its size is not known
}

// Read counts what is read of the file.
func (r *rows) Read(p []byte) (int, error) {
	n, err := r.file.Read(p)
	r.read += int64(n)
	return n, err
}

// share is how much of the file was read.
func (r *rows) share() float64 {
	if r.size <= 0 {
		return 0
	}
	return float64(r.read) / float64(r.size)
}

// openRows opens a file and reads its header.
func openRows(folder fs.FS, name string) (*rows, error) {
	file, err := folder.Open(name)
	if err != nil {
		return nil, fmt.Errorf("traffic: %w", err)
	}
	r := &rows{name: name, file: file}
	if info, err := file.Stat(); err == nil {
		r.size = info.Size()
	}
	in := bufio.NewReaderSize(r, 1<<16)
	from := io.Reader(in)
	if magic, err := in.Peek(2); err == nil && magic[0] == 0x1f && magic[1] == 0x8b {
		if from, err = gzip.NewReader(in); err != nil {
			r.close()
			return nil, r.broken(err)
		}
	}
	r.csv = csv.NewReader(from)
	r.csv.ReuseRecord, r.csv.Comment = true, '#'
	header, err := r.csv.Read()
	if errors.Is(err, io.EOF) {
		r.close()
		return nil, &FormatError{File: name, Problem: "the file is empty", Hint: "a header and rows are needed"}
	}
	if err != nil {
		r.close()
		return nil, r.broken(err)
	}
	for _, cell := range header {
		r.header = append(r.header, strings.TrimSpace(strings.TrimPrefix(cell, "\ufeff")))
	}
	r.line = 1
	return r, nil
}

func (r *rows) close() { _ = r.file.Close() } // it was only read: nothing can be lost

// next reads a row; false after the last.
func (r *rows) next() (bool, error) {
	cells, err := r.csv.Read()
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	if err != nil {
		return false, r.broken(err)
	}
	r.cells = cells
	r.line, _ = r.csv.FieldPos(0)
	return true, nil
}

// broken is the error of a file that cannot be read on.
func (r *rows) broken(err error) error {
	e := &FormatError{File: r.name, Line: r.line + 1, Problem: "the row cannot be read", Err: err}
	var parse *csv.ParseError
	switch {
	case errors.As(err, &parse):
		e.Line, e.Err = parse.Line, parse.Err
		if errors.Is(parse.Err, csv.ErrFieldCount) {
			e.Problem, e.Hint = "the row has another number of cells than the header", "the file may be cut short"
		}
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		e.Problem, e.Hint, e.Err = "the gzip stream is cut short", "fetch the file again", io.ErrUnexpectedEOF
	case errors.Is(err, gzip.ErrChecksum), errors.Is(err, gzip.ErrHeader):
		e.Problem, e.Hint = "the gzip stream is damaged", "fetch the file again"
	}
	return e
}

// column is the place of a column; below 0 where the table has none.
func (r *rows) column(name string) int { return slices.Index(r.header, name) }

// bad is the error of the present row.
func (r *rows) bad(problem, hint string) error {
	return &FormatError{File: r.name, Line: r.line, Problem: problem, Hint: hint}
}

// maxBytes bounds the bytes of one row, so that sums do not overflow: 16 TiB.
const maxBytes = 1 << 44

// whole reads a whole number from 0 to most.
func (r *rows) whole(column int, most int64) (int64, error) {
	text := strings.TrimSpace(r.cells[column])
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil || v < 0 || v > most {
		return 0, r.bad(fmt.Sprintf("%s: %.40q is not a whole number from 0 to %d", r.header[column], text, most), "")
	}
	return v, nil
}

// number reads a number from 0 to most.
func (r *rows) number(column int, most float64) (float64, error) {
	return r.parse(r.header[column], strings.TrimSpace(r.cells[column]), most)
}

func (r *rows) parse(what, text string, most float64) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v >= 0 && v <= most) {
		return 0, r.bad(fmt.Sprintf("%s: %.40q is not a number from 0 to %g", what, text, most), "")
	}
	return v, nil
}
