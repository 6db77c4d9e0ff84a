package provision

import (
	"cmp"
	"math"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/numeric/digits"
)

// Digits are scores from 0 to 99 by resource, what a job demands or what presses on a node.
type Digits []uint8

// DigitsOf rounds percentages by resource; one that is not known counts as the highest.
func DigitsOf(percent []float64) Digits {
	out := make(Digits, len(percent))
	for i, v := range percent {
		out[i] = uint8(digits.Of(v))
	}
	return out
}

// DemandsOf a job is what it does not tolerate of each resource, in percent; nil where nothing of
// it is known. NaN is not known, and counts as the highest.
func DemandsOf(toleratedPercent []float64) Digits {
	demands, known := make([]float64, len(toleratedPercent)), false
	for i, t := range toleratedPercent {
		demands[i] = 100 - t
		known = known || !math.IsNaN(t)
	}
	if !known {
		return nil
	}
	return DigitsOf(demands)
}

// sorted is the highest first.
func (d Digits) sorted() Digits {
	out := slices.Clone(d)
	slices.SortFunc(out, func(x, y uint8) int { return cmp.Compare(y, x) })
	return out
}

// Number is d as one number from 0 to 1, for people: Q_T of a job, 1 − U of a node.
func (d Digits) Number() float64 {
	percent := make([]float64, len(d))
	for i, v := range d {
		percent[i] = float64(v)
	}
	return digits.Sorted(digits.Number{}, percent).Value
}

// Quality is what a node offers, or a job demands, as the digits of one number from the most
// significant down. Qualities of the same length are compared exactly.
type Quality Digits

// Demand is Q_T: the demands of a job, the highest first (eq. 7.1).
func Demand(job Digits) Quality { return Quality(job.sorted()) }

// Offer is U of a node on which resources are pressed: one less the pressures, the highest
// first (eq. 7.3).
func Offer(pressure Digits) Quality {
	out := Quality(pressure.sorted())
	for i := range out {
		out[i] = digits.Top - out[i]
	}
	return out
}

// Compare orders qualities; −1 is less.
func (q Quality) Compare(other Quality) int { return slices.Compare(q, other) }

// Suffices reports whether a node that offers q is good enough for a job that demands t: U > Q_T
// (§8.3.3), which says that the highest pressure is at most what the most demanding resource
// tolerates, and so on down where they are level.
func (q Quality) Suffices(t Quality) bool { return q.Compare(t) > 0 }

// Tolerates reports whether each pressure is one that the job tolerates, resource by resource.
func Tolerates(job, pressure Digits) bool {
	for i, c := range job {
		if i < len(pressure) && pressure[i] > digits.Top-c {
			return false
		}
	}
	return true
}
