package dist

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Errors of Fit.
var (
	ErrNoSamples = errors.New("dist: no samples")
	ErrSample    = errors.New("dist: a sample is not a finite number above 0")
)

// leastSpread is the least standard deviation of a fit as a share of the mean:
// equal samples are a very narrow distribution, not a division by 0.
const leastSpread = 1e-3

// Fitted is the result of Fit.
type Fitted struct {
	Distribution Distribution
	Distance     float64 // Kolmogorov-Smirnov, 0 to 1
	Samples      int
}

// Fit returns the distribution nearest to the samples, all above 0, among the
// maximum-likelihood fits of the four families. Samples more spread than an
// exponential have no truncated normal. O(n log n).
func Fit(samples []float64) (Fitted, error) {
	if len(samples) == 0 {
		return Fitted{}, ErrNoSamples
	}
	sorted := slices.Clone(samples)
	slices.Sort(sorted)
	if low, high := sorted[0], sorted[len(sorted)-1]; !(low > 0) || math.IsInf(high, 1) {
		return Fitted{}, fmt.Errorf("%w: the range is %v to %v", ErrSample, low, high)
	}
	best := Fitted{Distance: math.Inf(1), Samples: len(samples)}
	for _, d := range candidates(momentsOf(sorted), sorted) {
		if distance := Distance(sorted, d); distance < best.Distance {
			best.Distribution, best.Distance = d, distance
		}
	}
	return best, nil
}

// moments are of samples and of their logarithms.
type moments struct{ mean, sd, logMean, logSD float64 }

func momentsOf(x []float64) moments {
	var m moments
	n := float64(len(x))
	for _, v := range x {
		m.mean += v / n
		m.logMean += math.Log(v) / n
	}
	for _, v := range x {
		m.sd += (v - m.mean) * (v - m.mean) / n
		d := math.Log(v) - m.logMean
		m.logSD += d * d / n
	}
	m.sd = max(math.Sqrt(m.sd), leastSpread*m.mean)
	m.logSD = max(math.Sqrt(m.logSD), leastSpread)
	return m
}

func candidates(m moments, sorted []float64) []Distribution {
	out := []Distribution{
		Exponential{Average: m.mean},
		Lognormal{Mu: m.logMean, Sigma: m.logSD},
		fitWeibull(m, sorted),
	}
	if m.sd < m.mean {
		out = append(out, fitTruncatedNormal(m))
	}
	return out
}

// fitTruncatedNormal matches mean and variance, which for this family is
// maximum likelihood. With α = −μ/σ and h its hazard, mean = σ·(h − α) and
// variance = σ²·(1 − h·(h − α)): the ratio grows with α, and is solved for it.
func fitTruncatedNormal(m moments) TruncatedNormal {
	wanted := m.sd * m.sd / (m.mean * m.mean)
	ratio := func(alpha float64) float64 {
		h := hazard(alpha)
		return (1 - h*(h-alpha)) / ((h - alpha) * (h - alpha))
	}
	alpha := bisect(func(a float64) bool { return ratio(a) < wanted }, -2/leastSpread, farTail)
	sigma := m.mean / (hazard(alpha) - alpha)
	return TruncatedNormal{Mu: -alpha * sigma, Sigma: sigma}
}

// Bounds of a fitted Weibull shape: beyond them it is a step or a power law.
const (
	leastShape = 0.05
	mostShape  = 2 / leastSpread
)

// fitWeibull solves Σxᵏ·ln x/Σxᵏ − 1/k = mean of ln x, whose left side grows
// with k. Samples are divided by the largest, so that no power overflows.
func fitWeibull(m moments, sorted []float64) Weibull {
	top := sorted[len(sorted)-1]
	below := func(k float64) bool {
		var sum, weighted float64
		for _, v := range sorted {
			l := math.Log(v / top)
			p := math.Exp(k * l)
			sum += p
			weighted += p * l
		}
		return weighted/sum-1/k < m.logMean-math.Log(top)
	}
	k := bisect(below, leastShape, mostShape)
	sum := 0.0
	for _, v := range sorted {
		sum += math.Pow(v/top, k)
	}
	return Weibull{Shape: k, Scale: top * math.Pow(sum/float64(len(sorted)), 1/k)}
}

// bisections halve an interval of any use here to below 1e-9 of its width.
const bisections = 40

// bisect returns where below turns from true to false.
func bisect(below func(float64) bool, low, high float64) float64 {
	for range bisections {
		if mid := (low + high) / 2; below(mid) {
			low = mid
		} else {
			high = mid
		}
	}
	return (low + high) / 2
}

// Distance is the Kolmogorov-Smirnov distance max|F − F_n| of ascending samples;
// NaN for none. O(n).
func Distance(sorted []float64, d Distribution) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	n, most := float64(len(sorted)), 0.0
	for i, v := range sorted {
		f := d.CDF(v)
		most = max(most, f-float64(i)/n, float64(i+1)/n-f)
	}
	return most
}
