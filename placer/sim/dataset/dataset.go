package dataset

import (
	"fmt"
	"math"
	"slices"
)

// Kind is what the columns of a set are.
type Kind string

// The kinds of columns.
const (
	Heterogeneity Kind = "heterogeneity" // node configurations
	ScaleOut      Kind = "scale-out"     // numbers of nodes
	ScaleUp       Kind = "scale-up"      // sizes
	Exhaustive    Kind = "exhaustive"    // whole vectors of configuration and size
	Interference  Kind = "interference"  // sources
)

// Set is one utility matrix with every measurement of every cell.
type Set struct {
	Name    string
	Kind    Kind
	Ratio   bool // cells are speeds, each row in its own unit; else points, 0 to 100
	Columns []string
	Rows    []Row
	// Noisy: classifiers are told the deviations of the cells.
	Noisy bool
	// Probes bounds which columns a new row may be measured in: its i-th entry is
	// one of Probes[i]. Empty: any two.
	Probes  [][]int
	Skipped []Skip
}

// Row is one workload.
type Row struct {
	Name  string
	Group string      // the program, whatever its input: rows that may resemble each other by origin
	Cells [][]float64 // per column: the measurements; none is unknown
	// Deviation is the standard deviation of a cell by its own interval; NaN or
	// nil where it has none.
	Deviation []float64
	Again     []float64 // per column: the median measured on another day; NaN or nil where it was not
}

// Skip counts rows of a file that were not used for one reason.
type Skip struct {
	Reason string
	Count  int
	First  string // file:line of the first
}

func (s Skip) String() string {
	return fmt.Sprintf("%d rows: %s (first: %s)", s.Count, s.Reason, s.First)
}

// skips counts by reason, in order of appearance.
type skips []Skip

func (s *skips) add(reason, where string) {
	for i := range *s {
		if (*s)[i].Reason == reason {
			(*s)[i].Count++
			return
		}
	}
	*s = append(*s, Skip{reason, 1, where})
}

// table collects measurements by row and column name, in order of appearance.
type table struct {
	set     Set
	rows    map[string]int
	columns map[string]int
}

func newTable(set Set) *table {
	t := &table{set: set, rows: map[string]int{}, columns: map[string]int{}}
	for j, c := range set.Columns {
		t.columns[c] = j
	}
	return t
}

func (t *table) add(name, group, column string, value float64) {
	j, ok := t.columns[column]
	if !ok {
		j = len(t.set.Columns)
		t.columns[column] = j
		t.set.Columns = append(t.set.Columns, column)
	}
	i, ok := t.rows[name]
	if !ok {
		i = len(t.set.Rows)
		t.rows[name] = i
		t.set.Rows = append(t.set.Rows, Row{Name: name, Group: group})
	}
	row := &t.set.Rows[i]
	for len(row.Cells) <= j {
		row.Cells = append(row.Cells, nil)
	}
	row.Cells[j] = append(row.Cells[j], value)
}

// deviate notes the deviation of a cell that was added.
func (t *table) deviate(name, column string, deviation float64) {
	row, j := &t.set.Rows[t.rows[name]], t.columns[column]
	for len(row.Deviation) <= j {
		row.Deviation = append(row.Deviation, math.NaN())
	}
	row.Deviation[j] = deviation
}

// finish pads every row, and leaves out those known in fewer than least
// columns: nothing could be predicted of them.
func (t *table) finish(least int, skipped *skips) Set {
	set := t.set
	set.Rows = nil
	for _, row := range t.set.Rows {
		for len(row.Cells) < len(set.Columns) {
			row.Cells = append(row.Cells, nil)
		}
		for row.Deviation != nil && len(row.Deviation) < len(set.Columns) {
			row.Deviation = append(row.Deviation, math.NaN())
		}
		if known(row) < least {
			skipped.add(fmt.Sprintf("workload known in fewer than %d columns", least), row.Name)
			continue
		}
		set.Rows = append(set.Rows, row)
	}
	set.Skipped = slices.Clone(*skipped)
	return set
}

func known(row Row) int {
	n := 0
	for _, c := range row.Cells {
		if len(c) > 0 {
			n++
		}
	}
	return n
}

// Median of the measurements of a cell; NaN of none. One run in a few that
// straggled says little of the machine.
func Median(runs []float64) float64 {
	n := len(runs)
	if n == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(runs))
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
