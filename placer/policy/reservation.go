package policy

import (
	"math/rand/v2"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/board"
)

var reservationLeastLoadedSelector = SelectorDescriptor{
	Name:    "reservation-ll",
	Summary: "what the job reserves, on the least loaded nodes",
	Paper:   "Delimitrou 2015, §4.5 (baseline)",
	New: func(b *board.Board, o Options) board.Selector {
		return &reservation{inner: leastLoadedSelector.New(b, o)}
	},
	reason: "what the job reserves, the least loaded first",
}

var reservationParagonSelector = SelectorDescriptor{
	Name:         "reservation-paragon",
	Summary:      "what the job reserves, where paragon puts it",
	Paper:        "Delimitrou 2015, §4.5 (baseline)",
	NeedsProfile: true, Parameters: []Parameter{timeoutParameter},
	New: func(b *board.Board, o Options) board.Selector {
		return &reservation{inner: paragonSelector.New(b, o)}
	},
	reason: "what the job reserves, where it violates no bound and runs fastest",
}

// reservation hides from a policy what a reservation does not say: the target,
// and that sizes could be chosen.
type reservation struct{ inner board.Selector }

// Select implements board.Selector.
func (r *reservation) Select(b *board.Board, a *board.Request, random *rand.Rand) board.Choice {
	reserved := *a
	reserved.Target, reserved.Sizes, reserved.ScaleOut = 0, nil, nil
	c := r.inner.Select(b, &reserved, random)
	c.Reaches = reaches(a, c.Replicas)
	return c
}

// DecisionTime implements board.DecisionTime: that of the policy within.
func (r *reservation) DecisionTime(b *board.Board, a *board.Request, c board.Choice) time.Duration {
	if t, ok := r.inner.(board.DecisionTime); ok {
		return t.DecisionTime(b, a, c)
	}
	return 0
}
