package production

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// TestWhatIsKnownGivesNoOdds: while nothing has changed, a factor is 1 on average at most,
// which is what the bound on false alarms follows from. The average is computed by summing
// over what may be achieved, for any knowledge of it.
func TestWhatIsKnownGivesNoOdds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e := Evidence{Noise: rapid.Float64Range(0.005, 0.1).Draw(t, "noise"), Isolated: rapid.Float64Range(leastIsolated, 0.2).Draw(t, "isolated")}
		if rapid.Bool().Draw(t, "seen") {
			e.Before = Seen{
				Ratio: rapid.Float64Range(0.1, 1).Draw(t, "before"), Variance: rapid.Float64Range(0, 0.05).Draw(t, "variance"), Experiments: rapid.Float64Range(1, 4).Draw(t, "n"),
			}
		}
		var shares [bins]float64
		for i, at := range rapid.SliceOfN(rapid.IntRange(20, bins-1), 3, 3).Draw(t, "shares") {
			shares[at] += []float64{0.5, 0.3, 0.2}[i]
		}
		level := gaussian{rapid.Float64Range(-0.1, 0.1).Draw(t, "level"), rapid.Float64Range(0.02, 0.1).Draw(t, "deviation")}
		pressed, anyPressure := rapid.Bool().Draw(t, "pressed"), rapid.Bool().Draw(t, "any pressure")
		demand := math.Inf(1)
		if rapid.Bool().Draw(t, "demand") {
			demand = rapid.Float64Range(0.3, 1.4).Draw(t, "demanded")
		}
		noise := math.Hypot(e.Noise, modelError)
		factor := func(y float64, atLeast bool) (v float64, x expectation) {
			of := e
			of.Ratio, of.AtLeast = y, atLeast
			x = expect(of, noise, level, shares, likelihoodOf(of, noise, level), pressed || anyPressure, anyPressure)
			v, _ = x.factor(of)
			return v, x
		}
		// What is achieved is below the demand, or there is no telling how much it could be.
		mean, total := 0.0, 0.0
		const step = 0.01
		for y := step / 2; y < min(mostShare, demand); y += step {
			v, x := factor(y, false)
			mean, total = mean+v*x.density*step, total+x.density*step
		}
		if demand < mostShare {
			v, x := factor(demand, true)
			mean, total = mean+v*x.density, total+x.density
		}
		if mean > 1.03*max(1, total) { // 3 %: summed up in steps
			t.Errorf("a factor is %.3f on average (of a probability of %.3f)", mean, total)
		}
	})
}

var driftColumns = []interference.Source{interference.MemoryBandwidth}

// watched is a workload whose experiments are made up by a test.
type watched struct {
	rng    *rand.Rand
	said   profile.Production
	k      cluster.Knowledge
	alarms int
	at     time.Time
}

// watch one that was measured to tolerate 60 points, and not 40 more.
func watch(seed uint64) *watched {
	w := &watched{rng: rand.New(rand.NewPCG(seed, 0)), at: time.Unix(1e9, 0)}
	w.k.Sensitivity.Tolerated = interference.Scores{interference.MemoryBandwidth: {
		Score: interference.Percent(60), Low: interference.Percent(52), High: interference.Percent(68), Origin: interference.Measured,
	}}
	return w
}

// coRunner that is known to exert so much.
func coRunner(points float64, known bool) CoRunner {
	return CoRunner{Allocations: 1, Known: known, Activity: &Activity{Least: 1, Most: 1}, Caused: interference.Scores{interference.MemoryBandwidth: {
		Score: interference.Percent(points), Low: interference.Percent(max(0, points-5)), High: interference.Percent(min(100, points+5)), Origin: interference.Measured,
	}}}
}

// experiment in a situation in which so much is achieved; true: it has drifted.
func (w *watched) experiment(situation string, ratio float64, c CoRunner) bool {
	w.at = w.at.Add(10 * time.Minute)
	e := Evidence{Noise: 0.02, Isolated: 0.02, Ratio: max(0, ratio+0.02*w.rng.NormFloat64()), Configuration: "a"}
	e.Before, e.Earlier = SeenIn(&w.said, situation)
	f := Learn(driftColumns, Subject{Knowledge: &w.k, SlowdownPercent: 5, Said: &w.said}, []CoRunner{c}, e)
	aside, reason := Suspect(&w.said, f, e, []string{"default/x/x"}, w.at)
	Note(&w.said, situation, e, f, !aside, w.at)
	if !aside {
		AddTolerated(&w.said, driftColumns, f, e, Own)
	}
	if reason != "" {
		w.alarms++
		SetAside(&w.said, reason, w.at)
		w.said.Distrust = nil // as if it had been profiled again with the same result
	}
	return reason != ""
}

// Who shows the reason to others must know whom it names.
func TestSetAsideSaysWhomTheReasonMayName(t *testing.T) {
	t.Parallel()
	said := profile.Production{Suspicion: &profile.Suspicion{CoRunners: []string{"team/job/group"}}}
	SetAside(&said, "it did less next to team/job/group", time.Unix(1, 0))
	if d := said.Distrust; said.Suspicion != nil || d == nil || len(d.CoRunners) != 1 || d.CoRunners[0] != "team/job/group" {
		t.Errorf("%+v", said)
	}
}

// kept is what it keeps in truth next to so many points.
func kept(points float64) float64 {
	if points <= 60 {
		return 1 - 0.05*points*points/3600
	}
	return 0.95 - 0.45*(points-60)/40
}

// TestFalseAlarms: of 30 workloads with 100 experiments each, 100/oddsOfDrift = 1 % may be
// taken for drifted, whatever goes on around them: 0.3 workloads, and 3 or more with a
// probability of 0.4 %.
func TestFalseAlarms(t *testing.T) {
	t.Parallel()
	const workloads, experiments, allowed = 30, 100, 2
	for name, around := range map[string]func(w *watched) func(i int){
		"many situations, each with its error of the model, and outliers": func(w *watched) func(int) {
			var off [20]float64
			for i := range off {
				off[i] = modelError * w.rng.NormFloat64()
			}
			return func(int) {
				s := w.rng.IntN(len(off))
				ratio := kept(float64(5*s)) + off[s]
				if w.rng.Float64() < outliers {
					ratio = mostShare * w.rng.Float64()
				}
				w.experiment(fmt.Sprint(s), ratio, coRunner(float64(5*s), true))
			}
		},
		"a co-runner whose load follows the day": func(w *watched) func(int) {
			return func(i int) {
				load := 0.5 + 0.5*math.Sin(2*math.Pi*float64(i)/40)
				w.experiment("there", kept(90*load), coRunner(90, true))
			}
		},
		"a co-runner of which nothing is known, that comes and goes": func(w *watched) func(int) {
			here := false
			return func(int) {
				if w.rng.Float64() < 0.1 {
					here = !here
				}
				ratio := 1.0
				if here {
					ratio = 0.6
				}
				w.experiment("there", ratio, coRunner(30, false))
			}
		},
		"a profile that is 4 % off": func(w *watched) func(int) {
			return func(int) {
				s := w.rng.IntN(12)
				w.experiment(fmt.Sprint(s), 1.04*kept(float64(5*s)), coRunner(float64(5*s), true))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			alarms := 0
			for n := range workloads {
				w := watch(uint64(n))
				next := around(w)
				for i := range experiments {
					next(i)
				}
				alarms += min(1, w.alarms)
			}
			t.Logf("%d of %d workloads were taken for drifted within %d experiments", alarms, workloads, experiments)
			if alarms > allowed {
				t.Errorf("%d of %d workloads were taken for drifted", alarms, workloads)
			}
		})
	}
}

// TestDriftIsNoticed: after two days of what is known, the workload does less, or more, in
// the situation it is in, and in others.
func TestDriftIsNoticed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		times  float64
		within int // experiments; 0: it is too little to be noticed
	}{{0.98, 0}, {0.75, 8}, {0.6, 6}, {0.4, 5}, {1.35, 6}} {
		for _, situations := range []int{1, 12} {
			t.Run(fmt.Sprintf("%g times as fast, in %d situations", c.times, situations), func(t *testing.T) {
				t.Parallel()
				var found []int
				for seed := range uint64(5) {
					w := watch(seed)
					for i := range 40 {
						s := i % situations
						if w.experiment(fmt.Sprint(s), kept(float64(5*s)), coRunner(float64(5*s), true)) {
							t.Fatal("it was taken for drifted before it had")
						}
					}
					after := 0
					for i := range 40 {
						s := i % situations
						if w.experiment(fmt.Sprint(s), c.times*kept(float64(5*s)), coRunner(float64(5*s), true)) {
							after = i + 1
							break
						}
					}
					found = append(found, after)
				}
				t.Logf("noticed after %v experiments (0: not)", found)
				for _, n := range found {
					if c.within == 0 && n != 0 || c.within > 0 && (n == 0 || n > c.within) {
						t.Errorf("noticed after %d experiments, want at most %d", n, c.within)
					}
				}
			})
		}
	}
}

// TestNeighboursMayExplainLess: next to a co-runner of which nothing is known, less is no
// drift, and more is.
func TestNeighboursMayExplainLess(t *testing.T) {
	t.Parallel()
	for times, want := range map[float64]bool{0.4: false, 1.4: true} {
		w := watch(1)
		noticed := false
		for i := range 30 {
			noticed = w.experiment(fmt.Sprint(i), times, coRunner(10, false)) || noticed
		}
		if noticed != want {
			t.Errorf("%g times its performance next to an unknown co-runner: drift %t", times, noticed)
		}
	}
}
