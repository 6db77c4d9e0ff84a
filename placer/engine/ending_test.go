package engine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/engine"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/store/mem"
)

// mustEnd is batch work of so many units that must be done in ten minutes.
func mustEnd(work float64, policy string) func(*cluster.Job) {
	return func(j *cluster.Job) {
		s := &j.Workloads[0].Spec
		s.Target = performance.Target{Kind: performance.FinishWithin, FinishWithin: 10 * time.Minute}
		s.Probe = &performance.ProbeSpec{Type: "log", Pattern: "x", Work: work}
		s.Policy = policy
	}
}

// worked gives a rate and how much was done of it: so much when it began to be
// watched.
func worked(rate, before float64) func(*liveWorld, cluster.Allocation, time.Time) cluster.Observation {
	began := time.Now()
	return func(w *liveWorld, a cluster.Allocation, at time.Time) cluster.Observation {
		o := gives(rate, a, at)
		done := before + rate*at.Sub(began).Seconds()
		o.Started, o.Work = began, &done
		return o
	}
}

// Work whose policy is pp-rtte is judged by when it will end, and so is all work that
// must end where the adapter says so; else it is judged by its rate.
func TestWorkThatWouldEndTooLateIsHelped(t *testing.T) {
	t.Parallel()
	const work = 6000 // 10 units/s
	for name, c := range map[string]struct {
		policy, adapter string
		rate, before    float64
		helped          bool
		reason          string
	}{
		"behind, and slow":                  {"pp-rtte", "", 5, 0, true, "predicted to end"},
		"ahead, and slow":                   {"pp-rtte", "", 5, 4000, false, ""},
		"ahead, and slow, by its rate":      {"least-loaded", "", 5, 4000, true, "of its target"},
		"ahead, and slow, the agent's way":  {"least-loaded", "kflr", 5, 4000, false, ""},
		"behind, and slow, the agent's way": {"least-loaded", "pp-rtte", 5, 0, true, "predicted to end"},
		"by its rate, the agent's way":      {"pp-rtte", "quasar", 5, 4000, true, "of its target"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T) {
				w := newLiveWorld(testNode("alpha", "fast"))
				w.perform = worked(c.rate, c.before)
				b := startLive(t, w, mem.New(), func(e *engine.Config) { e.Adapter = c.adapter })
				node := runsOn(t, w, mustEnd(work, c.policy))
				w.plant(testJob("noisy", bestEffort), node)
				settle(2 * time.Minute)
				list := b.actions(noisyGroup)
				if helped := len(list) > 0; helped != c.helped {
					t.Fatalf("recorded %+v", list)
				}
				if c.helped && !strings.Contains(list[0].Reason, c.reason) {
					t.Errorf("reason %q, want %q in it", list[0].Reason, c.reason)
				}
			})
		})
	}
}
