package engine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/engine"
	"github.com/nomad-placer/nomad-placer/profiler/store/mem"
)

// rebalancing is a workload that an unknown co-runner made slow on its node, and an engine
// that does not run.
func rebalancing(t *testing.T, rate float64, change ...func(*cluster.Job)) (*liveWorld, *engine.Engine, cluster.NodeID) {
	t.Helper()
	w, s := newLiveWorld(testNode("alpha", "fast"), testNode("omega", "fast")), mem.New()
	b := startLive(t, w, s, func(c *engine.Config) { c.Adapter = "none" })
	node := runsOn(t, w, change...)
	w.performs(rate)
	settle(time.Minute)
	b.stop()
	e, err := engine.New(engine.Config{World: w, Store: s, Clock: wallClock{}})
	if err != nil {
		t.Fatal(err)
	}
	return w, e, node
}

func TestRebalanceMovesWhatMayMove(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		w, e, node := rebalancing(t, 50, movable)
		dry, err := e.Rebalance(t.Context(), false)
		if err != nil || len(dry) != 1 || !dry[0].Allowed || dry[0].Result != "" || dry[0].From != node || dry[0].To == node {
			t.Fatalf("dry run %+v, %v", dry, err)
		}
		if !strings.Contains(dry[0].Reason, "56 % of its target") {
			t.Errorf("reason %q", dry[0].Reason)
		}
		if len(w.written()) != 0 {
			t.Fatal("a dry run wrote")
		}
		moves, err := e.Rebalance(t.Context(), true)
		if err != nil || len(moves) != 1 || moves[0].Result != "done" {
			t.Fatalf("moves %+v, %v", moves, err)
		}
		if now := w.get(webJob).allocs[0].Node; now == node {
			t.Error("it was not moved")
		}
		list, err := e.Book().Actions(t.Context(), webGroup)
		if err != nil || len(list) != 1 || list[0].Kind != "move" || !strings.HasPrefix(list[0].Reason, "rebalance: ") {
			t.Errorf("recorded %+v, %v", list, err)
		}
	})
}

func TestRebalanceAdvises(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		w, e, _ := rebalancing(t, 50)
		moves, err := e.Rebalance(t.Context(), true)
		if err != nil || len(moves) != 1 || moves[0].Allowed || moves[0].Result != "" || len(w.written()) != 0 {
			t.Errorf("moves %+v, %v, %d changes", moves, err, len(w.written()))
		}
	})
}

func TestRebalanceLeavesWhatIsWell(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		_, e, _ := rebalancing(t, 97, movable)
		if moves, err := e.Rebalance(t.Context(), true); err != nil || len(moves) != 0 {
			t.Errorf("moves %+v, %v", moves, err)
		}
	})
}
