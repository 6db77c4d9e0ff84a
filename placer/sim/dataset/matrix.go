package dataset

import (
	"errors"
	"fmt"
	"math"

	"github.com/nomad-placer/nomad-placer/profiler/foreign/tables"
)

// errFewRows: nothing could be left out.
var errFewRows = errors.New("two rows must be known in three columns or more")

// ReadMatrix reads anybody's matrix as one set; see placer/docs/import.md for its form.
func ReadMatrix(path string, cells tables.Cells) (Set, error) {
	m, err := tables.ReadMatrixFile(path, cells)
	if err != nil {
		return Set{}, err
	}
	set := fromMatrix(path, m, cells)
	if len(set.Rows) < 2 {
		return Set{}, fmt.Errorf("matrix: %s: %w", path, errFewRows)
	}
	return set, nil
}

func fromMatrix(name string, m tables.Matrix, cells tables.Cells) Set {
	set := Set{Name: name, Kind: Interference, Columns: m.Columns, Noisy: true}
	if cells == tables.SpeedCells {
		set.Kind, set.Ratio = Heterogeneity, true
	}
	var skipped skips
	for _, line := range m.Copies {
		skipped.add("an exact copy of another row is no second measurement", fmt.Sprintf("%s:%d", name, line))
	}
	t := newTable(set)
	for _, row := range m.Rows {
		for j, cell := range row.Cells {
			for _, c := range cell {
				t.add(row.Name, row.Group, m.Columns[j], c.Value)
			}
			if d := deviationOfRuns(cell); !math.IsNaN(d) {
				t.deviate(row.Name, m.Columns[j], d)
			}
		}
	}
	return t.finish(leastScores, &skipped)
}

// deviationOfRuns is the root mean square of what the measurements of a cell say of
// themselves; NaN where none does.
func deviationOfRuns(cell []tables.MatrixCell) float64 {
	sum, n := 0.0, 0.0
	for _, c := range cell {
		if !math.IsNaN(c.Deviation) {
			sum, n = sum+c.Deviation*c.Deviation, n+1
		}
	}
	return math.Sqrt(sum / n)
}
