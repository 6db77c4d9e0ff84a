package engine_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/engine"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/store"
	"github.com/nomad-placer/nomad-placer/profiler/store/mem"
)

// storedProfile is of a workload whose scores grow with base.
func storedProfile(key, workload string, base float64, sources ...interference.Source) profile.Profile {
	p := profile.Profile{
		Format: profile.Format, Key: key, Workload: workload, Taken: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), SlowdownMax: 5, Complete: true,
		Machine:     profile.Machine{Configuration: "fast"},
		Isolated:    map[string]profile.Measurement{"fast": {Value: 100, Low: 95, High: 105, Unit: "requests/s"}, "slow": {Value: 100 - base/2, Low: 1, High: 100, Unit: "requests/s"}},
		Sensitivity: interference.Sensitivity{Tolerated: interference.Scores{}, Caused: interference.Scores{}},
	}
	for i, s := range sources {
		p.Sensitivity.Tolerated[s] = interference.Estimate{Score: interference.Percent(100 - base - float64(i)), Origin: interference.Measured}
		p.Sensitivity.Caused[s] = interference.Estimate{Score: interference.Percent(base + float64(i)), Origin: interference.Measured}
	}
	return p
}

func putProfile(t *testing.T, s store.Store, p profile.Profile) {
	t.Helper()
	if _, err := (store.Profiles{Store: s}).Put(t.Context(), p, store.Any); err != nil {
		t.Fatal(err)
	}
}

// previewOf is what would become of the web job now, with a store of its own tenant's
// profiles and of whatever else puts in.
func previewOf(t *testing.T, more func(s store.Store), change ...func(*engine.Config)) cluster.Decision {
	t.Helper()
	s := mem.New()
	rng := rand.New(rand.NewPCG(1, 1))
	sources := []interference.Source{interference.LLCCapacity, interference.MemoryBandwidth, interference.Integer, interference.FloatingPoint}
	for i := range 24 {
		putProfile(t, s, storedProfile(fmt.Sprintf("own%02d", i), fmt.Sprintf("default/job%d/g", i), 10+40*rng.Float64(), sources...))
	}
	putProfile(t, s, storedProfile("keyweb", webGroup.String(), 30, sources[:2]...))
	more(s)
	cfg := engine.Config{World: twoNodes(), Store: s, Clock: wallClock{}}
	for _, c := range change {
		c(&cfg)
	}
	e, err := engine.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	decisions, _, err := e.Preview(t.Context(), testJob("web"))
	if err != nil {
		t.Fatal(err)
	}
	decisions[0].At = time.Time{}
	return decisions[0]
}

// A namespace that stores extreme profiles, also under the keys of others, moves no
// prediction of another namespace by a hair; where the operator has them shared, it does.
func TestAHostileNamespaceMovesNoPrediction(t *testing.T) {
	t.Parallel()
	hostile := func(s store.Store) {
		for i := range 200 {
			p := storedProfile(fmt.Sprintf("evil%03d", i), "evil/job/g", 30, interference.LLCCapacity, interference.MemoryBandwidth)
			for _, info := range interference.Sources() {
				if _, known := p.Sensitivity.Caused[info.Source]; !known {
					p.Sensitivity.Tolerated[info.Source] = interference.Estimate{Score: interference.Percent(0), Origin: interference.Measured}
					p.Sensitivity.Caused[info.Source] = interference.Estimate{Score: interference.Percent(100), Origin: interference.Measured}
				}
			}
			p.Isolated["slow"] = profile.Measurement{Value: 1e9, Low: 1e9, High: 1e9, Unit: "requests/s"}
			putProfile(t, s, p)
		}
	}
	nobody := func(store.Store) {}
	// The first of another namespace takes part in which sources count at all.
	another := func(s store.Store) { putProfile(t, s, storedProfile("evil000", "evil/job/g", 30)) }
	without, with := previewOf(t, another), previewOf(t, hostile)
	if !reflect.DeepEqual(without.Sensitivity, with.Sensitivity) || !reflect.DeepEqual(without.Predicted, with.Predicted) {
		t.Errorf("predictions moved from %+v to %+v", without, with)
	}
	if e := without.Sensitivity.Caused[interference.Integer]; e.Origin != interference.Predicted || e.Score.Or(100) > 60 {
		t.Errorf("the score from its own tenant's profiles is %+v", e)
	}
	all := func(c *engine.Config) { c.Sharing.All = true }
	if a, b := previewOf(t, nobody, all), previewOf(t, hostile, all); reflect.DeepEqual(a.Sensitivity, b.Sensitivity) {
		t.Error("with profiles shared between all, the others' count for nothing")
	}
}

// A profile under the key of a workload that another namespace has put there is no profile
// of it.
func TestAProfileOfAnotherNamespaceIsNotBelieved(t *testing.T) {
	t.Parallel()
	planted := func(s store.Store) {
		putProfile(t, s, storedProfile("keyweb", "evil/web/web", 99, interference.LLCCapacity, interference.MemoryBandwidth))
	}
	d := previewOf(t, planted)
	if e := d.Sensitivity.Caused[interference.LLCCapacity]; e.Origin == interference.Measured || e.Score.Or(0) > 90 {
		t.Errorf("believed: %+v", e)
	}
}

// Forged and corrupt profiles neither stop the engine nor count; how many there are is
// known.
func TestForgedProfilesDoNotStopTheEngine(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := mem.New()
		for path, text := range map[string]string{
			"profile/torn": `{"format":1`, "profile/keyweb": `{"format":1,"key":"keyweb","workload":"default/web/web","alone":{"fast":{"value":-1}}}`,
		} {
			if _, err := s.Put(t.Context(), path, []byte(text), 0); err != nil {
				t.Fatal(err)
			}
		}
		world := twoNodes()
		b := start(t, world, s)
		job := world.submit(testJob("web"))
		settle(2 * time.Minute)
		if world.get(job.ID).job.Held || b.decision(webGroup).Outcome != cluster.Placed {
			t.Errorf("the job is not placed: %+v", b.decision(webGroup))
		}
		if p, _, err := (store.Profiles{Store: s}).Get(t.Context(), "keyweb"); err != nil || p.Isolated["fast"].Value != 100 {
			t.Errorf("what was measured did not take the place of what was forged: %+v, %v", p, err)
		}
		if got := b.engine.RefusedProfiles(); got != 2 {
			t.Errorf("%d profiles are refused, want 2", got)
		}
	})
}
