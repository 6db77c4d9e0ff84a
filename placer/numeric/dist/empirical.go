package dist

import (
	"fmt"
	"math"
	"slices"
)

// Empirical is the samples themselves, for when no family fits: straight between
// order statistics, with an exponential tail as long as that of the top tenth.
type Empirical struct {
	sorted []float64
	mean   float64
	tail   float64 // mean of the tail
}

const topTenth = 0.1

// NewEmpirical keeps the samples, which must be above 0. O(n log n).
func NewEmpirical(samples []float64) (*Empirical, error) {
	if len(samples) == 0 {
		return nil, ErrNoSamples
	}
	d := &Empirical{sorted: slices.Clone(samples)}
	slices.Sort(d.sorted)
	n := len(d.sorted)
	if !(d.sorted[0] > 0) || math.IsInf(d.sorted[n-1], 1) {
		return nil, fmt.Errorf("%w: the range is %v to %v", ErrSample, d.sorted[0], d.sorted[n-1])
	}
	for _, v := range d.sorted {
		d.mean += v / float64(n)
	}
	from := n - 1 - int(topTenth*float64(n))
	for _, v := range d.sorted[max(0, from):] {
		d.tail += (v - d.sorted[max(0, from)]) / float64(n-max(0, from))
	}
	d.tail = max(d.tail, leastSpread*d.mean)
	return d, nil
}

// Name implements Distribution, as do the following methods.
func (*Empirical) Name() string            { return "empirical" }
func (d *Empirical) Mean() float64         { return d.mean }
func (d *Empirical) CDF(x float64) float64 { return -math.Expm1(d.LogSurvival(x)) }

// LogSurvival takes S = 1 − i/(n+1) at the i-th sample. O(log n).
func (d *Empirical) LogSurvival(x float64) float64 {
	n := len(d.sorted)
	last := d.sorted[n-1]
	if x >= last {
		return -math.Log(float64(n+1)) - (x-last)/d.tail
	}
	i, _ := slices.BinarySearch(d.sorted, x) // samples below x
	low := 0.0
	if i > 0 {
		low = d.sorted[i-1]
	}
	share := 0.0
	if width := d.sorted[i] - low; width > 0 {
		share = (max(0, x) - low) / width
	}
	return math.Log1p(-(float64(i) + share) / float64(n+1))
}
