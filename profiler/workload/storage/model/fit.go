package model

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/workload/storage"
)

// IntervalLength is how long a rate is taken as constant: the text saw no significant change
// within 30 minutes (§A.3.3).
const IntervalLength = 30 * time.Minute

// ShortestInterval bounds it: below, an interval has hardly an I/O.
const ShortestInterval = time.Millisecond

// DefaultLevels is the depth without any other: the text needs one to three.
const DefaultLevels = 3

// maxFlatLevels bounds flat diagrams, whose pairs are 16^l.
const maxFlatLevels = 4

// ErrFit: no model can be made of a trace.
var ErrFit = errors.New("no model can be fitted")

// Options choose what is counted.
type Options struct {
	// Levels is the depth. 0 is DefaultLevels; -1 a model without states.
	Levels int
	Form   Form // empty: hierarchical
	// Interval is how long a rate is taken as constant; 0 is IntervalLength. Shorter ones keep
	// bursts, and make a longer file.
	Interval time.Duration
	// Directions keeps threads of reads and threads of writes apart in the types: each has its
	// own diagram and rates. The trace is one of storage.Split.
	Directions bool
	// Names are those of the threads, by which logs are told; they are not kept.
	Names []string
}

// mostIntervals bounds the rates in a file: a day has so many of 10 seconds (chosen by us).
const mostIntervals = 8640

// NoLevels is the depth of a model without states.
const NoLevels = -1

func (o Options) complete() (Options, error) {
	if o.Form == "" {
		o.Form = Hierarchical
	}
	o.Interval = cmp.Or(o.Interval, IntervalLength)
	most := MaxLevels
	switch {
	case o.Interval < ShortestInterval:
		return o, fmt.Errorf("%w: rates of %v; of %v or longer", ErrFit, o.Interval, ShortestInterval)
	case o.Form == Flat:
		most = maxFlatLevels
	case o.Form != Hierarchical:
		return o, fmt.Errorf("%w: no form %q; known: %s, %s", ErrFit, o.Form, Hierarchical, Flat)
	}
	switch {
	case o.Levels == 0:
		o.Levels = min(DefaultLevels, most)
	case o.Levels == NoLevels:
		o.Levels = 0
	case o.Levels < 0 || o.Levels > most:
		return o, fmt.Errorf("%w: %d levels; a %s diagram has 1 to %d", ErrFit, o.Levels, o.Form, most)
	}
	return o, nil
}

// Fitter counts the transitions of a trace that was surveyed. It is for one goroutine.
type Fitter struct {
	options    Options
	device     Device
	layout     Layout
	survey     *Survey
	categories *categorySet
	merged     float64
	types      []int // of every thread
	diagrams   []*diagram
	threads    []threadState
	ios        int64
}

// threadState is where a thread is.
type threadState struct {
	begun         bool
	first, last   int // states of its first and last I/O
	firstCategory int
	end           int64
	at            time.Duration
}

// NewFitter starts to count. The layout is that of the whole trace, of which the survey
// may be a part.
func NewFitter(s *Survey, l Layout, o Options) (*Fitter, error) {
	o, err := o.complete()
	switch {
	case err != nil:
		return nil, err
	case s.IOs < 2:
		return nil, fmt.Errorf("%w: %d I/Os have no transition", ErrFit, s.IOs)
	case s.Span == 0:
		return nil, fmt.Errorf("%w: all I/Os are at one time, so that nothing is known of the gaps between them; record times (a log of fio: version 3, or one that waits)", ErrFit)
	}
	intervals := int(s.Span/o.Interval) + 1
	if intervals > mostIntervals {
		return nil, fmt.Errorf("%w: %d rates of %v; %d at most, take longer ones", ErrFit, intervals, o.Interval, mostIntervals)
	}
	f := &Fitter{options: o, device: Device{Bytes: l.Bytes(), SectorBytes: s.sector()}, layout: l, survey: s}
	if int64(States(o.Levels)) > f.device.Bytes {
		return nil, fmt.Errorf("%w: %d bytes cannot be divided into %d states; take fewer levels", ErrFit, f.device.Bytes, States(o.Levels))
	}
	var list []Category
	list, f.merged = chooseCategories(s.sizes)
	f.categories = newCategorySet(list)
	f.types = classify(s.threads, o.Names, s.Span)
	if o.Directions {
		for i := range f.types {
			f.types[i] += len(Classes()) * (i % storage.Ops)
		}
	}
	f.threads = make([]threadState, len(s.threads))
	f.diagrams = make([]*diagram, storage.Ops*len(Classes()))
	for i, of := range f.types {
		if s.threads[i].ios == 0 {
			continue // a number between others that the survey's part did not reach
		}
		if f.diagrams[of] == nil {
			f.diagrams[of] = newDiagram(o.Levels, o.Form)
			f.diagrams[of].intervals = make([]int64, intervals)
		}
		f.diagrams[of].threads++
	}
	return f, nil
}

// errOther: what is fitted is not what was surveyed.
var errOther = fmt.Errorf("%w: the trace changed between its two readings", ErrFit)

// Add counts an I/O of the surveyed trace, in the same order.
func (f *Fitter) Add(r *storage.Record) error {
	if int(r.Thread) >= len(f.threads) || f.ios >= f.survey.IOs || r.At > f.survey.Span {
		return errOther
	}
	placed := *r
	f.layout.Place(&placed)
	d, t := f.diagrams[f.types[r.Thread]], &f.threads[r.Thread]
	kind := storage.Random
	if t.begun {
		kind = storage.KindAfter(t.end, placed.Offset)
	}
	category, ok := f.categories.of(r.Op, kind, r.Bytes)
	if !ok {
		// Two volumes can meet in the layout and nowhere else.
		if category, ok = f.categories.of(r.Op, storage.Random, r.Bytes); !ok {
			return errOther
		}
	}
	state := f.device.State(placed.Offset, f.options.Levels)
	if t.begun {
		d.add(t.last, state, category, r.At-t.at)
	} else {
		t.begun, t.first, t.firstCategory = true, state, category
	}
	t.last, t.end, t.at = state, placed.End(), r.At
	d.ios++
	d.intervals[int(r.At/f.options.Interval)]++
	f.ios++
	return nil
}

// Finish ends counting. A thread's last I/O is followed by its first one: every state is
// then left as often as it is entered.
func (f *Fitter) Finish() (*Fitted, error) {
	if f.ios != f.survey.IOs {
		return nil, errOther
	}
	for i, t := range f.threads {
		if t.begun {
			f.diagrams[f.types[i]].add(t.last, t.first, t.firstCategory, closing)
		}
	}
	return &Fitted{
		options: f.options, device: f.device, categories: f.categories.list, merged: f.merged,
		diagrams: f.diagrams, span: f.survey.Span, ios: f.ios,
	}, nil
}

// Fitted are the counts of a trace, from which models of several depths can be made.
type Fitted struct {
	options    Options
	device     Device
	categories []Category
	merged     float64
	diagrams   []*diagram // by number of the type; nil: none of it
	span       time.Duration
	ios        int64
}

// Levels is the depth of the counts.
func (f *Fitted) Levels() int { return f.options.Levels }

// Device is the address range.
func (f *Fitted) Device() Device { return f.device }

// MeanBytes is the mean size of the I/Os.
func (f *Fitted) MeanBytes() float64 {
	sum, n := 0.0, 0.0
	for _, d := range f.diagrams {
		if d == nil {
			continue
		}
		for k, c := range d.cells {
			sum += float64(c.ios) * float64(f.categories[k.category()].Bytes)
			n += float64(c.ios)
		}
	}
	return sum / n
}

// Model makes the model of a depth, up to that of the counts. A flat diagram has one.
func (f *Fitted) Model(levels int) (*Model, error) {
	if levels < 0 || levels > f.options.Levels || (f.options.Form == Flat && levels != f.options.Levels) {
		return nil, fmt.Errorf("%w: %d levels of %d that were counted", ErrFit, levels, f.options.Levels)
	}
	m := &Model{
		Version: Version, Device: f.device, Levels: levels, Branching: Branching, Form: f.options.Form,
		Capture: Capture{Seconds: f.span.Seconds(), IOs: f.ios}, MergedShare: f.merged, Categories: f.categories,
	}
	for i, d := range f.diagrams {
		if d == nil {
			continue
		}
		if f.options.Form == Hierarchical {
			d = d.upTo(levels)
		}
		m.Types = append(m.Types, f.typeOf(Classes()[i%len(Classes())], d))
	}
	slices.SortStableFunc(m.Types, compareClass) // reads before writes
	if err := m.bound(); err != nil {
		return nil, err
	}
	return m, nil
}

// typeOf writes a diagram down, sorted.
func (f *Fitted) typeOf(c Class, d *diagram) Type {
	t := Type{Class: c, Threads: d.threads, IOs: d.ios, Weight: float64(d.ios) / float64(f.ios), Gap: d.gaps.gap().rounded()}
	mean := f.span.Seconds() / float64(d.ios)
	for i, n := range d.intervals {
		start := time.Duration(i) * f.options.Interval
		length := min(f.options.Interval, f.span-start)
		if length <= 0 {
			// The last I/O is the first of an interval: it belongs to the one before.
			if n > 0 && len(t.Intervals) > 0 {
				t.Intervals[len(t.Intervals)-1].add(n, mean)
			}
			continue
		}
		interval := Interval{StartSeconds: start.Seconds(), Seconds: length.Seconds()}
		interval.add(n, mean)
		t.Intervals = append(t.Intervals, interval)
	}
	for k, c := range d.cells {
		t.Transitions = append(t.Transitions, Transition{Level: k.level(), From: k.from(), To: k.to(), Category: k.category(), IOs: c.ios, Gap: c.gaps.gapOf(t.Gap).rounded()})
	}
	slices.SortFunc(t.Transitions, compareTransition)
	t.Entries, t.Exits = crossings(d.entries), crossings(d.exits)
	return t
}

// add counts I/Os of an interval; mean is the mean gap of the whole trace in seconds.
func (i *Interval) add(n int64, mean float64) {
	i.IOs += n
	if i.IOs > 0 {
		scale := significant(i.Seconds / float64(i.IOs) / mean)
		i.GapScale = &scale
	}
}

// crossings writes tables by level and state down, without what is 0.
func crossings(tables [][]int64) []Crossing {
	var out []Crossing
	for level, table := range tables {
		for state, n := range table {
			if n > 0 {
				out = append(out, Crossing{Level: level, State: state, IOs: n})
			}
		}
	}
	return out
}

// Each reads a stream to its end, or so many I/Os of it; a limit below 0 is none.
func Each(r storage.Reader, limit int64, do func(*storage.Record) error) error {
	var record storage.Record
	for n := int64(0); limit < 0 || n < limit; n++ {
		err := r.Next(&record)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = do(&record)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
