package profiling

import (
	"flag"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/nomad-placer/nomad-placer/placer/classify"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/curve"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/training"
)

// evidenceStudy prints the whole study: each application left out in turn.
var evidenceStudy = flag.Int("evidence-study", 0, "print what profiles of simulated applications narrow, with so many seeds each, instead of checking a part")

// narrowing is what profiles with the default length leave of the two most informative
// sources.
type narrowing struct {
	cells, half int     // scores, and those whose interval is at most half as wide as before
	measured    int     // that say so
	before      float64 // summed widths in points
	after       float64
	wrong       float64 // summed differences from the truth
	guessed     float64 // the same of what was said before
	held        int     // intervals that hold the truth
}

func (n narrowing) String() string {
	c := float64(max(1, n.cells))
	return fmt.Sprintf("%4d scores: %5.1f %% half as wide or less (%.1f to %.1f points), %5.1f %% measured, error %.1f points (before: %.1f), intervals hold %.1f %%",
		n.cells, 100*float64(n.half)/c, n.before/c, n.after/c, 100*float64(n.measured)/c, n.wrong/c, n.guessed/c, 100*float64(n.held)/c)
}

// studied is an application left out of the training set, with what the others say and the
// two sources that the engine would choose.
type studied struct {
	row     profile.Profile
	learnt  *learnt
	columns []interference.Source
	sources []interference.Source
}

func leftOut(t *testing.T, rows []profile.Profile, number int) studied {
	t.Helper()
	row := rows[number]
	others := slices.DeleteFunc(slices.Clone(rows), func(p profile.Profile) bool { return programOf(p) == programOf(row) })
	learnt, err := fit(others)
	if err != nil {
		t.Fatal(err)
	}
	columns := (&Estimator{cfg: &Config{}}).columnsFor(others, &cluster.Snapshot{})
	return studied{row, learnt, columns, learnt.telling.Best(columns, 2)}
}

// once profiles it at a noise, and looks at both scores of its sources.
func (a studied) once(t *testing.T, noise float64, seed uint64, out *[2]narrowing) {
	t.Helper()
	m := newShipped(a.row, noise, seed)
	p, err := m.profiled(t.Context(), a.sources, seed)
	if err != nil {
		t.Fatalf("%s: %v", a.row.Workload, err)
	}
	unmeasured := classify.Knowledge(nil, a.learnt.models, a.columns, nil).Sensitivity
	k := classify.Knowledge(&p, a.learnt.models, a.columns, nil).Sensitivity
	for side, scores := range []interference.Scores{k.Tolerated, k.Caused} {
		for _, s := range a.columns {
			if scores[s].Origin == interference.Assumed {
				t.Errorf("%s: %s is assumed although something of its kind was measured", a.row.Workload, s)
			}
		}
		for _, s := range a.sources {
			e, guess, truth := scores[s], unmeasured.Tolerated[s], crossingOf(m.workload[s])
			if side == 1 {
				guess, truth = unmeasured.Caused[s], 100-crossingOf(m.kernel[s])
			}
			out[side].add(e, guess, truth)
		}
	}
}

func (n *narrowing) add(e, guess interference.Estimate, truth float64) {
	before, _ := e.Before.Width()
	after, _ := e.Within().Width()
	n.cells++
	if after <= before/2 {
		n.half++
	}
	if e.Origin == interference.Measured {
		n.measured++
	}
	n.before, n.after = n.before+before, n.after+after
	n.wrong, n.guessed = n.wrong+math.Abs(e.Score.Or(math.NaN())-truth), n.guessed+math.Abs(guess.Score.Or(math.NaN())-truth)
	if e.Low.Or(math.NaN()) <= truth && truth <= e.High.Or(math.NaN()) {
		n.held++
	}
}

// crossingOf is the pressure at which a response has lost 5 %.
func crossingOf(points []ramped) float64 {
	for x := 0.0; x < 100; x += 0.1 {
		if kept(points, x) < 0.95 {
			return x
		}
	}
	return 100
}

// programOf is the application without its input.
func programOf(p profile.Profile) string {
	name, _, _ := strings.Cut(p.Provenance.Application, "-")
	return name
}

// Of an application that is not in the training set a profile of the default length says
// more than what is known of others, and nothing of it is assumed.
func TestProfilesNarrow(t *testing.T) {
	t.Parallel()
	rows, err := training.LoadAll()
	if err != nil {
		t.Fatal(err)
	}
	if *evidenceStudy > 0 {
		noises := []float64{0.02, 0.05, 0.1}
		all := make([][2]narrowing, len(noises))
		for i := range rows {
			a := leftOut(t, rows, i)
			for j, noise := range noises {
				for seed := range *evidenceStudy {
					a.once(t, noise, uint64(1000+seed), &all[j])
				}
			}
		}
		for j, noise := range noises {
			t.Logf("noise %.0f %%\ntolerated: %v\ncaused:    %v", 100*noise, all[j][0], all[j][1])
		}
		return
	}
	var all [2]narrowing
	for _, i := range []int{3, 30} {
		leftOut(t, rows, i).once(t, 0.05, 1, &all)
	}
	for _, n := range all {
		if n.measured != n.cells || n.cells != 4 || !(n.after < 0.7*n.before) {
			t.Errorf("%v", n)
		}
	}
}

// What a probe says may be late, wrong or made up, and a workload may change by itself: what
// is concluded is still a number with an interval in order, and where the probe cannot tell,
// the interval says so.
func TestBadProbesGiveHonestIntervals(t *testing.T) {
	t.Parallel()
	rows, err := training.LoadAll()
	if err != nil {
		t.Fatal(err)
	}
	row, others := rows[0], rows[1:]
	learnt, err := fit(others)
	if err != nil {
		t.Fatal(err)
	}
	columns := DefaultColumns()
	sources := []interference.Source{interference.LLCCapacity, interference.MemoryBandwidth}
	for name, c := range map[string]struct {
		report func(m *shipped) func(at time.Duration, work float64) float64
		phases func(at time.Duration) float64
		silent bool // nothing can be told of tolerated scores
	}{
		"stalls for good": {silent: true, report: func(*shipped) func(time.Duration, float64) float64 {
			return func(at time.Duration, work float64) float64 { return min(work, 1000) }
		}},
		"counts backwards": {report: func(*shipped) func(time.Duration, float64) float64 {
			return func(_ time.Duration, work float64) float64 { return 1e9 - work }
		}, silent: true},
		"starts anew now and then": {report: func(*shipped) func(time.Duration, float64) float64 {
			return func(_ time.Duration, work float64) float64 { return math.Mod(work, 70000) }
		}},
		"counts in bursts of six seconds": {report: func(*shipped) func(time.Duration, float64) float64 {
			return func(_ time.Duration, work float64) float64 { return math.Floor(work/120000) * 120000 }
		}},
		"reports more under pressure": {report: func(m *shipped) func(time.Duration, float64) float64 {
			made := 0.0
			return func(_ time.Duration, work float64) float64 {
				if m.intensity > 0 {
					made += 5000
				}
				return work + made
			}
		}},
		"reports nonsense": {report: func(m *shipped) func(time.Duration, float64) float64 {
			return func(time.Duration, float64) float64 { return 1e12 * m.random.Float64() }
		}},
		"a phase longer than the profile": {phases: func(at time.Duration) float64 {
			if at > 18*time.Second {
				return 0.4
			}
			return 1
		}},
		"phases of seven seconds": {phases: func(at time.Duration) float64 {
			return 1 + 0.5*math.Sin(2*math.Pi*at.Seconds()/7)
		}},
	} {
		m := newShipped(row, 0.03, 5)
		m.phases = c.phases
		if c.report != nil {
			m.report = c.report(m)
		}
		p, err := m.profiled(t.Context(), sources, 5)
		if err != nil {
			continue // refused, with the reason
		}
		k := classify.Knowledge(&p, learnt.models, columns, nil)
		for kind, scores := range map[string]interference.Scores{"tolerated": k.Sensitivity.Tolerated, "caused": k.Sensitivity.Caused} {
			for s, e := range scores {
				if !(e.Low.Or(math.NaN()) <= e.Score.Or(math.NaN()) && e.Score.Or(math.NaN()) <= e.High.Or(math.NaN())) {
					t.Errorf("%s: %s %s is %+v", name, kind, s, e)
				}
			}
		}
		for _, s := range sources {
			e, truth := k.Sensitivity.Tolerated[s], crossingOf(m.workload[s])
			if c.silent && e.Origin == interference.Measured {
				t.Errorf("%s: %s is %+v although the probe tells nothing", name, s, e)
			}
			if response, ok := curve.Measured(p.Ramp, s, curve.Workload); ok && c.phases != nil {
				if e := response.Estimate(curve.Bound); !(e.Low.Or(101) <= truth && truth <= e.High.Or(-1)) {
					t.Errorf("%s: by its ramp %s is %+v, and truly %.0f", name, s, e, truth)
				}
			}
		}
	}
}

// A job that reports nonsense for as many profiles as are kept of one moves what is predicted
// of another job of its namespace, of which something was measured, by a few points, and
// what was measured by less.
func TestNonsenseRowsHaveBoundedInfluence(t *testing.T) {
	t.Parallel()
	rows, err := training.LoadAll()
	if err != nil {
		t.Fatal(err)
	}
	tried, rows := rows[:5], rows[5:]
	clean, err := fit(rows)
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		rows = append(rows, nonsense())
	}
	poisoned, err := fit(rows)
	if err != nil {
		t.Fatal(err)
	}
	columns, shown := DefaultColumns(), []interference.Source{interference.LLCCapacity, interference.MemoryBandwidth}
	moved := map[interference.Origin][]float64{}
	for _, row := range tried {
		p := profile.Profile{SlowdownMax: row.SlowdownMax, Sensitivity: interference.Sensitivity{Tolerated: interference.Scores{}, Caused: interference.Scores{}}}
		for _, s := range shown {
			p.Sensitivity.Tolerated[s], p.Sensitivity.Caused[s] = row.Sensitivity.Tolerated[s], row.Sensitivity.Caused[s]
		}
		a := classify.Knowledge(&p, clean.models, columns, nil).Sensitivity.Tolerated
		b := classify.Knowledge(&p, poisoned.models, columns, nil).Sensitivity.Tolerated
		for _, s := range columns {
			moved[a[s].Origin] = append(moved[a[s].Origin], math.Abs(a[s].Score.Or(0)-b[s].Score.Or(0)))
		}
	}
	for origin, most := range map[interference.Origin]float64{interference.Measured: 5, interference.Predicted: 10} {
		if mean := stat.Mean(moved[origin], nil); !(mean <= most) {
			t.Errorf("%s scores moved by %.1f points on average: %.1f", origin, mean, moved[origin])
		}
	}
	if len(moved) != 2 {
		t.Errorf("%v", moved)
	}
}

// nonsense tolerates nothing and causes everything, and is sure of it.
func nonsense() profile.Profile {
	p := profile.Profile{Workload: "default/nonsense/g", SlowdownMax: 5, Sensitivity: interference.Sensitivity{Tolerated: interference.Scores{}, Caused: interference.Scores{}}}
	sure := func(points float64) interference.Estimate {
		v := interference.Percent(points)
		return interference.Estimate{Score: v, Low: v, High: v, Origin: interference.Measured}
	}
	for _, info := range interference.Sources() {
		p.Sensitivity.Tolerated[info.Source], p.Sensitivity.Caused[info.Source] = sure(0), sure(100)
	}
	return p
}
