package dataset

import (
	"fmt"
	"io/fs"
	"math"
	"strconv"
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
	err := each(folder, "runtime_matrix.csv.gz", []string{"dataset"}, func(f *file) error {
		name := f.text("dataset")
		for j, column := range f.header {
			if column == "dataset" || f.record[j] == "" {
				continue
			}
			seconds, err := strconv.ParseFloat(f.record[j], 64)
			if err != nil || math.IsNaN(seconds) || math.IsInf(seconds, 0) || seconds < 0 {
				return fmt.Errorf("%s: %w: %s is %q, not a run time", f.where(), ErrFormat, column, f.record[j])
			}
			if seconds == 0 {
				skipped.add("a run time of 0, below the clock's resolution", f.where())
				continue
			}
			t.add(name, name, column, 1/seconds)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return []Set{t.finish(leastKnown, &skipped)}, nil
}
