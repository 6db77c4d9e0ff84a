package adapt

import (
	"math/rand/v2"

	"github.com/nomad-placer/nomad-placer/placer/board"
)

// expected is what the policy of that name is corrected by: quasar for workloads that have a
// target, and moves that pay for all.
type expected struct {
	targets Adapter
	mover   *mover // nil: nothing may be moved
}

func newExpected(o Options) Adapter {
	mover := o.Moves
	o.Moves = false // where a move pays is the mover's to say
	e := &expected{targets: newQuasar(o)}
	if mover {
		e.mover = newMover(o)
	}
	return e
}

// Forget implements Adapter.
func (e *expected) Forget(handle board.Handle) {
	e.targets.Forget(handle)
	if e.mover != nil {
		e.mover.forget(handle)
	}
}

// Step implements Adapter.
func (e *expected) Step(now Instant, b *board.Board, windows []Observation, random *rand.Rand) []Action {
	out := e.targets.Step(now, b, windows, random)
	if e.mover == nil {
		return out
	}
	touched := map[board.Handle]bool{}
	for _, a := range out {
		touched[a.Handle] = true
	}
	for _, a := range e.mover.step(now, b, windows) {
		if !touched[a.Handle] {
			out = append(out, a)
		}
	}
	return out
}
