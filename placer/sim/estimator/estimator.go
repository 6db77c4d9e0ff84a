package estimator

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/classify"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/sim"
	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// Options say how submissions are measured.
type Options struct {
	Classifier classify.Classifier
	Training   []*truth.Application  // measured in every cell
	Entries    int                   // of each row; 0 is the papers' two; as many more with each further profile
	Planned    bool                  // entries are those that tell most, where the classifier can say; else they are drawn
	Sources    []interference.Source // not empty: the profile of the LSH paper, see hashed.go
	Seconds    float64               // of one run; 0 is a minute
	Cores      []int                 // of one allocation that may be chosen, ascending; nil: no size may
	MemoryMB   []int                 // blocks of memory that may be chosen with them, ascending
	Nodes      []int                 // numbers of allocations that are classified, ascending from 1; nil: none
	Only       Matrices              // what is learnt of speeds and scores; 0: both
	Seed       uint64
}

// DefaultEntries of a row are the papers'.
const DefaultEntries = 2

// Matrices are some of what is learnt.
type Matrices uint8

// The matrices that can be left out, for who asks for others only.
const (
	Speeds Matrices = 1 << iota
	Scores
)

func (o *Options) learns(m Matrices) bool { return o.Only == 0 || o.Only&m != 0 }

// Estimator knows what profiling and classification say. It is safe for
// concurrent use.
type Estimator struct {
	model     *truth.Model
	options   Options
	reference int
	speed     classify.Model
	tolerated classify.Model
	caused    classify.Model
	joint     classify.Model // of tolerated and caused scores together; nil unless there are Sources
	scaleUp   classify.Model
	scaleOut  classify.Model

	mutex sync.Mutex
	known map[key]sim.Estimate

	planning sync.Mutex
	plans    map[planned][]int
}

// planned: which cells are worth measuring depends on no value, and so on nothing else.
type planned struct {
	model classify.Planner
	known string
	count int
}

// key: an estimate depends on nothing else.
type key struct {
	number, phase, again int
	sized                bool
}

var _ sim.Estimator = (*Estimator)(nil)

// ErrTraining: too little to learn from.
var ErrTraining = errors.New("knowing: the training applications teach nothing")

// NewEstimator measures the training applications and fits the models.
func NewEstimator(m *truth.Model, o Options) (*Estimator, error) {
	if o.Entries <= 0 {
		o.Entries = DefaultEntries
	}
	if o.Seconds <= 0 {
		o.Seconds = 60
	}
	e := &Estimator{model: m, options: o, reference: m.Reference(), known: map[key]sim.Estimate{}, plans: map[planned][]int{}}
	if len(o.Training) == 0 || o.Classifier == nil {
		return nil, fmt.Errorf("%w: %d of them", ErrTraining, len(o.Training))
	}
	return e, e.fit()
}

// rows are the training matrices.
type rows struct{ speed, tolerated, caused, up, out [][]float64 }

func (e *Estimator) fit() error {
	random := rand.New(rand.NewPCG(e.options.Seed, 0))
	var all rows
	for _, a := range e.options.Training {
		e.measureAll(a, &all, random)
	}
	fits := []struct {
		name string
		to   *classify.Model
		m    classify.Matrix
	}{
		{"speed", &e.speed, ratios(all.speed, e.configurations(), e.reference)},
		{"tolerated scores", &e.tolerated, classify.Matrix{Columns: e.columns(), Rows: all.tolerated}},
		{"caused scores", &e.caused, classify.Matrix{Columns: e.columns(), Rows: all.caused}},
		{"tolerated and caused scores", &e.joint, e.jointly(all.tolerated, all.caused)},
		{"scale-up", &e.scaleUp, ratios(all.up, names(len(e.options.Cores)), e.options.referenceSize())},
		{"scale-out", &e.scaleOut, ratios(all.out, names(len(e.options.Nodes)), 0)},
	}
	for _, f := range fits {
		if len(f.m.Columns) < 2 || len(f.m.Rows) == 0 {
			continue
		}
		model, err := e.options.Classifier.Fit(f.m, e.options.Seed)
		if err != nil {
			return fmt.Errorf("%w: %s: %w", ErrTraining, f.name, err)
		}
		*f.to = model
	}
	return nil
}

func ratios(rows [][]float64, columns []string, reference int) classify.Matrix {
	if len(columns) == 0 {
		return classify.Matrix{}
	}
	return classify.RelativeTo(classify.Matrix{Columns: columns, Rows: rows}, reference)
}

func (e *Estimator) configurations() []string {
	var out []string
	for _, m := range e.model.Machines() {
		out = append(out, m.Name)
	}
	return out
}

func (e *Estimator) columns() []string {
	var out []string
	for _, c := range e.model.Columns() {
		out = append(out, string(c))
	}
	return out
}

func names(n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprint(i))
	}
	return out
}

// referenceSize is the column that every scale-up row is divided by: the middle
// number of cores.
func (o *Options) referenceSize() int { return len(o.Cores) / 2 }

func (e *Estimator) measureAll(a *truth.Application, all *rows, random *rand.Rand) {
	if e.options.learns(Speeds) {
		speed := make([]float64, len(a.Isolated))
		for i, v := range a.Isolated {
			speed[i] = e.run(a, v, random)
		}
		all.speed = append(all.speed, speed)
	}
	if e.options.learns(Scores) {
		t, c := e.everyScore(a, 0, random)
		all.tolerated, all.caused = append(all.tolerated, t), append(all.caused, c)
	}
	up := make([]float64, len(e.options.Cores))
	for i := range up {
		up[i] = e.run(a, e.atSize(a, 0, i), random)
	}
	all.up = append(all.up, up)
	if truth.Distributed(a.Class) {
		out := make([]float64, len(e.options.Nodes))
		for i, n := range e.options.Nodes {
			out[i] = e.run(a, e.together(a, n), random)
		}
		all.out = append(all.out, out)
	}
}

// everyScore measures an application against every source.
func (e *Estimator) everyScore(a *truth.Application, phase int, random *rand.Rand) (tolerated, caused []float64) {
	k := len(e.model.Columns())
	tolerated, caused = make([]float64, k), make([]float64, k)
	for j := range tolerated {
		tolerated[j], caused[j] = e.model.MeasureScores(a, phase, j, e.options.Seconds, random)
	}
	return tolerated, caused
}

// atSize is the speed on a number of cores, with all the memory it uses.
func (e *Estimator) atSize(a *truth.Application, phase, i int) float64 {
	return a.Isolated[e.reference] * a.Size(phase, float64(e.options.Cores[i]), math.Inf(1))
}

func (e *Estimator) together(a *truth.Application, n int) float64 {
	return a.Isolated[e.reference] * float64(n) * e.model.Group(a, n)
}

// maxRuns bounds how often a run that could not tell is repeated.
const maxRuns = 3

// run is one profiling run; NaN where none of its repetitions could tell, or
// the workload did not work at all.
func (e *Estimator) run(a *truth.Application, value float64, random *rand.Rand) float64 {
	for range maxRuns {
		if v := e.model.Measure(a, value, e.options.Seconds, random); v > 0 {
			return v
		}
	}
	return math.NaN()
}

// Know implements sim.Estimator.
func (e *Estimator) Know(j *sim.Job, phase, again int) (sim.Estimate, error) {
	at := key{j.Number, phase, again, j.Sized}
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if out, ok := e.known[at]; ok {
		return out, nil
	}
	out, err := e.estimate(j, phase, e.options.Entries*(1+again))
	if err == nil {
		e.known[at] = out
	}
	return out, err
}

// The streams of random numbers: with one for each matrix, a row with more entries
// begins with those of a row with fewer.
const (
	streamSpeeds = iota
	streamScores
	streamSizes
	streamNodes
	streamAgain
)

// stream is of the runs of an application, or of the job of that number, for a matrix.
func (e *Estimator) stream(number, phase int, matrix uint64) *rand.Rand {
	return rand.New(rand.NewPCG(e.options.Seed^uint64(phase+1)<<32, (uint64(number)+1)|matrix<<48))
}

// estimate profiles a job with so many entries to a row.
func (e *Estimator) estimate(j *sim.Job, phase, entries int) (sim.Estimate, error) {
	stream := func(matrix uint64) *rand.Rand { return e.stream(j.Number, phase, matrix) }
	out := sim.Estimate{Profiled: true}
	a := j.App
	var err error
	if out.Speed, err = e.speeds(a, entries, stream(streamSpeeds)); err != nil {
		return out, err
	}
	out.Expected = e.expected(j, out.Speed)
	if out.Tolerated, out.Caused, err = e.scores(a, phase, entries, stream(streamScores)); err != nil {
		return out, err
	}
	if !j.Sized || len(e.options.Cores) == 0 {
		return out, nil
	}
	out.Sizes, err = e.sizes(a, phase, entries, stream(streamSizes), out.Speed)
	if err == nil && truth.Distributed(a.Class) {
		out.ScaleOut, err = e.scaled(a, stream(streamNodes))
	}
	return out, err
}

// Assume implements sim.Assumer: the rows of a job of which nothing was measured. Its speeds
// are relative, and how long it takes is not known.
func (e *Estimator) Assume(j *sim.Job, phase int) (sim.Estimate, error) {
	var out sim.Estimate
	row := unknown(len(j.App.Isolated))
	row[e.reference] = 1
	var err error
	if out.Speed, err = completeRatio(e.speed, row, e.reference); err != nil {
		return out, err
	}
	k := len(e.model.Columns())
	if out.Tolerated, err = completeScores(e.tolerated, unknown(k), cluster.AssumedToleratedPercent); err != nil {
		return out, err
	}
	out.Caused, err = completeScores(e.caused, unknown(k), cluster.AssumedCausedPercent)
	return out, err
}

// speeds completes the row of configurations, in the unit of the application.
func (e *Estimator) speeds(a *truth.Application, entries int, random *rand.Rand) ([]float64, error) {
	row, err := e.measuredSpeeds(a, entries, random)
	if err != nil {
		return nil, err
	}
	return completeRatio(e.speed, row, e.reference)
}

// measuredSpeeds are those that are profiled; the others are unknown.
func (e *Estimator) measuredSpeeds(a *truth.Application, entries int, random *rand.Rand) ([]float64, error) {
	row := unknown(len(a.Isolated))
	row[e.reference] = e.run(a, a.Isolated[e.reference], random)
	if e.joint != nil {
		for _, i := range bestMedianWorst(e.model.Machines()) {
			if i != e.reference {
				row[i] = e.run(a, a.Isolated[i], random)
			}
		}
		return row, nil
	}
	err := e.fill(e.speed, row, e.reference, entries, random, func(i int) float64 { return e.run(a, a.Isolated[i], random) })
	return row, err
}

// expected is how long the job is thought to take on the best configuration: its
// work is known, its speed is as estimated. 0 is unknown.
func (e *Estimator) expected(j *sim.Job, speed []float64) time.Duration {
	_, real := j.Best(e.model.Machines())
	top := 0.0
	for _, v := range speed {
		top = max(top, v)
	}
	if !(top > 0) {
		return 0
	}
	return time.Duration(float64(j.Duration) * real / top)
}

// fill measures further cells of a row whose reference is measured until it has its
// entries.
func (e *Estimator) fill(m classify.Model, row []float64, reference, entries int, random *rand.Rand, measure func(i int) float64) error {
	cells, err := e.choose(m, len(row), []int{reference}, entries-1, random)
	for _, i := range cells {
		row[i] = measure(i)
	}
	return err
}

// choose returns up to count cells to measure when those in known are measured
// anyhow.
func (e *Estimator) choose(m classify.Model, cells int, known []int, count int, random *rand.Rand) ([]int, error) {
	left := func(i int) bool { return !slices.Contains(known, i) }
	if planner, ok := m.(classify.Planner); ok && e.options.Planned {
		return e.plan(planner, known, min(count, cells-len(known)), left)
	}
	var out []int
	for _, i := range random.Perm(cells) {
		if len(out) < count && left(i) {
			out = append(out, i)
		}
	}
	return out, nil
}

// plan asks a planner once.
func (e *Estimator) plan(p classify.Planner, known []int, count int, left func(int) bool) ([]int, error) {
	key := planned{p, fmt.Sprint(known), count}
	e.planning.Lock()
	defer e.planning.Unlock()
	if out, ok := e.plans[key]; ok {
		return slices.Clone(out), nil
	}
	out, err := p.Plan(known, count, left)
	if err == nil {
		e.plans[key] = slices.Clone(out)
	}
	return out, err
}

// completeRatio completes a row that is divided by its reference. A row whose
// reference could not be measured is unknown: nil.
func completeRatio(m classify.Model, row []float64, reference int) ([]float64, error) {
	cells, err := classify.CompleteRatio(m, row, reference)
	if err != nil || cells == nil {
		return nil, err
	}
	for i, c := range cells {
		row[i] = math.NaN()
		if c.Known {
			row[i] = max(0, c.Value)
		}
	}
	return row, nil
}

func unknown(n int) []float64 { return slices.Repeat([]float64{math.NaN()}, n) }

// scores completes the rows of sources.
func (e *Estimator) scores(a *truth.Application, phase, entries int, random *rand.Rand) (tolerated, caused []float64, err error) {
	if e.joint != nil {
		return e.jointScores(a, phase, random)
	}
	t, c, err := e.measuredScores(a, phase, entries, random)
	if err != nil {
		return nil, nil, err
	}
	if tolerated, err = completeScores(e.tolerated, t, cluster.AssumedToleratedPercent); err != nil {
		return nil, nil, err
	}
	caused, err = completeScores(e.caused, c, cluster.AssumedCausedPercent)
	return tolerated, caused, err
}

// measuredScores are those of the sources that are profiled; the others are unknown.
func (e *Estimator) measuredScores(a *truth.Application, phase, entries int, random *rand.Rand) (tolerated, caused []float64, err error) {
	k := len(e.model.Columns())
	tolerated, caused = unknown(k), unknown(k)
	sources, err := e.choose(e.tolerated, k, nil, entries, random)
	if err != nil {
		return nil, nil, err
	}
	for _, j := range sources {
		tolerated[j], caused[j] = e.model.MeasureScores(a, phase, j, e.options.Seconds, random)
	}
	return tolerated, caused, nil
}

func completeScores(m classify.Model, row []float64, assumed float64) ([]float64, error) {
	if m == nil {
		for i := range row {
			if math.IsNaN(row[i]) {
				row[i] = assumed
			}
		}
		return row, nil
	}
	cells, err := m.Complete(row, nil)
	if err != nil {
		return nil, err
	}
	for i, c := range cells {
		row[i] = assumed
		if c.Known {
			row[i] = min(100, max(0, c.Value))
		}
	}
	return row, nil
}

// sizes completes the row of numbers of cores, relative to the size of the other
// runs. How much memory it uses is not classified but read, in the run itself.
func (e *Estimator) sizes(a *truth.Application, phase, entries int, random *rand.Rand, speed []float64) ([]board.SizeOption, error) {
	reference := e.options.referenceSize()
	row := unknown(len(e.options.Cores))
	row[reference] = e.run(a, e.atSize(a, phase, reference), random)
	if err := e.fill(e.scaleUp, row, reference, entries, random, func(i int) float64 { return e.run(a, e.atSize(a, phase, i), random) }); err != nil {
		return nil, err
	}
	memory := e.run(a, a.Phases[phase].MemoryMB, random)
	row, err := completeRatio(e.scaleUp, row, reference)
	if err != nil || row == nil || speed == nil || math.IsNaN(memory) {
		return nil, err
	}
	var out []board.SizeOption
	for i, n := range e.options.Cores {
		if row[i] > 0 && !math.IsNaN(row[i]) {
			out = append(out, board.SizeOption{Size: cluster.Resources{Cores: n, MemoryMB: e.options.block(memory)}, Speed: row[i] / speed[e.reference]})
		}
	}
	return out, nil
}

// block is the least block of memory that holds what was seen, or the largest.
func (o *Options) block(seenMB float64) int {
	mb, _ := cluster.MemoryBlock(o.MemoryMB, seenMB)
	return mb
}

// scaled completes the row of numbers of nodes, for every number up to the last.
func (e *Estimator) scaled(a *truth.Application, random *rand.Rand) ([]float64, error) {
	row := unknown(len(e.options.Nodes))
	row[0] = e.run(a, e.together(a, 1), random)
	at := 1 + random.IntN(min(3, len(row)-1)) // the run on 2 to 4 nodes
	row[at] = e.run(a, e.together(a, e.options.Nodes[at]), random)
	unit := row[0]
	row, err := completeRatio(e.scaleOut, row, 0)
	if err != nil || row == nil {
		return nil, err
	}
	for i := range row {
		row[i] /= unit
	}
	return classify.Between(e.options.Nodes, row), nil
}

// Oracle knows the truth: what no policy can know, to tell the loss of
// classification from that of a policy.
type Oracle struct {
	model   *truth.Model
	options Options
}

var _ sim.Estimator = (*Oracle)(nil)

// NewOracle uses the sizes and numbers of nodes of the options.
func NewOracle(m *truth.Model, o Options) *Oracle { return &Oracle{m, o} }

// Know implements sim.Estimator.
func (o *Oracle) Know(j *sim.Job, phase, _ int) (sim.Estimate, error) {
	const loss = 0.05
	out := sim.Estimate{Speed: j.App.Isolated, Expected: j.Duration}
	out.Tolerated, out.Caused = truth.TrueScores(j.App, phase, loss)
	if !j.Sized {
		return out, nil
	}
	memory := o.options.block(j.App.Phases[phase].MemoryMB)
	for _, n := range o.options.Cores {
		if v := j.App.Size(phase, float64(n), float64(memory)); v > 0 {
			out.Sizes = append(out.Sizes, board.SizeOption{Size: cluster.Resources{Cores: n, MemoryMB: memory}, Speed: v})
		}
	}
	if truth.Distributed(j.App.Class) && len(o.options.Nodes) > 0 {
		for n := 1; n <= o.options.Nodes[len(o.options.Nodes)-1]; n++ {
			out.ScaleOut = append(out.ScaleOut, float64(n)*o.model.Group(j.App, n))
		}
	}
	return out, nil
}
