package classify

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Kind is one of the independent classifications of a workload (Delimitrou 2015,
// §4.3.2), or the single one they replace.
type Kind string

// The kinds. Interference is two matrices.
const (
	ScaleUp       Kind = "scale-up"      // columns are sizes on one configuration
	ScaleOut      Kind = "scale-out"     // columns are numbers of nodes
	Heterogeneity Kind = "heterogeneity" // columns are node configurations
	Tolerated     Kind = "tolerated"     // columns are sources
	Caused        Kind = "caused"        // columns are sources
	Exhaustive    Kind = "exhaustive"    // columns are whole vectors of the others; the paper's comparison
)

// Errors of Four.
var (
	ErrUnknown     = errors.New("classify: no such kind, column or workload")
	ErrNoReference = errors.New("classify: the workload was not measured in the reference column")
	ErrValue       = errors.New("classify: a measurement must be finite, and a speed above zero")
)

// Scheme is the columns of one kind. Speeds of different workloads differ by
// orders of magnitude and in unit, so every row is divided by its own speed in
// Reference, a column that every profile measures; scores have none.
type Scheme struct {
	Columns   []string
	Reference string // empty: scores, which have a common unit
}

// Four classifies workloads by several small matrices instead of one large one:
// each kind by itself, and each type of workload by itself, since units and
// shapes differ between types (Delimitrou 2015, §4.3.2). A measurement is kept
// for good and overwrites what was estimated; Fit learns from all of them, and a
// workload measured since is folded in without it. It is not safe for concurrent
// use.
type Four struct {
	classifier Classifier
	seed       uint64
	schemes    map[Kind]Scheme
	tables     map[tableKey]*measurements
}

type tableKey struct {
	kind Kind
	typ  string // of workload
}

// measurements are the rows of one matrix, in the order the workloads came.
type measurements struct {
	index map[string]int
	rows  [][]float64
	model Model // nil before Fit, or without rows to learn from
}

// NewFour checks that columns are unique and references are among them.
func NewFour(c Classifier, seed uint64, schemes map[Kind]Scheme) (*Four, error) {
	for kind, s := range schemes {
		sorted := slices.Sorted(slices.Values(s.Columns))
		if len(sorted) == 0 || len(slices.Compact(sorted)) != len(s.Columns) {
			return nil, fmt.Errorf("%w: %s has no columns, or one twice", ErrUnknown, kind)
		}
		if s.Reference != "" && !slices.Contains(s.Columns, s.Reference) {
			return nil, fmt.Errorf("%w: %s has no column %q to refer to", ErrUnknown, kind, s.Reference)
		}
	}
	return &Four{classifier: c, seed: seed, schemes: schemes, tables: map[tableKey]*measurements{}}, nil
}

// CellName says which cell a measurement is of.
type CellName struct {
	Kind     Kind
	Type     string // of workload: "batch", "latency-critical", "single-node"
	Workload string
	Column   string
}

// Record keeps a measurement; one of the same cell replaces it.
func (f *Four) Record(at CellName, value float64) error {
	scheme, j, err := f.column(at)
	if err != nil {
		return err
	}
	if math.IsNaN(value) || math.IsInf(value, 0) || scheme.Reference != "" && value <= 0 {
		return fmt.Errorf("%w: %+v is %v", ErrValue, at, value)
	}
	key := tableKey{at.Kind, at.Type}
	t := f.tables[key]
	if t == nil {
		t = &measurements{index: map[string]int{}}
		f.tables[key] = t
	}
	i, ok := t.index[at.Workload]
	if !ok {
		i = len(t.rows)
		t.index[at.Workload] = i
		t.rows = append(t.rows, slices.Repeat([]float64{math.NaN()}, len(scheme.Columns)))
	}
	t.rows[i][j] = value
	return nil
}

// Feedback keeps what was measured at run time where it departs from the
// estimate by more than tolerance (a share of a speed, points of a score), or
// where there was no estimate; it reports whether it did (Delimitrou 2015,
// §4.3.2: the feedback loop).
func (f *Four) Feedback(at CellName, value, tolerance float64) (bool, error) {
	scheme, j, err := f.column(at)
	if err != nil {
		return false, err
	}
	cells, err := f.Estimate(at.Kind, at.Type, at.Workload)
	if err != nil && !errors.Is(err, ErrNoReference) && !errors.Is(err, ErrUnknown) {
		return false, err
	}
	if err == nil && cells[j].Known {
		off := math.Abs(value - cells[j].Value)
		if scheme.Reference != "" {
			off /= cells[j].Value
		}
		if off <= tolerance {
			return false, nil
		}
	}
	return true, f.Record(at, value)
}

func (f *Four) column(at CellName) (Scheme, int, error) {
	scheme, ok := f.schemes[at.Kind]
	j := slices.Index(scheme.Columns, at.Column)
	if !ok || j < 0 {
		return Scheme{}, 0, fmt.Errorf("%w: %s %q", ErrUnknown, at.Kind, at.Column)
	}
	return scheme, j, nil
}

// Fit learns every matrix from what was recorded. Rows that say nothing about
// another column than the reference teach nothing.
func (f *Four) Fit() error {
	for key, t := range f.tables {
		model, err := fitOrNil(f.classifier, f.matrix(key.kind, t.rows), f.seed)
		if err != nil {
			return fmt.Errorf("%s of %s: %w", key.kind, key.typ, err)
		}
		t.model = model
	}
	return nil
}

func (f *Four) matrix(kind Kind, rows [][]float64) Matrix {
	scheme := f.schemes[kind]
	m := Matrix{Columns: scheme.Columns, Rows: rows}
	if scheme.Reference == "" {
		return m
	}
	return RelativeTo(m, slices.Index(scheme.Columns, scheme.Reference))
}

// Estimate completes the row of a workload, in its own unit. Before Fit, and
// where nothing could be learnt, only what was measured is known. It returns
// ErrUnknown for a workload without a measurement of that kind and
// ErrNoReference for one that cannot be put on the scale of the others.
func (f *Four) Estimate(kind Kind, typ, workload string) ([]Cell, error) {
	t := f.tables[tableKey{kind, typ}]
	if t == nil {
		return nil, fmt.Errorf("%w: %s of %s was never measured", ErrUnknown, kind, typ)
	}
	i, ok := t.index[workload]
	if !ok {
		return nil, fmt.Errorf("%w: %s of %s %s was never measured", ErrUnknown, kind, typ, workload)
	}
	scheme, row := f.schemes[kind], slices.Clone(t.rows[i])
	unit := 1.0
	if scheme.Reference != "" {
		if unit = row[slices.Index(scheme.Columns, scheme.Reference)]; math.IsNaN(unit) {
			return nil, fmt.Errorf("%w: %s of %s", ErrNoReference, kind, workload)
		}
	}
	if t.model == nil {
		return cells(row, row, row, func(int) bool { return false }), nil
	}
	for j := range row {
		row[j] /= unit
	}
	out, err := t.model.Complete(row)
	if err != nil {
		return nil, fmt.Errorf("%s of %s: %w", kind, workload, err)
	}
	for j := range out {
		out[j].Value, out[j].Low, out[j].High = out[j].Value*unit, out[j].Low*unit, out[j].High*unit
	}
	return out, nil
}

// Columns lists those of a kind; nil for a kind that is not classified.
func (f *Four) Columns(kind Kind) []string { return slices.Clone(f.schemes[kind].Columns) }
