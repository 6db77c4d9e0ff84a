package trace

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
)

// Distribution gives positive numbers: seconds, cores, bytes or tasks.
type Distribution interface {
	// Draw gives one number.
	Draw(random *rand.Rand) float64
	// Check tells what is wrong with the parameters.
	Check() error
}

// ErrDistribution: a distribution has parameters it cannot be drawn with.
var ErrDistribution = errors.New("bad distribution")

// Fixed is always the same number.
type Fixed float64

// Draw gives it.
func (f Fixed) Draw(*rand.Rand) float64 { return float64(f) }

// Check wants a number, 0 or above.
func (f Fixed) Check() error {
	if !(f >= 0) || math.IsInf(float64(f), 0) {
		return fmt.Errorf("%w: fixed %v", ErrDistribution, float64(f))
	}
	return nil
}

// LogUniform has an evenly distributed logarithm: as many between 1 and 10
// minutes as between 10 and 100. It is what "minutes to hours" is read as.
type LogUniform struct{ Low, High float64 }

// Draw gives a number of the range.
func (l LogUniform) Draw(random *rand.Rand) float64 {
	return l.Low * math.Pow(l.High/l.Low, random.Float64())
}

// Check wants an ascending range above 0.
func (l LogUniform) Check() error {
	if !(l.Low > 0 && l.High >= l.Low) || math.IsInf(l.High, 0) {
		return fmt.Errorf("%w: log-uniform from %v to %v", ErrDistribution, l.Low, l.High)
	}
	return nil
}

// LogNormal has a normally distributed logarithm, of standard deviation Sigma.
// Numbers above Most, if that is set, are drawn again.
type LogNormal struct{ Median, Sigma, Most float64 }

// Draw gives a number.
func (l LogNormal) Draw(random *rand.Rand) float64 {
	for {
		if v := l.Median * math.Exp(l.Sigma*random.NormFloat64()); l.Most == 0 || v <= l.Most {
			return v
		}
	}
}

// Check wants a median above 0 that is not above Most, so that at least every
// second number is taken.
func (l LogNormal) Check() error {
	if !(l.Median > 0 && l.Sigma >= 0) || math.IsInf(l.Median*l.Sigma, 0) || (l.Most != 0 && !(l.Most >= l.Median)) {
		return fmt.Errorf("%w: lognormal of median %v, sigma %v, at most %v", ErrDistribution, l.Median, l.Sigma, l.Most)
	}
	return nil
}
