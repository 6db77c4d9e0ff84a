package dist

import "math"

// Distribution is of a duration above 0.
type Distribution interface {
	Name() string
	Mean() float64
	// CDF is P(X ≤ x), 0 for x ≤ 0.
	CDF(x float64) float64
	// LogSurvival is ln P(X > x), also where 1 − CDF would be 0 in floats.
	LogSurvival(x float64) float64
}

// Exponential has no memory: its age says nothing.
type Exponential struct{ Average float64 }

// Name implements Distribution, as do the following methods.
func (Exponential) Name() string                    { return "exponential" }
func (d Exponential) Mean() float64                 { return d.Average }
func (d Exponential) CDF(x float64) float64         { return -math.Expm1(d.LogSurvival(x)) }
func (d Exponential) LogSurvival(x float64) float64 { return -max(0, x) / d.Average }

// Weibull has a hazard that grows (Shape > 1) or falls (< 1) with age:
// S = exp(−(x/Scale)^Shape).
type Weibull struct{ Shape, Scale float64 }

// Name implements Distribution, as do the following methods.
func (Weibull) Name() string            { return "Weibull" }
func (d Weibull) Mean() float64         { return d.Scale * math.Gamma(1+1/d.Shape) }
func (d Weibull) CDF(x float64) float64 { return -math.Expm1(d.LogSurvival(x)) }
func (d Weibull) LogSurvival(x float64) float64 {
	return -math.Pow(max(0, x)/d.Scale, d.Shape)
}

// Lognormal is X where ln X is normal with mean Mu and standard deviation Sigma > 0.
type Lognormal struct{ Mu, Sigma float64 }

// Name implements Distribution, as do the following methods.
func (Lognormal) Name() string            { return "lognormal" }
func (d Lognormal) Mean() float64         { return math.Exp(d.Mu + d.Sigma*d.Sigma/2) }
func (d Lognormal) CDF(x float64) float64 { return -math.Expm1(d.LogSurvival(x)) }
func (d Lognormal) LogSurvival(x float64) float64 {
	if x <= 0 {
		return 0
	}
	return logUpperTail((math.Log(x) - d.Mu) / d.Sigma)
}

// TruncatedNormal is a normal distribution given that X > 0; Sigma > 0.
type TruncatedNormal struct{ Mu, Sigma float64 }

// Name implements Distribution, as do the following methods.
func (TruncatedNormal) Name() string { return "normal" }
func (d TruncatedNormal) Mean() float64 {
	return d.Mu + d.Sigma*hazard(-d.Mu/d.Sigma)
}
func (d TruncatedNormal) CDF(x float64) float64 { return -math.Expm1(d.LogSurvival(x)) }
func (d TruncatedNormal) LogSurvival(x float64) float64 {
	return logUpperTail((max(0, x)-d.Mu)/d.Sigma) - logUpperTail(-d.Mu/d.Sigma)
}

// farTail is where the asymptotic series of the normal tail is exact to 1e-9.
const farTail = 30

// logUpperTail is ln P(Z > z) of a standard normal, for any z.
func logUpperTail(z float64) float64 {
	if z < farTail {
		return math.Log(math.Erfc(z/math.Sqrt2) / 2)
	}
	s := 1 / (z * z)
	return -z*z/2 - math.Log(z*math.Sqrt(2*math.Pi)) + math.Log1p(-s+3*s*s)
}

// hazard is φ(z)/P(Z > z).
func hazard(z float64) float64 {
	return math.Exp(-z*z/2-logUpperTail(z)) / math.Sqrt(2*math.Pi)
}

// normalCDF is P(Z ≤ z) of a standard normal.
func normalCDF(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }
