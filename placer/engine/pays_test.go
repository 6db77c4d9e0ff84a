package engine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/engine"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/store/mem"
)

// A job that may be moved goes where it is worth more as soon as there is room, once, and
// without falling short of anything. Another policy's job, and one that may not be moved, stay.
func TestAMoveThatPays(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		policy string
		move   bool
		slow   float64 // what it does on the slow node, of 100
		on     cluster.NodeID
	}{
		"it may":                   {"expected", true, 30, "id-alpha"},
		"it may not":               {"expected", false, 30, "id-omega"},
		"it would hardly gain":     {"expected", true, 95, "id-omega"},
		"its policy does not rate": {"quasar", true, 30, "id-omega"},
	} {
		inBubble(t, func(t *testing.T) {
			w, s := newLiveWorld(testNode("alpha", "fast"), testNode("omega", "slow")), mem.New()
			w.nodes[0].Total.MemoryMB = 5100
			p := storedProfile("keyweb", webGroup.String(), 0, interference.MemoryBandwidth)
			for configuration, v := range map[string]float64{"fast": 100, "slow": c.slow} {
				p.Isolated[configuration] = profile.Measurement{Value: v, Low: v - 1, High: v + 1, Unit: "units/s"}
			}
			putProfile(t, s, p)
			b := startLive(t, w, s, func(o *engine.Config) { o.Policy = c.policy })
			fills := w.submit(testJob("fills", func(j *cluster.Job) {
				j.Workloads[0].Ask.MemoryMB, j.Workloads[0].Spec.Profile.Skip = 5000, true
			}))
			settle(30 * time.Second)
			w.submit(testJob("web", func(j *cluster.Job) {
				spec := &j.Workloads[0].Spec
				spec.Profile.Skip, spec.Move, spec.Target = true, c.move, performance.Target{Kind: performance.BestEffort}
			}))
			settle(2 * time.Minute)
			if j := w.get(webJob); len(j.allocs) != 1 || j.allocs[0].Node != "id-omega" {
				t.Fatalf("%s: before, %+v", name, j.allocs)
			}
			w.purge(fills.ID)
			settle(20 * time.Minute)
			j := w.get(webJob)
			if len(j.allocs) != 1 || j.allocs[0].Node != c.on {
				t.Errorf("%s: %+v", name, j.allocs)
			}
			actions, err := b.engine.Book().Actions(t.Context(), webGroup)
			if moved := c.on == "id-alpha"; err != nil || moved != (len(actions) == 1) {
				t.Errorf("%s: recorded %+v, %v", name, actions, err)
			} else if moved && (actions[0].Kind != "move" || actions[0].Result != "done" || !strings.Contains(actions[0].Reason, "node alpha is worth 70 points more to it")) {
				t.Errorf("%s: recorded %+v", name, actions)
			}
		})
	}
}
