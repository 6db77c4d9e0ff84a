package calibration_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/nomad-placer/nomad-placer/placer/sim/calibration"
	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
)

// one is a scenario on a published shape.
const one = `title = "one"
seeds = [1, 2]

cluster {
  shape = "quasar-local-40"
}

population "p" {
  classes = ["ST"]
  jobs    = 20

  arrivals "constant" {
    every = "1s"
  }

  duration "fixed" {
    value = "1s"
  }
}

policy "paragon" {}
`

// of are options with statistics of the parameters themselves: nothing is learnt for them.
func of(statistics ...calibration.Statistic) calibration.Options {
	for i := range statistics {
		statistics[i].Group = calibration.Pressures
	}
	return calibration.Options{
		Scenarios: fstest.MapFS{"one.hcl": {Data: []byte(one)}}, Cases: []calibration.Case{{Shape: "quasar-local-40", Scenario: "one"}},
		Statistics: statistics, Seeds: []uint64{7001}, Count: 10,
	}
}

func exponent(d *calibration.Drawn) float64 { return d.Model.Parameters().SizeExponent }

func about(name string, published, tolerance float64) calibration.Statistic {
	return calibration.Statistic{Name: name, Unit: "", Published: published, Tolerance: tolerance, Of: exponent}
}

func TestFit(t *testing.T) {
	t.Parallel()
	var texts []string
	for range 2 {
		world, err := calibration.Run(t.Context(), of(about("exponent", 0.55, 0.1)))
		if err != nil {
			t.Fatal(err)
		}
		if got := world.Parameters.SizeExponent; math.Abs(got-0.55) > 0.06 {
			t.Errorf("exponent %v", got)
		}
		if r := world.Reached[0]; !r.Holds || !r.Bound || r.Rows != 0 || *r.Residual != math.Round(100*(*r.Reached-0.55))/100 {
			t.Errorf("%+v", r)
		}
		text, err := json.Marshal(world)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	if texts[0] != texts[1] {
		t.Error("two fits differ")
	}
}

// What is no world is said with its residuals.
func TestNoWorld(t *testing.T) {
	t.Parallel()
	calls := 0.0
	for name, c := range map[string]struct {
		statistics []calibration.Statistic
		err        error
		says       string
	}{
		"contradiction": {
			[]calibration.Statistic{about("small", 0.2, 0.1), about("large", 1, 0.1)}, calibration.ErrContradiction,
			"small holds on every shape where nothing else is fitted to",
		},
		"outside": {[]calibration.Statistic{about("too much", 5, 0.1)}, calibration.ErrOutside, "quasar-local-40: too much: published 5 , reached 1.5, residual -3.5"},
		"no end": {
			[]calibration.Statistic{{Name: "moves away", Published: 0, Tolerance: 1, Of: func(*calibration.Drawn) float64 { calls++; return 1e4 - calls }}},
			calibration.ErrNotConverged, "pressures: a misfit of",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world, err := calibration.Run(context.Background(), of(c.statistics...))
			if !errors.Is(err, c.err) || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "residual") {
				t.Errorf("got %v, want %v with %q", err, c.err, c.says)
			}
			if world == nil || len(world.Reached) != len(c.statistics) {
				t.Errorf("%+v", world)
			}
		})
	}
}

func TestBadOptions(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*calibration.Options){
		"a seed of a scenario": func(o *calibration.Options) { o.Seeds = []uint64{7001, 2} },
		"no seeds":             func(o *calibration.Options) { o.Seeds = nil },
		"no shapes":            func(o *calibration.Options) { o.Cases = nil },
		"no programs":          func(o *calibration.Options) { o.Count = 0 },
		"another shape":        func(o *calibration.Options) { o.Cases[0].Shape = "tarcil-400" },
		"no scenario":          func(o *calibration.Options) { o.Cases[0].Scenario = "two" },
		"twice":                func(o *calibration.Options) { o.Statistics = append(o.Statistics, o.Statistics[0]) },
		"no tolerance":         func(o *calibration.Options) { o.Statistics[0].Tolerance = 0 },
	} {
		o := of(about("exponent", 0.5, 0.1))
		change(&o)
		world, err := calibration.Run(t.Context(), o)
		if err == nil || world != nil || name != "no scenario" && !errors.Is(err, calibration.ErrOptions) {
			t.Errorf("%s: %+v, %v", name, world, err)
		}
	}
}

// What is kept is not drawn again, and gives the same world.
func TestGoesOn(t *testing.T) {
	t.Parallel()
	drawn := 0
	s := about("exponent", 0.55, 0.1)
	s.Of = func(d *calibration.Drawn) float64 { drawn++; return exponent(d) }
	o := of(s)
	o.Work = t.TempDir()
	first, err := calibration.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	before := drawn
	again, err := calibration.Run(t.Context(), o)
	if err != nil || drawn != before || again.Parameters != first.Parameters {
		t.Errorf("drawn %d times, then %d; %+v, %v", before, drawn, again, err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := calibration.Run(gone, o); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
}

func TestProgressEnds(t *testing.T) {
	t.Parallel()
	o := of(about("exponent", 0.55, 0.1))
	last := -1.0
	o.Progress = func(share float64, _ string) {
		if share < last || share > 1 {
			t.Errorf("%v after %v", share, last)
		}
		last = share
	}
	if _, err := calibration.Run(t.Context(), o); err != nil || last != 1 {
		t.Errorf("it ends at %v: %v", last, err)
	}
}

// A statistic of what a shape has nothing of is unknown there, and asks for nothing.
func TestNothingOfTheKind(t *testing.T) {
	t.Parallel()
	s := about("nothing", 1, 0.1)
	s.Of = func(*calibration.Drawn) float64 { return math.NaN() }
	world, err := calibration.Run(t.Context(), of(s))
	if err != nil || world.Reached[0].Reached != nil || world.Reached[0].Residual != nil || !world.Reached[0].Holds {
		t.Errorf("%+v, %v", world, err)
	}
	if world.Parameters != calibration.Start() {
		t.Errorf("%+v", world.Parameters)
	}
}

// The default world is no calibrated one: scenarios are what they were.
func TestStartDiffersInTastesOnly(t *testing.T) {
	t.Parallel()
	p := calibration.Start()
	p.Platforms, p.Tastes = "", truth.FamilyTastes
	if p != truth.DefaultParameters() {
		t.Errorf("%+v", p)
	}
}
