package predict_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/predict"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

var pairColumns = []interference.Source{interference.Integer, interference.MemoryBandwidth}

// party works so much of a CPU, tolerates and causes so much memory bandwidth.
func party(cpus, tolerates, causes float64) predict.Party {
	k := &cluster.Knowledge{Sensitivity: interference.Sensitivity{Tolerated: interference.Scores{
		interference.Integer:         {Score: interference.Percent(0)},
		interference.MemoryBandwidth: {Score: interference.Percent(tolerates)},
	}}}
	return predict.Party{
		Curves: predict.Prepare(k, pairColumns, 5), Caused: []float64{100, causes},
		Demand: predict.TimeDemand{Amount: cpus, Weight: 1, Limit: 1},
	}
}

// CPU time and contention are two numbers: on one CPU the time is shared, on two it is not,
// and what the other does to memory bandwidth is the same.
func TestMeet(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		own, other     predict.Party
		cpus           float64
		time, delayed  float64
		kept           float64
		waits, overlap bool
	}{
		"both always work, one CPU":    {party(1, 100, 0), party(1, 100, 100), 1, 0.5, 0.5, 0.95, false, false},
		"both always work, two CPUs":   {party(1, 100, 0), party(1, 100, 100), 2, 1, 1, 0.95, false, true},
		"a service beside a hog":       {party(0.2, 100, 0), party(1, 100, 0), 1, 1, 1 / 1.2, 1, true, false},
		"a hog beside a service":       {party(1, 100, 0), party(0.2, 100, 0), 1, 0.8, 0.8, 1, true, false},
		"two services":                 {party(0.2, 100, 0), party(0.2, 100, 0), 1, 1, 1 / (0.8 + 0.2/0.8), 1, true, true},
		"a demand that is not known":   {party(math.NaN(), 100, 0), party(1, 100, 0), 1, 0.5, 0.5, 1, false, false},
		"what it causes is not known":  {party(1, 0, 0), party(1, 100, math.NaN()), 1, 0.5, 0.5, 1, false, false},
		"nothing is known but demands": {predict.Party{Demand: predict.TimeDemand{Amount: 1, Limit: 1}}, party(1, 100, 100), 2, 1, 1, math.NaN(), false, true},
	} {
		m := predict.Meet(c.own, []predict.Party{c.other}, c.cpus)
		near(t, name+", time", m.Time, c.time)
		near(t, name+", delayed", m.Delayed, c.delayed)
		if m.Waits != c.waits || m.Overlap != c.overlap {
			t.Errorf("%s: waits %t, overlap %t", name, m.Waits, m.Overlap)
		}
		if !math.IsNaN(c.kept) {
			near(t, name+", kept", m.Kept[1], c.kept)
			near(t, name+", CPU time is no contention", m.Kept[0], 1)
		} else if m.Kept != nil {
			t.Errorf("%s: kept %v", name, m.Kept)
		}
	}
}

// planted are meetings of workloads that keep what contention leaves on one CPU (0.94) and
// on two (0.9), a part of what waiting costs, and the weighed curve of memory bandwidth.
func planted(random *rand.Rand, count int, noise float64) []predict.Met {
	var out []predict.Met
	for i := range count {
		a := party([]float64{1, 1, 0.2 + 0.6*random.Float64()}[i%3], 20+80*random.Float64(), 0)
		b := party(1, 100, 100*random.Float64())
		cpus := float64(1 + i%2)
		m := predict.Meet(a, []predict.Party{b}, cpus)
		kept := math.Log([]float64{0.94, 0.9}[i%2]) + math.Log(m.Time) + 0.5*math.Log(m.Delayed/m.Time) + 0.8*math.Log(m.Kept[1])
		out = append(out, predict.Met{
			Meeting: m, Ratio: math.Exp(kept + noise*random.NormFloat64()), Deviation: noise,
			Group: fmt.Sprint("a", random.IntN(20)), With: fmt.Sprint("b", random.IntN(20)),
		})
	}
	return out
}

func learn(t *testing.T, rule string, all []predict.Met) *predict.Contention {
	t.Helper()
	r, err := predict.LookupRule(rule)
	if err != nil {
		t.Fatal(err)
	}
	c, err := predict.LearnContention(r, all)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// What was planted is found again, by the rule that can say it; those that cannot are wrong
// by what they leave out. Gross errors of measurement do not move it.
func TestLearnContention(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 1))
	train, test := planted(random, 400, 0.02), planted(random, 200, 0)
	for i := range 8 {
		train[50*i].Ratio = 0.001
	}
	wrong := map[string]float64{}
	for _, r := range predict.Rules() {
		c := learn(t, r.Name, train)
		for _, m := range test {
			wrong[r.Name] += 100 * math.Abs(c.Predict(m.Meeting).Value()-m.Ratio) / float64(len(test))
		}
	}
	if wrong["learnt"] > 1 {
		t.Errorf("learnt errs by %.2f points", wrong["learnt"])
	}
	if !(wrong["learnt"] < wrong["delay"] && wrong["delay"] < wrong["time"]) {
		t.Errorf("errors %v", wrong)
	}
}

// Intervals of workloads that were not learnt from hold what they say.
func TestIntervalsHold(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(2, 2))
	c, test := learn(t, "learnt", planted(random, 600, 0.05)), planted(random, 1000, 0.05)
	for _, level := range []float64{0.5, 0.8, 0.95} {
		held := 0.0
		for _, m := range test {
			if low, high := c.Predict(m.Meeting).Interval(level); low <= m.Ratio && m.Ratio <= high {
				held += 1 / float64(len(test))
			}
		}
		if math.Abs(held-level) > 0.05 {
			t.Errorf("%g %% hold %.3f", 100*level, held)
		}
	}
}

func TestTooFewMeetings(t *testing.T) {
	t.Parallel()
	for _, r := range predict.Rules() {
		useless := make([]predict.Met, 100) // no ratio, and no time
		if _, err := predict.LearnContention(r, useless); !errors.Is(err, predict.ErrMeetings) {
			t.Errorf("%s: %v", r.Name, err)
		}
	}
	if _, err := predict.LookupRule("none such"); err == nil {
		t.Error("an unknown rule is found")
	}
}

// Whatever meets whatever: two numbers that multiply, no gain, and an interval around them.
func TestExpectedIsSane(t *testing.T) {
	t.Parallel()
	c := learn(t, "learnt", planted(rand.New(rand.NewPCG(3, 3)), 200, 0.05))
	amount := rapid.OneOf(rapid.Float64Range(0, 3), rapid.Just(math.NaN()), rapid.Just(math.Inf(1)))
	score := rapid.OneOf(rapid.Float64Range(0, 100), rapid.Just(math.NaN()))
	rapid.Check(t, func(t *rapid.T) {
		one := func(what string) predict.Party {
			p := party(amount.Draw(t, what), rapid.Float64Range(0, 100).Draw(t, what), score.Draw(t, what))
			p.Demand.Weight = rapid.Float64Range(0, 10000).Draw(t, what)
			return p
		}
		own := one("own")
		var others []predict.Party
		for range rapid.IntRange(0, 5).Draw(t, "others") {
			others = append(others, one("other"))
		}
		k := c.Predict(predict.Meet(own, others, rapid.Float64Range(0, 8).Draw(t, "cpus")))
		low, high := k.Interval(0.95)
		if !(k.Value() >= 0 && k.Value() <= 1) || !(low <= k.Value() && k.Value() <= high) || math.IsNaN(k.Contention) {
			t.Fatalf("%v keeps %v, %v to %v", k, k.Value(), low, high)
		}
		if math.Abs(k.Time*k.Contention-k.Value()) > 1e-9 {
			t.Fatalf("%v and %v are %v", k.Time, k.Contention, k.Value())
		}
	})
}
