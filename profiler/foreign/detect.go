package foreign

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nomad-placer/nomad-placer/profiler/foreign/tables"
)

// head is a file with the names of its columns.
type head struct {
	path    string
	size    int64 // bytes as stored
	columns []string
}

// name is the file's name, without its folder, for messages and counts.
func (h head) name() string { return filepath.Base(h.path) }

func isTable(name string) bool {
	return strings.HasSuffix(name, ".csv") || strings.HasSuffix(name, ".csv.gz")
}

// listFiles returns the tables of a folder, sorted, or the one file.
func listFiles(path string) ([]head, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("data set: %w", err)
	}
	if !info.IsDir() {
		if !info.Mode().IsRegular() { // it is read twice
			return nil, &tables.InputError{File: path, Problem: "is neither a folder nor a regular file"}
		}
		return []head{{path: path, size: info.Size()}}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, fmt.Errorf("data set: %w", err)
	}
	var files []head
	for _, e := range entries {
		if !isTable(e.Name()) {
			continue
		}
		file := filepath.Join(path, e.Name())
		info, err := os.Stat(file) // data sets are often folders of links
		if err != nil {
			return nil, fmt.Errorf("data set: %w", err)
		}
		if info.Mode().IsRegular() {
			files = append(files, head{path: file, size: info.Size()})
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: %w", path, ErrNoTables)
	}
	return files, nil
}

func readHeads(files []head) ([]head, error) {
	for i := range files {
		columns, err := readHeader(files[i])
		if err != nil {
			return nil, err
		}
		files[i].columns = columns
	}
	return files, nil
}

// spec returns the table of the format that the file is.
func (f Format) spec(h head) (tableSpec, bool) {
	for _, s := range f.tables {
		if len(s.Missing(h.columns)) == 0 {
			return s, true
		}
	}
	return tableSpec{}, false
}

// choose finds the format by the columns, or checks the one that was named.
func choose(heads []head, name string) (Format, error) {
	candidates := formats
	if name != "" {
		f, err := find(name)
		if err != nil {
			return Format{}, err
		}
		candidates = []Format{f}
	}
	var found []Format
	for _, f := range candidates {
		if slices.ContainsFunc(heads, func(h head) bool { _, ok := f.spec(h); return ok }) {
			found = append(found, f)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nearMisses(found[0], heads)
	case 0:
		return Format{}, errors.Join(fmt.Errorf("%w (%s)", ErrNotRecognised, names(candidates)), nearMisses(Format{}, heads, candidates...))
	default:
		return Format{}, fmt.Errorf("%w: %s and %s; name one with its format, or give one file", ErrAmbiguous, found[0].Name, found[1].Name)
	}
}

// nearMisses tells of files that are almost a table: more than half of its
// columns are there. Such a file is damaged rather than another's.
func nearMisses(chosen Format, heads []head, candidates ...Format) error {
	if chosen.Name != "" {
		candidates = []Format{chosen}
	}
	var found []error
	for _, h := range heads {
		if _, ok := chosen.spec(h); ok {
			continue
		}
		if e := nearest(h, candidates); e != nil {
			found = append(found, e)
		}
	}
	return errors.Join(found...)
}

func nearest(h head, candidates []Format) error {
	best, least := tableSpec{}, -1
	for _, f := range candidates {
		for _, s := range f.tables {
			if n := len(s.Missing(h.columns)); 2*n < len(s.Columns) && (least < 0 || n < least) {
				best, least = s, n
			}
		}
	}
	if least < 0 {
		return nil
	}
	return &tables.InputError{
		File: h.path, Line: 1, Problem: "the header lacks " + tables.Quoted(best.Missing(h.columns)),
		Hint: fmt.Sprintf("it looks like the table %s, whose columns are %s", best.Name, strings.Join(best.Columns, ",")),
	}
}
