package evaluate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/nomad-placer/nomad-placer/placer/classify"
	"github.com/nomad-placer/nomad-placer/placer/predict"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/training"
)

// PairOptions of Pairs.
type PairOptions struct {
	// Sources is how many of a workload's own sources are shown, the most informative
	// first; the others are predicted. 0: all.
	Sources    int
	Classifier classify.Descriptor
	Seed       uint64
	Progress   func(done, total int) // may be nil
}

// Rows of a pair report that are no rule of predict.Rules.
const (
	MeanOfOthers   = "mean"   // what others kept, at this placement
	MedianOfOthers = "median" // the median of it
	SidesOfOthers  = "sides"  // what each of the two kept, and left, in its other pairs: it has met others
	TodaysProduct  = "curves" // response curves under the pressure of caused scores, time shared through them
	PairFloor      = "floor"  // a predictor that knows every share exactly: what measuring the pair errs by
)

// PairFigures are of one predictor on some of the sides.
type PairFigures struct {
	Sides     int                `json:"sides"`
	MeanError float64            `json:"mean_error_points"`
	Within5   float64            `json:"within_5_points_percent"`
	Holds     map[string]float64 `json:"intervals_hold_percent,omitempty"` // by level in percent
}

// PairLine is a predictor.
type PairLine struct {
	Predictor string                 `json:"predictor"`
	Summary   string                 `json:"summary"`
	Figures   map[string]PairFigures `json:"figures"` // by part of the pairs; see PairParts
}

// PairReport is the outcome of Pairs.
type PairReport struct {
	Pairs        int        `json:"pairs"`
	Applications int        `json:"applications"`
	Known        int        `json:"known_pairs"` // of applications of which something was measured before
	Sources      int        `json:"sources_shown"`
	Chosen       string     `json:"chosen"` // the rule with the least held-out error on pairs of known applications
	Lines        []PairLine `json:"lines"`
}

// PairParts are the parts of the pairs that figures are given for: those both of whose
// applications are known, by placement and together, and all.
func PairParts() []string { return []string{"same", "beside", "known", "all"} }

// pairLevels are those of the intervals that are judged, in percent.
var pairLevels = []int{50, 80, 95}

// ErrPairs: there is nothing to evaluate.
var ErrPairs = errors.New("evaluate: too few measured pairs of workloads that were measured before")

// Pairs predicts the slowdown of both sides of every measured pair from what was measured of
// the two before they met, and compares it with what was measured. What is learnt from pairs
// has no pair of any of the two, and what fills in the scores of a workload has no row of
// it. A workload whose profile has no CPU time is taken for one that always wants a CPU. The
// same arguments give the same report.
func Pairs(ctx context.Context, pairs []profile.Pair, profiles []profile.Profile, o PairOptions) (PairReport, error) {
	e := newPairEvaluation(pairs, profiles, o)
	if e.report.Known < 2 {
		return PairReport{}, fmt.Errorf("%w: %d of %d", ErrPairs, e.report.Known, len(pairs))
	}
	if err := e.meet(ctx); err != nil {
		return PairReport{}, fmt.Errorf("pairs: %w", err)
	}
	couples := e.couples()
	guesses := make([][]guess, len(couples))
	err := forEach(ctx, len(couples), o.Progress, func(i int) error {
		var err error
		guesses[i], err = e.leaveOut(couples[i])
		return err
	})
	if err != nil {
		return PairReport{}, fmt.Errorf("pairs: %w", err)
	}
	e.summarise(slices.Concat(guesses...))
	return e.report, nil
}

type pairEvaluation struct {
	pairs    []profile.Pair
	sides    []pairSide
	profiles map[string]*profile.Profile // by application
	rows     []profile.Profile
	options  PairOptions
	sources  []interference.Source
	report   PairReport
}

// pairSide is one of the two of a pair.
type pairSide struct {
	own, other profile.PairSide
	placement  string
	met        predict.Met
	curves     float64 // see curvesOnly
}

// deviation of the logarithm of the ratio. The interval of the pseudomedian of six rounds
// at 95 % reaches from the least to the greatest round, on average 1.27 standard deviations
// of a round to either side; the pseudomedian itself has 0.42 of one.
func (s pairSide) deviation() float64 {
	const halfWidths = 3
	return (math.Log(max(leastRatio, s.own.High)) - math.Log(max(leastRatio, s.own.Low))) / 2 / halfWidths
}

// leastRatio keeps logarithms finite.
const leastRatio = 1e-3

// guess is what one predictor said of one side.
type guess struct {
	predictor string
	side      pairSide
	value     float64
	interval  func(level float64) (low, high float64) // nil: none
}

func newPairEvaluation(pairs []profile.Pair, profiles []profile.Profile, o PairOptions) *pairEvaluation {
	e := &pairEvaluation{pairs: pairs, profiles: map[string]*profile.Profile{}, options: o}
	for i := range profiles {
		e.profiles[profiles[i].Application()] = &profiles[i]
		if len(profiles[i].Sensitivity.Tolerated) > 0 {
			e.rows = append(e.rows, profiles[i])
		}
	}
	e.sources = classify.TrainingFrom(e.rows).Sources
	applications := map[string]bool{}
	for _, p := range pairs {
		applications[p.A.Application], applications[p.B.Application] = true, true
		e.sides = append(e.sides, pairSide{own: p.A, other: p.B, placement: p.Placement}, pairSide{own: p.B, other: p.A, placement: p.Placement})
		if e.known(p.A.Application) && e.known(p.B.Application) {
			e.report.Known++
		}
	}
	e.report.Pairs, e.report.Applications, e.report.Sources = len(pairs), len(applications), o.Sources
	return e
}

func (e *pairEvaluation) known(application string) bool { return e.profiles[application] != nil }

// couple are two applications.
type couple struct{ a, b string }

func (c couple) has(application string) bool { return application == c.a || application == c.b }

func coupleOf(s pairSide) couple {
	return couple{min(s.own.Application, s.other.Application), max(s.own.Application, s.other.Application)}
}

// couples that were measured together, each once, sorted.
func (e *pairEvaluation) couples() []couple {
	var out []couple
	for _, s := range e.sides {
		out = append(out, coupleOf(s))
	}
	slices.SortFunc(out, func(x, y couple) int { return cmp.Or(cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b)) })
	return slices.Compact(out)
}

// meet computes what is expected of every side before it was measured.
func (e *pairEvaluation) meet(ctx context.Context) error {
	names := map[string]bool{}
	for _, s := range e.sides {
		names[s.own.Application] = true
	}
	sorted := slices.Sorted(maps.Keys(names))
	parties := make([]predict.Party, len(sorted))
	err := forEach(ctx, len(sorted), nil, func(i int) error {
		var err error
		parties[i], err = e.party(sorted[i])
		return err
	})
	if err != nil {
		return err
	}
	of := func(application string) predict.Party {
		i, _ := slices.BinarySearch(sorted, application)
		return parties[i]
	}
	for i := range e.sides {
		s := &e.sides[i]
		own, other := of(s.own.Application), of(s.other.Application)
		s.met = predict.Met{
			Meeting: predict.Meet(own, []predict.Party{other}, cpusOf(s.placement)), Ratio: s.own.Ratio, Deviation: s.deviation(),
			Group: s.own.Application, With: s.other.Application,
		}
		s.curves = e.curvesOnly(s.placement, own, other)
	}
	return nil
}

// leaveOut predicts all sides of two applications that meet from pairs of others.
func (e *pairEvaluation) leaveOut(c couple) ([]guess, error) {
	var own, others, rest []pairSide // of the two; without both; without these pairs
	var met []predict.Met
	for _, s := range e.sides {
		switch {
		case coupleOf(s) == c:
			own = append(own, s)
			continue
		case !c.has(s.own.Application) && !c.has(s.other.Application):
			others, met = append(others, s), append(met, s.met)
		}
		rest = append(rest, s)
	}
	var out []guess
	for _, s := range own {
		out = append(out, plainGuesses(s, others, rest)...)
		out = append(out, guess{predictor: TodaysProduct, side: s, value: s.curves})
	}
	for _, rule := range predict.Rules() {
		learnt, err := predict.LearnContention(rule, met)
		if err != nil {
			return nil, err
		}
		for _, s := range own {
			k := learnt.Predict(s.met.Meeting)
			out = append(out, guess{predictor: rule.Name, side: s, value: k.Value(), interval: k.Interval})
		}
	}
	return out, nil
}

// plainGuesses know nothing of what was measured before.
func plainGuesses(s pairSide, others, rest []pairSide) []guess {
	var same []float64
	for _, o := range others {
		if o.placement == s.placement {
			same = append(same, o.own.Ratio)
		}
	}
	var all, own, left []float64
	for _, o := range rest {
		if o.placement != s.placement {
			continue
		}
		all = append(all, o.own.Ratio)
		if o.own.Application == s.own.Application {
			own = append(own, o.own.Ratio)
		}
		if o.other.Application == s.other.Application {
			left = append(left, o.own.Ratio)
		}
	}
	mean := stat.Mean(all, nil)
	sides := mean
	for _, v := range [][]float64{own, left} {
		if len(v) > 0 {
			sides += stat.Mean(v, nil) - mean
		}
	}
	return []guess{
		{predictor: MeanOfOthers, side: s, value: stat.Mean(same, nil), interval: quantilesOf(same)},
		{predictor: MedianOfOthers, side: s, value: quantile(0.5, same), interval: quantilesOf(same)},
		{predictor: SidesOfOthers, side: s, value: sides},
	}
}

// party is what is known of an application as of a new one: from the rows of others, and of
// its own what the options show.
func (e *pairEvaluation) party(application string) (predict.Party, error) {
	rows := slices.DeleteFunc(slices.Clone(e.rows), func(p profile.Profile) bool { return p.Application() == application })
	models, err := classify.TrainingFrom(rows).Fit(e.options.Classifier.New(), e.options.Seed)
	if err != nil {
		return predict.Party{}, err
	}
	p := e.profiles[application]
	if p != nil && e.options.Sources > 0 && len(p.Sensitivity.Caused) > 0 {
		if p, err = shown(p, models, e.options.Sources); err != nil {
			return predict.Party{}, fmt.Errorf("%s: %w", application, err)
		}
	}
	k := classify.Knowledge(p, models, e.sources, nil)
	return predict.Party{
		Curves: predict.Prepare(&k, e.sources, performance.DefaultSlowdownMaxPercent),
		Caused: k.Sensitivity.Caused.Vector(e.sources), Demand: e.demand(application),
	}, nil
}

// shown is a profile of which only some sources were measured: those that tell most of what
// others cause, one after the other.
func shown(p *profile.Profile, m classify.Models, count int) (*profile.Profile, error) {
	planner, ok := m.Caused.(classify.Planner)
	if !ok {
		return nil, errors.New("the classifier cannot say which sources tell most")
	}
	at, err := planner.Plan(nil, count, func(j int) bool { return p.Sensitivity.Caused[m.Sources[j]].Score.Known() })
	if err != nil {
		return nil, err
	}
	out := *p
	out.Sensitivity.Tolerated, out.Sensitivity.Caused = interference.Scores{}, interference.Scores{}
	keep := map[interference.Source]bool{}
	for _, j := range at {
		s := m.Sources[j]
		keep[s] = true
		out.Sensitivity.Tolerated[s], out.Sensitivity.Caused[s] = p.Sensitivity.Tolerated[s], p.Sensitivity.Caused[s]
	}
	out.Ramp = slices.DeleteFunc(slices.Clone(p.Ramp), func(r profile.RampPoint) bool { return !keep[r.Source] })
	return &out, nil
}

// demand is the CPU time that an application was seen to use in isolation, on one CPU.
func (e *pairEvaluation) demand(application string) predict.TimeDemand {
	d := predict.TimeDemand{Amount: math.NaN(), Weight: 1, Limit: 1}
	if p := e.profiles[application]; p != nil && p.CPUsIsolated > 0 {
		d.Amount = p.CPUsIsolated
	}
	return d
}

// cpusOf a placement: each application is bound to one.
func cpusOf(placement string) float64 {
	if placement == "beside" {
		return 2
	}
	return 1
}

// curvesOnly is what placement predicted before time was computed apart: the scarcest of
// all sources, of which those through which CPU time is shared are pressed on by what the
// other takes of it.
func (e *pairEvaluation) curvesOnly(placement string, own, other predict.Party) float64 {
	pressure := slices.Clone(other.Caused)
	for k, source := range e.sources {
		switch {
		case !interference.TimeShared(source):
		case placement == "beside":
			pressure[k] = 0
		default:
			pressure[k] = predict.TimeTaken(100, 1, []predict.TimeDemand{{Amount: other.Caused[k], Weight: 1}})
		}
	}
	return own.Curves.Share(pressure).Value
}

func (e *pairEvaluation) summarise(all []guess) {
	lines := map[string]*PairLine{}
	e.report.Lines = append(e.report.Lines, pairLines()...)
	for i := range e.report.Lines {
		lines[e.report.Lines[i].Predictor] = &e.report.Lines[i]
	}
	for _, part := range PairParts() {
		by := map[string][]guess{}
		for _, g := range all {
			if e.in(part, g.side) {
				by[g.predictor] = append(by[g.predictor], g)
			}
		}
		for name, guesses := range by {
			lines[name].Figures[part] = figuresOf(guesses)
		}
		lines[PairFloor].Figures[part] = floorOf(by[MeanOfOthers])
	}
	e.report.Chosen = slices.MinFunc(predict.Rules(), func(x, y predict.Rule) int {
		return cmp.Compare(lines[x.Name].Figures["known"].MeanError, lines[y.Name].Figures["known"].MeanError)
	}).Name
}

func pairLines() []PairLine {
	out := []PairLine{
		{Predictor: MeanOfOthers, Summary: "mean of what others kept at this placement"},
		{Predictor: MedianOfOthers, Summary: "median of it"},
		{Predictor: SidesOfOthers, Summary: "what the two kept, and left to others, in their other pairs: these have met others"},
		{Predictor: TodaysProduct, Summary: "scarcest of all response curves, CPU time among them"},
	}
	for _, r := range predict.Rules() {
		out = append(out, PairLine{Predictor: r.Name, Summary: r.Summary})
	}
	out = append(out, PairLine{Predictor: PairFloor, Summary: "knows every share: what measuring a pair errs by"})
	for i := range out {
		out[i].Figures = map[string]PairFigures{}
	}
	return out
}

func (e *pairEvaluation) in(part string, s pairSide) bool {
	known := e.known(s.own.Application) && e.known(s.other.Application)
	switch part {
	case "all":
		return true
	case "known":
		return known
	default:
		return known && s.placement == part
	}
}

func figuresOf(guesses []guess) PairFigures {
	f := PairFigures{Sides: len(guesses)}
	holds := map[string]float64{}
	for _, g := range guesses {
		wrong := 100 * math.Abs(g.value-g.side.own.Ratio)
		f.MeanError += wrong / float64(len(guesses))
		if wrong < 5 {
			f.Within5 += 100 / float64(len(guesses))
		}
		if g.interval == nil {
			continue
		}
		for _, level := range pairLevels {
			key := fmt.Sprint(level)
			low, high := g.interval(float64(level) / 100)
			if low <= g.side.own.Ratio && g.side.own.Ratio <= high {
				holds[key] += 100 / float64(len(guesses))
			} else {
				holds[key] += 0
			}
		}
	}
	if len(holds) > 0 {
		f.Holds = holds
	}
	return f
}

// floorOf is the expected error of the measurements themselves, as far as their intervals
// know it.
func floorOf(guesses []guess) PairFigures {
	f := PairFigures{Sides: len(guesses)}
	for _, g := range guesses {
		sigma := 100 * g.side.own.Ratio * g.side.deviation()
		f.MeanError += sigma * math.Sqrt(2/math.Pi) / float64(len(guesses))
		within := 1.0
		if sigma > 0 {
			within = math.Erf(5 / sigma / math.Sqrt2)
		}
		f.Within5 += 100 * within / float64(len(guesses))
	}
	return f
}

// quantilesOf are intervals between order statistics.
func quantilesOf(values []float64) func(level float64) (low, high float64) {
	return func(level float64) (low, high float64) {
		return quantile((1-level)/2, values), quantile((1+level)/2, values)
	}
}

// PairPartSummary says what a part of the pairs is.
func PairPartSummary(part string) string {
	switch part {
	case "same":
		return "On one CPU, both measured before"
	case "beside":
		return "On neighbouring CPUs, both measured before"
	case "known":
		return "Both measured before"
	default:
		return "All pairs"
	}
}

// PairClassifier fills in what was not measured of a workload, as an agent does.
const PairClassifier = "local"

// PairProfiles are the shipped training rows, and of applications without one the CPU time
// that they were seen to use in isolation.
func PairProfiles() ([]profile.Profile, error) {
	rows, err := training.Load()
	if err != nil {
		return nil, err
	}
	at := map[string]int{}
	for i, r := range rows {
		at[r.Application()] = i
	}
	cpus, err := training.LoadPairCPUs()
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(cpus)) {
		if i, ok := at[name]; ok {
			rows[i].CPUsIsolated = cpus[name]
			continue
		}
		rows = append(rows, profile.Profile{CPUsIsolated: cpus[name], Provenance: &profile.Provenance{Application: name}})
	}
	return rows, nil
}
