package foreign

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/nomad-placer/nomad-placer/profiler/foreign/tables"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// Errors of Read and WriteDir, besides *tables.InputError.
var (
	ErrUnknownFormat = errors.New("no such data set format")
	ErrNotRecognised = errors.New("the columns are of no known data set")
	ErrAmbiguous     = errors.New("files of more than one data set")
	ErrNoTables      = errors.New("no .csv or .csv.gz file")
	ErrNothingTaken  = errors.New("every measurement was left out: there is nothing to write")
	ErrExists        = errors.New("the folder exists and is not empty")
	ErrTwice         = errors.New("two profiles have the same key")
)

// Options of Read. The zero value finds the format by the columns.
type Options struct {
	Format   string                                 // name in Formats; empty: by the columns
	Progress func(fraction float64, reading string) // called now and then; may be nil
}

// Count is a number of measurements of one file.
type Count struct {
	File         string `json:"file"`
	Measurements int    `json:"measurements"`
	Taken        int    `json:"taken"`
}

// Skip counts measurements of one file that were left out for one reason.
type Skip struct {
	File         string `json:"file"`
	Reason       string `json:"reason"`
	Measurements int    `json:"measurements"`
}

// Result is what was read of one data set. Everything is sorted, so the same
// files give the same bytes.
type Result struct {
	Format   string
	Profiles []profile.Profile // by key
	Pairs    []profile.Pair    // by configuration and keys
	Files    []Count           // measurements = taken + left out, file by file
	LeftOut  []Skip
}

// Read reads a data set: a folder of tables, or one table. Malformed input
// gives *tables.InputError values, joined, and no result.
func Read(ctx context.Context, path string, o Options) (Result, error) {
	files, err := listFiles(path)
	if err != nil {
		return Result{}, err
	}
	heads, err := readHeads(files)
	if err != nil {
		return Result{}, err
	}
	format, err := choose(heads, o.Format)
	if err != nil {
		return Result{}, fmt.Errorf("%s: %w", path, err)
	}
	r, err := openReading(ctx, format, heads, o.Progress)
	if err != nil {
		return Result{}, err
	}
	if err := format.read(r); err != nil {
		return Result{}, err
	}
	if err := r.problems.Err(); err != nil {
		return Result{}, err
	}
	return r.result()
}

// reading is one data set on its way in.
type reading struct {
	ctx      context.Context
	format   Format
	tables   []*table
	problems *tables.Problems
	profiles []profile.Profile
	pairs    []profile.Pair
}

// table returns the first table of that name, or an empty one.
func (r *reading) table(name string) *table {
	if all := r.all(name); len(all) > 0 {
		return all[0]
	}
	return &table{}
}

func (r *reading) all(name string) []*table {
	var out []*table
	for _, t := range r.tables {
		if t.spec.Name == name {
			out = append(out, t)
		}
	}
	return out
}

func (r *reading) add(p profile.Profile) { r.profiles = append(r.profiles, p) }

// sorted puts the profiles in the order of their keys, each once.
func (r *Result) sorted() error {
	slices.SortFunc(r.Profiles, func(a, b profile.Profile) int { return cmp.Compare(a.Key, b.Key) })
	for i := 1; i < len(r.Profiles); i++ {
		if r.Profiles[i].Key == r.Profiles[i-1].Key {
			return fmt.Errorf("%s and %s, key %s: %w", r.Profiles[i-1].Workload, r.Profiles[i].Workload, r.Profiles[i].Key, ErrTwice)
		}
	}
	return nil
}

// result sorts everything, and holds the counts against each other: a
// measurement that is neither taken nor left out would be a fault of a reader.
func (r *reading) result() (Result, error) {
	out := Result{Format: r.format.Name, Profiles: r.profiles, Pairs: r.pairs}
	if err := out.sorted(); err != nil {
		return Result{}, err
	}
	slices.SortFunc(out.Pairs, func(a, b profile.Pair) int {
		return cmp.Or(cmp.Compare(a.Machine.Configuration, b.Machine.Configuration), cmp.Compare(a.A.Key, b.A.Key), cmp.Compare(a.B.Key, b.B.Key))
	})
	for _, t := range r.tables {
		if len(r.profiles)+len(r.pairs) == 0 {
			t.skip(t.taken, noProfile) // what was read for others, such as machine types
			t.taken = 0
		}
		count, skips := t.counts()
		left := 0
		for _, s := range skips {
			left += s.Measurements
		}
		if count.Taken+left != count.Measurements {
			return Result{}, fmt.Errorf("%s: %d measurements, but %d taken and %d left out", t.file, count.Measurements, count.Taken, left)
		}
		out.Files, out.LeftOut = append(out.Files, count), append(out.LeftOut, skips...)
	}
	return out, nil
}
