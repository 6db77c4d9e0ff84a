package dist

import "math"

// Group is N independent events of one chance.
type Group struct {
	N int
	P float64 // 0 to 1
}

const (
	exactWork      = 1 << 12 // steps of the recurrence up to which it is used
	normalVariance = 16      // from here on the refined normal is within 0.002
)

// AtLeast is the chance that at least r of all the events happen: exact up to
// some work, else within 0.01. O(groups) and at most exactWork.
func AtLeast(groups []Group, r int) float64 {
	n := 0
	for _, g := range groups {
		n += g.N
	}
	switch {
	case r <= 0:
		return 1
	case n < r:
		return 0
	case r == 1:
		return atLeastOne(groups)
	case n*r <= exactWork:
		return exactTail(groups, r)
	default:
		return approximateTail(groups, r)
	}
}

func atLeastOne(groups []Group) float64 {
	none := 0.0
	for _, g := range groups {
		if g.N > 0 {
			none += float64(g.N) * math.Log1p(-g.P)
		}
	}
	return -math.Expm1(none)
}

// exactTail keeps the chances of 0..r−1 events so far. O(n·r).
func exactTail(groups []Group, r int) float64 {
	fewer := make([]float64, r)
	fewer[0] = 1
	for _, g := range groups {
		for range g.N {
			for k := r - 1; k > 0; k-- {
				fewer[k] += g.P * (fewer[k-1] - fewer[k])
			}
			fewer[0] *= 1 - g.P
		}
	}
	sum := 0.0
	for _, p := range fewer {
		sum += p
	}
	return max(0, 1-sum)
}

// approximateTail uses mean, variance and skewness only.
func approximateTail(groups []Group, r int) float64 {
	var mean, variance, third float64
	for _, g := range groups {
		n, v := float64(g.N), g.P*(1-g.P)
		mean += n * g.P
		variance += n * v
		third += n * v * (1 - 2*g.P)
	}
	if variance < normalVariance {
		shift := math.Floor(mean - variance)
		return poissonTail(mean-shift, r-int(shift))
	}
	sd := math.Sqrt(variance)
	x := (float64(r) - 0.5 - mean) / sd
	skew := third / (variance * sd)
	below := normalCDF(x) + skew*(1-x*x)*math.Exp(-x*x/2)/math.Sqrt(2*math.Pi)/6
	return min(1, max(0, 1-below))
}

// poissonTail is P(X ≥ r) of a Poisson distribution. O(r).
func poissonTail(mean float64, r int) float64 {
	term, sum := math.Exp(-mean), 0.0
	for k := range r {
		sum += term
		term *= mean / float64(k+1)
	}
	return min(1, max(0, 1-sum))
}
