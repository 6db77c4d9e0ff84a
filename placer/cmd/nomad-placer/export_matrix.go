package main

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/predict/production"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// matrixHeader is that of a matrix with a line for each measurement, as nomad-placer-sim reads
// it (placer/docs/import.md).
var matrixHeader = []string{"row", "column", "value", "low", "high", "group"}

// matrixCells are the kinds of cells that profile export writes.
var matrixCells = []string{"tolerated", "caused", "speed"}

// errNoCells: a matrix without a line cannot be read.
var errNoCells = errors.New("no profile has a cell of this kind that was measured")

// writeMatrix writes what is known of workloads, with what production has taught, as the
// others learn from it.
func writeMatrix(w io.Writer, all []knownRecord, cells string) error {
	lines := [][]string{matrixHeader}
	for _, q := range all {
		lines = append(lines, matrixLines(q.row(), cells)...)
	}
	if len(lines) == 1 {
		return command.WithHint(fmt.Errorf("%s: %w", cells, errNoCells), "nomad-placer profile list shows what there is")
	}
	return csv.NewWriter(w).WriteAll(lines)
}

// row is a profile as a row of the training set.
func (q knownRecord) row() profile.Profile {
	if q.Production == nil {
		return q.Profile
	}
	said := *q.Production
	said.Distrust = said.DistrustOf(q.Taken)
	return production.Row(q.Profile, &said)
}

// matrixLines are the measured cells of one row.
func matrixLines(p profile.Profile, cells string) [][]string {
	if cells == "speed" {
		var out [][]string
		for _, configuration := range slices.Sorted(maps.Keys(p.Isolated)) {
			if m := p.Isolated[configuration]; m.Value > 0 {
				out = append(out, matrixLine(p, configuration, m.Value, m.Low, m.High))
			}
		}
		return out
	}
	scores := p.Sensitivity.Tolerated
	if cells == "caused" {
		scores = p.Sensitivity.Caused
	}
	var out [][]string
	for _, info := range interference.Sources() {
		e := scores[info.Source]
		if !e.IsMeasured() {
			continue
		}
		value, _ := e.Score.Percent()
		low, _ := e.Low.Percent()
		high, _ := e.High.Percent()
		out = append(out, matrixLine(p, string(info.Source), value, low, high))
	}
	return out
}

// matrixLine has no interval where none holds the value.
func matrixLine(p profile.Profile, column string, value, low, high float64) []string {
	line := []string{p.Key, column, decimal(value), "", "", cmp.Or(p.Application(), p.Key)}
	if low <= value && value <= high {
		line[3], line[4] = decimal(low), decimal(high)
	}
	return line
}

func decimal(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
