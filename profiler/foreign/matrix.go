package foreign

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/nomad-placer/nomad-placer/profiler/foreign/tables"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// MatrixCells are what the cells of anybody's matrix may be, on their way into profiles.
var MatrixCells = []string{"speed", "size", "tolerated", "caused"}

// ErrCells: no such kind of cells.
var ErrCells = errors.New("no such kind of cells")

// ReadMatrix reads a matrix into a profile for each row: speeds in isolation by node
// configuration, speeds by number of CPUs ("4" or "4 cores"), or tolerated or caused scores
// by source.
func ReadMatrix(ctx context.Context, path, cells string) (Result, error) {
	if !slices.Contains(MatrixCells, cells) {
		return Result{}, fmt.Errorf("cells %q: %w; known: %s", cells, ErrCells, strings.Join(MatrixCells, ", "))
	}
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	unit := tables.PointCells
	if cells == "speed" || cells == "size" {
		unit = tables.SpeedCells
	}
	m, err := tables.ReadMatrixFile(path, unit)
	if err != nil {
		return Result{}, err
	}
	add, err := matrixColumns(path, m.Columns, cells)
	if err != nil {
		return Result{}, err
	}
	file := filepath.Base(path)
	out := Result{Format: "matrix of " + cells}
	count := Count{File: file, Measurements: len(m.Copies)}
	if n := len(m.Copies); n > 0 {
		out.LeftOut = append(out.LeftOut, Skip{File: file, Reason: rowCopy, Measurements: n})
	}
	for _, row := range m.Rows {
		p := newProfile(profile.DataSet{Name: "matrix"}, row.Group, row.Name)
		for j, cell := range row.Cells {
			if len(cell) > 0 {
				add(&p, j, cell)
				count.Measurements, count.Taken = count.Measurements+len(cell), count.Taken+len(cell)
				p.Provenance.Repetitions = max(p.Provenance.Repetitions, len(cell))
			}
		}
		fewRuns(&p)
		out.Profiles = append(out.Profiles, p)
	}
	out.Files = []Count{count}
	return out, out.sorted()
}

// matrixColumns says how a cell of each column becomes a part of a profile. All columns that
// cannot are the error.
func matrixColumns(path string, columns []string, cells string) (func(p *profile.Profile, column int, cell []tables.MatrixCell), error) {
	var problems tables.Problems
	sources, cores := make([]interference.Source, len(columns)), make([]int, len(columns))
	for j, name := range columns {
		var err error
		switch cells {
		case "size":
			cores[j], err = strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(name, "cores")))
			if err != nil || cores[j] < 1 || cores[j] > maxCores {
				problems.Add(&tables.InputError{File: path, Line: 1, Column: name, Problem: "is no number of CPUs", Hint: "columns of sizes are called 1, 2, 4 and so on"})
			}
		case "tolerated", "caused":
			if sources[j], err = interference.ParseSource(name); err != nil {
				problems.Add(&tables.InputError{File: path, Line: 1, Column: name, Problem: "is no source of interference", Hint: err.Error()})
			}
		}
	}
	return func(p *profile.Profile, j int, cell []tables.MatrixCell) {
		switch cells {
		case "speed":
			p.Isolated[columns[j]] = matrixSpeed(cell)
		case "size":
			p.ScaleUp = append(p.ScaleUp, profile.ScalePoint{Cores: cores[j], Speed: matrixSpeed(cell)})
		case "tolerated":
			p.Sensitivity.Tolerated[sources[j]] = matrixScore(cell)
		case "caused":
			p.Sensitivity.Caused[sources[j]] = matrixScore(cell)
		}
	}, problems.Err()
}

// maxCores bounds the numbers of CPUs that are believed.
const maxCores = 1 << 14

// matrixUnit: each row is in a unit of its own, which a matrix does not say.
const matrixUnit = "not stated"

// matrixSpeed is the median of the runs; a single one has the interval that it says of itself.
func matrixSpeed(cell []tables.MatrixCell) profile.Measurement {
	m := measurement(valuesOf(cell), matrixUnit)
	if c := cell[0]; len(cell) == 1 && c.Deviation >= 0 {
		low, high := c.Interval()
		m.Low, m.High = round(max(0, low)), round(high)
	}
	return m
}

func valuesOf(cell []tables.MatrixCell) []float64 {
	out := make([]float64, len(cell))
	for i, c := range cell {
		out[i] = c.Value
	}
	return out
}

// matrixScore is the median of the runs with its interval, or their range; a single one has
// the interval that it says of itself, and without one none.
func matrixScore(cell []tables.MatrixCell) interference.Estimate {
	m := measurement(valuesOf(cell), "")
	e := interference.Estimate{Score: interference.Percent(m.Value), Origin: interference.Measured}
	switch c := cell[0]; {
	case len(cell) > 1:
		e.Low, e.High = interference.Percent(m.Low), interference.Percent(m.High)
	case c.Deviation >= 0:
		low, high := c.Interval()
		e.Low, e.High = interference.Percent(round(max(0, low))), interference.Percent(round(min(100, high)))
	}
	return e
}
