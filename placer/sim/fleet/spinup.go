package fleet

import (
	"math"
	"math/rand/v2"
	"time"
)

// SpinUp is how long nodes take from being asked for to being ready: most of them around a time
// that is shorter for larger types, a few much longer (§8.3.2).
type SpinUp struct {
	Smallest, Largest time.Duration // the median of the type of fewest cores, and of most
	Sigma             float64       // of the logarithm
	SlowShare         float64       // of the nodes
	SlowFrom, SlowTo  time.Duration // and what they take
}

// DefaultSpinUp has a median of 12 to 19 s and a 95th percentile of about two minutes.
func DefaultSpinUp() SpinUp {
	return SpinUp{Smallest: 19 * time.Second, Largest: 12 * time.Second, Sigma: 0.25, SlowShare: 0.055, SlowFrom: 100 * time.Second, SlowTo: 140 * time.Second}
}

// Times is the same distribution, so many times as long.
func (s SpinUp) Times(factor float64) SpinUp {
	for _, d := range []*time.Duration{&s.Smallest, &s.Largest, &s.SlowFrom, &s.SlowTo} {
		*d = scaled(*d, factor)
	}
	return s
}

// Mean is what the type of most cores takes on average.
func (s SpinUp) Mean() time.Duration {
	usual := scaled(s.Largest, (1-s.SlowShare)*math.Exp(s.Sigma*s.Sigma/2))
	return usual + scaled(s.SlowFrom+s.SlowTo, s.SlowShare/2)
}

func scaled(d time.Duration, factor float64) time.Duration {
	return time.Duration(factor * float64(d))
}

// median of a type with so many cores, of types with least to most.
func (s SpinUp) median(cores, least, most int) time.Duration {
	if most <= least {
		return s.Largest
	}
	share := math.Log(float64(cores)/float64(least)) / math.Log(float64(most)/float64(least))
	return s.Smallest + scaled(s.Largest-s.Smallest, share)
}

func (s SpinUp) draw(cores, least, most int, random *rand.Rand) time.Duration {
	slow, normal, where := random.Float64(), random.NormFloat64(), random.Float64()
	if slow < s.SlowShare {
		return s.SlowFrom + scaled(s.SlowTo-s.SlowFrom, where)
	}
	return scaled(s.median(cores, least, most), math.Exp(s.Sigma*normal))
}
