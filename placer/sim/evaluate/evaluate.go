package evaluate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/nomad-placer/nomad-placer/placer/classify"
	"github.com/nomad-placer/nomad-placer/placer/sim/dataset"
)

// Leave says what is kept from the training set together.
type Leave string

// What is left out.
const (
	LeaveRow   Leave = "row"   // the workload
	LeaveGroup Leave = "group" // the workload and every other of its program
)

// Draw says which cells of the new row are shown.
type Draw string

// How cells are chosen.
const (
	DrawRandom  Draw = "random"  // any, uniformly (Delimitrou 2015, §3.2)
	DrawFixed   Draw = "fixed"   // the column that is best most often, others at random
	DrawPlanned Draw = "planned" // ours: those that leave the least uncertainty, one after the other, the same for every row
	DrawPair    Draw = "pair"    // ours: the two that together leave the least; scores only
	DrawWidest  Draw = "widest"  // ours: those along which the training rows differ most; scores only
)

// Draws lists all ways.
func Draws() []Draw { return []Draw{DrawRandom, DrawFixed, DrawPlanned, DrawPair, DrawWidest} }

// Options of Run. The zero value is not usable; see Defaults.
type Options struct {
	Entries int
	Seeds   []uint64
	Leave   Leave
	Draw    Draw
	// Train is where the training rows are from, and the set only tested on: another
	// cluster. What is left out of the set is left out of it too. Nil: the set itself.
	Train    *dataset.Set
	Progress func(done, total int) // called from several goroutines in turn; may be nil
}

// Defaults shows two cells at random, over five seeds.
func Defaults() Options {
	return Options{Entries: 2, Seeds: []uint64{1, 2, 3, 4, 5}, Leave: LeaveRow, Draw: DrawRandom}
}

// Errors of Run.
var (
	ErrTooSmall = errors.New("evaluate: the set is too small")
	ErrDraw     = errors.New("evaluate: cells cannot be chosen so")
	ErrTrain    = errors.New("evaluate: nothing that could be tested can be learnt from the training set")
)

// Run evaluates the classifiers on a set. The same arguments give the same
// report, however many processors work on it.
func Run(ctx context.Context, set dataset.Set, classifiers []classify.Descriptor, o Options) (Report, error) {
	if o.Train != nil {
		var err error
		if set, err = onCommon(set, *o.Train); err != nil {
			return Report{}, err
		}
	}
	folds := foldsOf(set, o)
	if err := o.check(set, len(folds)); err != nil {
		return Report{}, err
	}
	results := make([][]trial, len(folds))
	err := forEach(ctx, len(folds), o.Progress, func(i int) error {
		f := newFold(set, folds[i], classifiers, o)
		var err error
		results[i], err = f.run()
		return err
	})
	if err != nil {
		return Report{}, fmt.Errorf("%s: %w", set.Name, err)
	}
	return newReport(set, classifiers, o, slices.Concat(results...)), nil
}

// check says why nothing can be left out and shown.
func (o Options) check(set dataset.Set, folds int) error {
	switch {
	case o.Train == nil && folds < 2:
		return fmt.Errorf("%w: %s has %d folds", ErrTooSmall, set.Name, folds)
	case o.Entries < 1 || o.Entries >= len(set.Columns):
		return fmt.Errorf("%w: %s has %d columns, of which %d are to be shown", ErrTooSmall, set.Name, len(set.Columns), o.Entries)
	case set.Ratio && (o.Draw == DrawPair || o.Draw == DrawWidest):
		return fmt.Errorf("%w: %s has speeds, and %s chooses among scores", ErrDraw, set.Name, o.Draw)
	case o.Draw == DrawPair && o.Entries != 2:
		return fmt.Errorf("%w: a pair is of two, not %d", ErrDraw, o.Entries)
	}
	return nil
}

// key of what is left out with a row.
func (l Leave) key(row dataset.Row) string {
	if l == LeaveGroup {
		return row.Group
	}
	return row.Name
}

// foldsOf lists the rows that are left out together. Rows of which another cluster knows
// nothing are one fold: all have the same training rows.
func foldsOf(set dataset.Set, o Options) [][]int {
	var folds [][]int
	at, elsewhere := map[string]int{}, map[string]bool{}
	if o.Train != nil {
		for _, row := range o.Train.Rows {
			elsewhere[o.Leave.key(row)] = true
		}
	}
	for i, row := range set.Rows {
		key := o.Leave.key(row)
		if o.Train != nil && !elsewhere[key] {
			key = ""
		}
		k, ok := at[key]
		if !ok {
			k = len(folds)
			at[key] = k
			folds = append(folds, nil)
		}
		folds[k] = append(folds[k], i)
	}
	return folds
}

// forEach runs do for 0 to n−1 on all processors, until one fails.
func forEach(ctx context.Context, n int, progress func(done, total int), do func(i int) error) error {
	group, running := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	var mu sync.Mutex
	done := 0
	for i := range n {
		if running.Err() != nil {
			break
		}
		group.Go(func() error {
			if err := do(i); err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			done++
			if progress != nil {
				progress(done, n)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return context.Cause(ctx)
}

// trial is one row, predicted once by one classifier.
type trial struct {
	row, seed, classifier int
	ratio                 bool
	unanswered            bool      // no training row knows the reference
	cells                 []outcome // of the columns not shown
	chosen, best          float64   // true speed of the column predicted best, and of the best
}

// outcome is one predicted cell.
type outcome struct {
	column    int
	want, got float64
	bracketed bool                      // has an interval
	inside    [len(IntervalLevels)]bool // those of these levels hold the truth
}

// IntervalLevels are those of the intervals that are judged, in percent.
var IntervalLevels = [...]int{50, 80, 95}

// fold predicts the rows left out.
type fold struct {
	set         dataset.Set
	out         []int
	train       classify.Matrix
	classifiers []classify.Descriptor
	options     Options
	models      map[modelKey]classify.Model
	fixed       int // for DrawFixed
}

// modelKey: reference is −1 where rows have a common unit.
type modelKey struct{ classifier, reference int }

func newFold(set dataset.Set, out []int, classifiers []classify.Descriptor, o Options) *fold {
	f := &fold{set: set, out: out, classifiers: classifiers, options: o, models: map[modelKey]classify.Model{}}
	f.train = trainingOf(set, out, o)
	f.fixed = mostOftenBest(f.train)
	return f
}

// trainingOf are the rows that may be learnt from when some are left out. Where whole groups
// are left out, new rows are of none that is known, and classifiers are told so.
func trainingOf(set dataset.Set, out []int, o Options) classify.Matrix {
	from, left := set, map[string]bool{}
	for _, i := range out {
		left[o.Leave.key(set.Rows[i])] = true
	}
	if o.Train != nil {
		from = *o.Train
	}
	m := classify.Matrix{Columns: set.Columns}
	deviations, any := [][]float64{}, false
	for _, row := range from.Rows {
		if left[o.Leave.key(row)] {
			continue
		}
		row = onColumns(row, from.Columns, set.Columns)
		m.Rows = append(m.Rows, truthOf(row))
		if o.Leave == LeaveGroup {
			m.Groups = append(m.Groups, row.Group)
		}
		deviations = append(deviations, deviationsOf(row))
		any = any || from.Noisy && row.Deviation != nil
	}
	if any {
		m.Deviations = deviations
	}
	return m
}

// deviationsOf a row as classifiers take them: 0 where none is known.
func deviationsOf(row dataset.Row) []float64 {
	if row.Deviation == nil {
		return nil
	}
	out := slices.Clone(row.Deviation)
	for j, d := range out {
		if math.IsNaN(d) {
			out[j] = 0
		}
	}
	return out
}

// onCommon is the set with the columns that the other has too.
func onCommon(set, other dataset.Set) (dataset.Set, error) {
	if set.Ratio != other.Ratio {
		return set, fmt.Errorf("%w: one of %s and %s has speeds, and the other points", ErrTrain, other.Name, set.Name)
	}
	out := set
	out.Columns, out.Rows, out.Probes = nil, nil, nil
	for _, c := range set.Columns {
		if slices.Contains(other.Columns, c) {
			out.Columns = append(out.Columns, c)
		}
	}
	if len(out.Columns) < 2 {
		return set, fmt.Errorf("%w: %s and %s have %d columns in common", ErrTrain, other.Name, set.Name, len(out.Columns))
	}
	for _, row := range set.Rows {
		out.Rows = append(out.Rows, onColumns(row, set.Columns, out.Columns))
	}
	return out, nil
}

// onColumns is the row in the order of other columns; those that it has not are unknown.
func onColumns(row dataset.Row, columns, wanted []string) dataset.Row {
	if slices.Equal(columns, wanted) {
		return row
	}
	out := row
	out.Cells, out.Deviation, out.Again = make([][]float64, len(wanted)), nil, nil
	for j, c := range wanted {
		k := slices.Index(columns, c)
		if k < 0 {
			continue
		}
		out.Cells[j] = row.Cells[k]
		if row.Deviation != nil {
			if out.Deviation == nil {
				out.Deviation = slices.Repeat([]float64{math.NaN()}, len(wanted))
			}
			out.Deviation[j] = row.Deviation[k]
		}
	}
	return out
}

// truthOf is each cell's median; NaN where it was not measured.
func truthOf(row dataset.Row) []float64 {
	out := make([]float64, len(row.Cells))
	for j, runs := range row.Cells {
		out[j] = dataset.Median(runs)
	}
	return out
}

func mostOftenBest(m classify.Matrix) int {
	count := make([]int, len(m.Columns))
	for _, row := range m.Rows {
		if best := argmax(row); best >= 0 {
			count[best]++
		}
	}
	most := 0
	for j, n := range count {
		if n > count[most] {
			most = j
		}
	}
	return most
}

// argmax passes over NaN; −1 for a row of nothing else.
func argmax(row []float64) int {
	best := -1
	for j, v := range row {
		if !math.IsNaN(v) && (best < 0 || v > row[best]) {
			best = j
		}
	}
	return best
}

func (f *fold) run() ([]trial, error) {
	var out []trial
	for _, i := range f.out {
		for k, seed := range f.options.Seeds {
			rng := rand.New(rand.NewPCG(seed, uint64(i)))
			at, err := f.draw(f.set.Rows[i], rng)
			if err != nil {
				return nil, err
			}
			if at == nil {
				continue // too few cells are known, of this row or of the others, to show some and test others
			}
			shown := make([]float64, len(at))
			for n, j := range at {
				runs := f.set.Rows[i].Cells[j]
				shown[n] = runs[rng.IntN(len(runs))]
			}
			for c := range f.classifiers {
				t, err := f.predict(i, c, at, shown)
				if err != nil {
					return nil, fmt.Errorf("%s, %s: %w", f.set.Rows[i].Name, f.classifiers[c].Name, err)
				}
				t.seed = k
				out = append(out, t)
			}
		}
		t, ok, err := f.fromOthers(i)
		if err != nil {
			return nil, fmt.Errorf("%s, from others: %w", f.set.Rows[i].Name, err)
		}
		if ok {
			out = append(out, t)
		}
	}
	return out, nil
}

// draw chooses the columns to show, the reference first; nil where too few are
// known.
func (f *fold) draw(row dataset.Row, rng *rand.Rand) ([]int, error) {
	var known []int
	for j, runs := range row.Cells {
		if len(runs) > 0 {
			known = append(known, j)
		}
	}
	if len(known) <= f.options.Entries {
		return nil, nil
	}
	switch f.options.Draw {
	case DrawPlanned:
		return f.planned(known)
	case DrawPair:
		return f.pair(known)
	case DrawWidest:
		return f.widest(known), nil
	}
	rng.Shuffle(len(known), func(a, b int) { known[a], known[b] = known[b], known[a] })
	switch {
	case f.options.Draw == DrawFixed && slices.Contains(known, f.fixed):
		rest := slices.DeleteFunc(known, func(j int) bool { return j == f.fixed })
		known = append([]int{f.fixed}, rest...)
	case len(f.set.Probes) > 0:
		return f.withinProbes(known), nil
	}
	return known[:f.options.Entries], nil
}

// withinProbes takes for each entry the first known column it may be; entries
// beyond the stated ones may be any.
func (f *fold) withinProbes(known []int) []int {
	var at []int
	for n := range f.options.Entries {
		for _, j := range known {
			if !slices.Contains(at, j) && (n >= len(f.set.Probes) || slices.Contains(f.set.Probes[n], j)) {
				at = append(at, j)
				break
			}
		}
	}
	if len(at) < f.options.Entries {
		return nil
	}
	return at
}

// model is fitted once per reference.
func (f *fold) model(key modelKey, d classify.Descriptor) (classify.Model, error) {
	if m, ok := f.models[key]; ok {
		return m, nil
	}
	matrix := f.train
	if key.reference >= 0 {
		matrix = classify.RelativeTo(f.train, key.reference)
	}
	m, err := d.New().Fit(matrix, modelSeed)
	if err != nil {
		return nil, err
	}
	f.models[key] = m
	return m, nil
}

// modelSeed is that of every fit: seeds of a run only draw what is shown.
const modelSeed = 1

func (f *fold) predict(i, c int, at []int, shown []float64) (trial, error) {
	reference, unit := -1, 1.0
	if f.set.Ratio {
		reference, unit = at[0], shown[0]
	}
	model, err := f.model(modelKey{c, reference}, f.classifiers[c])
	if errors.Is(err, classify.ErrNoTraining) {
		return trial{row: i, classifier: c, ratio: f.set.Ratio, unanswered: true}, nil
	}
	if err != nil {
		return trial{}, err
	}
	row := slices.Repeat([]float64{math.NaN()}, len(f.set.Columns))
	for n, j := range at {
		row[j] = shown[n] / unit
	}
	cells, err := model.Complete(row, f.noise(i, at, unit))
	if err != nil {
		return trial{}, err
	}
	return f.compare(i, c, at, cells, unit), nil
}

// noise of the shown cells of a row, where training rows have theirs.
func (f *fold) noise(i int, at []int, unit float64) []float64 {
	if f.train.Deviations == nil {
		return nil
	}
	out := make([]float64, len(f.set.Columns))
	for n, j := range at {
		if row := f.set.Rows[i]; row.Deviation != nil && row.Deviation[j] > 0 && !(f.set.Ratio && n == 0) {
			out[j] = row.Deviation[j] / unit
		}
	}
	return out
}

func (f *fold) compare(i, c int, at []int, cells []classify.Cell, unit float64) trial {
	truth := truthOf(f.set.Rows[i])
	t := trial{row: i, classifier: c, ratio: f.set.Ratio, best: truth[argmax(truth)]}
	predicted := slices.Repeat([]float64{math.NaN()}, len(truth))
	for j, cell := range cells {
		if math.IsNaN(truth[j]) || !cell.Known {
			continue
		}
		predicted[j] = f.inUnit(cell.Value, unit)
		if slices.Contains(at, j) {
			continue
		}
		o := outcome{column: j, want: truth[j], got: predicted[j], bracketed: !math.IsNaN(cell.Low)}
		for k, level := range IntervalLevels {
			o.inside[k] = f.holds(cell, float64(level)/100, i, j, unit)
		}
		t.cells = append(t.cells, o)
	}
	if chosen := argmax(predicted); chosen >= 0 {
		t.chosen = truth[chosen]
	}
	return t
}

// holds: the interval of this level has the truth, which is itself known to its deviation
// only. Where classifiers are told deviations their intervals are of what is measured
// without noise, so that of the truth's own measurement is added.
func (f *fold) holds(c classify.Cell, level float64, i, j int, unit float64) bool {
	truth := dataset.Median(f.set.Rows[i].Cells[j])
	low, high := c.Interval(level)
	low, high, value := low*unit, high*unit, c.Value*unit
	if d := f.set.Rows[i].Deviation; f.train.Deviations != nil && d != nil && d[j] > 0 {
		own := distuv.UnitNormal.Quantile((1+level)/2) * d[j]
		low, high = value-math.Hypot(value-low, own), value+math.Hypot(high-value, own)
	}
	return low <= truth && truth <= high
}

// inUnit turns a predicted ratio into a speed; a score stays between 0 and 100.
func (f *fold) inUnit(v, unit float64) float64 {
	if f.set.Ratio {
		return v * unit
	}
	return min(100, max(0, v))
}
