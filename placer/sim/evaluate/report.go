package evaluate

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/nomad-placer/nomad-placer/placer/classify"
	"github.com/nomad-placer/nomad-placer/placer/numeric/student"
	"github.com/nomad-placer/nomad-placer/placer/sim/dataset"
)

// Figure is a metric's mean over seeds with its 95 % interval (Student's t).
// With one seed there is no interval. A nil Figure was not defined on this set.
type Figure struct {
	Mean float64  `json:"mean"`
	Low  *float64 `json:"low,omitempty"`
	High *float64 `json:"high,omitempty"`
}

// Line is what one classifier scored, by metric name.
type Line struct {
	Classifier string             `json:"classifier"`
	Figures    map[string]Figure  `json:"figures"`
	ByColumn   map[string]float64 `json:"mean_error_by_column"`         // over all seeds
	BySeed     []float64          `json:"mean_error_by_seed,omitempty"` // to compare classifiers draw by draw
	Intervals  map[string][]Held  `json:"intervals_by_column,omitempty"`
	Unanswered int                `json:"unanswered,omitempty"` // predictions that no training row allowed
}

// Held is how many cells are inside their interval of one level, over all seeds.
type Held struct {
	Level  int     `json:"level_percent"`
	Cells  int     `json:"cells"`
	Inside float64 `json:"inside_percent"`
}

// heldBy are the levels of some cells; nil where none has an interval.
func heldBy(cells []outcome) []Held {
	var out []Held
	for k, level := range IntervalLevels {
		h := Held{Level: level}
		inside := 0
		for _, o := range cells {
			if o.bracketed {
				h.Cells++
				if o.inside[k] {
					inside++
				}
			}
		}
		if h.Cells == 0 {
			return nil
		}
		h.Inside = 100 * float64(inside) / float64(h.Cells)
		out = append(out, h)
	}
	return out
}

// Report is the outcome of Run.
type Report struct {
	Set     string         `json:"set"`
	Kind    dataset.Kind   `json:"kind"`
	Rows    int            `json:"rows"`
	Columns int            `json:"columns"`
	Runs    int            `json:"runs_per_cell"` // the least; 1 gives no floor
	Entries int            `json:"entries"`
	Seeds   int            `json:"seeds"`
	Leave   Leave          `json:"leave"`
	Train   string         `json:"train,omitempty"` // the set that was learnt from, where it is another
	Draw    Draw           `json:"draw"`
	Lines   []Line         `json:"lines"`
	Others  *Line          `json:"others,omitempty"` // each cell from all others of its row
	Floor   *Line          `json:"floor,omitempty"`
	Repeat  *Line          `json:"repeat,omitempty"`
	Skipped []dataset.Skip `json:"skipped,omitempty"`
}

func newReport(set dataset.Set, classifiers []classify.Descriptor, o Options, trials []trial) Report {
	r := Report{
		Set: set.Name, Kind: set.Kind, Rows: len(set.Rows), Columns: len(set.Columns), Runs: fewestRuns(set),
		Entries: o.Entries, Seeds: len(o.Seeds), Leave: o.Leave, Draw: o.Draw, Skipped: set.Skipped,
	}
	if o.Train != nil {
		r.Train = o.Train.Name
	}
	for c, d := range classifiers {
		r.Lines = append(r.Lines, newLine(d.Name, set, len(o.Seeds), trials, c))
	}
	r.Others = othersLine(set, trials, len(classifiers))
	r.Floor, r.Repeat = floor(set, len(o.Seeds)), repeated(set, o.Seeds)
	return r
}

// othersLine is about cells only: no column is named the best.
func othersLine(set dataset.Set, trials []trial, at int) *Line {
	own := slices.DeleteFunc(slices.Clone(trials), func(t trial) bool { return t.classifier != at })
	if len(own) == 0 {
		return nil
	}
	line := newLine("others", set, 1, own, at)
	for _, name := range []string{BestFound, WithinFive} {
		delete(line.Figures, name)
	}
	line.withoutIntervals()
	return &line
}

// withoutIntervals is a line of what predicts values alone.
func (l *Line) withoutIntervals() {
	for _, name := range []string{Holds50, Holds80, Covered} {
		delete(l.Figures, name)
	}
	l.Intervals = nil
}

func newLine(name string, set dataset.Set, seeds int, trials []trial, classifier int) Line {
	line := Line{Classifier: name, Figures: map[string]Figure{}, ByColumn: map[string]float64{}, Intervals: map[string][]Held{}}
	bySeed := make([][]trial, seeds)
	byColumn, cells := make([][]float64, len(set.Columns)), make([][]outcome, len(set.Columns))
	for _, t := range trials {
		switch {
		case t.classifier != classifier:
			continue
		case t.unanswered:
			line.Unanswered++
			continue
		}
		bySeed[t.seed] = append(bySeed[t.seed], t)
		for _, o := range t.cells {
			byColumn[o.column], cells[o.column] = append(byColumn[o.column], t.failure(o)), append(cells[o.column], o)
		}
	}
	for j, errors := range byColumn {
		if len(errors) > 0 {
			line.ByColumn[set.Columns[j]] = stat.Mean(errors, nil)
		}
		if held := heldBy(cells[j]); held != nil {
			line.Intervals[set.Columns[j]] = held
		}
	}
	for _, m := range Metrics() {
		if !m.applies(set.Ratio) {
			continue
		}
		var values []float64
		for _, own := range bySeed {
			if v := m.of(own); !math.IsNaN(v) {
				values = append(values, v)
			}
		}
		if len(values) > 0 {
			line.Figures[m.Name] = overSeeds(values)
		}
		if m.Name == MeanError {
			line.BySeed = values
		}
	}
	return line
}

func overSeeds(values []float64) Figure {
	mean, half := student.Mean(values)
	f := Figure{Mean: mean}
	if len(values) >= 2 {
		low, high := mean-half, mean+half
		f.Low, f.High = &low, &high
	}
	return f
}

func fewestRuns(set dataset.Set) int {
	least := math.MaxInt
	for _, row := range set.Rows {
		for _, runs := range row.Cells {
			if len(runs) > 0 {
				least = min(least, len(runs))
			}
		}
	}
	return least
}

// quantile of unsorted values; NaN of none.
func quantile(p float64, values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	return stat.Quantile(p, stat.LinInterp, sorted, nil)
}
