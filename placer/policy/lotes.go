package policy

import (
	"math/rand/v2"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/predict/lotes"
)

var lotesSelector = SelectorDescriptor{
	Name:       "lotes",
	Summary:    "follows a long-term plan: which mix of job classes each machine should run, by two linear programs",
	Paper:      "Tran 2016, §4",
	Parameters: []Parameter{routeParameter},
	New: func(b *board.Board, o Options) board.Selector {
		return &lotesPolicy{mix: lotes.On(b), literal: o.Literal}
	},
	reason: "the machine farthest below its planned mix",
}

var routeParameter = Parameter{
	Name: "route", Default: "flow", Summary: "arrivals are split over configurations by flow, or by the stock of jobs as printed",
	set: oneOf(map[string]func(o *Options){
		"flow":  func(o *Options) { o.Literal = false },
		"stock": func(o *Options) { o.Literal = true },
	}),
}

// lotesPolicy dispatches on arrival; what waits is the controller's of the same name.
// Cost: O(configurations · log nodes · classes), and that of a new plan where the mix
// has changed.
type lotesPolicy struct {
	mix     *lotes.Mix
	literal bool
}

// Select implements board.Selector.
func (s *lotesPolicy) Select(b *board.Board, a *board.Request, random *rand.Rand) board.Choice {
	var c board.Choice
	if b.Len() == 0 {
		return c
	}
	s.mix.Ready(a)
	for range a.Count {
		n, examined := s.mix.Choose(a, a.Allowed, s.literal, random)
		c.Examined += examined
		if n == board.None {
			break
		}
		c.Replicas = append(c.Replicas, board.Replica{Node: n, Size: a.Size, Predicted: predictedIsolated(a, b.Node(n))})
		if len(c.Replicas) < a.Count {
			s.mix.Take(a, n)
		}
	}
	for _, u := range c.Replicas {
		s.mix.Return(u.Node)
	}
	if a.Gang && len(c.Replicas) < a.Count {
		c.Replicas = nil
	}
	c.Reaches = reaches(a, c.Replicas)
	return c
}
