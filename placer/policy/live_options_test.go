package policy_test

import (
	"fmt"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/policy"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// small is a size of which a place has room for many.
var small = cluster.Resources{CPUMHz: 100, MemoryMB: 10}

// score is what a resident tolerates and causes of the one source, in percent.
type score struct{ tolerated, caused float64 }

// boardOf is a board of nodes with these residents.
func boardOf(places ...[]score) *board.Board {
	b := board.New([]interference.Source{"int"}, []string{"one"})
	handle := board.Handle(0)
	for i, residents := range places {
		n := b.Add(board.Node{ID: cluster.NodeID(fmt.Sprint("n", i+1)), Total: cluster.Resources{CPUMHz: 10_000, MemoryMB: 10_000}})
		for _, r := range residents {
			handle++
			b.Place(n, board.Resident{Handle: handle, Size: small, Tolerated: []float64{r.tolerated}, Caused: []float64{r.caused}})
		}
	}
	return b
}

// Next to a sensitive service, or next to two jobs that fill their CPU: on a live cluster
// a third one goes to the other two (decision 0015); the papers' sums send it to the
// service, on which it would do best itself.
func TestFewestViolationsBeforeSpeed(t *testing.T) {
	t.Parallel()
	b := boardOf([]score{{20, 20}}, []score{{80, 95}, {80, 95}})
	const service, filled = board.Index(0), board.Index(1)
	for _, name := range []string{"paragon", "quasar"} {
		d, err := policy.LookupSelector(name)
		if err != nil {
			t.Fatal(err)
		}
		for options, want := range map[policy.Options]board.Index{policy.Live(): filled, {}: service} {
			request := board.Request{Size: small, Count: 1, Tolerated: []float64{80}, Caused: []float64{95}, Speed: []float64{100}, Target: 20, Forced: true}
			c := d.New(b, options).Select(b, &request, policy.Draws(1))
			if len(c.Replicas) != 1 || c.Replicas[0].Node != want {
				t.Errorf("%s with %+v: %+v, want node %s", name, options, c.Replicas, b.Node(want).ID)
			}
		}
	}
}

// Two sensitive services on two machines, one of them next to a job that fills its CPU
// already: the next such job goes there, and the other service is unaffected.
func TestExistingViolationsDoNotCount(t *testing.T) {
	t.Parallel()
	b := boardOf([]score{{10, 20}}, []score{{10, 20}, {100, 95}})
	const violated = board.Index(1)
	for _, name := range []string{"paragon", "nh", "quasar"} {
		d, err := policy.LookupSelector(name)
		if err != nil {
			t.Fatal(err)
		}
		request := board.Request{Size: small, Count: 1, Tolerated: []float64{100}, Caused: []float64{95}, Speed: []float64{100}, Target: 20, Forced: true}
		c := d.New(b, policy.Live()).Select(b, &request, policy.Draws(1))
		if len(c.Replicas) != 1 || c.Replicas[0].Node != violated {
			t.Errorf("%s: %+v, want node %s", name, c.Replicas, b.Node(violated).ID)
		}
	}
}
