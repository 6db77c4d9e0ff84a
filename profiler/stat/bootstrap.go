package stat

import (
	"errors"
	"math"
	"math/rand/v2"
)

// ErrDegenerate: all samples are equal, so resampling says nothing.
var ErrDegenerate = errors.New("all samples are equal; the interval has no width")

// minBootstrapSamples: below it, percentile intervals are far too narrow
// (Efron and Tibshirani 1993, §13.3 show it for 10; chosen by us).
const minBootstrapSamples = 10

// Bootstrap estimates statistic(x) with the percentile interval of resamples
// draws with replacement (Efron and Tibshirani 1993, §13.3). It needs no
// distribution, but independent samples, and is too narrow for few of them: a
// warning says so below 10. random makes it repeatable. resamples below 1
// panics. O(resamples · cost of statistic).
func Bootstrap(x []float64, statistic func([]float64) float64, resamples int, confidence float64, random *rand.Rand) Summary {
	if resamples < 1 {
		panic("stat: bootstrap without resamples")
	}
	if len(x) == 0 || hasNaN(x) {
		return empty()
	}
	draws := make([]float64, resamples)
	sample := make([]float64, len(x))
	for i := range draws {
		for j := range sample {
			sample[j] = x[random.IntN(len(x))]
		}
		draws[i] = statistic(sample)
	}
	draws = Sorted(draws)
	tail := (1 - confidence) / 2
	center := statistic(x)
	out := Summary{
		Center:     center,
		Low:        min(center, Quantile(draws, tail)),
		High:       max(center, Quantile(draws, 1-tail)),
		Confidence: confidence,
		N:          len(x),
	}
	if len(x) < minBootstrapSamples {
		out.Warnings = append(out.Warnings, tooFew(len(x), confidence))
	}
	if draws[0] == draws[len(draws)-1] {
		out.Warnings = append(out.Warnings, ErrDegenerate)
	}
	return out
}

// Quantile interpolates linearly between the order statistics of sorted, which
// must be ascending: the value at position q·(n−1) (Hyndman and Fan 1996, type
// 7). NaN for no samples; q is clipped to [0, 1]. O(1).
func Quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	at := min(1, max(0, q)) * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	share := at - float64(i)
	return sorted[i]*(1-share) + sorted[i+1]*share
}
