package policy

import (
	"cmp"
	"math"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/board"
)

// The arithmetic of Tarcil (Delimitrou 2015, §7.2). Scores are digits 0..99.
//
//	V      the scores of the workload, sorted: the permutation π remembers whose
//	V_enc  = Σ c_(r)·10^(2(N−r))            two digits each: [84, 31] is 8431
//	T      = V_enc / (10^(2N) − 1)          how demanding the workload is, 0..1
//	U      = 1 − V_H,enc / (10^(2N) − 1)    how free the unit is, under the same π
//	Q      = 1 − (U − T) where U ≥ T, else U
//
// The paper prints T − U for the second branch, under which the worst of the
// violating units ranks best; its range [0, T) is kept by U.

// topDigit is the highest score.
const topDigit = 99

// digit is a score in percent as a digit; NaN counts as the highest.
func digit(percent float64) float64 {
	if !(percent < topDigit) {
		return topDigit
	}
	return math.Round(max(0, percent))
}

// demand is what a workload asks of a unit.
type demand struct {
	order  []int // π: columns by decreasing caused score
	target float64
}

// demandOf encodes the caused scores. Ties keep the order of the columns.
func demandOf(d demand, caused []float64) demand {
	d.order = resized(d.order, len(caused))
	for k := range d.order {
		d.order[k] = k
	}
	slices.SortStableFunc(d.order, func(x, y int) int { return cmp.Compare(digit(caused[y]), digit(caused[x])) })
	d.target = encode(d.order, caused)
	return d
}

// encode concatenates the digits in the order and divides by the largest number
// of that length: T, and 1 − U. 10^(2N) overflows 64 bits at ten columns; a
// float64 keeps the first seven, and the rest only breaks near-ties.
func encode(order []int, scores []float64) float64 {
	sum, weight := 0.0, 1.0
	for _, k := range order {
		weight /= 100
		sum += digit(scores[k]) * weight
	}
	if len(order) == 0 {
		return 0
	}
	return sum / (1 - weight)
}

// targetQuality is Q.
func targetQuality(free, target float64) float64 {
	if free >= target {
		return 1 - (free - target)
	}
	return free
}

// contention fills out with what a free unit of the node feels: the mean of the
// caused scores over the node's other units, 0 for free ones (Eq. 7.4). A
// resident counts once for each of its cores.
func contention(b *board.Board, n board.Index, out []float64) {
	for k := range out {
		out[k] = 0
	}
	node := b.Node(n)
	others := unitsOf(node) - 1
	if others < 1 {
		return
	}
	for i := range b.Residents(n) {
		r := &b.Residents(n)[i]
		share := float64(min(coresOf(node, r.Size), others)) / float64(others)
		for k, c := range r.Caused {
			out[k] += share * c
		}
	}
}

// sampleSize is how many candidates it takes so that none of them is good with
// probability at most failure, where good is the share of units that are: ⌈ln p
// / ln(1−a)⌉ (§7.3.3). It is infinite where none is good.
func sampleSize(good, failure float64) float64 {
	switch {
	case good <= 0:
		return math.Inf(1)
	case good >= 1:
		return 1
	default:
		return math.Ceil(math.Log(failure) / math.Log1p(-good))
	}
}
