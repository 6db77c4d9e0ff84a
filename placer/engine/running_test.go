package engine_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/engine"
	"github.com/nomad-placer/nomad-placer/placer/placement"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/store/mem"
)

// A workload of which nothing is known is placed at once where its author says so, or where the
// cluster is quiet, and profiled while it runs, once; the record says what came first and why.
func TestProfiledWhileItRuns(t *testing.T) {
	t.Parallel()
	const before, after = "it is placed before it is profiled", "it was placed before it was profiled"
	other := func(kind performance.Kind, mhz int) cluster.Job {
		return testJob("other", func(j *cluster.Job) {
			j.Workloads[0].Spec.Target = performance.Target{Kind: kind, QPS: 10}
			j.Workloads[0].Spec.Profile.Skip, j.Workloads[0].Ask.CPUMHz = true, mhz
		})
	}
	for name, c := range map[string]struct {
		when, agents performance.When
		other        *cluster.Job
		atOnce       bool
		says         string
	}{
		"its author says so":       {when: performance.WhenAfter, atOnce: true, says: `when = "after"`},
		"the agent does":           {agents: performance.WhenAfter, atOnce: true, says: `when = "after"`},
		"its author says before":   {when: performance.WhenBefore, agents: performance.WhenAfter},
		"nobody says":              {},
		"the cluster is quiet":     {when: performance.WhenQuiet, other: new(other(performance.BestEffort, 500)), atOnce: true, says: "10 % of the CPU time of node pool default is reserved and nothing that runs has a target"},
		"it is loaded":             {when: performance.WhenQuiet, other: new(other(performance.BestEffort, 2000)), says: "it was profiled before it was placed, since 38 % of the CPU time of node pool default is reserved"},
		"something has a target":   {when: performance.WhenQuiet, other: new(other(performance.QPS, 100)), says: "job default/other, which runs, has a target"},
		"and the agent says quiet": {agents: performance.WhenQuiet, other: new(other(performance.QPS, 100)), says: "has a target"},
	} {
		inBubble(t, func(t *testing.T) {
			b := start(t, twoNodes(), mem.New(), func(o *engine.Config) { o.When = c.agents })
			if c.other != nil {
				b.world.submit(*c.other)
				settle(10 * time.Second)
			}
			b.world.submit(testJob("web", func(j *cluster.Job) { j.Workloads[0].Spec.Profile.When = c.when }))
			settle(2 * time.Second)
			if atOnce := !b.world.get(webJob).job.Held; atOnce != c.atOnce {
				t.Fatalf("%s: placed at once %v", name, atOnce)
			}
			if c.atOnce {
				warnings := strings.Join(b.decision(webGroup).Warnings, "; ")
				if !strings.Contains(warnings, before) || !strings.Contains(warnings, c.says) {
					t.Errorf("%s: %s", name, warnings)
				}
			}
			version := b.world.get(webJob).job.Version
			settle(5 * time.Minute)
			runs := len(b.world.ran)
			settle(20 * time.Minute)
			if runs != 2 || len(b.world.ran) != runs {
				t.Errorf("%s: %d runs, then %d", name, runs, len(b.world.ran))
			}
			if c.atOnce && b.world.get(webJob).job.Version != version {
				t.Errorf("%s: the profile alone wrote version %d", name, b.world.get(webJob).job.Version)
			}
			warnings := strings.Join(b.decision(webGroup).Warnings, "; ")
			if strings.Contains(warnings, before) || strings.Contains(warnings, after) != c.atOnce || !c.atOnce && !strings.Contains(warnings, c.says) {
				t.Errorf("%s, afterwards: %s", name, warnings)
			}
			if keys, err := b.engine.Book().Profiles(t.Context()); err != nil || len(keys) != 1 {
				t.Errorf("%s: profiles %v, %v", name, keys, err)
			}
		})
	}
}

// Through the proxy such a job is not held at all, and profiled while it runs.
func TestAdmittedBeforeItsProfile(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		b := start(t, twoNodes(), mem.New())
		settle(time.Second)
		if _, err := b.engine.Admit(t.Context(), testJob("web")); !errors.Is(err, placement.ErrMustBeHeld) {
			t.Errorf("a job that does not say when: %v", err)
		}
		plan, err := b.engine.Admit(t.Context(), testJob("web", func(j *cluster.Job) { j.Workloads[0].Spec.Profile.When = performance.WhenAfter }))
		if err != nil {
			t.Fatal(err)
		}
		b.world.registered(plan)
		settle(5 * time.Minute)
		if keys, err := b.engine.Book().Profiles(t.Context()); err != nil || len(keys) != 1 {
			t.Errorf("profiles %v, %v", keys, err)
		}
		if warnings := strings.Join(b.decision(webGroup).Warnings, "; "); !strings.Contains(warnings, "it was placed before it was profiled") {
			t.Error(warnings)
		}
	})
}
