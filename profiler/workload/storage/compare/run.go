package compare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/workload/storage"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/generate"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/model"
)

// ErrOptions: the options do not go together, or are out of bounds.
var ErrOptions = errors.New("comparing")

// Source opens a trace; it is read several times.
type Source func() (storage.Trace, error)

// Progress is told how much of the work is done (0..1) and what is being done.
type Progress func(done float64, what string)

// Options say how to fit and judge.
type Options struct {
	// Split is the part of the I/Os that a model is fitted to; the rest judges it. 1 fits and
	// judges by the whole, as the text does.
	Split float64
	// Levels is the depth; 0 lets the stopping rule choose it.
	Levels int
	// Interval is how long a rate is taken as constant; 0 is model.IntervalLength.
	Interval time.Duration
	// Directions is that of model.Options; the trace is one of storage.Split.
	Directions bool
	// DeviceBytes is the size of the device; 0: up to the last I/O.
	DeviceBytes int64
	Seed        uint64
	// Weights is how many I/Os the weights of transitions are compared at.
	Weights  int64
	Progress Progress // may be nil
}

// DefaultWeights is the number of I/Os at which weights must be within 0.05 %.
const DefaultWeights = 1_000_000

func (o Options) complete() (Options, error) {
	if o.Weights == 0 {
		o.Weights = DefaultWeights
	}
	if o.Progress == nil {
		o.Progress = func(float64, string) {}
	}
	switch {
	case !(o.Split > 0 && o.Split <= 1):
		return o, fmt.Errorf("%w: a part of %g is fitted; above 0, and 1 for the whole", ErrOptions, o.Split)
	case o.Levels < 0 || o.Levels > model.MaxLevels:
		return o, fmt.Errorf("%w: %d levels; 1 to %d, or 0 to have them chosen", ErrOptions, o.Levels, model.MaxLevels)
	case o.Weights < 2:
		return o, fmt.Errorf("%w: weights at %d I/Os", ErrOptions, o.Weights)
	}
	return o, nil
}

// Report is a comparison.
type Report struct {
	Seed      uint64  `json:"seed"`
	Split     float64 `json:"split"`
	FittedIOs int64   `json:"fitted_ios"`
	JudgedIOs int64   `json:"judged_ios"`
	Format    string  `json:"format"`
	Levels    []Level `json:"levels,omitempty"`
	// Chosen is the depth of the model that is compared.
	Chosen     int       `json:"chosen_levels"`
	ModelBytes int       `json:"model_bytes"`
	Original   Measured  `json:"original"`
	Streams    []Stream  `json:"streams"`
	Weights    Row       `json:"weights"`
	Flat       []FlatRow `json:"hierarchical_against_flat,omitempty"`
}

// FlatRow is the hierarchical diagram against the flat one of a depth.
type FlatRow struct {
	Levels int   `json:"levels"`
	Rows   []Row `json:"rows"`
}

// Fit fits a model to a whole trace, and chooses its levels where they are not given.
func Fit(ctx context.Context, open Source, o Options) (*model.Model, []Level, error) {
	o.Split = 1
	o, err := o.complete()
	if err != nil {
		return nil, nil, err
	}
	r := &run{ctx: ctx, open: open, options: o, total: 3*readShare + levelsShare}
	survey, err := r.survey(-1)
	if err != nil {
		return nil, nil, err
	}
	r.extent = survey.Extent
	r.layout, r.part = r.extent.Layout(o.DeviceBytes), r.extent.IOs
	fitted, err := r.count(survey, []model.Options{r.diagram(r.deepest(), model.Hierarchical)})
	if err != nil {
		return nil, nil, err
	}
	r.fitted = fitted[0]
	if err := r.chooseLevels(); err != nil {
		return nil, nil, err
	}
	r.sign()
	return r.model, r.levels, nil
}

// Trace fits a model to a trace and judges it.
func Trace(ctx context.Context, open Source, o Options) (*Report, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	r := &run{ctx: ctx, open: open, options: o, total: 5*readShare + levelsShare + streamsShare + weightsShare + flatShare}
	if err := r.readExtent(); err != nil {
		return nil, err
	}
	part := int64(math.Round(o.Split * float64(r.extent.IOs)))
	if part < 2 || (o.Split < 1 && r.extent.IOs-part < 2) {
		return nil, fmt.Errorf("%w: %d I/Os cannot be divided", ErrOptions, r.extent.IOs)
	}
	r.part = part
	if err := r.fit(); err != nil {
		return nil, err
	}
	if err := r.chooseLevels(); err != nil {
		return nil, err
	}
	r.sign()
	return r.compare()
}

// Model judges a model by a whole trace.
func Model(ctx context.Context, m *model.Model, open Source, o Options) (*Report, error) {
	o.Split = 1
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	r := &run{ctx: ctx, open: open, options: o, model: m, given: true, total: 2*readShare + streamsShare + weightsShare}
	if err := r.readExtent(); err != nil {
		return nil, err
	}
	return r.compare()
}

// run is one comparison.
type run struct {
	ctx     context.Context
	open    Source
	options Options
	given   bool // the model was not fitted here

	done, total float64 // of the work, in the shares below

	format  string
	threads []string // names of those that were read last
	dropped int64    // lines of the last reading that are no I/O
	extent  model.Extent
	layout  model.Layout
	part    int64 // I/Os that are fitted
	fitted  *model.Fitted
	flat    map[int]*model.Model // by depth
	levels  []Level
	model   *model.Model
}

// flatLevels are the depths at which the two forms are compared (§A.3.2).
var flatLevels = []int{2, 3}

// The shares of the work, for its progress: readings of the trace, the levels, the streams
// and what is compared at the end.
const (
	readShare    = 0.06 // each
	levelsShare  = 0.2
	streamsShare = 0.4
	weightsShare = 0.04
	flatShare    = 0.12
)

// read reads the trace from an I/O on, up to another one; both as numbers from 0, and below
// 0 to the end.
func (r *run) read(what string, from, to int64, do func(*storage.Record) error) error {
	t, err := r.open()
	if err != nil {
		return err
	}
	defer func() { _ = t.Close() }() // it was only read: nothing can be lost
	r.format = t.Format()
	n := int64(0)
	base := r.done
	err = model.Each(t, to, func(record *storage.Record) error {
		n++
		if n%checkEvery == 0 {
			if r.ctx.Err() != nil {
				return r.ctx.Err()
			}
			if total := t.TotalBytes(); total > 0 {
				r.tell(base+readShare*float64(t.ReadBytes())/float64(total), what)
			}
		}
		if n <= from {
			return nil
		}
		return do(record)
	})
	r.threads, r.dropped = t.Threads(), 0
	for _, n := range t.Skips() {
		r.dropped += n
	}
	r.advance(readShare, what)
	return err
}

// checkEvery is after how many I/Os a long loop looks whether it should end.
const checkEvery = 1 << 14

func (r *run) advance(share float64, what string) {
	r.done += share
	r.tell(r.done, what)
}

func (r *run) tell(done float64, what string) { r.options.Progress(min(1, done/r.total), what) }

func (r *run) readExtent() error {
	err := r.read("reading the extent", 0, -1, func(record *storage.Record) error {
		r.extent.Add(record)
		return nil
	})
	r.layout = r.extent.Layout(r.options.DeviceBytes)
	return err
}

// fit reads the first part twice, and counts the diagrams of both forms.
func (r *run) fit() error {
	survey, err := r.survey(r.part)
	if err != nil {
		return err
	}
	all := []model.Options{r.diagram(r.deepest(), model.Hierarchical)}
	for _, depth := range flatLevels {
		all = append(all, r.diagram(depth, model.Flat))
	}
	fitted, err := r.count(survey, all)
	if err != nil {
		return err
	}
	r.fitted, r.flat = fitted[0], map[int]*model.Model{}
	for i, depth := range flatLevels {
		m, err := fitted[i+1].Model(depth)
		if errors.Is(err, model.ErrTooLarge) {
			continue // then there is nothing to compare with at that depth
		}
		if err != nil {
			return err
		}
		r.flat[depth] = m
	}
	return nil
}

// diagram says what to count.
func (r *run) diagram(levels int, form model.Form) model.Options {
	return model.Options{Levels: levels, Form: form, Interval: r.options.Interval, Directions: r.options.Directions, Names: r.threads}
}

// deepest is how deep a hierarchical diagram is counted: as deep as it can be where the
// depth is to be chosen.
func (r *run) deepest() int {
	least := slices.Max(flatLevels)
	deepest := max(cmp.Or(r.options.Levels, model.MaxLevels), least)
	for deepest > max(least, r.options.Levels) && int64(model.States(deepest)) > r.layout.Bytes()/model.PageBytes {
		deepest--
	}
	return deepest
}

// beginning measures the first I/Os of the fitted part, as many as levels are judged by.
func (r *run) beginning() (Measured, error) {
	n := min(r.part, levelIOs)
	m := newMeter(r.fitted.Device(), sampleRate(r.fitted.MeanBytes()*float64(n)))
	err := r.read("measuring the trace", 0, n, func(record *storage.Record) error {
		placed := *record
		r.layout.Place(&placed)
		m.add(&placed)
		return nil
	})
	if err != nil {
		return Measured{}, err
	}
	return m.measured(nil), nil
}

func (r *run) survey(part int64) (*model.Survey, error) {
	survey := model.NewSurvey()
	err := r.read("reading threads and sizes", 0, part, func(record *storage.Record) error {
		survey.Add(record)
		return nil
	})
	return survey, err
}

// count reads the surveyed part, and counts several diagrams at once.
func (r *run) count(survey *model.Survey, options []model.Options) ([]*model.Fitted, error) {
	var fitters []*model.Fitter
	for _, o := range options {
		f, err := model.NewFitter(survey, r.layout, o)
		if err != nil {
			return nil, err
		}
		fitters = append(fitters, f)
	}
	err := r.read("counting transitions", 0, survey.IOs, func(record *storage.Record) error {
		for _, f := range fitters {
			if err := f.Add(record); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var out []*model.Fitted
	for _, f := range fitters {
		fitted, err := f.Finish()
		if err != nil {
			return nil, err
		}
		out = append(out, fitted)
	}
	return out, nil
}

// sign says in the model where it comes from.
func (r *run) sign() {
	r.model.Seed = r.options.Seed
	r.model.Capture.Source, r.model.Capture.Dropped = r.format, r.dropped
}

func (r *run) chooseLevels() error {
	if r.options.Levels > 0 {
		m, err := r.fitted.Model(r.options.Levels)
		r.model = m
		r.advance(levelsShare, "the levels are given")
		return err
	}
	trace, err := r.beginning()
	if err != nil {
		return err
	}
	base := r.done
	levels, m, err := ChooseLevels(r.fitted, &trace, generate.Options{Seed: r.options.Seed}, func(done float64) {
		r.tell(base+levelsShare*done, "choosing the levels")
	})
	r.levels, r.model, r.done = levels, m, base+levelsShare
	return err
}

// original measures the part of the trace that judges.
func (r *run) original() (Measured, error) {
	from := int64(0)
	if r.options.Split < 1 {
		from = r.part
	}
	m := newMeter(r.model.Device, r.sampled())
	begun, begin := false, time.Duration(0)
	err := r.read("measuring the trace", from, -1, func(record *storage.Record) error {
		if !begun {
			begun, begin = true, record.At
		}
		placed := *record
		placed.At -= begin
		r.layout.Place(&placed)
		m.add(&placed)
		return nil
	})
	if err != nil {
		return Measured{}, err
	}
	return m.measured(nil), nil
}

// sampled is the part of the pages whose reuse is followed, in all streams.
func (r *run) sampled() float64 {
	return sampleRate(meanBytes(r.model) * float64(r.extent.IOs))
}

func (r *run) compare() (*Report, error) {
	original, err := r.original()
	if err != nil {
		return nil, err
	}
	out := &Report{
		Seed: r.options.Seed, Split: r.options.Split, FittedIOs: r.part, JudgedIOs: original.Features.IOs, Format: r.format,
		Levels: r.levels, Chosen: r.model.Levels, Original: original,
	}
	if r.given {
		out.FittedIOs = r.model.IOs()
	}
	var size countedBytes
	if err := r.model.Write(&size); err != nil {
		return nil, err
	}
	out.ModelBytes = int(size)
	if out.Streams, err = r.streams(&original); err != nil {
		return nil, err
	}
	if out.Weights, err = r.weights(); err != nil {
		return nil, err
	}
	out.Flat, err = r.againstFlat(&original)
	return out, err
}

// countedBytes counts what is written.
type countedBytes int

// Write counts.
func (c *countedBytes) Write(p []byte) (int, error) {
	*c += countedBytes(len(p))
	return len(p), nil
}

// subject is what the streams of the comparison are made of.
func (r *run) subject(original *Measured) (*subject, error) {
	s := &subject{
		model: r.model, options: generate.Options{Seed: r.options.Seed, IOs: original.Features.IOs}, depth: original.Disk.Depth,
	}
	if r.given {
		return s, nil
	}
	s.replay, s.flat = r.replay, r.flat[r.model.Levels]
	var err error
	s.noState, err = r.fitted.Model(0)
	return s, err
}

// replay reads the fitted part again.
func (r *run) replay() (storage.Reader, error) {
	t, err := r.open()
	return &replayed{trace: t, layout: r.layout, left: r.part}, err
}

// replayed is the fitted part as a stream of its own.
type replayed struct {
	trace  storage.Trace
	layout model.Layout
	left   int64
}

// Next fills the next I/O.
func (p *replayed) Next(r *storage.Record) error {
	if p.left == 0 {
		_ = p.trace.Close() // it was only read: nothing can be lost
		return io.EOF
	}
	p.left--
	err := p.trace.Next(r)
	p.layout.Place(r)
	return err
}

func (r *run) streams(original *Measured) ([]Stream, error) {
	s, err := r.subject(original)
	if err != nil {
		return nil, err
	}
	base := r.done
	var out []Stream
	for i, k := range kinds() {
		stream, err := k.open(s)
		if err != nil {
			return nil, err
		}
		if stream == nil {
			continue
		}
		measured, err := measureStream(stream, r.model.Device, r.sampled(), original.caches(), r.stop())
		if err != nil {
			return nil, err
		}
		out = append(out, Stream{k.name, k.about, measured, judge(original, &measured)})
		r.tell(base+streamsShare*float64(i+1)/float64(len(kinds())), "measuring "+k.name)
	}
	r.done = base + streamsShare
	explainAll(out)
	return out, nil
}

// stop ends a long loop when the run is cancelled.
func (r *run) stop() func(*storage.Record) error {
	n := 0
	return func(*storage.Record) error {
		n++
		if n%checkEvery == 0 {
			return r.ctx.Err()
		}
		return nil
	}
}

// explainAll gives the misses of the model's own streams their causes.
func explainAll(streams []Stream) {
	var replay []Row
	for _, s := range streams {
		if s.Name == replayName {
			replay = s.Rows
		}
	}
	if replay == nil {
		return
	}
	for _, s := range streams {
		if s.Name != replayName {
			explain(s.Rows, replay)
		}
	}
}

// weights walks far and counts the transitions again.
func (r *run) weights() (Row, error) {
	w, err := generate.NewWalk(r.model, generate.Options{Seed: r.options.Seed, IOs: r.options.Weights})
	if err != nil {
		return Row{}, err
	}
	again := r.model.NewRecount(w.TypeOf)
	stop := r.stop()
	err = model.Each(w, -1, func(record *storage.Record) error {
		again.Add(record)
		return stop(record)
	})
	r.advance(weightsShare, "comparing weights")
	return weightRow(again.LargestDifference(), r.options.Weights), err
}

// againstFlat compares the two forms with one another at several depths.
func (r *run) againstFlat(original *Measured) ([]FlatRow, error) {
	if r.given {
		return nil, nil
	}
	var out []FlatRow
	for _, depth := range flatLevels {
		if r.flat[depth] == nil {
			continue
		}
		m, err := r.fitted.Model(depth)
		if err != nil {
			return nil, err
		}
		hierarchical, err := r.walked(m, original)
		if err != nil {
			return nil, err
		}
		flat, err := r.walked(r.flat[depth], original)
		if err != nil {
			return nil, err
		}
		out = append(out, FlatRow{depth, againstFlat(&flat, &hierarchical)})
		r.advance(flatShare/float64(len(flatLevels)), "comparing with the flat diagram")
	}
	return out, nil
}

func (r *run) walked(m *model.Model, original *Measured) (Measured, error) {
	w, err := generate.NewWalk(m, generate.Options{Seed: r.options.Seed, IOs: original.Features.IOs})
	if err != nil {
		return Measured{}, err
	}
	return measureStream(w, m.Device, r.sampled(), original.caches(), r.stop())
}
