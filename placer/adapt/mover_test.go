package adapt_test

import (
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/adapt"
	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// pressed is a board of two nodes, on the first of which a co-runner presses on workload 1.
func pressed(caused float64) *board.Board {
	b := board.New([]interference.Source{interference.MemoryBandwidth}, []string{"a"})
	for range 2 {
		n := twoNodes().Node(0)
		b.Add(*n)
	}
	b.Place(0, board.Resident{Handle: 1, Size: size(2), Tolerated: []float64{10}, Caused: []float64{10}})
	b.Place(0, board.Resident{Handle: 2, Size: size(2), Tolerated: []float64{100}, Caused: []float64{caused}})
	return b
}

func mover(t *testing.T) adapt.Adapter {
	t.Helper()
	return adapter(t, "expected", func(o *adapt.Options) { o.Moves = true })
}

func placedOn(n board.Index, change func(*adapt.Observation)) adapt.Observation {
	w := adapt.Observation{Handle: 1, Speed: []float64{100}, Replicas: []adapt.Replica{{Handle: 1, Node: n, Size: size(2)}}}
	if change != nil {
		change(&w)
	}
	return w
}

func TestMoverMovesWhereThatPays(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		board  *board.Board
		window adapt.Observation
		moves  bool
	}{
		"a co-runner costs it a third":        {pressed(80), placedOn(0, nil), true},
		"it costs it next to nothing":         {pressed(12), placedOn(0, nil), false},
		"it ends before the move has paid":    {pressed(80), placedOn(0, func(w *adapt.Observation) { w.Left = time.Minute }), false},
		"it runs for an hour":                 {pressed(80), placedOn(0, func(w *adapt.Observation) { w.Left = time.Hour }), true},
		"nothing is known of its speed":       {pressed(80), placedOn(0, func(w *adapt.Observation) { w.Speed = nil }), false},
		"it is not on the board":              {pressed(80), placedOn(1, nil), false},
		"another adapter ends it in time":     {pressed(80), placedOn(0, func(w *adapt.Observation) { w.Replicas[0].Task = &adapt.Task{} }), false},
		"a group, which is not moved as such": {pressed(80), placedOn(0, func(w *adapt.Observation) { w.Replicas = append(w.Replicas, w.Replicas[0]) }), false},
	} {
		got := steps(mover(t), c.board, c.window)
		if moved := len(got) == 1 && got[0].Kind == adapt.Move && got[0].Handle == 1; moved != c.moves {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// Between two looks at all, only what is known anew is looked at.
func TestMoverLooksNowAndThen(t *testing.T) {
	t.Parallel()
	a, w := mover(t), placedOn(0, nil)
	at := func(now time.Duration, b *board.Board, w adapt.Observation) int {
		return len(a.Step(now, b, []adapt.Observation{w}, nil))
	}
	if at(10*time.Second, pressed(0), w) != 0 {
		t.Error("moved where nothing presses")
	}
	if at(20*time.Second, pressed(80), w) != 0 {
		t.Error("looked again after ten seconds")
	}
	if w.Speed = []float64{100}; at(30*time.Second, pressed(80), w) != 1 {
		t.Error("not looked at when it was profiled")
	}
	if at(4*time.Minute, pressed(80), w) != 1 {
		t.Error("not looked at again")
	}
}

// The two ends of a move are left alone until the next look.
func TestMoverMovesOneAtATimeFromANode(t *testing.T) {
	t.Parallel()
	b := pressed(80)
	b.Place(0, board.Resident{Handle: 3, Size: size(2), Tolerated: []float64{10}, Caused: []float64{10}})
	other := placedOn(0, func(w *adapt.Observation) { w.Handle, w.Replicas[0].Handle = 3, 3 })
	if got := mover(t).Step(time.Second, b, []adapt.Observation{placedOn(0, nil), other}, nil); len(got) != 1 {
		t.Errorf("%+v", got)
	}
}

// What quasar does for a target comes first; a workload that is well is moved where that pays.
func TestExpectedAdapts(t *testing.T) {
	t.Parallel()
	w := placedOn(0, func(w *adapt.Observation) { w.Target, w.Performance = 100, 100 })
	a := mover(t)
	if got := kinds(steps(a, pressed(80), w)); len(got) != 1 || got[0] != adapt.Move {
		t.Errorf("%v", got)
	}
	slow := w
	slow.Performance = 50
	got := kinds(steps(mover(t), pressed(0), slow, slow, slow))
	if len(got) == 0 || got[0] != adapt.Reclassify {
		t.Errorf("%v: it is not classified again first", got)
	}
	still := adapter(t, "expected", func(o *adapt.Options) { o.Moves = false })
	if got := steps(still, pressed(80), w); len(got) != 0 {
		t.Errorf("%v: nothing may be moved", got)
	}
}

// A workload that falls short is not moved where no node is worth more: which moves pay is the
// mover's to say.
func TestNoMoveWithoutAGain(t *testing.T) {
	t.Parallel()
	moves := func(a adapt.Adapter) (n int) {
		for i := range 30 {
			w := placedOn(0, func(w *adapt.Observation) {
				w.Performance, w.Target, w.Left = 50, 100, time.Hour
				w.Replicas[0].Performance = 50
			})
			for _, action := range a.Step(time.Duration(i)*time.Minute, pressed(1), []adapt.Observation{w}, nil) {
				if action.Kind == adapt.Move {
					n++
				}
			}
		}
		return n
	}
	without := func(o *adapt.Options) { o.Moves, o.ProbeEvery = true, 0 }
	if n := moves(adapter(t, "quasar", without)); n == 0 {
		t.Error("quasar does not move it: the test says nothing")
	}
	if n := moves(adapter(t, "expected", without)); n != 0 {
		t.Errorf("moved %d times", n)
	}
}
