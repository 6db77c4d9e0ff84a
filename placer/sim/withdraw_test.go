package sim_test

import (
	"context"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/sim"
	"github.com/nomad-placer/nomad-placer/placer/sim/admission"
)

// forgetful is a queue that is told when somebody does not wait any more.
type forgetful struct {
	*queue
	withdrawn int
}

var _ admission.Controller = (*forgetful)(nil)

func (f *forgetful) Withdraw(handle board.Handle) {
	f.withdrawn++
	f.Placed(0, handle)
}

// A job whose first tasks run out of memory ends with others still waiting: they
// must not be offered any more, for their place is another job's soon.
func TestKilledWithTasksStillWaiting(t *testing.T) {
	t.Parallel()
	killed, after := job(0, 0, seconds(10)), job(1, seconds(1), seconds(10))
	killed.Shape, killed.Count = sim.Tasks, 5
	killed.App.Phases[0].MemoryMB = 20
	b := nodes(2, 1)
	q := &forgetful{queue: &queue{out: map[board.Handle]bool{}}}
	b.Listen(q)
	w, err := sim.New(sim.Config{Board: b, Selector: firstFit{}, Controller: q, Jobs: &sim.List{Jobs: []sim.Job{killed, after}}, Truth: shared{}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := w.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if r.Records[0].Outcome != sim.Killed || r.Records[1].Outcome != sim.Done || q.withdrawn != 1 || q.Waiting() != 0 {
		t.Errorf("%+v, %+v, withdrawn %d times, %d wait", r.Records[0], r.Records[1], q.withdrawn, q.Waiting())
	}
}
