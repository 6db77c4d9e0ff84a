// Package digits writes a vector of scores as one number, its digits the scores
// from the most important one down, so that two vectors are compared, and one is
// tested against the other, by comparing two numbers.
//
// Theory in five lines (Delimitrou 2015, §7.2.2, Eq. 7.1 and 7.2): scores are
// whole numbers 0..99, two decimal digits each. A workload's vector is sorted,
//
//	[84, 31] → 8431,  T = 8431 / (10^(2N) − 1), N the length
//
// and the permutation that sorts it is kept: another vector is read in the same
// order, so what the workload needs most decides first.
//
// # Differences from the paper
//
// 10^(2N) overflows 64 bits at ten columns. A float64 keeps the first seven, and
// the rest only breaks near-ties.
package digits

import (
	"cmp"
	"math"
	"slices"
)

// Top is the highest digit.
const Top = 99

// Of is a score in percent as a digit; NaN counts as the highest.
func Of(percent float64) float64 {
	if !(percent < Top) {
		return Top
	}
	return math.Round(max(0, percent))
}

// Number is a vector as one number, with the order of its digits.
type Number struct {
	Order []int   // columns by decreasing digit; ties keep the order of the columns
	Value float64 // 0..1
}

// Sorted writes scores with the highest first. The storage of old is used again.
func Sorted(old Number, scores []float64) Number {
	n := Number{Order: old.Order[:0]}
	for k := range scores {
		n.Order = append(n.Order, k)
	}
	slices.SortStableFunc(n.Order, func(x, y int) int { return cmp.Compare(Of(scores[y]), Of(scores[x])) })
	n.Value = n.Read(scores)
	return n
}

// Read writes other scores in the order of n, 0..1; 0 where there are none.
func (n Number) Read(scores []float64) float64 {
	sum, weight := 0.0, 1.0
	for _, k := range n.Order {
		weight /= Top + 1
		sum += Of(scores[k]) * weight
	}
	if len(n.Order) == 0 {
		return 0
	}
	return sum / (1 - weight)
}
