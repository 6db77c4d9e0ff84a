package network

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// StudyOptions say what the experiments are run on.
type StudyOptions struct {
	Cluster SyntheticOptions // its first week is fitted; the last is held out
	// Smaller is the cluster on which models are compared with each other.
	Smaller  SyntheticOptions
	Seed     uint64 // of what is generated
	Runs     int    // how often traffic is generated from a model; the study has five
	TopPairs int    // exact pairs of servers in different racks, as an option of the pair test
	Workers  int
	Parts    []string         // of StudyParts; empty: all
	Now      func() time.Time // for how long things take
	Progress func(share float64, what string)
}

// DefaultStudy is the study on the cluster of 48 × 100 servers, and for the
// comparison of models on one of hundreds of servers, as Combine has.
func DefaultStudy(seed uint64, now func() time.Time) StudyOptions {
	smaller := DefaultSynthetic(seed)
	smaller.Groups, smaller.RacksPerGroup = 5, 2
	return StudyOptions{Cluster: DefaultSynthetic(seed), Smaller: smaller, Seed: seed, Runs: 1, TopPairs: 1000, Workers: 2, Now: now}
}

// Study is what the experiments found.
type Study struct {
	Cluster     string          `json:"cluster"`
	Seed        uint64          `json:"seed"`
	Transitions []Count         `json:"transitions"`
	Rows        []StudyRow      `json:"rows"`
	Models      []ModelRow      `json:"models"`
	Pairs       []PairRow       `json:"pairs"`
	Curves      []Superposition `json:"curves"`
	Checks      []Check         `json:"checks"`
	Whole       *Whole          `json:"whole,omitempty"` // nil where that part was not run
}

// Whole is what was found on the whole cluster.
type Whole struct {
	Character Character `json:"character"`
	Model     ModelCost `json:"model"`
	InSample  Deviation `json:"in_sample"`
	HeldOut   Deviation `json:"held_out"`
	// Replayed is the first week itself, as a forecast of the last: what no model that
	// knows only the first can be expected to beat by much.
	Replayed        Deviation `json:"replayed"`
	Original, Again Maps      `json:"-"`
}

// Count is a number of transitions.
type Count struct {
	What         string  `json:"what"`
	Hierarchical int     `json:"hierarchical"`
	Flat         int     `json:"flat"`
	Fewer        Percent `json:"fewer"`
}

// ModelCost is what the model of the whole cluster costs.
type ModelCost struct {
	FileBytes      int64   `json:"file_bytes"`
	FitSeconds     float64 `json:"fit_seconds"`
	Transitions    int     `json:"transitions"`
	DroppedPercent Percent `json:"dropped_percent"`
}

// StudyRow is a row of tables C.1 to C.4: the model's week, and the one held out.
type StudyRow struct {
	Table    string     `json:"table"`
	System   string     `json:"system"`
	InSample Deviations `json:"in_sample"`
	Bins     Deviations `json:"bins"` // the same over single bins; unknown where the table has no time
	HeldOut  Deviations `json:"held_out"`
	Bound    Percent    `json:"bound"`
}

// ModelRow compares one model with the study's, on the smaller cluster.
type ModelRow struct {
	Name        string    `json:"name"`
	Summary     string    `json:"summary"`
	Transitions int       `json:"transitions"`
	FileBytes   int64     `json:"file_bytes"`
	InSample    Deviation `json:"in_sample"`
	HeldOut     Deviation `json:"held_out"`
}

// PairRow is the test of random pairs of servers.
type PairRow struct {
	Model     string        `json:"model"`
	Days      string        `json:"days"`
	SameRack  PairDeviation `json:"same_rack"`
	OtherRack PairDeviation `json:"other_rack"`
}

// Check is a bound of the study against what was found, in percent.
type Check struct {
	What  string  `json:"what"`
	Found Percent `json:"found"`
	Bound Percent `json:"bound"`
	Met   bool    `json:"met"`
}

// StudyParts are the experiments that can be run by themselves.
var StudyParts = []string{"cluster", "subsets", "rack", "models", "curves"}

// RunStudy runs the experiments of Delimitrou 2015, §C.5.3, on a declared cluster. The
// same options give the same numbers, but for how long it took.
func RunStudy(ctx context.Context, o StudyOptions) (*Study, error) {
	for _, part := range o.Parts {
		if !slices.Contains(StudyParts, part) {
			return nil, fmt.Errorf("%w: no part %q of the study; known: %s", ErrSynthetic, part, strings.Join(StudyParts, ", "))
		}
	}
	if o.Runs < 1 || o.Cluster.Weeks < 2 || o.Smaller.Weeks < 2 {
		return nil, fmt.Errorf("%w: %d runs over %d and %d weeks (one run and two weeks are needed)", ErrSynthetic, o.Runs, o.Cluster.Weeks, o.Smaller.Weeks)
	}
	s := &studying{StudyOptions: o, out: &Study{Seed: o.Seed, Cluster: fmt.Sprintf("%d groups × %d racks × %d servers, %d weeks", o.Cluster.Groups, o.Cluster.RacksPerGroup, o.Cluster.ServersPerRack, o.Cluster.Weeks)}}
	s.transitions()
	for i, step := range []struct {
		what    string
		seconds float64 // about, on the default clusters
		run     func(context.Context) error
	}{
		{"the whole cluster", 150, s.whole}, {"subsets", 40, s.subsets}, {"one rack", 1, s.webmail}, {"models compared", 60, s.models}, {"temporal models", 5, s.curves},
	} {
		if len(o.Parts) > 0 && !slices.Contains(o.Parts, StudyParts[i]) {
			continue
		}
		s.todo = append(s.todo, studyStep{step.what, step.seconds, step.run})
	}
	for ; len(s.todo) > 0; s.todo = s.todo[1:] {
		if err := s.todo[0].run(ctx); err != nil {
			return nil, fmt.Errorf("%s: %w", s.todo[0].what, err)
		}
		s.spent += s.todo[0].seconds
		s.within, s.tasks = 0, 0
	}
	return s.out, nil
}

type studying struct {
	StudyOptions
	out *Study

	todo  []studyStep // the first is running
	spent float64     // seconds that those before it take, about
	// How many tasks of the step were begun, and how many it has.
	within, tasks int
}

type studyStep struct {
	what    string
	seconds float64
	run     func(context.Context) error
}

// task is progress within the next task of the step.
func (s *studying) task() func(share float64) {
	before := s.within
	s.within++
	return func(share float64) {
		if s.Progress == nil {
			return
		}
		all := s.spent
		for _, step := range s.todo {
			all += step.seconds
		}
		now := s.spent + s.todo[0].seconds*(float64(before)+share)/float64(max(s.tasks, s.within))
		s.Progress(now/all, s.todo[0].what)
	}
}

func (s *studying) check(what string, found, bound Percent) {
	s.out.Checks = append(s.out.Checks, Check{what, found, bound, found <= bound})
}

// transitions counts them for the cluster and for what the study says of 100 racks.
func (s *studying) transitions() {
	add := func(what string, t Topology, l Level) {
		hierarchical, flat := Transitions(t, l, false), FlatTransitions(t, l)
		s.out.Transitions = append(s.out.Transitions, Count{what, hierarchical, flat, PercentOf(float64(flat-hierarchical), float64(flat))})
	}
	for _, c := range []struct {
		what           string
		groups, racks  int
		servers, level int
	}{
		{"100 racks in 10 groups, racks only", 10, 10, 48, int(RackLevel)},
		{"100 racks in 4 groups, racks only", 4, 25, 48, int(RackLevel)},
		{"100 racks in 10 groups, 48 servers each", 10, 10, 48, int(ServerLevel)},
	} {
		if t, err := Uniform(c.groups, c.racks, c.servers); err == nil {
			add(c.what, t, Level(c.level))
		}
	}
}

// fit is the model of the study with how the options want it.
func (s *studying) fit(progress func(float64)) FitOptions {
	o := DefaultFit()
	o.Workers, o.Progress = s.Workers, progress
	return o
}

// CompareRuns generates traffic like the original so many times, and returns the mean
// of the deviations and the last activity.
func CompareRuns(ctx context.Context, m *Model, original *Activity, windows []Window, runs int, g Generation) (Deviation, *Activity, error) {
	var all []Deviation
	var last *Activity
	seed, progress := g.Seed, g.Progress
	runs = max(1, runs)
	for run := range runs {
		g.Seed = mixed(seed, uint64(run))
		g.Progress = func(share float64) { tell(progress, (float64(run)+share)/float64(runs)) }
		made, err := Regenerate(ctx, m, original, g, nil)
		if err != nil {
			return Deviation{}, nil, err
		}
		d, err := Compare(original, made, windows)
		if err != nil {
			return Deviation{}, nil, err
		}
		all, last = append(all, d), made
	}
	return meanDeviation(all), last, nil
}

// regenerate compares as often as the options want.
func (s *studying) regenerate(ctx context.Context, m *Model, original *Activity, v variant, progress func(float64)) (Deviation, *Activity, error) {
	return CompareRuns(ctx, m, original, v.windows, s.Runs, Generation{Seed: s.Seed, ExactCounts: v.exact, Workers: s.Workers, Progress: progress})
}

// variant is a way to fit and to draw. The first is the source's; the others are trials that
// remove a cause of what it misses where traffic has bursts: how many bursts are drawn, and that
// one window stands for several days.
type variant struct {
	name    string // after that of the traffic
	exact   bool
	windows []Window
}

func studyVariants() []variant {
	return []variant{{"", false, StudyWindows()}, {", exact counts", true, StudyWindows()}, {", exact counts, a window for each day", true, DayWindows()}}
}

// meanDeviation is the mean over runs, number by number.
func meanDeviation(all []Deviation) Deviation {
	out := all[0]
	mean := func(of func(*Deviation) *Percent) {
		sum := Percent(0)
		for i := range all {
			sum += *of(&all[i])
		}
		*of(&out) = sum / Percent(len(all))
	}
	lists := []func(*Deviation) []Percent{
		func(d *Deviation) []Percent { return d.Average[:] }, func(d *Deviation) []Percent { return d.Fluctuation[:] },
		func(d *Deviation) []Percent { return d.FluctuationBins[:] }, func(d *Deviation) []Percent { return d.Locality[:] },
		func(d *Deviation) []Percent { return d.Temporal }, func(d *Deviation) []Percent { return d.Spatial },
	}
	out.Temporal, out.Spatial = slices.Clone(out.Temporal), slices.Clone(out.Spatial)
	for _, list := range lists {
		for i := range list(&out) {
			mean(func(d *Deviation) *Percent { return &list(d)[i] })
		}
	}
	for _, one := range []func(*Deviation) *Percent{
		func(d *Deviation) *Percent { return &d.Pairs }, func(d *Deviation) *Percent { return &d.PairsSameRack },
		func(d *Deviation) *Percent { return &d.PairsOtherRack }, func(d *Deviation) *Percent { return &d.PairsUnweighted },
		func(d *Deviation) *Percent { return &d.Racks }, func(d *Deviation) *Percent { return &d.Elsewhere }, func(d *Deviation) *Percent { return &d.Total },
	} {
		mean(one)
	}
	return out
}

// whole is tables C.2 and the error distributions: the whole cluster.
func (s *studying) whole(ctx context.Context) error {
	s.tasks = 6
	cluster, err := NewSynthetic(s.Cluster)
	if err != nil {
		return err
	}
	first, last := Part(cluster, 0, week), Part(cluster, cluster.Span().To-week, cluster.Span().To)
	original, err := Observe(ctx, first, StudyWindows(), s.Workers, s.task())
	if err != nil {
		return err
	}
	s.out.Whole = &Whole{Character: original.Character()}
	begun := s.Now()
	m, err := Fit(ctx, first, s.fit(s.task()))
	if err != nil {
		return err
	}
	if s.out.Whole.Model, err = costOf(m, s.Now().Sub(begun)); err != nil {
		return err
	}
	made, err := s.wholeInSample(ctx, m, original)
	if err != nil {
		return err
	}
	s.out.Whole.Original, s.out.Whole.Again = original.Maps(), made.Maps()
	return s.wholeHeldOut(ctx, m, last, original)
}

func costOf(m *Model, took time.Duration) (ModelCost, error) {
	size, err := m.Bytes()
	cost := ModelCost{FileBytes: size, FitSeconds: took.Seconds(), Transitions: m.Transitions()}
	var dropped, all float64
	for _, c := range m.Chains {
		dropped += c.DroppedBytes
		all += c.Bytes
	}
	cost.DroppedPercent = PercentOf(dropped, all)
	return cost, err
}

func (s *studying) wholeInSample(ctx context.Context, m *Model, original *Activity) (*Activity, error) {
	d, made, err := s.regenerate(ctx, m, original, studyVariants()[0], s.task())
	if err != nil {
		return nil, err
	}
	s.out.Whole.InSample = d
	s.check("average activity, whole cluster", d.Average.All(), BoundAverage)
	s.check("temporal error, median of servers", d.Temporal.At(50), BoundTemporal50)
	s.check("temporal error, 90 % of servers", d.Temporal.At(90), BoundTemporal90)
	s.check("spatial error, median of servers", d.Spatial.At(50), BoundSpatial50)
	s.check("spatial error, 90 % of servers", d.Spatial.At(90), BoundSpatial90)
	return made, nil
}

// wholeHeldOut compares with the last week: the model, and the first week as it was.
func (s *studying) wholeHeldOut(ctx context.Context, m *Model, last Traffic, first *Activity) error {
	next, err := Observe(ctx, last, StudyWindows(), s.Workers, s.task())
	if err != nil {
		return err
	}
	d, _, err := s.regenerate(ctx, m, next, studyVariants()[0], s.task())
	if err != nil {
		return err
	}
	w := s.out.Whole
	w.HeldOut = d
	s.out.Rows = append(s.out.Rows, StudyRow{"C.2", "the whole cluster", w.InSample.Average, unknownDeviations(), d.Average, BoundAverage})
	w.Replayed, err = Compare(next, first.As(next), StudyWindows())
	return err
}

func unknownDeviations() Deviations {
	var d Deviations
	for i := range d {
		d[i] = unknownPercent
	}
	return d
}

// subsets are tables C.3 and C.4: four racks with the cloud.
func (s *studying) subsets(ctx context.Context) error {
	variants := studyVariants()
	s.tasks = 1 + 4*4*len(variants)
	cluster, err := NewSynthetic(s.Cluster)
	if err != nil {
		return err
	}
	names, racks, err := cluster.Subsets()
	if err != nil {
		return err
	}
	subsets := make([]Subset, len(racks))
	for i, rack := range racks {
		if subsets[i], err = NewSubset(cluster.Topology(), []int{rack}); err != nil {
			return err
		}
	}
	tables, err := Extract(ctx, cluster, subsets, s.task())
	if err != nil {
		return err
	}
	var locality []StudyRow
	for i, table := range tables {
		for _, v := range variants {
			if v.exact && !cluster.VaryingRack(racks[i]) {
				continue
			}
			in, out, err := s.weeks(ctx, table, v, func(t Traffic, progress func(float64)) (*Model, error) {
				fit := s.fit(progress)
				fit.Windows = v.windows
				return Fit(ctx, t, fit)
			})
			if err != nil {
				return err
			}
			name := names[i] + v.name
			s.out.Rows = append(s.out.Rows, StudyRow{"C.3", name, in.Fluctuation, in.FluctuationBins, out.Fluctuation, BoundFluctuation})
			s.check("fluctuation, "+name, in.Fluctuation.All(), BoundFluctuation)
			if !v.exact {
				locality = append(locality, StudyRow{"C.4", name, in.Locality, unknownDeviations(), out.Locality, BoundLocality})
				s.check("locality, "+name, in.Locality.All(), BoundLocality)
			}
		}
	}
	s.out.Rows = append(s.out.Rows, locality...)
	return nil
}

// weeks fits the first week, and compares what is generated with it and with the last.
func (s *studying) weeks(ctx context.Context, t Traffic, v variant, fit func(Traffic, func(float64)) (*Model, error)) (in, out Deviation, err error) {
	end := t.Span().To
	first, last := Part(t, 0, week), Part(t, end-week, end)
	m, err := fit(first, s.task())
	if err != nil {
		return in, out, err
	}
	if in, err = s.against(ctx, m, first, v); err != nil {
		return in, out, err
	}
	out, err = s.against(ctx, m, last, v)
	return in, out, err
}

// against compares what a model generates with traffic.
func (s *studying) against(ctx context.Context, m *Model, t Traffic, v variant) (Deviation, error) {
	original, err := Observe(ctx, t, v.windows, s.Workers, nil)
	if err != nil {
		return Deviation{}, err
	}
	d, _, err := s.regenerate(ctx, m, original, v, s.task())
	return d, err
}

// webmailLoads are the four of table C.1: two hours of a weekday morning, afternoon
// and night, and of a weekend day.
func webmailLoads() []struct {
	name   string
	window Window
} {
	hours := func(day, start int) Window {
		return Window{day, day, time.Duration(start) * time.Hour, time.Duration(start+2) * time.Hour}
	}
	return []struct {
		name   string
		window Window
	}{{"load A, Monday 08–10", hours(0, 8)}, {"load B, Monday 14–16", hours(0, 14)}, {"load C, Monday 02–04", hours(0, 2)}, {"load D, Saturday 10–12", hours(5, 10)}}
}

// webmailServers is the size of the study's test rack.
const webmailServers = 24

// webmail is table C.1: one rack, two-hour windows, static and varying traffic.
func (s *studying) webmail(ctx context.Context) error {
	s.tasks = 2 * 3 * len(webmailLoads())
	for _, varying := range []float64{0, 1} {
		o := s.Cluster
		o.Groups, o.RacksPerGroup, o.ServersPerRack, o.Varying = 1, 1, webmailServers, varying
		rack, err := NewSynthetic(o)
		if err != nil {
			return err
		}
		for _, load := range webmailLoads() {
			if err := s.webmailLoad(ctx, rack, load.name, load.window, varying > 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// webmailLoad is one load; where the traffic varies, with exact counts, too.
func (s *studying) webmailLoad(ctx context.Context, rack Traffic, name string, window Window, varying bool) error {
	begins, length := time.Duration(window.FirstDay)*day+window.Start, window.End-window.Start
	variants := []variant{{", static", false, []Window{window}}}
	if varying {
		variants = []variant{{", varying", false, []Window{window}}, {", varying, exact counts", true, []Window{window}}}
	}
	fit := s.fit(nil)
	fit.Windows = []Window{window}
	m, err := Fit(ctx, Part(rack, begins, begins+length), fit)
	if err != nil {
		return err
	}
	for _, v := range variants {
		in, err := s.against(ctx, m, Part(rack, begins, begins+length), v)
		if err != nil {
			return err
		}
		out, err := s.against(ctx, m, Part(rack, begins+week, begins+week+length), v)
		if err != nil {
			return err
		}
		row := StudyRow{Table: "C.1", System: name + v.name, InSample: in.Average, Bins: unknownDeviations(), HeldOut: out.Average, Bound: BoundWebmail}
		s.out.Rows = append(s.out.Rows, row)
		s.check("average activity, one rack, "+row.System, in.Average.All(), BoundWebmail)
	}
	return nil
}

// models compares all models on the smaller cluster, and tests random pairs.
func (s *studying) models(ctx context.Context) error {
	s.tasks = 1 + 3*len(Baselines()) + 2
	cluster, err := NewSynthetic(s.Smaller)
	if err != nil {
		return err
	}
	table, err := hold(ctx, cluster, s.task())
	if err != nil {
		return err
	}
	for _, b := range Baselines() {
		row := ModelRow{Name: b.Name, Summary: b.Summary}
		row.InSample, row.HeldOut, err = s.weeks(ctx, table, studyVariants()[0], func(t Traffic, progress func(float64)) (*Model, error) {
			m, err := b.Fit(ctx, t, s.fit(progress))
			if err == nil {
				row.Transitions = m.Transitions()
				row.FileBytes, err = m.Bytes()
			}
			return m, err
		})
		if err != nil {
			return fmt.Errorf("%s: %w", b.Name, err)
		}
		s.out.Models = append(s.out.Models, row)
	}
	s.check("average activity, three levels", s.out.Models[0].InSample.Average.All(), BoundLevel3)
	return s.pairs(ctx, table)
}

// hold reads traffic into memory.
func hold(ctx context.Context, t Traffic, progress func(float64)) (*Table, error) {
	var records []Record
	span := t.Span()
	for from := span.From; from < span.To; from += day {
		for r, err := range t.Between(from, min(from+day, span.To)) {
			if err != nil {
				return nil, err
			}
			records = append(records, r)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		tell(progress, float64(from+day-span.From)/float64(span.To-span.From))
	}
	return NewTable(t.Topology(), span, records)
}

// randomPairs is how many pairs of each kind are tested: more than the one of the
// study.
const randomPairs = 25

// pairs is the test of random pairs, with and without the exact pairs.
func (s *studying) pairs(ctx context.Context, t Traffic) error {
	first := Part(t, 0, week)
	original, err := Observe(ctx, first, StudyWindows(), s.Workers, nil)
	if err != nil {
		return err
	}
	chosen := original.RandomPairs(randomPairs, s.Seed)
	if err := original.Watch(ctx, first, chosen); err != nil {
		return err
	}
	for _, top := range []int{0, s.TopPairs} {
		fit := s.fit(s.task())
		fit.TopPairs = top
		m, err := Fit(ctx, first, fit)
		if err != nil {
			return err
		}
		made, err := Regenerate(ctx, m, original, Generation{Seed: s.Seed, Workers: s.Workers}, chosen)
		if err != nil {
			return err
		}
		for _, days := range []struct {
			name        string
			first, last int
		}{{"weekdays", 0, 4}, {"weekend", 5, 6}} {
			row := PairRow{Model: fmt.Sprintf("%d exact pairs", top), Days: days.name}
			row.SameRack, row.OtherRack = ComparePairs(original, made, chosen, StudyWindows(), days.first, days.last)
			s.out.Pairs = append(s.out.Pairs, row)
			if top == 0 {
				s.check("random pairs of a rack, "+days.name, row.SameRack.Median, BoundPair)
			}
		}
	}
	return nil
}

// curvesFitted is how many servers the temporal model is fitted to.
const curvesFitted = 5

// curves is the temporal model of single servers, over a day.
func (s *studying) curves(ctx context.Context) error {
	cluster, err := NewSynthetic(s.Smaller)
	if err != nil {
		return err
	}
	a, err := Observe(ctx, Part(cluster, 0, day), StudyWindows(), s.Workers, nil)
	if err != nil {
		return err
	}
	for i := range curvesFitted {
		server := i * a.Topology.Servers() / curvesFitted
		fitted, err := FitCurve(a.Curve(server))
		if err != nil {
			return err
		}
		s.out.Curves = append(s.out.Curves, fitted)
		s.check(fmt.Sprintf("temporal model, server %d", server), fitted.Deviation, BoundCurve)
	}
	return nil
}
