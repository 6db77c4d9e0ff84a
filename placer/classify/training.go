package classify

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/curve"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// Training is the four utility matrices. Row i of each is profile i; NaN is
// what that profile did not measure.
type Training struct {
	Speed     Matrix // performance in isolation; each row in its own unit
	Tolerated Matrix // percent
	Caused    Matrix // percent
	ScaleUp   Matrix // performance in isolation by CPUs; each row in its own unit
	Cores     []int  // columns of ScaleUp
	Sources   []interference.Source
}

// TrainingFrom builds the matrices from profiles. Columns are the union of what
// was measured: node configurations by name, sources in the paper's order with
// unlisted ones last. Only measured numbers count; predictions are not learnt
// from. A score of a wide interval is a weak cell, and so is one that is unknown
// although the ramp says something (package curve). Rows of one application are a group: a workload that a model
// is asked about is rarely a second version of one that it knows.
func TrainingFrom(profiles []profile.Profile) Training {
	configurations, seen := map[string]bool{}, map[interference.Source]bool{}
	for _, p := range profiles {
		for c := range p.Isolated {
			configurations[c] = true
		}
		for _, scores := range []interference.Scores{p.Sensitivity.Tolerated, p.Sensitivity.Caused} {
			for s, e := range scores {
				if e.IsMeasured() {
					seen[s] = true
				}
			}
		}
		for _, r := range p.Ramp {
			if curve.Tells(r) {
				seen[r.Source] = true
			}
		}
	}
	t := Training{Sources: inPaperOrder(seen)}
	t.Speed.Columns = slices.Sorted(maps.Keys(configurations))
	t.Tolerated.Columns, t.Caused.Columns = names(t.Sources), names(t.Sources)
	t.Cores = coreColumns(profiles)
	t.ScaleUp.Columns = coreNames(t.Cores)
	applications := make([]string, len(profiles))
	for i, p := range profiles {
		applications[i] = p.Application()
		t.ScaleUp.Rows = append(t.ScaleUp.Rows, sizeRow(&p, t.Cores))
		t.Speed.Rows = append(t.Speed.Rows, speedRow(p.Isolated, t.Speed.Columns))
		t.Tolerated.append(scoreRow(&p, curve.Workload, t.Sources))
		t.Caused.append(scoreRow(&p, curve.Kernel, t.Sources))
	}
	for _, m := range []*Matrix{&t.Speed, &t.Tolerated, &t.Caused, &t.ScaleUp} {
		m.Groups = applications
	}
	return t
}

// Scores are both scores of every row, by the columns asked for. What was not measured is
// assumed.
func (t Training) Scores(columns []interference.Source) (tolerated, caused [][]float64) {
	return assumedScores(t.Sources, t.Tolerated.Rows, columns, cluster.AssumedToleratedPercent),
		assumedScores(t.Sources, t.Caused.Rows, columns, cluster.AssumedCausedPercent)
}

func assumedScores(sources []interference.Source, rows [][]float64, columns []interference.Source, assumed float64) [][]float64 {
	out := make([][]float64, len(rows))
	for i, row := range rows {
		for _, c := range columns {
			v := assumed
			if j := slices.Index(sources, c); j >= 0 && !math.IsNaN(row[j]) {
				v = row[j]
			}
			out[i] = append(out[i], v)
		}
	}
	return out
}

func (m *Matrix) append(row, deviations []float64) {
	m.Rows, m.Deviations = append(m.Rows, row), append(m.Deviations, deviations)
}

func inPaperOrder(seen map[interference.Source]bool) []interference.Source {
	var out []interference.Source
	rest := maps.Clone(seen)
	for _, info := range interference.Sources() {
		if seen[info.Source] {
			out = append(out, info.Source)
			delete(rest, info.Source)
		}
	}
	return append(out, slices.Sorted(maps.Keys(rest))...)
}

func names(sources []interference.Source) []string {
	out := make([]string, len(sources))
	for i, s := range sources {
		out[i] = string(s)
	}
	return out
}

func speedRow(alone map[string]profile.Measurement, configurations []string) []float64 {
	row := make([]float64, len(configurations))
	for j, c := range configurations {
		row[j] = math.NaN()
		if m, ok := alone[c]; ok && usable(m.Value) {
			row[j] = m.Value
		}
	}
	return row
}

// usable: a speed that ratios can be taken of.
func usable(v float64) bool { return v > 0 && !math.IsInf(v, 0) }

// Models complete the rows of new workloads. Nil models and absent references
// mean that there was nothing to learn from. The zero value knows nothing.
type Models struct {
	// Speed is by reference configuration: rows divided by their own speed there
	// (Delimitrou 2015, §3.2.2, with the reference fixed per row).
	Speed          map[string]Model
	Configurations []string // columns of every speed model
	Tolerated      Model
	Caused         Model
	Sources        []interference.Source // columns of both score models
	unmeasured     [2][]Cell             // by side: what is said of a workload of which nothing is measured
	// ScaleUp is by reference number of CPUs, as Speed is by configuration.
	ScaleUp   map[int]Model
	Cores     []int // columns of every scale-up model
	Workloads int   // rows trained on
}

// Fit trains one model per matrix, and one speed model per reference
// configuration or number of CPUs. An empty matrix gives no model and no error.
func (t Training) Fit(c Classifier, seed uint64) (Models, error) {
	m := Models{Speed: map[string]Model{}, Configurations: t.Speed.Columns, Sources: t.Sources, Workloads: len(t.Speed.Rows), ScaleUp: map[int]Model{}, Cores: t.Cores}
	var err error
	if m.Tolerated, err = fitOrNil(c, t.Tolerated, seed); err != nil {
		return Models{}, fmt.Errorf("tolerated scores: %w", err)
	}
	if m.Caused, err = fitOrNil(c, t.Caused, seed); err != nil {
		return Models{}, fmt.Errorf("caused scores: %w", err)
	}
	if err := m.expectUnmeasured(); err != nil {
		return Models{}, err
	}
	for j, reference := range t.Speed.Columns {
		model, err := fitOrNil(c, RelativeTo(t.Speed, j), seed)
		if err != nil {
			return Models{}, fmt.Errorf("speed relative to %s: %w", reference, err)
		}
		if model != nil {
			m.Speed[reference] = model
		}
	}
	for j, cores := range t.Cores {
		model, err := fitOrNil(c, RelativeTo(t.ScaleUp, j), seed)
		if err != nil {
			return Models{}, fmt.Errorf("speed relative to %d CPUs: %w", cores, err)
		}
		if model != nil {
			m.ScaleUp[cores] = model
		}
	}
	return m, nil
}

func fitOrNil(c Classifier, m Matrix, seed uint64) (Model, error) {
	model, err := c.Fit(m, seed)
	if errors.Is(err, ErrNoTraining) {
		return nil, nil
	}
	return model, err
}

// RelativeTo divides every row by its cell in column reference, and keeps the
// rows that say something about another column (Delimitrou 2015, §3.2.2, with
// the reference fixed).
func RelativeTo(m Matrix, reference int) Matrix {
	out := Matrix{Columns: m.Columns, Ratio: true, Always: []int{reference}}
	for i, row := range m.Rows {
		if math.IsNaN(row[reference]) {
			continue
		}
		ratio := make([]float64, len(row))
		known := 0
		for j, v := range row {
			ratio[j] = v / row[reference]
			if !math.IsNaN(v) {
				known++
			}
		}
		if known < 2 {
			continue
		}
		out.Rows = append(out.Rows, ratio)
		if m.Groups != nil {
			out.Groups = append(out.Groups, m.Groups[i])
		}
		if m.Deviations != nil {
			out.Deviations = append(out.Deviations, ratioDeviations(row, m.deviations(i), reference))
		}
	}
	return out
}

// ratioDeviations are those of a row divided by its reference, whose own deviation is in all
// of them but its own, which is 1 by definition (first order).
func ratioDeviations(row, deviations []float64, reference int) []float64 {
	if deviations == nil {
		return nil
	}
	out, unit := make([]float64, len(row)), row[reference]
	for j, v := range row {
		if j != reference && !math.IsNaN(v) {
			out[j] = math.Hypot(deviations[j], v*deviations[reference]/unit) / unit
		}
	}
	return out
}
