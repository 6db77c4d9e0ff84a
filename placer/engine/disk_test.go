package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/disk"
	"github.com/nomad-placer/nomad-placer/placer/engine"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/store/mem"
)

// diskNode has a disk of 100 MB/s.
func diskNode(name string) *cluster.Node {
	n := testNode(name, "fast")
	n.Meta = map[string]string{disk.RatedKey: "100"}
	return n
}

// moves makes a job that needs no profile and moves so many MB/s.
func moves(mbPerSec float64) func(*cluster.Job) {
	return func(j *cluster.Job) {
		j.Workloads[0].Spec.Profile.Skip = true
		j.Workloads[0].Spec.Move = true
		j.Workloads[0].Spec.Disk = &performance.DiskSpec{BandwidthMBPerSec: mbPerSec, MostPercent: 100}
	}
}

// TestPromisesHold: jobs that come at once, while none is written yet, are not promised the same
// bandwidth; the next leader knows what was promised; and what a job had is free when it ends.
func TestPromisesHold(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		world, s := newWorld(diskNode("alpha"), diskNode("beta")), mem.New()
		write := make(chan struct{})
		world.beforeApply = func(cluster.Plan) error {
			<-write
			return nil
		}
		first := start(t, world, s)
		for i := range 2 {
			world.submit(testJob(fmt.Sprint("job", i), moves(60)))
		}
		settle(time.Second)
		close(write)
		settle(time.Second)
		on := map[cluster.NodeID]bool{}
		for i := range 2 {
			j := world.get(cluster.JobID{Namespace: "default", ID: fmt.Sprint("job", i)})
			if j.job.Held || len(j.allocs) != 1 {
				t.Fatalf("job %d: held %v, allocations %v", i, j.job.Held, j.allocs)
			}
			on[j.allocs[0].Node] = true
			d := first.decision(j.job.Workloads[0].ID)
			if d.Disk == nil || d.Disk.Promise.BandwidthMBPerSec != 60 || !strings.Contains(d.Disk.Said, "98 may be promised, and 60 are") {
				t.Errorf("job %d: the record says %+v", i, d.Disk)
			}
		}
		if len(on) != 2 {
			t.Error("two jobs of 60 MB/s are on one disk of 100")
		}
		first.stop()

		second := start(t, world, s)
		third := world.submit(testJob("third", moves(50)))
		settle(30 * time.Second)
		if !world.get(third.ID).job.Held {
			t.Fatal("50 MB/s were promised besides 60 of 100")
		}
		world.stop(cluster.JobID{Namespace: "default", ID: "job1"})
		settle(30 * time.Second)
		if j := world.get(third.ID); j.job.Held || len(j.allocs) != 1 {
			t.Errorf("with a disk free: held %v, allocations %v", j.job.Held, j.allocs)
		}
		if d := second.decision(third.Workloads[0].ID); d.Outcome != cluster.Placed {
			t.Errorf("outcome %s: %s", d.Outcome, d.Reason)
		}
	})
}

// TestOutlook: an engine that does not run knows the promises from records.
func TestOutlook(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		world, s := newWorld(diskNode("alpha"), diskNode("beta")), mem.New()
		b := start(t, world, s)
		job := world.submit(testJob("web", moves(30)))
		settle(time.Second)
		b.stop()
		e, err := engine.New(engine.Config{World: world, Store: s, Clock: wallClock{}})
		if err != nil {
			t.Fatal(err)
		}
		at := world.get(job.ID).allocs[0].Node
		for _, c := range []struct {
			expected map[cluster.WorkloadID]float64
			uses     float64
			short    bool
		}{{nil, 30, false}, {map[cluster.WorkloadID]float64{job.Workloads[0].ID: 120}, 120, true}} {
			nodes, err := e.Outlook(t.Context(), c.expected)
			if err != nil || len(nodes) != 2 {
				t.Fatalf("%+v, %v", nodes, err)
			}
			for _, n := range nodes {
				if n.Node == at && (n.ExpectedMBPerSec != c.uses || n.Short != c.short || n.Empty) {
					t.Errorf("%+v, want %+v", n, c)
				}
				if n.Node != at && (!n.Empty || n.Short) {
					t.Errorf("a node with nothing on it: %+v", n)
				}
			}
		}
	})
}
