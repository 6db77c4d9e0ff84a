package foreign

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nomad-placer/nomad-placer/profiler/foreign/tables"
)

// formats is the list, sorted by name; a new data set is one file and one line.
var formats = []Format{
	ethIBench,
	gavelGPU,
	iaasContention,
	lumosCloud,
	ntuaNginx,
	specLLC,
}

// Format is one data set this package can read.
type Format struct {
	Name    string   // of the data set, as in its folder
	Title   string   // what was measured, one line
	Takes   []string // what becomes of it
	Leaves  []string // what is not taken, and why
	License string   // as the source states it
	tables  []tableSpec
	read    func(*reading) error
}

// tableSpec is one table of a format. A file that has its columns is this table.
type tableSpec struct {
	tables.Spec
	leave   string // not read: why; empty where it is read
	several bool   // more than one file may be this table
}

// Formats lists what can be read, sorted by name. The slice is the caller's.
func Formats() []Format { return slices.Clone(formats) }

// Tables names the tables of the format that are read.
func (f Format) Tables() []string {
	var names []string
	for _, t := range f.tables {
		if t.leave == "" {
			names = append(names, t.Name)
		}
	}
	return names
}

// find returns the format of that name, or an error that lists the known ones.
func find(name string) (Format, error) {
	for _, f := range formats {
		if f.Name == name {
			return f, nil
		}
	}
	return Format{}, fmt.Errorf("format %q: %w; known: %s", name, ErrUnknownFormat, names(formats))
}

func names(list []Format) string {
	out := make([]string, len(list))
	for i, f := range list {
		out[i] = f.Name
	}
	return strings.Join(out, ", ")
}
