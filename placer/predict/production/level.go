package production

import (
	"fmt"
	"math"

	"github.com/nomad-placer/nomad-placer/placer/predict"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// Level is the likelihood of the performance in isolation by an experiment.
type Level profile.Level

func (l Level) times(weight float64) Level {
	return Level{Precision: weight * l.Precision, Shift: weight * l.Shift}
}

// gaussian is a belief of the logarithm of the performance in isolation, by that of the
// profile.
type gaussian struct{ mean, deviation float64 }

// levelOf combines the profile's interval with what was observed.
func levelOf(e Evidence, said *profile.Production) gaussian {
	precision := 1 / (e.Isolated * e.Isolated)
	if said == nil {
		return gaussian{0, e.Isolated}
	}
	l := said.Levels[e.Configuration]
	return gaussian{l.Shift / (precision + l.Precision), 1 / math.Sqrt(precision+l.Precision)}
}

// each calls f with some levels and their probabilities.
func (g gaussian) each(f func(level, p float64)) {
	sum := 0.0
	at := func(i int) float64 {
		return deviationsOfALevel * (2*float64(i)/(pointsOfTheLevel-1) - 1)
	}
	for i := range pointsOfTheLevel {
		sum += math.Exp(-at(i) * at(i) / 2)
	}
	for i := range pointsOfTheLevel {
		f(g.mean+at(i)*g.deviation, math.Exp(-at(i)*at(i)/2)/sum)
	}
}

// likelihoodOf what was achieved, by the share kept.
func likelihoodOf(e Evidence, noise float64, level gaussian) (out [bins]float64) {
	for s := range out {
		level.each(func(l, p float64) { out[s] += p * e.given(shareAt(s)*math.Exp(l), noise) })
	}
	return out
}

func shareAt(bin int) float64 { return float64(bin) / (bins - 1) }

// given is the probability of what was achieved if expected was to be.
func (e Evidence) given(expected, noise float64) float64 {
	if e.AtLeast {
		return outliers + (1-outliers)*below((expected-e.Ratio)/noise)
	}
	z := (e.Ratio - expected) / noise
	return outliers/mostShare + (1-outliers)*math.Exp(-z*z/2)/(noise*math.Sqrt(2*math.Pi))
}

// below is the standard normal distribution.
func below(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }

// narrowed is what the experiment says of the level: the likelihood that would make the
// same change of mean and deviation. It is not below nothing.
func narrowed(e Evidence, noise float64, level gaussian, shares [bins]float64) Level {
	sum, mean, square := 0.0, 0.0, 0.0
	level.each(func(l, p float64) {
		given := 0.0
		for s, ps := range shares {
			if ps > 0 {
				given += ps * e.given(shareAt(s)*math.Exp(l), noise)
			}
		}
		sum, mean, square = sum+p*given, mean+p*given*l, square+p*given*l*l
	})
	mean /= sum
	variance := square/sum - mean*mean
	before := gridVariance(level)
	if !(variance > 0) || variance >= before {
		return Level{}
	}
	precision := 1/variance - 1/before
	return Level{Precision: precision, Shift: mean/variance - level.mean/before}
}

// gridVariance is that of the points by which a Gaussian is approximated.
func gridVariance(g gaussian) float64 {
	mean, square := 0.0, 0.0
	g.each(func(l, p float64) { mean, square = mean+p*l, square+p*l*l })
	return square - mean*mean
}

// summary of what is predicted to be achieved.
func summary(shares [bins]float64, level gaussian) predict.Share {
	at := func(p float64) float64 { return shareQuantile(&shares, p) }
	return predict.Share{
		Value: at(0.5) * math.Exp(level.mean), Low: at(0.025) * math.Exp(level.mean-1.96*level.deviation),
		High: at(0.975) * math.Exp(level.mean+1.96*level.deviation),
	}
}

func shareQuantile(shares *[bins]float64, p float64) float64 {
	sum := 0.0
	for s, v := range shares {
		if sum += v; sum >= p {
			return shareAt(s)
		}
	}
	return 1
}

func binOf(share float64) uint8 { return uint8(math.Round(min(1, max(0, share)) * (bins - 1))) }

// Check refuses what is no measurement.
func (e Evidence) Check() error {
	for what, v := range map[string]struct{ value, low, high float64 }{
		"share achieved":                     {e.Ratio, 0, mostRatio},
		"noise of the share":                 {e.Noise, 0, mostRatio},
		"deviation of the isolated measure":  {e.Isolated, leastIsolated, mostIsolated},
		"number of earlier experiments here": {float64(e.Earlier), 0, math.MaxInt32},
	} {
		if !(v.value >= v.low && v.value <= v.high) {
			return fmt.Errorf("%s: %v is not from %v to %v", what, v.value, v.low, v.high)
		}
	}
	return nil
}

// mostRatio bounds what can be a share: a workload that does a hundred times what it does in
// isolation is measured wrong.
const mostRatio = 100
