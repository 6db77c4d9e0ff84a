package engine_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/engine"
	"github.com/nomad-placer/nomad-placer/profiler/store/mem"
)

// strandingWorld is a liveWorld that loses nodes: a group waits whose allocations were on
// these.
type strandingWorld struct{ *liveWorld }

func (w strandingWorld) Stranded(context.Context) ([]cluster.WorkloadID, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []cluster.WorkloadID
	for _, j := range w.jobs {
		for _, wl := range j.job.Workloads {
			on := func(a cluster.Allocation) bool {
				return slices.ContainsFunc(w.nodes, func(n *cluster.Node) bool { return n.Ready && n.ID == a.Node })
			}
			if wl.Bound != 0 && !slices.ContainsFunc(j.allocs, on) {
				out = append(out, wl.ID)
			}
		}
	}
	return out, nil
}

// setReady says which nodes there are from now on.
func (w strandingWorld) setReady(ready ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, n := range w.nodes {
		changed := *n
		changed.Ready = slices.Contains(ready, n.Name)
		w.nodes[i] = &changed
	}
}

// A job that runs and whose nodes all go is placed again on those that are left, with the
// adapter switched off too; one for which no node is left is left to stock Nomad after its
// hold.
func TestStrandedJobsArePlacedAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ready []string
		after time.Duration
		want  func(w strandingWorld) string
	}{
		"on what is left": {[]string{"omega"}, 2 * time.Minute, func(w strandingWorld) string {
			if len(w.changes) != 1 || !w.changes[0].Rebind || w.changes[0].Nodes[0].Node != "id-omega" || !strings.Contains(w.changes[0].Message, "none of the nodes that it was bound to is left") {
				return "one change that binds it to omega"
			}
			return ""
		}},
		"on none": {nil, 20 * time.Minute, func(w strandingWorld) string {
			plan := w.applied[len(w.applied)-1]
			if len(w.changes) != 0 || len(w.applied) != 2 || len(plan.Decisions) != 0 {
				return "one more plan, without a decision"
			}
			return ""
		}},
		"nothing is lost": {[]string{"alpha", "omega"}, 20 * time.Minute, func(w strandingWorld) string {
			if len(w.changes)+len(w.applied) != 1 {
				return "nothing more than the release"
			}
			return ""
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T) {
				w := strandingWorld{newLiveWorld(testNode("alpha", "fast"), testNode("omega", "slow"))}
				start(t, w.memWorld, mem.New(), func(c *engine.Config) { c.World, c.Adapter = w, "none" })
				w.submit(testJob("web", heldFor(10*time.Minute)))
				settle(2 * time.Minute)
				if j := w.get(webJob); len(j.allocs) != 1 || j.allocs[0].Node != "id-alpha" {
					t.Fatalf("want it placed on alpha, got %+v", j.allocs)
				}
				w.setReady(c.ready...)
				settle(c.after)
				if want := c.want(w); want != "" {
					t.Errorf("want %s, got changes %+v and %d plans", want, w.changes, len(w.applied))
				}
			})
		})
	}
}
