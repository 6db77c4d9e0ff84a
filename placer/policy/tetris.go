package policy

import (
	"errors"
	"math"
	"math/rand/v2"
	"strconv"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/predict/lotes"
)

var tetrisSelector = SelectorDescriptor{
	Name:       "tetris",
	Summary:    "the node whose free resources resemble the job's most, less the work of the job",
	Paper:      "Tran 2016, §5.1 (baseline); Grandl 2014",
	Parameters: []Parameter{epsilonParameter},
	New: func(b *board.Board, o Options) board.Selector {
		return &tetris{epsilon: epsilonOf(o)}
	},
	reason: "the best alignment of free resources and need",
}

var epsilonParameter = Parameter{
	Name: "epsilon", Default: "1", Summary: "weight of a job's work against its alignment; 0 is alignment alone",
	set: func(o *Options, value string) error {
		v, err := strconv.ParseFloat(value, 64)
		if err != nil || !(v >= 0) || math.IsInf(v, 1) {
			return errors.New("a number from 0 on is needed")
		}
		o.Epsilon = &v
		return nil
	},
}

func epsilonOf(o Options) float64 {
	if o.Epsilon == nil {
		return lotes.TetrisEpsilon
	}
	return *o.Epsilon
}

// tetris scores every node with room: r·C − ε·p·(r·1), r and the free C as shares of
// the largest node, p in hours. Of equal scores the first. Cost: O(count · nodes).
type tetris struct {
	scale     lotes.Scale
	nodes     int // that the scale is of
	epsilon   float64
	tentative tentative
}

// Select implements board.Selector.
func (t *tetris) Select(b *board.Board, a *board.Request, _ *rand.Rand) board.Choice {
	f := &t.tentative
	f.begin(b, a, 0)
	if t.nodes != b.Len() {
		t.nodes, t.scale = b.Len(), lotes.TetrisScale(b)
	}
	for range a.Count {
		best, top := board.None, math.Inf(-1)
		look := func(n board.Index) {
			f.examined++
			if !f.open(n) {
				return
			}
			if s := t.score(n); s > top {
				best, top = n, s
			}
		}
		if a.Only != nil {
			for _, n := range a.Only {
				look(n)
			}
		} else {
			for i := range b.Len() {
				look(board.Index(i))
			}
		}
		if best == board.None {
			break
		}
		f.take(board.Replica{Node: best, Size: a.Size, Predicted: predictedIsolated(a, b.Node(best))})
	}
	return f.choice(a.Count)
}

func (t *tetris) score(n board.Index) float64 {
	f := &t.tentative
	free := t.scale.Free(f.board, n)
	need := t.scale.Need(f.request.Size, f.board.Node(n).CoreMHz)
	for l := range free {
		free[l] -= float64(f.taken[n]) * need[l]
	}
	return lotes.TetrisScore(need, free, t.epsilon*t.hours(n))
}

// hours the job takes there, as far as it is known; unknown is 0.
func (t *tetris) hours(n board.Index) float64 {
	return lotes.RunTime(t.tentative.board, t.tentative.request, n).Hours()
}
