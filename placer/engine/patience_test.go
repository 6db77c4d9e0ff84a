package engine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/engine"
	"github.com/nomad-placer/nomad-placer/placer/placement"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/store/mem"
)

// A job of the policy expected waits for a node that is worth more, and takes what there is
// when its minute is over.
func TestAJobWaitsForABetterNode(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		policy string
		leaves bool // the job on the fast node
		within time.Duration
		on     cluster.NodeID
	}{
		"the better node becomes free": {"expected", true, 25 * time.Second, "id-alpha"},
		"it does not":                  {"expected", false, placement.Patience + 10*time.Second, "id-omega"},
		"another policy takes it":      {"quasar", false, 5 * time.Second, "id-omega"},
	} {
		inBubble(t, func(t *testing.T) {
			world, s := twoNodes(), mem.New()
			world.nodes[0].Total.MemoryMB = 5100
			p := storedProfile("keyweb", webGroup.String(), 0, interference.MemoryBandwidth)
			p.Isolated["slow"] = profile.Measurement{Value: 30, Low: 29, High: 31, Unit: "requests/s"}
			putProfile(t, s, p)
			b := start(t, world, s, func(o *engine.Config) { o.Policy = c.policy })
			fills := world.submit(testJob("fills", func(j *cluster.Job) {
				j.Workloads[0].Ask.MemoryMB, j.Workloads[0].Spec.Profile.Skip = 5000, true
			}))
			settle(30 * time.Second)
			world.submit(testJob("web", func(j *cluster.Job) { j.Workloads[0].Spec.Profile.Skip = true }))
			settle(10 * time.Second)
			if held := world.get(webJob).job.Held; held != (c.policy == "expected") {
				t.Fatalf("%s: held %t", name, held)
			}
			if e, err := b.engine.Book().Evaluation(t.Context(), webJob); c.policy == "expected" && (err != nil || !strings.Contains(e.Message, "a better node may become free")) {
				t.Errorf("%s: %+v, %v", name, e, err)
			}
			if c.leaves {
				world.purge(fills.ID)
			}
			settle(c.within - 10*time.Second)
			if j := world.get(webJob); j.job.Held || len(j.allocs) != 1 || j.allocs[0].Node != c.on {
				t.Errorf("%s: held %t, %+v", name, j.job.Held, j.allocs)
			}
		})
	}
}
