package production_test

import (
	"math"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/predict/production"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

var columns = []interference.Source{interference.MemoryBandwidth, interference.LLCCapacity, interference.L2Capacity}

const (
	bandwidth = interference.MemoryBandwidth
	cache     = interference.LLCCapacity
)

func score(v, low, high float64, origin interference.Origin) interference.Estimate {
	return interference.Estimate{Score: interference.Percent(v), Low: interference.Percent(low), High: interference.Percent(high), Origin: origin}
}

// robust is a workload that is predicted to tolerate nearly everything.
func robust(origin interference.Origin) *cluster.Knowledge {
	k := &cluster.Knowledge{Sensitivity: interference.Sensitivity{Tolerated: interference.Scores{}, Caused: interference.Scores{}}}
	for _, s := range columns {
		k.Sensitivity.Tolerated[s], k.Sensitivity.Caused[s] = score(85, 60, 100, origin), score(20, 10, 30, origin)
	}
	return k
}

// presses is a co-runner that is known to cause so much on bandwidth and little elsewhere.
func presses(v, low, high float64) production.CoRunner {
	c := production.CoRunner{Caused: interference.Scores{}, Known: true, Allocations: 1, Activity: &production.Activity{Least: 1, Most: 1}}
	for _, s := range columns {
		c.Caused[s] = score(0, 0, 5, interference.Measured)
	}
	c.Caused[bandwidth] = score(v, low, high, interference.Measured)
	return c
}

func achieved(ratio float64) production.Evidence {
	return production.Evidence{Ratio: ratio, Noise: 0.02, Isolated: 0.02, Configuration: "a"}
}

// after is what is known after so many experiments, each in a situation of its own.
func after(t *testing.T, k *cluster.Knowledge, c production.CoRunner, e production.Evidence, n int, whose production.Whose) (own, neighbour cluster.Knowledge, said *profile.Production) {
	t.Helper()
	said = &profile.Production{Format: profile.ProductionFormat, Key: "k", Workload: "default/j/g"}
	c.Said = &profile.Production{Format: profile.ProductionFormat, Key: "n", Workload: "default/n/g"}
	for range n {
		f := production.Learn(columns, production.Subject{Knowledge: k, SlowdownPercent: 5, Said: said}, []production.CoRunner{c}, e)
		production.AddTolerated(said, columns, f, e, whose)
		production.AddCaused(c.Said, columns, f, 0, whose)
	}
	for _, d := range []*profile.Production{said, c.Said} {
		if err := d.Check(); err != nil {
			t.Fatal(err)
		}
	}
	theirs := cluster.Knowledge{Sensitivity: interference.Sensitivity{Caused: c.Caused, Tolerated: interference.Scores{}}}
	return production.Fold(*k, 5, said), production.Fold(theirs, 5, c.Said), said
}

func percent(t *testing.T, e interference.Estimate) float64 {
	t.Helper()
	v, ok := e.Score.Percent()
	if !ok {
		t.Fatal("the score is unknown")
	}
	return v
}

func width(e interference.Estimate) float64 { return e.High.Or(100) - e.Low.Or(0) }

func TestASensitiveWorkloadIsLearnt(t *testing.T) {
	t.Parallel()
	k := robust(interference.Predicted)
	// It tolerates 20 and would keep half at 100: next to 60 it keeps 0.95 − 0.45·40/80.
	own, neighbour, said := after(t, k, presses(60, 55, 65), achieved(0.725), 6, production.Own)
	e := own.Sensitivity.Tolerated[bandwidth]
	t.Logf("%+v\n%+v\n%+v", e, own.Sensitivity.Tolerated[cache], neighbour.Sensitivity.Caused[bandwidth])
	if v := percent(t, e); v > 50 || e.Origin != interference.Measured {
		t.Errorf("it tolerates %.0f points, %s", v, e.Origin)
	}
	if was, predicted := e.WithoutProduction, k.Sensitivity.Tolerated[bandwidth]; was.Score != predicted.Score || was.Range != predicted.Within() {
		t.Errorf("it was %+v without production, and %+v was predicted", was, predicted)
	}
	if was := own.Sensitivity.Tolerated[cache].WithoutProduction; was.Score.Known() {
		t.Errorf("a score that did not change was %+v", was)
	}
	if low := e.Low.Or(100); low > 20 {
		t.Errorf("the interval from %.0f does not hold the 20 points that explain it", low)
	}
	if v := percent(t, own.Sensitivity.Tolerated[cache]); v < 80 {
		t.Errorf("a source without pressure is blamed: %.0f", v)
	}
	if d := math.Abs(percent(t, neighbour.Sensitivity.Caused[bandwidth]) - 60); d > 5 {
		t.Errorf("what was known well moved by %.0f points", d)
	}
	if said.Tolerated[bandwidth].Experiments < 5 {
		t.Errorf("6 situations count as %.1f experiments", said.Tolerated[bandwidth].Experiments)
	}
}

// TestWhoIsLessCertainMovesMore: the same loss is put down to the co-runner where that is the
// less certain.
func TestWhoIsLessCertainMovesMore(t *testing.T) {
	t.Parallel()
	k := robust(interference.Measured)
	k.Sensitivity.Tolerated[bandwidth] = score(20, 15, 25, interference.Measured)
	own, neighbour, _ := after(t, k, presses(10, 0, 90), achieved(0.725), 6, production.Own)
	t.Logf("%+v\n%+v", own.Sensitivity.Tolerated[bandwidth], neighbour.Sensitivity.Caused[bandwidth])
	if v := percent(t, neighbour.Sensitivity.Caused[bandwidth]); v < 35 {
		t.Errorf("the co-runner causes %.0f points", v)
	}
	if v := percent(t, own.Sensitivity.Tolerated[bandwidth]); math.Abs(v-20) > 5 {
		t.Errorf("it tolerates %.0f points, and 20 was measured well", v)
	}
}

func TestFullPerformanceSaysSomethingToo(t *testing.T) {
	t.Parallel()
	k := robust(interference.Predicted)
	k.Sensitivity.Tolerated[bandwidth] = score(30, 5, 95, interference.Predicted)
	own, _, _ := after(t, k, presses(80, 70, 90), achieved(0.99), 4, production.Own)
	if v := percent(t, own.Sensitivity.Tolerated[bandwidth]); v < 60 {
		t.Errorf("it kept all next to 80 points and is said to tolerate %.0f", v)
	}
	// A rate that somebody else demands is a lower bound only: a low one says nothing.
	e := achieved(0.3)
	e.AtLeast = true
	own, _, said := after(t, k, presses(80, 70, 90), e, 4, production.Own)
	if width(own.Sensitivity.Tolerated[bandwidth]) < 85 || len(said.Levels) > 0 && said.Levels["a"].Precision > 25 {
		t.Errorf("a lower bound of 0.3 narrowed it to %+v", own.Sensitivity.Tolerated[bandwidth])
	}
}

// TestOneSituationIsOneExperiment: however long it lasts.
func TestOneSituationIsOneExperiment(t *testing.T) {
	t.Parallel()
	k := robust(interference.Predicted)
	said := &profile.Production{}
	for i := range 60 {
		e := achieved(0.725)
		e.Before, e.Earlier = production.SeenIn(said, "here")
		f := production.Learn(columns, production.Subject{Knowledge: k, SlowdownPercent: 5, Said: said}, []production.CoRunner{presses(60, 55, 65)}, e)
		production.Note(said, "here", e, f, true, time.Unix(int64(i), 0))
		production.AddTolerated(said, columns, f, e, production.Own)
	}
	if n := said.Tolerated[bandwidth].Experiments; n > 1.3 {
		t.Errorf("60 repetitions count as %.2f experiments", n)
	}
}

func TestWhatIsNotKnownSaysLittle(t *testing.T) {
	t.Parallel()
	k := robust(interference.Predicted)
	known, _, _ := after(t, k, presses(60, 55, 65), achieved(0.725), 1, production.Own)
	unknown, _, _ := after(t, k, production.CoRunner{Allocations: 1}, achieved(0.725), 1, production.Own)
	a, b := k.Sensitivity.Tolerated[bandwidth], known.Sensitivity.Tolerated[bandwidth]
	c := unknown.Sensitivity.Tolerated[bandwidth]
	if moved, little := percent(t, a)-percent(t, b), percent(t, a)-percent(t, c); little > moved/4 {
		t.Errorf("next to a known co-runner it moved by %.1f points, next to an unknown one by %.1f", moved, little)
	}
	// Alone it learns how fast it is, and nothing of its scores.
	alone := production.Learn(columns, production.Subject{Knowledge: k, SlowdownPercent: 5}, nil, achieved(0.9))
	if len(alone.Tolerated) > 0 || !(alone.Level.Precision > 0) || !(alone.Level.Shift < 0) {
		t.Errorf("alone: %+v", alone)
	}
}

// TestAnIdleCoRunnerTeachesNothing: that nothing was lost next to a co-runner that could exert
// much says something only if it did.
func TestAnIdleCoRunnerTeachesNothing(t *testing.T) {
	t.Parallel()
	k := robust(interference.Predicted)
	k.Sensitivity.Tolerated[bandwidth] = score(30, 5, 95, interference.Predicted)
	moved := func(activity *production.Activity, ratio float64) (own, neighbour float64) {
		c := presses(80, 40, 100)
		c.Activity = activity
		after, theirs, _ := after(t, k, c, achieved(ratio), 4, production.Own)
		return percent(t, after.Sensitivity.Tolerated[bandwidth]) - 30, percent(t, theirs.Sensitivity.Caused[bandwidth]) - 80
	}
	busy, _ := moved(&production.Activity{Least: 1, Most: 1}, 0.99)
	idle, neighbour := moved(&production.Activity{Least: 0.02, Most: 0.02}, 0.99)
	unknown, _ := moved(nil, 0.99)
	t.Logf("next to a busy one %.1f points, an idle one %.1f, one that is not measured %.1f", busy, idle, unknown)
	if busy < 25 || math.Abs(idle) > 2 || math.Abs(neighbour) > 2 {
		t.Errorf("a busy co-runner taught %.1f points, an idle one %.1f of the workload and %.1f of itself", busy, idle, neighbour)
	}
	if unknown > 0.8*busy {
		t.Errorf("a co-runner that is not measured taught %.1f points, a busy one %.1f", unknown, busy)
	}
	// A loss says that it was busy.
	k.Sensitivity.Tolerated[bandwidth] = score(85, 20, 100, interference.Predicted)
	if _, theirs := moved(nil, 0.6); theirs < -10 {
		t.Errorf("the workload lost 40 %%, and the co-runner is said to cause %.1f points less", -theirs)
	}
}

// TestHostileNamespace: whatever another namespace has a part in moves the mean of a score by
// at most sinh(1/2) of its deviation.
func TestHostileNamespace(t *testing.T) {
	t.Parallel()
	for _, ratio := range []float64{0, 0.01, 0.5, 1, 1.5, 100} {
		for _, pressed := range []float64{0, 5, 60, 100} {
			k := robust(interference.Measured)
			own, neighbour, said := after(t, k, presses(pressed, max(0, pressed-5), min(100, pressed+5)), achieved(ratio), 12, production.Foreign)
			if len(said.Levels) > 0 {
				t.Error("another namespace says how fast it is in isolation")
			}
			// 60–100 at 95 % is a deviation of about 10 points with its doubt; 0.52 of it.
			for _, s := range columns {
				if d := math.Abs(percent(t, own.Sensitivity.Tolerated[s]) - 85); d > 10 {
					t.Errorf("ratio %g next to %g: %s tolerates %.1f points less", ratio, pressed, s, d)
				}
			}
			if d := math.Abs(percent(t, neighbour.Sensitivity.Caused[bandwidth]) - pressed); d > 5 {
				t.Errorf("ratio %g: the co-runner moved by %.1f points", ratio, d)
			}
		}
	}
}

// FuzzLearn: never NaN, never a likelihood out of its bounds, and no interval that one
// experiment cannot give.
func FuzzLearn(f *testing.F) {
	f.Add(0.7, 0.02, 0.02, 60.0, 55.0, 65.0, 80.0, 1, 0, false, 1.0, 1.0)
	f.Add(math.Inf(1), -1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1000, -5, true, math.NaN(), math.Inf(1))
	f.Add(math.NaN(), math.NaN(), math.NaN(), 100.0, 0.0, 100.0, 100.0, 3, 1<<40, false, 0.5, -1.0)
	f.Fuzz(func(t *testing.T, ratio, noise, isolated, caused, low, high, tolerated float64, allocations, earlier int, atLeast bool, least, most float64) {
		if !(low <= high) {
			return // no such profile is read: profile.Check
		}
		tolerated, caused = min(high, max(low, tolerated)), min(high, max(low, caused))
		k := robust(interference.Predicted)
		k.Sensitivity.Tolerated[bandwidth] = score(tolerated, low, high, interference.Measured)
		c := presses(caused, low, high)
		c.Allocations, c.Demand, c.Activity = allocations, isolated, &production.Activity{Least: least, Most: most}
		e := production.Evidence{Ratio: ratio, Noise: noise, Isolated: isolated, Earlier: earlier, AtLeast: atLeast}
		if e.Check() != nil {
			return
		}
		own, _, said := after(t, k, c, e, 2, production.Own)
		for _, s := range columns {
			v := percent(t, own.Sensitivity.Tolerated[s])
			lowest, highest := own.Sensitivity.Tolerated[s].Low.Or(-1), own.Sensitivity.Tolerated[s].High.Or(-1)
			if math.IsNaN(v) || lowest > v+5 || highest < v-5 || lowest < 0 || highest < 0 {
				t.Errorf("%s: %+v", s, own.Sensitivity.Tolerated[s])
			}
		}
		if l := said.Levels[""]; math.IsNaN(l.Shift) || math.IsNaN(l.Precision) {
			t.Errorf("%+v", l)
		}
	})
}
