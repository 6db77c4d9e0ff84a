package foreign

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/nomad-placer/nomad-placer/profiler/foreign/tables"
)

// reportEvery is the number of rows between two looks at the context and two
// calls of the progress function.
const reportEvery = 1024

// table is one file, read whole.
type table struct {
	spec     tableSpec
	path     string // as given, for problems
	file     string // its last part, for counts
	rows     []tables.Row
	per      int // measurements in one row
	copies   int // rows that are exact copies of another
	taken    int
	skipped  map[string]int
	problems *tables.Problems
}

// openReading reads every file of the format; the others are left out by name.
func openReading(ctx context.Context, f Format, heads []head, progress func(float64, string)) (*reading, error) {
	r := &reading{ctx: ctx, format: f, problems: &tables.Problems{}}
	total, before := int64(0), int64(0)
	for _, h := range heads {
		total += h.size
	}
	first := map[string]string{}
	for _, h := range heads {
		spec, ok := f.spec(h)
		if !ok {
			spec = tableSpec{Spec: tables.Spec{Name: h.name()}, leave: "not a table of this data set"}
		}
		if other, twice := first[spec.Name]; twice && !spec.several {
			return nil, &tables.InputError{File: h.path, Problem: fmt.Sprintf("is the table %s, and so is %s", spec.Name, other), Hint: "keep one of them"}
		}
		first[spec.Name] = h.name()
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

func readHeader(h head) ([]string, error) {
	file, err := os.Open(h.path)
	if err != nil {
		return nil, fmt.Errorf("data set: %w", err)
	}
	defer file.Close()
	t, err := tables.Open(h.path, file, &tables.Problems{})
	if err != nil {
		return nil, err
	}
	return t.Columns, nil
}

func readTable(ctx context.Context, h head, spec tableSpec, p *tables.Problems, report func(int64)) (*table, error) {
	file, err := os.Open(h.path)
	if err != nil {
		return nil, fmt.Errorf("data set: %w", err)
	}
	defer file.Close()
	read := &counter{Reader: file}
	source, err := tables.Open(h.path, read, p)
	if err != nil {
		return nil, err
	}
	t := &table{spec: spec, path: h.path, file: h.name(), per: 1, skipped: map[string]int{}, problems: p}
	for row, err := range source.Rows(spec.Spec) {
		if err != nil {
			return nil, err
		}
		t.rows = append(t.rows, row)
		if len(t.rows)%reportEvery == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			report(read.bytes)
		}
	}
	t.copies = len(source.Copies)
	if len(t.rows) == 0 {
		return nil, &tables.InputError{File: h.path, Problem: "has a header and no rows"}
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
	if t.copies > 0 {
		skips = append(skips, Skip{File: t.file, Reason: rowCopy, Measurements: t.per * t.copies})
	}
	for reason, n := range t.skipped {
		skips = append(skips, Skip{File: t.file, Reason: reason, Measurements: n})
	}
	slices.SortFunc(skips, func(a, b Skip) int {
		return cmp.Or(cmp.Compare(b.Measurements, a.Measurements), cmp.Compare(a.Reason, b.Reason))
	})
	return Count{File: t.file, Measurements: t.per * (len(t.rows) + t.copies), Taken: t.taken}, skips
}

const (
	rowCopy   = "an exact copy of another row is no second measurement"
	noProfile = "no profile came of it"
)
