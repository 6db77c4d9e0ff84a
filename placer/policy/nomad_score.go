package policy

import (
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

var nomadBinpackSelector = SelectorDescriptor{
	Name:       "nomad-binpack",
	Summary:    "stock Nomad's own choice under the binpack algorithm, by its documented scoring",
	Paper:      "Nomad documentation, scheduling; Google best fit (v3)",
	Parameters: []Parameter{nomadTypeParameter},
	New:        func(_ *board.Board, o Options) board.Selector { return &nomadScore{fit: binpackScore, batch: o.Batch} },
	reason:     "the fullest of a few random nodes",
}

var nomadSpreadSelector = SelectorDescriptor{
	Name:       "nomad-spread",
	Summary:    "stock Nomad's own choice under the spread algorithm, by its documented scoring",
	Paper:      "Nomad documentation, scheduling; worst fit",
	Parameters: []Parameter{nomadTypeParameter},
	New:        func(_ *board.Board, o Options) board.Selector { return &nomadScore{fit: spreadScore, batch: o.Batch} },
	reason:     "the emptiest of a few random nodes",
}

var nomadTypeParameter = Parameter{
	Name: "type", Default: "service", Summary: "which jobs it is asked for: service (log2 of the nodes are scored) or batch (two are)",
	set: oneOf(map[string]func(o *Options){
		"service": func(o *Options) { o.Batch = false },
		"batch":   func(o *Options) { o.Batch = true },
	}),
}

// nomadScore is one evaluation of stock Nomad: all nodes in shuffled order, the
// first two feasible for a batch job or log2 of the nodes for a service are
// scored, the best wins; the next allocation goes on where the last stopped. A
// score is the mean of the scorers that apply: fit always, job anti-affinity
// where the job is already there. Up to three nodes that score at or below 0 are
// passed over while others may come. Cost: O(nodes that are full + log nodes).
type nomadScore struct {
	fit   func(n *board.Node, used cluster.Resources) float64
	batch bool

	tentative tentative
	drawn     lots
	order     int // draws made
	next      int // position in the shuffled order
}

// nomadMaxSkip is how many poor nodes are passed over.
const nomadMaxSkip = 3

// Select implements board.Selector.
func (s *nomadScore) Select(b *board.Board, a *board.Request, random *rand.Rand) board.Choice {
	f := &s.tentative
	f.begin(b, a, 0)
	s.drawn.begin(b.Len())
	s.order, s.next = 0, 0
	for len(f.replicas) < a.Count {
		n := s.one(random)
		if n == board.None {
			break
		}
		f.take(board.Replica{Node: n, Size: a.Size, Predicted: predictedIsolated(a, b.Node(n))})
	}
	return f.choice(a.Count)
}

// one chooses the node of one allocation.
func (s *nomadScore) one(random *rand.Rand) board.Index {
	limit := nomadLimit(s.tentative.board.Len(), s.batch)
	best, top := board.None, math.Inf(-1)
	consider := func(n board.Index, score float64) {
		if score > top {
			best, top = n, score
		}
	}
	var poor []board.Index
	var poorScores []float64
	scored := 0
	for range s.tentative.board.Len() {
		if scored == limit {
			return best
		}
		n := s.following(random)
		if !s.tentative.open(n) {
			continue
		}
		score := s.score(n)
		if score <= 0 && len(poor) < nomadMaxSkip {
			poor, poorScores = append(poor, n), append(poorScores, score)
			continue
		}
		scored++
		consider(n, score)
	}
	for i := 0; i < len(poor) && scored < limit; i++ { // nothing better came
		scored++
		consider(poor[i], poorScores[i])
	}
	return best
}

// following is the next node in the shuffled order, round and round.
func (s *nomadScore) following(random *rand.Rand) board.Index {
	s.tentative.examined++
	at := s.next
	s.next = (s.next + 1) % s.tentative.board.Len()
	if at < s.order {
		return board.Index(s.drawn.again(at))
	}
	i, _ := s.drawn.next(random)
	s.order++
	return board.Index(i)
}

// score of one more allocation on the node.
func (s *nomadScore) score(n board.Index) float64 {
	f := &s.tentative
	used := f.board.Used(n).Add(f.request.Size)
	for range f.taken[n] {
		used = used.Add(f.request.Size)
	}
	return finalScore(s.fit(f.board.Node(n), used), int(f.taken[n]), f.request.Count)
}

// nomadLimit is how many feasible nodes are scored.
func nomadLimit(nodes int, batch bool) int {
	if batch || nodes < 2 {
		return 2
	}
	return max(2, bits.Len(uint(nodes-1))) // ⌈log2⌉
}

// finalScore is the mean of the scorers that apply: the fit, and job
// anti-affinity −(collisions+1)/count where collisions allocations of the group
// are on the node already.
func finalScore(fit float64, collisions, count int) float64 {
	if collisions == 0 {
		return fit
	}
	return (fit - float64(collisions+1)/float64(max(1, count))) / 2
}

// binpackScore is (20 − 10^freeCPU − 10^freeMemory)/18, the free shares those
// after the placement; 1 is a full node.
func binpackScore(n *board.Node, used cluster.Resources) float64 {
	return min(18, max(0, 20-freePowers(n, used))) / 18
}

// spreadScore is (10^freeCPU + 10^freeMemory − 2)/18; 1 is an empty node.
func spreadScore(n *board.Node, used cluster.Resources) float64 {
	return min(18, max(0, freePowers(n, used)-2)) / 18
}

func freePowers(n *board.Node, used cluster.Resources) float64 {
	cpu := 1 - share(used.CPUMHz+used.Cores*n.CoreMHz, n.Total.CPUMHz)
	memory := 1 - share(used.MemoryMB, n.Total.MemoryMB)
	return math.Pow(10, cpu) + math.Pow(10, memory)
}
