package sequence

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/predict/worth"
	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
	"github.com/nomad-placer/nomad-placer/profiler"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// plain is a scene of drawn applications of which nothing was learnt: whatever is not
// measured is assumed.
func plain(t *testing.T, seed uint64) *scene {
	t.Helper()
	m := truth.NewModel(columns, machines)
	all, err := truth.Population(m, truth.Spec{Classes: []string{"ST", "IO"}, Count: 8, Platforms: truth.Hardware, PeakShare: noPeaks}, seed)
	if err != nil {
		t.Fatal(err)
	}
	l := &learnt{}
	for _, a := range all[1:] {
		tolerated, caused := truth.TrueScores(a, 0, bound)
		s := interference.Sensitivity{Tolerated: interference.Scores{}, Caused: interference.Scores{}}
		for k, c := range columns {
			s.Tolerated[c], s.Caused[c] = measured(tolerated[k]), measured(caused[k])
		}
		l.residents = append(l.residents, cluster.Knowledge{Sensitivity: s})
	}
	s := &scene{
		population: &population{name: "drawn", model: m, residents: all[1:]}, learnt: l, newcomer: all[0], sigma: 0.02,
	}
	s.now = s.draw(rand.New(rand.NewPCG(seed, streamScene)))
	return s
}

// badProbe is a workload whose count is not what it does.
type badProbe struct {
	*machine
	count func(at time.Duration, work float64) float64
}

func (b badProbe) Read(context.Context) (performance.Reading, error) {
	return performance.Reading{At: b.now, Work: math.Floor(b.count(b.now.Sub(b.begun), b.work)), RateNow: math.NaN()}, nil
}

// A probe that stalls, counts backwards or in bursts of seconds has no run end earlier than
// an honest one does, and what it says of a score is not sure of something wrong.
func TestBadProbesEndNoRunEarly(t *testing.T) {
	t.Parallel()
	const seeds = 4
	held := 0.0
	for name, count := range map[string]func(at time.Duration, work float64) float64{
		"stalls": func(at time.Duration, work float64) float64 {
			if math.Mod(at.Seconds(), 7) > 4 {
				return held
			}
			held = work
			return work
		},
		"counts every three seconds": func(at time.Duration, work float64) float64 {
			return work / at.Seconds() * 3 * math.Floor(at.Seconds()/3)
		},
		"counts backwards": func(at time.Duration, work float64) float64 {
			return work * (1 - 0.3*math.Floor(math.Mod(at.Seconds(), 10)/9))
		},
	} {
		wrong, known := 0, 0
		for seed := range uint64(seeds) {
			honest, _ := advisedRun(t, seed, nil)
			held = 0
			bad, err := advisedRun(t, seed, count)
			if err != nil {
				if bad.Complete || !errors.Is(err, profiler.ErrWorkloadRestarted) && !errors.Is(err, profiler.ErrNoMeasurableWork) {
					t.Errorf("%s, seed %d: %v", name, seed, err)
				}
				continue // nobody takes it for a profile
			}
			if bad.Duration < honest.Duration-time.Second {
				t.Errorf("%s, seed %d: ended after %s, with an honest probe after %s", name, seed, bad.Duration, honest.Duration)
			}
			w, k := misleads(plain(t, seed).newcomer, bad)
			wrong, known = wrong+w, known+k
		}
		if 10*wrong > known {
			t.Errorf("%s: %d of %d tolerated scores are surely wrong", name, wrong, known)
		}
	}
}

// misleads counts the known tolerated scores of a profile, and those of them whose interval
// leaves out the truth by more than ten points.
func misleads(a *truth.Application, p profile.Profile) (wrong, known int) {
	tolerated, _ := truth.TrueScores(a, 0, bound)
	for k, c := range columns {
		e := p.Sensitivity.Tolerated[c]
		if !e.Score.Known() {
			continue
		}
		known++
		if tolerated[k] < e.Low.Or(0)-10 || tolerated[k] > e.High.Or(100)+10 {
			wrong++
		}
	}
	return wrong, known
}

// advisedRun is one run under advice, with a probe of the test's or an honest one.
func advisedRun(t *testing.T, seed uint64, count func(at time.Duration, work float64) float64) (profile.Profile, error) {
	t.Helper()
	s, arm := plain(t, seed), Advised(worth.Default().LeastPoints, worth.LaterWeight)
	m := newMachine(s.newcomer, columns, unitsPerSecond, s.sigma, seed)
	var subject profiler.Subject = m
	if count != nil {
		subject = badProbe{m, count}
	}
	return profiler.Measure(t.Context(), request(s.learnt, s.newcomer, arm, seed), subject, m, profiler.Options{
		Clock: m, Review: s.advisor(*arm.Rule, arm.LaterWeight, seed).review,
	})
}

// The same seed gives the same outcome, and one that is kept is not made again.
func TestOutcomesAreKept(t *testing.T) {
	t.Parallel()
	s := plain(t, 1)
	s.later = []placing{s.now}
	arm := Advised(1, 1)
	first, err := s.run(t.Context(), arm, 1)
	if err != nil {
		t.Fatal(err)
	}
	again, err := s.run(t.Context(), arm, 1)
	if err != nil || first.Regret != again.Regret || first.Seconds != again.Seconds || first.Regret < 0 || len(first.Later) != 1 {
		t.Errorf("%+v, then %+v, %v", first, again, err)
	}
	folder := t.TempDir()
	k, err := openKept(folder)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := k.get(arm, 1); ok {
		t.Error("an outcome of nothing")
	}
	if err := k.put(arm, first); err != nil {
		t.Fatal(err)
	}
	k.close()
	if k, err = openKept(folder); err != nil {
		t.Fatal(err)
	}
	defer k.close()
	if got, ok := k.get(arm, 1); !ok || got.Regret != first.Regret {
		t.Errorf("kept %+v, %t", got, ok)
	}
	if _, ok := k.get(Advised(2, 1), 1); ok {
		t.Error("an outcome of another arm")
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	full := []Outcome{{Regret: 4, Later: []float64{2, 4}, Seconds: 45, Verdict: true}, {Regret: 2, Later: []float64{1, 1}, Seconds: 44, Robust: true, Verdict: true}}
	own := []Outcome{{Regret: 3, Later: []float64{1, 3}, Seconds: 20}, {Regret: 1, Later: []float64{0, 0}, Seconds: 10, Robust: true, Verdict: true}}
	r := report([]Arm{Full, {Name: "other"}}, [][]Outcome{full, own})
	l := r.Parts[0].Lines[1]
	if l.Count != 2 || l.Now != 2 || l.Later != 1 || l.WrongVerdicts != 50 || l.ByNow != (Difference{-1, -1, -1}) || l.ByLater != (Difference{-1, -1, -1}) || l.MedianSeconds != 20 {
		t.Errorf("%+v", l)
	}
	if robust := r.Parts[3].Lines[1]; robust.Count != 1 || robust.Now != 1 {
		t.Errorf("%+v", robust)
	}
	if none := r.Parts[2].Lines[1]; none.Count != 0 || none.Now != 0 {
		t.Errorf("%+v", none)
	}
}
