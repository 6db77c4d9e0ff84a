package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/engine"
	"github.com/nomad-placer/nomad-placer/profiler/store/mem"
)

func in(namespace string) func(*cluster.Job) {
	return func(j *cluster.Job) {
		j.ID.Namespace, j.Workloads[0].ID.Namespace = namespace, namespace
		j.Workloads[0].Spec.Hold = time.Hour
	}
}

// A tenant that submits fifty jobs keeps another waiting for the profile under way, and not
// for fifty; and no longer than the operator lets a profile take.
func TestNamespacesTakeTurnsToBeProfiled(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		world := newWorld(testNode("alpha", "fast"))
		b := start(t, world, mem.New(), func(c *engine.Config) { c.SecondsMax = 60 })
		for i := range 50 {
			world.submit(testJob(fmt.Sprintf("many%02d", i), in("greedy"), func(j *cluster.Job) { j.Workloads[0].Spec.Profile.Seconds = 600 }))
		}
		settle(30 * time.Second)
		world.submit(testJob("web", in("modest")))
		world.submit(testJob("late", in("modest")))
		settle(6 * time.Minute)
		var order []string
		for _, r := range world.ran {
			order = append(order, r.Workload.ID.Namespace)
			if r.Seconds > 60 {
				t.Errorf("%s is profiled for %d seconds", r.Workload.ID, r.Seconds)
			}
		}
		if len(order) < 5 || strings.Join(order[:5], " ") != "greedy modest greedy modest greedy" {
			t.Errorf("order of profiles: %v", order)
		}
		d := b.decision(cluster.WorkloadID{Namespace: "modest", Job: "web", Group: "web"})
		if d.Outcome != cluster.Placed {
			t.Errorf("%s: %s", d.Outcome, d.Reason)
		}
		first := world.ran[0].Workload.ID
		if w := strings.Join(b.decision(first).Warnings, "\n"); !strings.Contains(w, "it asks to be profiled for 600 seconds; the operator allows 60") {
			t.Errorf("warnings of %s: %s", first, w)
		}
	})
}

// One that no node can take now keeps nobody from theirs.
func TestWhoCannotBeProfiledNowKeepsNobodyWaiting(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		full := testNode("omega", "fast")
		full.Ready = false
		world := newWorld(testNode("alpha", "fast"), full)
		start(t, world, mem.New())
		world.submit(testJob("large", in("first"), func(j *cluster.Job) {
			j.Workloads[0].Constraints = []cluster.Constraint{{Attribute: "${node.unique.name}", Operator: "=", Value: "omega"}}
		}))
		settle(10 * time.Second)
		world.submit(testJob("a", in("second")))
		world.submit(testJob("b", in("second")))
		settle(3 * time.Minute)
		var order []string
		for _, r := range world.ran {
			order = append(order, r.Workload.ID.Job)
		}
		slices.Sort(order) // the two came together
		if strings.Join(order, " ") != "a b" {
			t.Errorf("profiled: %v", order)
		}
	})
}
