package policy

import (
	"math"
	"math/rand/v2"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/predict/deadline"
)

var ppRTTESelector = SelectorDescriptor{
	Name:       "pp-rtte",
	Summary:    "the busy node with the most useful work per watt, with cpu against the slowdown seen there; idle nodes stay asleep",
	Paper:      "Sampaio, Algorithm 1 (getPeffPM)",
	Parameters: []Parameter{efficiencyParameter},
	New: func(_ *board.Board, o Options) board.Selector {
		return &inTime{choose: efficiencyOf(o), slowdown: residentsSlowdown}
	},
	reason: "the busy nodes where one more watt does most",
}

// efficiencyParameter: the text lets a task go where useful work per watt improves
// most. That measure is concave, so that of equal machines the emptiest always improves
// most: the opposite of what its tables show, in which these policies pack tighter than
// best fit. Taken is the machine that does most per watt with the task.
var efficiencyParameter = Parameter{
	Name: "efficiency", Default: "after", Summary: "what of the useful work per watt counts: after the choice, or its gain (as printed)",
	set: oneOf(map[string]func(o *Options){"after": func(o *Options) { o.Literal = false }, "gain": func(o *Options) { o.Literal = true }}),
}

// score is how good a node is for a size; the greatest is chosen.
type score = func(b *board.Board, loads Loads, n board.Index, size cluster.Resources) float64

func efficiencyOf(o Options) score {
	if o.Literal {
		return efficiencyGain
	}
	return efficiencyAfter
}

// inTime chooses nodes one allocation at a time. Work with a finish time is given
// what it needs to end then; all other work the size it asks for.
// Cost: O(count × (nodes + residents)).
type inTime struct {
	choose    score
	slowdown  func(b *board.Board, n board.Index) float64
	fullSpeed bool // it is given all it can use
}

// Select implements board.Selector.
func (s *inTime) Select(b *board.Board, a *board.Request, _ *rand.Rand) board.Choice {
	var c board.Choice
	loads := Loads{}
	for len(c.Replicas) < a.Count {
		n, size := Best(b, loads, s.choose, func(n board.Index) (cluster.Resources, bool) {
			if a.Allowed != nil && !a.Allowed(n) {
				return cluster.Resources{}, false
			}
			return s.size(b, a, n)
		})
		c.Examined += b.Len()
		if n == board.None {
			break
		}
		c.Replicas = append(c.Replicas, board.Replica{Node: n, Size: size, Predicted: predictedIsolated(a, b.Node(n))})
		loads.Add(n, size, 1)
	}
	if a.Gang && len(c.Replicas) < a.Count {
		c.Replicas = nil
	}
	c.Reaches = reaches(a, c.Replicas)
	return c
}

// size is what one allocation gets on a node; false where that is too late.
func (s *inTime) size(b *board.Board, a *board.Request, n board.Index) (cluster.Resources, bool) {
	if a.Finish == nil {
		return a.Size, true
	}
	need, ok := deadline.Needed(a.Finish.Work, float64(a.Size.CPUMHz), 0, a.Finish.In, 0, s.slowdown(b, n))
	if !ok {
		return cluster.Resources{}, false
	}
	size := a.Size
	if !s.fullSpeed {
		size.CPUMHz = WholeMHz(need.Held())
	}
	return size, true
}

// WholeMHz rounds a need up: what is given is counted in whole MHz.
func WholeMHz(mhz float64) int { return int(math.Ceil(mhz)) }

// residentsSlowdown is the mean estimate of those on a node (equation 10).
func residentsSlowdown(b *board.Board, n board.Index) float64 {
	residents := b.Residents(n)
	sum := 0.0
	for i := range residents {
		sum += residents[i].Slowdown
	}
	return sum / float64(max(1, len(residents)))
}

func noSlowdown(*board.Board, board.Index) float64 { return 0 }

// Loads are changes that were decided and are not on the board yet, by node.
type Loads map[board.Index]Change

// Change is what a node holds more, or less, than the board says.
type Change struct {
	Size      cluster.Resources
	Residents int
}

// Add counts an allocation that comes (+1) or leaves (−1).
func (l Loads) Add(n board.Index, size cluster.Resources, sign int) {
	c := l[n]
	c.Residents += sign
	if sign < 0 {
		size = cluster.Resources{}.Subtract(size)
	}
	c.Size = c.Size.Add(size)
	l[n] = c
}

// used is what a node holds with the changes, and whether anything does.
func (l Loads) used(b *board.Board, n board.Index) (cluster.Resources, bool) {
	c := l[n]
	return b.Used(n).Add(c.Size), len(b.Residents(n))+c.Residents > 0
}

// Fits reports whether a node has room with the changes.
func (l Loads) Fits(b *board.Board, n board.Index, size cluster.Resources) bool {
	return b.Fits(n, l[n].Size.Add(size))
}

// Best is the node with the greatest score of those where an allocation fits; a node
// that nothing runs on only where no other will do. Ties go to the lowest place.
func Best(b *board.Board, loads Loads, better score, size func(board.Index) (cluster.Resources, bool)) (board.Index, cluster.Resources) {
	best, bestSize, most, bestAwake := board.None, cluster.Resources{}, 0.0, false
	for i := range b.Len() {
		n := board.Index(i)
		_, awake := loads.used(b, n)
		if !b.Ready(n) || bestAwake && !awake {
			continue
		}
		want, ok := size(n)
		if !ok || !loads.Fits(b, n, want) {
			continue
		}
		if v := better(b, loads, n, want); best == board.None || awake && !bestAwake || v > most {
			best, bestSize, most, bestAwake = n, want, v, awake
		}
	}
	return best, bestSize
}

// efficiencyAfter is the useful work per watt of a node with the allocation (equation 2).
func efficiencyAfter(b *board.Board, loads Loads, n board.Index, size cluster.Resources) float64 {
	used, _ := loads.used(b, n)
	return efficiencyWith(b.Node(n), used.Add(size))
}

// efficiencyGain is by how much that improves.
func efficiencyGain(b *board.Board, loads Loads, n board.Index, size cluster.Resources) float64 {
	used, _ := loads.used(b, n)
	return efficiencyWith(b.Node(n), used.Add(size)) - efficiencyWith(b.Node(n), used)
}

func efficiencyWith(n *board.Node, used cluster.Resources) float64 {
	if n.Total.CPUMHz <= 0 {
		return 0
	}
	return deadline.PaperPower.Efficiency(float64(inMHz(n, used)) / float64(n.Total.CPUMHz))
}

// inMHz counts reserved cores at the node's clock.
func inMHz(n *board.Node, r cluster.Resources) int { return r.CPUMHz + r.Cores*n.CoreMHz }

// MostEfficient is getPeffPM: the busy node that does most per watt with an allocation
// of the size that is needed there.
func MostEfficient(b *board.Board, loads Loads, size func(board.Index) (cluster.Resources, bool)) (board.Index, cluster.Resources) {
	return Best(b, loads, efficiencyAfter, size)
}
