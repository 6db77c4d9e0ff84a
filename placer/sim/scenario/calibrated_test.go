package scenario_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/sim/estimator"
	"github.com/nomad-placer/nomad-placer/placer/sim/scenario"
	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
)

const inPublished = "world = \"published\"\n"

// A scenario may be in the world that is fitted to what is published, next to a world block; it is
// then another scenario.
func TestCalibratedWorld(t *testing.T) {
	t.Parallel()
	block := "\nworld {\n  window = \"1m\"\n}\n"
	plain, err := decode(t, small+block)
	if err != nil {
		t.Fatal(err)
	}
	s, err := decode(t, inPublished+small+block)
	if err != nil {
		t.Fatal(err)
	}
	if s.Identity() == plain.Identity() {
		t.Error("the world makes no difference")
	}
	m, err := s.Model()
	if err != nil {
		t.Fatal(err)
	}
	world, err := truth.LookupWorld(truth.PublishedWorld)
	if err != nil || m.Parameters() != world.Parameters {
		t.Errorf("%+v, %v", m.Parameters(), err)
	}
	other := world.Parameters
	other.PressurePerCore++
	if s.In(other).Identity() == s.Identity() {
		t.Error("another fit is the same world")
	}
	r, err := s.Run(context.Background(), scenario.Options{Policies: []string{"paragon"}, Seeds: []uint64{7}})
	if err != nil || len(r.Lines) != 1 || r.Lines[0].Counters.Jobs != 43 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestErrorsOfCalibratedWorlds(t *testing.T) {
	t.Parallel()
	colocated := "title = \"c\"\nseeds = [1]\nworld = \"published\"\ncluster {}\ncolocation {\n machines = 2\n mix = \"light\"\n runtime = \"1m\"\n}\npolicy \"mios\" {}\n"
	for name, c := range map[string]struct{ text, want string }{
		"unknown":          {"world = \"publisched\"\n" + small, `test.hcl:1:1: unknown world "publisched"; did you mean "published"?`},
		"nothing is drawn": {colocated, `test.hcl:3:1: world = "published": it is one of drawn applications, and the scenario has none`},
	} {
		if _, err := decode(t, c.text); !errors.Is(err, scenario.ErrScenario) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
}

// A scenario can be put into another world where its programs are drawn and have what that needs.
func TestInWorld(t *testing.T) {
	t.Parallel()
	work := strings.NewReplacer(`"memcached"`, `"IO"`, "  targets     = true\n", "", "  load_swing  = 0.3\n", "", "  load_period = \"10m\"\n", "").Replace(small)
	drawn, err := decode(t, work)
	if err != nil {
		t.Fatal(err)
	}
	targets, err := decode(t, small)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{drawn.Identity(): true}
	for _, name := range scenario.Worlds() {
		s, err := drawn.InWorld(name)
		if err != nil {
			t.Fatal(err)
		}
		if seen[s.Identity()] {
			t.Errorf("%s is as another world", name)
		}
		seen[s.Identity()] = true
		if r, err := s.Run(context.Background(), scenario.Options{Policies: []string{"paragon"}, Seeds: []uint64{7}}); err != nil || r.Lines[0].Counters.Jobs != 43 {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		if again, err := s.InWorld(name); name == truth.PublishedWorld && (err != nil || again != s) {
			t.Errorf("%s: %v", name, err)
		}
	}
	colocated, err := decode(t, "title = \"c\"\nseeds = [1]\ncluster {}\ncolocation {\n machines = 2\n mix = \"light\"\n runtime = \"1m\"\n}\npolicy \"mios\" {}\n")
	if err != nil {
		t.Fatal(err)
	}
	services, err := decode(t, strings.Replace(work, `"IO"`, `"memcached"`, 1))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		of          *scenario.Scenario
		world, want string
	}{
		{drawn, "mesured", `world "mesured"; known: [published measured]`},
		{colocated, "published", "nothing of it is drawn"},
		{colocated, "measured", "nothing of it is drawn"},
		{targets, "measured", "its jobs have targets"},
		{services, "measured", "has services"},
	} {
		if _, err := c.of.InWorld(c.world); !errors.Is(err, scenario.ErrScenario) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", c.world, err, c.want)
		}
	}
	if _, err := drawn.InWorld("measured"); err != nil || drawn.Identity() == "" || !seen[drawn.Identity()] {
		t.Error("the scenario itself changed")
	}
}

// A sample has the rows, entries, classes and classifier of a run.
func TestSample(t *testing.T) {
	t.Parallel()
	s, err := decode(t, strings.Replace(small, "training   = 12", "training   = 12\n  entries    = 3", 1))
	if err != nil {
		t.Fatal(err)
	}
	sample, err := s.Sample(7, 8, estimator.Scores)
	if err != nil {
		t.Fatal(err)
	}
	if sample.Rows != 12 || sample.Classifier != "mean" || s.Entries() != 3 || len(sample.Applications) != 8+3 || sample.Applications[10].Class != "memcached" {
		t.Errorf("%d rows, %s, %d programs", sample.Rows, sample.Classifier, len(sample.Applications))
	}
	rows, err := sample.Estimator.Rows(sample.Applications[0], 0)
	if err != nil {
		t.Fatal(err)
	}
	measured := 0
	for _, v := range rows.Tolerated.Measured {
		if v >= 0 {
			measured++
		}
	}
	if measured != 3 || len(rows.Tolerated.Completed) != len(s.Columns) || rows.Speed.Completed != nil {
		t.Errorf("%+v", rows)
	}
	calibrated, err := s.In(truth.DefaultParameters()).Sample(7, 8, estimator.Speeds)
	if err != nil || calibrated.Classifier != "mean" {
		t.Errorf("%+v, %v", calibrated, err)
	}
	plain, err := decode(t, strings.Replace(small, `classifier = "mean"`, "", 1))
	if err != nil {
		t.Fatal(err)
	}
	for want, of := range map[string]*scenario.Scenario{"cf": plain, "cf-log": plain.In(truth.DefaultParameters())} {
		if sample, err := of.Sample(7, 4, estimator.Scores); err != nil || sample.Classifier != want {
			t.Errorf("%+v, %v; want %s", sample, err, want)
		}
	}
}
