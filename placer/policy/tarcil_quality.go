package policy

import "math"

// The arithmetic of Tarcil (Delimitrou 2015, §7.2). Scores are digits 0..99; the
// workload's own, sorted, are one number T, how demanding it is, and a unit's
// contention in the same order is 1 − U, U how free it is (package digits).
//
//	Q = 1 − (U − T) where U ≥ T, else U
//
// The paper prints T − U for the second branch, under which the worst of the
// violating units ranks best; its range [0, T) is kept by U.

// targetQuality is Q.
func targetQuality(free, target float64) float64 {
	if free >= target {
		return 1 - (free - target)
	}
	return free
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
