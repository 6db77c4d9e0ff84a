package calibration_test

import (
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	files "github.com/nomad-placer/nomad-placer/examples/sim"
	"github.com/nomad-placer/nomad-placer/placer/sim/calibration"
	"github.com/nomad-placer/nomad-placer/placer/sim/scenario"
	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
)

func published(t *testing.T) *truth.Calibration {
	t.Helper()
	world, err := truth.LookupWorld(truth.PublishedWorld)
	if err != nil {
		t.Fatal(err)
	}
	return world
}

// checkSeeds are neither of the fit nor of a scenario.
var checkSeeds = []uint64{7101, 7102, 7103}

// Every shape has what papers publish of their inputs (Delimitrou 2015, tables 3.1, 3.2, 4.1 and
// figure 5.7a), with the rows, entries, classes and classifier of its scenario: as measured on other
// seeds than the fit saw. A bound may be missed by its tolerance; an error may be off by
// three from what the file says.
func TestTheWorldIsAsPublished(t *testing.T) {
	t.Parallel()
	world := published(t)
	for _, c := range calibration.Cases() {
		t.Run(c.Shape, func(t *testing.T) {
			t.Parallel()
			o := calibration.Options{
				Scenarios: files.Files, Cases: []calibration.Case{c}, Statistics: calibration.Statistics(), Seeds: checkSeeds, Count: calibration.DefaultCount,
			}
			got, err := calibration.Check(t.Context(), o, world.Parameters)
			if err != nil {
				t.Fatal(err)
			}
			judged := 0
			for _, r := range got.Reached {
				if r.Reached == nil {
					continue
				}
				t.Logf("%s: published %g, reached %g", r.Statistic, r.Published, *r.Reached)
				isError := strings.HasPrefix(r.Statistic, "mean error")
				if r.Bound || isError {
					judged++
				}
				if isError && !stays(world, r) {
					t.Errorf("%s: the file has other than %g", r.Statistic, *r.Reached)
				}
				if k := slices.IndexFunc(o.Statistics, func(s calibration.Statistic) bool { return s.Name == r.Statistic }); r.Bound && !o.Statistics[k].Near(*r.Reached) {
					t.Errorf("%s: published %g ±%g, reached %g", r.Statistic, r.Published, r.Tolerance, *r.Reached)
				}
			}
			// A shape of one configuration has no bound: nothing of the kind is printed.
			if judged == 0 {
				t.Error("nothing of this shape is judged")
			}
		})
	}
}

// stays reports whether an error is as in the file: within three tolerances, for other seeds teach
// other rows.
func stays(world *truth.Calibration, r truth.Reached) bool {
	k := slices.IndexFunc(world.Reached, func(in truth.Reached) bool { return in.Shape == r.Shape && in.Statistic == r.Statistic })
	return k >= 0 && world.Reached[k].Reached != nil && math.Abs(*world.Reached[k].Reached-*r.Reached) <= 3*r.Tolerance
}

// The file is of the statistics and shapes that are listed, all of its bounds hold, and it is of
// seeds that no scenario is run on.
func TestTheWorldFileIsOfThisProgram(t *testing.T) {
	t.Parallel()
	world := published(t)
	statistics := calibration.Statistics()
	want := 0
	for _, c := range calibration.Cases() {
		for _, s := range statistics {
			if s.On != nil && !slices.Contains(s.On, c.Shape) {
				continue
			}
			want++
			k := slices.IndexFunc(world.Reached, func(r truth.Reached) bool { return r.Shape == c.Shape && r.Statistic == s.Name })
			if k < 0 {
				t.Errorf("%s: %s is not in the file", c.Shape, s.Name)
				continue
			}
			r := world.Reached[k]
			if r.Published != s.Published || r.Tolerance != s.Tolerance || r.Bound != (s.Use == calibration.Bound) || r.Bound && !r.Holds {
				t.Errorf("%+v", r)
			}
			if r.Reached != nil && math.Abs(*r.Residual-(*r.Reached-r.Published)) > 0.011 {
				t.Errorf("%s: the residual of %s is %v", c.Shape, s.Name, *r.Residual)
			}
		}
	}
	if len(world.Reached) != want {
		t.Errorf("%d lines, want %d", len(world.Reached), want)
	}
	const folder = "../../../examples/sim"
	names, err := scenario.Files(os.DirFS(folder))
	if err != nil || len(names) < 50 {
		t.Fatalf("%d scenarios: %v", len(names), err)
	}
	for _, file := range names {
		s, err := scenario.Load(folder + "/" + file)
		if err != nil {
			t.Fatal(err)
		}
		for _, seed := range s.Seeds {
			if slices.Contains(world.Seeds, seed) || slices.Contains(calibration.Seeds(), seed) || slices.Contains(checkSeeds, seed) {
				t.Errorf("%s is run on seed %d, which the world is fitted or checked on", s.Name, seed)
			}
		}
	}
}

// What is only shown says why.
func TestStatisticsSayWhereFrom(t *testing.T) {
	t.Parallel()
	for _, s := range calibration.Statistics() {
		if s.Source == "" || (s.Use == calibration.Shown) != (s.Why != "") {
			t.Errorf("%s: source %q, %s, why %q", s.Name, s.Source, s.Use, s.Why)
		}
	}
}
