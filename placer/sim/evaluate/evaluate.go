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
	Entries  int
	Seeds    []uint64
	Leave    Leave
	Draw     Draw
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
)

// Run evaluates the classifiers on a set. The same arguments give the same
// report, however many processors work on it.
func Run(ctx context.Context, set dataset.Set, classifiers []classify.Descriptor, o Options) (Report, error) {
	folds := foldsOf(set, o.Leave)
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
	case folds < 2:
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

// foldsOf lists the rows that are left out together.
func foldsOf(set dataset.Set, leave Leave) [][]int {
	var folds [][]int
	at := map[string]int{}
	for i, row := range set.Rows {
		key := row.Name
		if leave == LeaveGroup {
			key = row.Group
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
	bracketed bool // has an interval
	inside    bool // it holds the truth
}

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
	f.train.Columns = set.Columns
	for i, row := range set.Rows {
		if !slices.Contains(out, i) {
			f.train.Rows = append(f.train.Rows, truthOf(row))
		}
	}
	f.fixed = mostOftenBest(f.train)
	return f
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
	cells, err := model.Complete(row, nil)
	if err != nil {
		return trial{}, err
	}
	return f.compare(i, c, at, cells, unit), nil
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
		t.cells = append(t.cells, outcome{
			column: j, want: truth[j], got: predicted[j],
			bracketed: !math.IsNaN(cell.Low), inside: cell.Low*unit <= truth[j] && truth[j] <= cell.High*unit,
		})
	}
	if chosen := argmax(predicted); chosen >= 0 {
		t.chosen = truth[chosen]
	}
	return t
}

// inUnit turns a predicted ratio into a speed; a score stays between 0 and 100.
func (f *fold) inUnit(v, unit float64) float64 {
	if f.set.Ratio {
		return v * unit
	}
	return min(100, max(0, v))
}
