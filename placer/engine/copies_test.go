package engine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/store/mem"
)

// A group of which no copy may be run is placed all the same, by what other workloads
// show, and its record says why it was not profiled and how to allow it.
func TestAGroupThatMayNotBeCopiedIsPlacedUnprofiled(t *testing.T) {
	const why = `task "db" mounts "/srv/db" of the host; if a copy may, write profile { allow = ["host_paths"] } in its performance block`
	inBubble(t, func(t *testing.T) {
		world := twoNodes()
		b := start(t, world, mem.New())
		job := world.submit(testJob("web", func(j *cluster.Job) { j.Workloads[0].NotCopied = why }))
		settle(time.Second)
		if got := world.get(job.ID); got.job.Held || len(world.ran) > 0 {
			t.Fatalf("held %v, %d profiling runs", got.job.Held, len(world.ran))
		}
		d := b.decision(webGroup)
		if d.Outcome != cluster.Placed {
			t.Fatalf("%s: %s", d.Outcome, d.Reason)
		}
		if w := strings.Join(d.Warnings, "\n"); !strings.Contains(w, "it was not profiled, so its scores are predicted from other workloads: "+why) {
			t.Errorf("warnings %s", w)
		}
		_, unprofiled, err := b.engine.Preview(t.Context(), job)
		if err != nil || len(unprofiled) > 0 {
			t.Errorf("a preview says that it will be profiled: %v, %v", unprofiled, err)
		}
	})
}
