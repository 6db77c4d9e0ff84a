package production

import (
	"math"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

const (
	levels = profile.LikelihoodLevels
	step   = profile.LikelihoodStepPoints
)

// belief is the probability of each score of the grid. It sums to 1.
type belief [levels]float64

// The part of a belief that is spread over all scores, whatever was estimated: intervals
// are too narrow now and then (chosen by us).
const (
	doubtOfMeasured  = 0.05
	doubtOfPredicted = 0.3
)

// leastDeviation of a score, in points: a measured score is of the 5 % steps of a ramp.
const leastDeviation = 2.5

// beliefOf an estimate: normal on either side of its score, by its interval; all scores are
// alike where there is none. doubt is spread evenly.
func beliefOf(e interference.Estimate, doubt float64) belief {
	score, known := e.Score.Percent()
	low, hasLow := e.Low.Percent()
	high, hasHigh := e.High.Percent()
	if !known || !hasLow || !hasHigh {
		return uniform()
	}
	below, above := max(leastDeviation, (score-low)/1.96), max(leastDeviation, (high-score)/1.96)
	var b belief
	sum := 0.0
	for i := range b {
		x := float64(i)*step - score
		d := above
		if x < 0 {
			d = below
		}
		b[i] = math.Exp(-x * x / (2 * d * d))
		sum += b[i]
	}
	for i := range b {
		b[i] = (1-doubt)*b[i]/sum + doubt/levels
	}
	return b
}

func uniform() belief {
	var b belief
	for i := range b {
		b[i] = 1.0 / levels
	}
	return b
}

// prior of a score as the engine knows it. What a profile says that is not trusted any more
// counts as little as a prediction.
func prior(e interference.Estimate, distrusted bool) belief {
	if e.Origin == interference.Measured && !distrusted {
		return beliefOf(e, doubtOfMeasured)
	}
	return beliefOf(e, doubtOfPredicted)
}

// given is the belief after what was observed.
func (b belief) given(l profile.Likelihood) belief {
	observed(b[:], l)
	return b
}

// observed multiplies probabilities by a likelihood.
func observed(p []float64, l profile.Likelihood) {
	for _, logs := range [][]float64{l.Own, l.Foreign} {
		if len(logs) != len(p) {
			continue
		}
		sum := 0.0
		for i := range p {
			p[i] *= math.Exp(logs[i])
			sum += p[i]
		}
		for i := range p {
			p[i] /= sum // a likelihood is bounded, so the sum is above 0
		}
	}
}

const responses = profile.LikelihoodResponses

// response is the belief of how a workload responds to a source: the probability of each
// tolerated score with each share kept under full pressure (predict.SharesAtFullPressure).
type response [levels * responses]float64

// chances of the shares at full pressure where nothing is known (chosen by us).
var chances = [responses]float64{0.1, 0.2, 0.4, 0.2, 0.1}

func responseOf(tolerated belief) (r response) {
	for i := range r {
		r[i] = tolerated[i/responses] * chances[i%responses]
	}
	return r
}

func (r response) given(l profile.Likelihood) response {
	observed(r[:], l)
	return r
}

// tolerated score, whatever is kept under full pressure.
func (r response) tolerated() (b belief) {
	for i, p := range r {
		b[i/responses] += p
	}
	return b
}

// quantile of the belief, in points: probability is even within half a step of a score.
func (b belief) quantile(p float64) float64 {
	sum := 0.0
	for i, v := range b {
		if sum+v >= p && v > 0 {
			return min(100, max(0, (float64(i)-0.5+(p-sum)/v)*step))
		}
		sum += v
	}
	return 100
}

// interval holds 95 %, widened to whole steps.
func (b belief) interval() (low, high float64) {
	return math.Floor(b.quantile(0.025)/step) * step, math.Ceil(b.quantile(0.975)/step) * step
}

// within is the interval as an estimate has it.
func (b belief) within() interference.Range {
	low, high := b.interval()
	return interference.Range{Low: interference.Percent(low), High: interference.Percent(high)}
}
