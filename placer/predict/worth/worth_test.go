package worth_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/predict/worth"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

const slowdown = 0.05

// independent scores: a measurement says nothing of other sources.
type independent struct {
	tolerated, caused, deviation []float64
	err                          error
}

func (b independent) Tolerated() (mean, deviation []float64, err error) {
	return b.tolerated, b.deviation, b.err
}

func (b independent) Caused() (mean, deviation []float64, err error) {
	return b.caused, b.deviation, b.err
}

func (b independent) Given(column int, tolerated, _, caused, _ float64) (t, c []float64, err error) {
	t, c = append([]float64(nil), b.tolerated...), append([]float64(nil), b.caused...)
	t[column], c[column] = tolerated, caused
	return t, c, b.err
}

// fastOrQuiet: a fast node under pressure on source 0, and a slower one that is empty.
func fastOrQuiet(pressure float64) worth.Question {
	return worth.Question{Weight: 1, Places: []worth.Place{
		{Speed: 1, Pressure: []float64{pressure, 0}},
		{Speed: 0.8, Pressure: []float64{0, 0}},
	}}
}

func of(t *testing.T, b worth.Beliefs, q worth.Question, m ...worth.Measurement) []worth.Worth {
	t.Helper()
	out, err := worth.Of(b, []worth.Question{q}, m, slowdown)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Only what may change the choice is worth something: not a source that nobody presses on,
// not one that is known already, not one whose every likely value gives the same node.
func TestWorthOfAMeasurement(t *testing.T) {
	t.Parallel()
	unsure := independent{tolerated: []float64{40, 40}, caused: []float64{0, 0}, deviation: []float64{20, 20}}
	first := func(column int) worth.Measurement {
		return worth.Measurement{Column: column, Tolerated: 5, Caused: 5, Seconds: 3}
	}
	got := of(t, unsure, fastOrQuiet(60), first(0), first(1))
	if !(got[0].Points > 1) || !(got[0].Change > 0) || math.Abs(got[0].Rate()-got[0].Points/3) > 1e-12 {
		t.Errorf("the source that decides: %+v", got[0])
	}
	if got[1].Points != 0 || got[1].Change != 0 {
		t.Errorf("a source that nobody presses on: %+v", got[1])
	}
	known := independent{tolerated: []float64{40, 40}, caused: []float64{0, 0}, deviation: []float64{5, 5}}
	if got := of(t, known, fastOrQuiet(60), first(0)); got[0].Points != 0 {
		t.Errorf("what is known as well already: %+v", got[0])
	}
	if got := of(t, unsure, fastOrQuiet(5), first(0)); got[0].Points != 0 {
		t.Errorf("a pressure that every likely score tolerates: %+v", got[0])
	}
	if got := of(t, unsure, worth.Question{Weight: 1, Places: fastOrQuiet(60).Places[:1]}, first(0)); got[0].Points != 0 {
		t.Errorf("a single candidate: %+v", got[0])
	}
	easy := fastOrQuiet(60)
	easy.Needs = 0.1
	if got := of(t, unsure, easy, first(0)); got[0].Points != 0 {
		t.Errorf("a target that both nodes meet: %+v", got[0])
	}
}

// What it causes counts as what it tolerates does.
func TestNeighboursCount(t *testing.T) {
	t.Parallel()
	b := independent{tolerated: []float64{100, 100}, caused: []float64{30, 0}, deviation: []float64{20, 1}}
	fragile := worth.Resident{Tolerated: []float64{20, 100}, Pressure: []float64{0, 0}}
	q := worth.Question{Weight: 1, Places: []worth.Place{
		{Speed: 1, Pressure: []float64{0, 0}, Residents: []worth.Resident{fragile}},
		{Speed: 0.9, Pressure: []float64{0, 0}},
	}}
	got := of(t, b, q, worth.Measurement{Column: 0, Tolerated: 5, Caused: 5, Seconds: 3})
	if !(got[0].Points > 0) {
		t.Errorf("%+v", got[0])
	}
}

func TestWorthIsNeverNegative(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 1))
	row := func(scale float64) []float64 {
		return []float64{scale * random.Float64(), scale * random.Float64()}
	}
	for range 200 {
		b := independent{tolerated: row(100), caused: row(100), deviation: row(30)}
		var tolerated, caused [][]float64
		for range 5 {
			tolerated, caused = append(tolerated, row(100)), append(caused, row(80))
		}
		questions := worth.Typical(tolerated, caused, 4, 1, random)
		got, err := worth.Of(b, questions, []worth.Measurement{{Column: 0, Tolerated: 8, Caused: 8, Seconds: 3}, {Column: 1, Seconds: 2}}, slowdown)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range got {
			if !(w.Points >= 0) || math.IsInf(w.Points, 0) {
				t.Fatalf("%+v of %+v", w, b)
			}
		}
	}
	if worth.Typical(nil, nil, 4, 1, random) != nil {
		t.Error("questions of nothing")
	}
}

// A run ends only where nothing that is left is worth its seconds; a source without a score
// is as open as before.
func TestNext(t *testing.T) {
	t.Parallel()
	b := independent{tolerated: []float64{40, 40}, caused: []float64{0, 0}, deviation: []float64{20, 20}}
	question := []worth.Question{fastOrQuiet(60)}
	none := math.NaN()
	for name, c := range map[string]struct {
		columns         []worth.Column
		leave, finished bool
		order           int
	}{
		"the one that decides is not begun": {[]worth.Column{{Able: true}, {Active: true, Seconds: 3, Tolerated: 9, Caused: 9}}, true, false, 1},
		"it is under way, without a score":  {[]worth.Column{{Active: true, Seconds: 9, Tolerated: none, Caused: none}, {Able: true}}, false, false, 0},
		"it cannot be pressed on":           {[]worth.Column{{}, {Active: true, Seconds: 3, Tolerated: 9, Caused: 9}}, true, true, 0},
		"nothing is left":                   {[]worth.Column{{}, {}}, false, true, 0},
	} {
		got, err := worth.Next(b, question, c.columns, slowdown, worth.Default())
		if err != nil {
			t.Fatal(err)
		}
		if got.Leave != c.leave || got.Finished != c.finished || len(got.Order) != c.order {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestAdviser(t *testing.T) {
	t.Parallel()
	columns := []interference.Source{interference.MemoryBandwidth, interference.LLCCapacity}
	a := worth.Adviser{Options: worth.Default(), Columns: columns, Able: columns, Slowdown: slowdown}
	if a.Ended() != "" {
		t.Error("it ended before it began")
	}
	now := profile.SoFar{Source: columns[1], SourceSeconds: 3, Seconds: 8, Profile: profile.Profile{Sensitivity: interference.Sensitivity{
		Tolerated: interference.Scores{columns[1]: {}}, Caused: interference.Scores{columns[1]: {Note: "none yet"}},
	}}}
	b := independent{tolerated: []float64{40, 40}, caused: []float64{0, 0}, deviation: []float64{20, 20}}
	advice, err := a.Review(now, b, []worth.Question{fastOrQuiet(60)})
	if err != nil || advice.Leave != columns[1] || len(advice.Sources) != 1 || advice.Sources[0] != columns[0] || a.Ended() != "" {
		t.Errorf("%+v, %v, %q", advice, err, a.Ended())
	}
	advice, err = a.Review(now, b, []worth.Question{fastOrQuiet(2)})
	if err != nil || advice.Leave != columns[1] || advice.Sources == nil || len(advice.Sources) != 0 || !strings.Contains(a.Ended(), "no further measurement") {
		t.Errorf("%+v, %v, %q", advice, err, a.Ended())
	}
	b.err = errors.New("no model")
	if advice, err := a.Review(now, b, []worth.Question{fastOrQuiet(60)}); err == nil || advice.Sources != nil {
		t.Errorf("%+v, %v", advice, err)
	}
}
