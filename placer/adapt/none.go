package adapt

import (
	"math/rand/v2"

	"github.com/nomad-placer/nomad-placer/placer/board"
)

type none struct{}

func newNone(Options) Adapter { return none{} }

func (none) Step(Instant, *board.Board, []Observation, *rand.Rand) []Action { return nil }
func (none) Forget(board.Handle)                                            {}
