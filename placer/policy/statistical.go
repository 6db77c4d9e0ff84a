package policy

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/board"
)

var paragonStatisticalSelector = SelectorDescriptor{
	Name:         "paragon-statistical",
	Summary:      "the best co-location among a fixed number of nodes drawn by a hash of the scores",
	Paper:        "Delimitrou 2015, §3.4.2",
	NeedsProfile: true,
	Parameters: []Parameter{
		candidatesParameter(statisticalCandidates),
		{Name: "quality", Default: "strict", Summary: "strict (one broken bound is bad) or sum (as printed: headroom on one source makes up for a violation on another, and bounds of the residents do not count)",
			set: oneOf(map[string]func(o *Options){
				"strict": func(o *Options) { o.Literal = false },
				"sum":    func(o *Options) { o.Literal = true },
			})},
		{Name: "draw", Default: "hash", Summary: "candidates by hash, or uniform at random",
			set: oneOf(map[string]func(o *Options){
				"hash":    func(o *Options) { o.Uniform = false },
				"uniform": func(o *Options) { o.Uniform = true },
			})},
	},
	New: func(b *board.Board, o Options) board.Selector {
		s := &statistical{options: o, candidates: orDefault(o.Candidates, statisticalCandidates), literal: o.Literal}
		if !o.Uniform {
			s.rings = newRings(b)
		}
		return s
	},
	reason: "the best of a few nodes drawn by a hash of the scores",
}

// statisticalCandidates leaves 0.9^64 = 1 in 1,000 without a candidate of the
// best tenth (Delimitrou 2015, §3.4.2, figure 3.3).
const statisticalCandidates = 64

// statistical ranks a sample of nodes by colocation quality. A strict quality is
// negative where a resident would experience more pressure on any source than it
// tolerates; among the others it prefers candidates on which the newcomer's own bounds
// hold, then the faster configuration, of which the printed quality says nothing. Cost:
// O(candidates × sources), flat in the number of nodes.
type statistical struct {
	options    Options
	candidates int
	literal    bool
	rings      *rings // nil: draw uniformly

	tentative tentative
	drawn     lots
}

// colocation is a candidate's rank; larger is better, in this order.
type colocation struct {
	noViolation bool    // strict: all D1 and D2 ≥ 0
	speed       float64 // strict, where no bound breaks: in isolation on its configuration
	quality     float64
}

// Select implements board.Selector.
func (s *statistical) Select(b *board.Board, a *board.Request, random *rand.Rand) board.Choice {
	f := &s.tentative
	f.begin(b, a, 0)
	for len(f.replicas) < a.Count {
		s.sample(random)
		if len(f.nodes) == 0 {
			break
		}
		best := 0
		top := s.rank(0)
		for i := 1; i < len(f.nodes); i++ {
			if r := s.rank(i); top.less(r) {
				best, top = i, r
			}
		}
		n := f.nodes[best]
		f.take(board.Replica{Node: n, Size: a.Size, Predicted: isolatedSpeed(a, b.Node(n)) * kept(a, b.Caused(n), s.options)})
	}
	return f.choice(a.Count)
}

// sample draws distinct nodes with room.
func (s *statistical) sample(random *rand.Rand) {
	f := &s.tentative
	f.nodes = f.nodes[:0]
	if s.rings != nil && len(f.board.Columns) > 0 {
		s.rings.draw(f, s.candidates)
		return
	}
	s.drawn.begin(f.board.Len())
	for range statisticalTries * s.candidates {
		i, ok := s.drawn.next(random)
		if !ok || len(f.nodes) == s.candidates {
			return
		}
		f.examined++
		if n := board.Index(i); f.open(n) {
			f.nodes = append(f.nodes, n)
		}
	}
}

// statisticalTries is how many nodes are looked at for each candidate wanted: on
// a full cluster the sample ends smaller instead of the search becoming longer.
const statisticalTries = 8

func (s *statistical) rank(i int) colocation {
	f := &s.tentative
	t, c, _ := f.pressure(i)
	a := f.request
	if s.literal {
		return colocation{quality: sumQuality(t, a.Caused)}
	}
	r := colocation{quality: strictQuality(t, a.Caused), noViolation: true}
	for k := range t {
		r.noViolation = r.noViolation && t[k]-a.Caused[k] >= -epsilonPoints && a.Tolerated[k]-c[k] >= -epsilonPoints
	}
	if r.noViolation {
		r.speed = orLowest(isolatedSpeed(a, f.board.Node(f.nodes[i])))
	}
	return r
}

func (r colocation) less(o colocation) bool {
	switch {
	case r.noViolation != o.noViolation:
		return o.noViolation
	case r.speed != o.speed:
		return r.speed < o.speed
	default:
		return r.quality < o.quality
	}
}

// sumQuality is the colocation quality as printed: sign(Σ(t−c))·|1 − ‖t−c‖|, the
// norm divided by its maximum.
func sumQuality(tolerated, caused []float64) float64 {
	sum, norm := 0.0, 0.0
	for k, t := range tolerated {
		sum += t - caused[k]
		norm += math.Abs(t-caused[k]) / 100
	}
	q := math.Abs(1 - norm/float64(max(1, len(tolerated))))
	if sum < -epsilonPoints {
		return -q
	}
	return q
}

// strictQuality is negative if any resident's bound breaks.
func strictQuality(tolerated, caused []float64) float64 {
	q := math.Abs(sumQuality(tolerated, caused))
	for k, t := range tolerated {
		if t-caused[k] < -epsilonPoints {
			return -q
		}
	}
	return q
}

// DecisionTime implements board.DecisionTime, as Tarcil's without a commit: the
// text gives only shares of execution times.
func (*statistical) DecisionTime(_ *board.Board, _ *board.Request, c board.Choice) time.Duration {
	return samplingFixed + time.Duration(c.Examined)*samplingPerUnit
}
