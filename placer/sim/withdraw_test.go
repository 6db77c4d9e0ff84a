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

// A job dies while it is decided on again, for another job took one of its nodes first. What was
// decided is nobody's then: not the first workload's either, which waits for room that no node has.
func TestKilledWhileDecidedOnAgain(t *testing.T) {
	t.Parallel()
	waits, first, killed := job(0, 0, seconds(10)), job(1, 0, seconds(10)), job(2, 0, seconds(10))
	waits.Size.Cores = 9
	killed.Shape, killed.Count = sim.Tasks, 2
	killed.App.Phases[0].MemoryMB = 20
	r := run(t, sim.Config{Board: nodes(3, 1), Selector: timedFit{firstFit{takes: seconds(1)}}, Agents: 3, Limit: seconds(30)}, waits, first, killed)
	if r.Counters.Conflicts == 0 || r.Records[2].Outcome != sim.Killed || r.Records[1].Outcome != sim.Done {
		t.Errorf("%d conflicts; %+v", r.Counters.Conflicts, r.Records)
	}
	if r.Records[0].Started != sim.Never {
		t.Errorf("the one that waits was started at %s", r.Records[0].Started)
	}
}
