package dataset

import (
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"strconv"
)

// ErrFormat: a file is not what its reader expects.
var ErrFormat = errors.New("malformed data set")

// file is one CSV being read.
type file struct {
	name   string
	at     map[string]int
	header []string
	csv    *csv.Reader
	record []string
}

// each calls do for every record of a gzip-compressed CSV that has the wanted
// columns. Errors name file and line.
func each(folder fs.FS, name string, wanted []string, do func(*file) error) error {
	raw, err := folder.Open(name)
	if err != nil {
		return fmt.Errorf("data set: %w", err)
	}
	defer func() { _ = raw.Close() }() // nothing is lost when a read side fails to close
	unzipped, err := gzip.NewReader(raw)
	if err != nil {
		return fmt.Errorf("%s: %w: not gzip: %w", name, ErrFormat, err)
	}
	f := &file{name: name, csv: csv.NewReader(unzipped), at: map[string]int{}}
	if f.header, err = f.csv.Read(); err != nil {
		return fmt.Errorf("%s:1: %w: no header: %w", name, ErrFormat, err)
	}
	for j, column := range f.header {
		f.at[column] = j
	}
	for _, column := range wanted {
		if _, ok := f.at[column]; !ok {
			return fmt.Errorf("%s:1: %w: no column %q", name, ErrFormat, column)
		}
	}
	for {
		f.record, err = f.csv.Read()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("%s: %w: %w", name, ErrFormat, err)
		}
		if err := do(f); err != nil {
			return err
		}
	}
}

func (f *file) text(column string) string { return f.record[f.at[column]] }

// where is file:line of the record.
func (f *file) where() string {
	line, _ := f.csv.FieldPos(0)
	return fmt.Sprintf("%s:%d", f.name, line)
}

// number reads a finite number.
func (f *file) number(column string) (float64, error) {
	v, err := strconv.ParseFloat(f.text(column), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%s: %w: %s is %q, not a number", f.where(), ErrFormat, column, f.text(column))
	}
	return v, nil
}

// positive reads a number above zero.
func (f *file) positive(column string) (float64, error) {
	v, err := f.number(column)
	if err == nil && v <= 0 {
		err = fmt.Errorf("%s: %w: %s is %v, and must be above 0", f.where(), ErrFormat, column, v)
	}
	return v, err
}

// whole reads a whole number above zero; false where it is something else.
func (f *file) whole(column string) (int, bool) {
	v, err := strconv.Atoi(f.text(column))
	return v, err == nil && v > 0
}
