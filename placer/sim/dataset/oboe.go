package dataset

import (
	"io/fs"

	"github.com/nomad-placer/nomad-placer/profiler/foreign/tables"
)

var oboeReader = Reader{
	Name:    "oboe-automl-matrix",
	Summary: "run time of 219 model settings on OpenML data sets: many columns, very unlike rows",
	Source:  "udellgroup/oboe (Yang 2019)",
	Read:    readOboe,
}

// readOboe makes one matrix of speeds: a row is a data set, a column a model
// setting, the value runs per second. Empty cells are unknown.
func readOboe(folder fs.FS) ([]Set, error) {
	t := newTable(Set{Name: "oboe run times", Kind: Heterogeneity, Ratio: true})
	var skipped skips
	err := each(folder, tables.Spec{Name: "runtime_matrix", Columns: []string{"dataset"}}, &skipped, func(row tables.Row) {
		name := row.Text("dataset")
		for _, column := range row.Columns() {
			if column == "dataset" || row.Field(column) == "" {
				continue
			}
			seconds := row.ZeroOrMore(column)
			if seconds == 0 {
				skipped.add("a run time of 0, below the clock's resolution", row.Where())
				continue
			}
			t.add(name, name, column, 1/seconds)
		}
	})
	if err != nil {
		return nil, err
	}
	return []Set{t.finish(leastKnown, &skipped)}, nil
}
