package dataset

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/nomad-placer/nomad-placer/profiler/foreign/tables"
)

// ErrFormat: a file is not what its reader expects.
var ErrFormat = errors.New("malformed data set")

// each calls do for every row of a gzip-compressed table, and counts copies of rows. The
// first row with a fault ends it.
func each(folder fs.FS, spec tables.Spec, skipped *skips, do func(tables.Row)) error {
	name := spec.Name + ".csv.gz"
	raw, err := folder.Open(name)
	if err != nil {
		return fmt.Errorf("data set: %w", err)
	}
	defer func() { _ = raw.Close() }() // nothing is lost when a read side fails to close
	var problems tables.Problems
	table, err := tables.Open(name, raw, &problems)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrFormat, err)
	}
	if missing := spec.Missing(table.Columns); len(missing) > 0 {
		return fmt.Errorf("%w: %w", ErrFormat, &tables.InputError{File: name, Line: 1, Problem: "the header lacks " + tables.Quoted(missing)})
	}
	for row, err := range table.Rows(spec) {
		if err == nil {
			do(row)
			err = problems.Err()
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrFormat, err)
		}
	}
	for _, line := range table.Copies {
		skipped.add("an exact copy of another row is no second measurement", fmt.Sprintf("%s:%d", name, line))
	}
	if err := problems.Err(); err != nil { // of the table as a whole
		return fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return nil
}
