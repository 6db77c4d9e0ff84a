package worldstest

import (
	"fmt"
	"maps"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/policy"
)

// scenes is the number of scenarios every policy runs through.
const scenes = 3

// Every policy plans the same in both worlds.
func TestConformanceOfWorlds(t *testing.T) {
	t.Parallel()
	for _, d := range policy.Policies() {
		for seed := range uint64(scenes) {
			t.Run(fmt.Sprintf("%s/%d", d.Name, seed), func(t *testing.T) {
				t.Parallel()
				conform(t, d.Name, newScene(seed))
			})
		}
	}
}

func conform(t *testing.T, name string, s scene) {
	t.Helper()
	decisions := newLiveWorld(t, s, name).run()
	selector, err := policy.LookupSelector(name)
	if err != nil {
		leavesAll(t, name, decisions)
		return
	}
	seeds := make([]uint64, len(decisions))
	for i, d := range decisions {
		seeds[i] = d.Seed
	}
	simulated := s.simulate(t, selector, seeds)
	for i, d := range decisions {
		if live := planOf(d); !maps.Equal(live, simulated.plans[i]) {
			t.Fatalf("%s (%d × %+v, target %v, speed %v): live%s, simulated%s\nlive: %s, relaxed %v\nsimulated: %+v",
				s.jobs[i].id, s.jobs[i].count, s.jobs[i].size, s.jobs[i].target, s.jobs[i].speed, live, simulated.plans[i], d.Reason, d.Relaxed, simulated.choices[i])
		}
	}
}

// leavesAll: a policy without a selector plans nothing in either world.
func leavesAll(t *testing.T, name string, decisions []cluster.Decision) {
	t.Helper()
	for _, d := range decisions {
		if d.Outcome != cluster.Stock || len(d.Candidates) > 0 {
			t.Fatalf("%s is no selector and decides: %s, %d candidates", name, d.Outcome, len(d.Candidates))
		}
	}
}
