package admission

import (
	"cmp"
	"math"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/board"
)

// demand is what an ask needs of a resource unit (Delimitrou 2015, §7.2, Eq.
// 7.1–7.4): its caused scores as digits 0..99, the highest first, are one number
// T; a unit's contention in the same order is 1 − U, and the ask keeps its QoS
// where U ≥ T.
type demand struct {
	order  []int // columns by decreasing caused score
	target float64
}

// topDigit is the highest score.
const topDigit = 99

func demandOf(caused []float64) demand {
	d := demand{order: make([]int, len(caused))}
	for k := range d.order {
		d.order[k] = k
	}
	slices.SortStableFunc(d.order, func(x, y int) int { return cmp.Compare(caused[y], caused[x]) })
	d.target = d.encode(caused)
	return d
}

// encode is Eq. 7.2 without the overflow of 10^(2N): in [0, 1].
func (d demand) encode(scores []float64) float64 {
	sum, weight := 0.0, 1.0
	for _, k := range d.order {
		weight /= topDigit + 1
		sum += min(topDigit, math.Round(max(0, scores[k]))) * weight
	}
	if weight == 1 {
		return 0
	}
	return sum / (1 - weight)
}

// keeps reports U ≥ T. An ask without scores is kept anywhere.
func (d demand) keeps(contention []float64) bool {
	return len(d.order) == 0 || 1-d.encode(contention) >= d.target
}

// contention is Eq. 7.3 for a free unit: the mean caused score over the node's
// other units, where a resident counts once for each of its own.
func contention(b *board.Board, n board.Index, units int, out []float64) {
	clear(out)
	if units < 2 {
		return
	}
	for i := range b.Residents(n) {
		r := &b.Residents(n)[i]
		share := min(1, unitsFor(b.Node(n), r.Size)/float64(units-1))
		for k, v := range r.Caused {
			out[k] += share * v
		}
	}
}
