// Package curve is what the ramp of a profile says of one source: the posterior of the
// performance under every pressure, of the workload and of the kernel, and the scores
// that follow from it.
//
// A profile keeps means and intervals by level, not single visits, so what is said here is
// a little less certain than what the profiling run itself said (stat.FitMeans). No ramp
// says nothing: a large loss at full pressure says much of where a loss of 5 % begins, and
// an interval of three quarters of the scale is still narrower than the scale.
//
// Scores of different workloads are compared at one bound, Bound, and what is believed of a
// score before is believed at that bound (Given); the score at any other bound follows from
// the same curve.
package curve

import (
	"maps"
	"math"
	"sync"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/stat"
)

// Step is the distance of two levels of pressure in points, and Levels how many there are
// above none.
const (
	Step   = 5
	Levels = topPercent / Step
)

const topPercent = 100

// Bound is the slowdown in percent at which scores of different workloads are compared.
const Bound = performance.DefaultSlowdownMaxPercent

// confidence is that of every interval in a profile.
const confidence = 0.95

// Side is whose performance a curve is of.
type Side int

// The workload under the pressure of a kernel, which gives the tolerated score, and the
// kernel next to the workload, which gives the caused one.
const (
	Workload Side = iota
	Kernel
)

// Curve is what is known of one source and side. It is not written to.
type Curve struct {
	side      Side
	means     []stat.LevelMean
	crossings []float64 // probability of where Bound is lost, as stat.Response.Crossings
	believed  []float64 // factors that are part of crossings; nil: none
}

// Measured is what the ramp says of one source and side; false where it says nothing.
func Measured(ramp []profile.RampPoint, source interference.Source, side Side) (Curve, bool) {
	means := levelMeans(ramp, source, side)
	if len(means) == 0 {
		return Curve{}, false
	}
	return Curve{side: side, means: means, crossings: fit(means, nil).Crossings()}, true
}

// Unmeasured is the curve of a side that nothing was measured of.
func Unmeasured(side Side) Curve { return Curve{side: side, crossings: known().crossings} }

func fit(means []stat.LevelMean, believed []float64) stat.Response {
	return stat.FitMeans(means, Levels, logOf(Bound), believed)
}

// logOf a slowdown in percent.
func logOf(bound float64) float64 { return math.Log1p(-bound / 100) }

// BoundOf is the bound that a profile's scores are of.
func BoundOf(p *profile.Profile) float64 {
	if p.SlowdownMax > 0 && p.SlowdownMax < 100 {
		return p.SlowdownMax
	}
	return Bound
}

// leastError of a mean, as a log ratio: windows are not told apart more finely than to a
// thousandth, whatever a ramp claims. (Chosen by us; ratios are kept to four digits.)
const leastError = 1e-3

// mostCount of ratios in a mean: more make it no more certain than its error says, and a ramp
// may claim any number.
const mostCount = 1000

func levelMeans(ramp []profile.RampPoint, source interference.Source, side Side) []stat.LevelMean {
	var out []stat.LevelMean
	for _, r := range ramp {
		ratio, low, high := r.WorkloadRatio, r.WorkloadLow, r.WorkloadHigh
		if side == Kernel {
			ratio, low, high = r.KernelRatio, r.KernelLow, r.KernelHigh
		}
		level := math.Round(r.IntensityPercent / Step)
		if r.Source != source || !(level >= 1 && level <= Levels) || !ordered(low, ratio, high) {
			continue
		}
		// A standstill has no logarithm; the grid of the fit ends well before this.
		const least = 1e-6
		width := math.Log(max(*high, least)) - math.Log(max(*low, least))
		out = append(out, stat.LevelMean{
			Level: int(level), Log: math.Log(max(*ratio, least)),
			Error: max(leastError, width/2/stat.Normal95), Count: min(max(1, r.Pairs), mostCount),
		})
	}
	return out
}

// ordered reports whether a ratio has an interval, and all of it are finite.
func ordered(low, ratio, high *float64) bool {
	if low == nil || ratio == nil || high == nil {
		return false
	}
	return *low <= *high && !math.IsInf(*low, 0) && !math.IsInf(*high, 0) && !math.IsNaN(*ratio) && !math.IsInf(*ratio, 0)
}

// Tells reports whether a point of a ramp says something: one ratio of it has an interval.
func Tells(r profile.RampPoint) bool {
	return ordered(r.WorkloadLow, r.WorkloadRatio, r.WorkloadHigh) || ordered(r.KernelLow, r.KernelRatio, r.KernelHigh)
}

// doubt is how much of a belief is taken back: others may be unlike this workload in a way
// that nobody has seen, so that what was measured prevails where the two are far apart
// (chosen by us).
const doubt = 0.05

// Given is the curve with what is believed of its score without it, as a normal distribution
// with a mean and a deviation in points. What it was given before is forgotten.
func (c Curve) Given(mean, deviation float64) Curve {
	out := Curve{side: c.side, means: c.means, believed: make([]float64, Levels+1), crossings: make([]float64, Levels+1)}
	nothing, total := known().crossings, 0.0
	for j := range out.believed {
		low, high := c.scores(j)
		share := normal((high-mean)/deviation) - normal((low-mean)/deviation)
		out.believed[j] = (1-doubt)*share/nothing[j] + doubt
		out.crossings[j] = c.crossings[j] * out.believed[j]
		if c.believed != nil {
			out.crossings[j] /= c.believed[j]
		}
		total += out.crossings[j]
	}
	for j := range out.crossings {
		out.crossings[j] /= total
	}
	return out
}

// scores that a crossing stands for; all that is beyond the last half step is one that never is
// lost.
func (c Curve) scores(j int) (low, high float64) {
	low, high = float64(Step*j), float64(Step*(j+1))
	switch j {
	case 0:
		low = math.Inf(-1)
	case Levels - 1:
		high -= Step / 2.0
	case Levels:
		low, high = low-Step/2.0, math.Inf(1)
	}
	if c.side == Kernel {
		return topPercent - high, topPercent - low
	}
	return low, high
}

func normal(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }

// nothing is what is known of a crossing before anything is measured: where stat.FitMeans
// starts from.
type nothing struct {
	crossings      []float64
	mean, variance float64 // of the crossing, in points
}

var known = sync.OnceValue(func() nothing {
	n := nothing{crossings: fit(nil, nil).Crossings()}
	n.mean, n.variance = moments(n.crossings)
	return n
})

// moments of a crossing in points: of even probability between two levels.
func moments(crossings []float64) (mean, variance float64) {
	square := 0.0
	for j, p := range crossings {
		at, own := Step*(float64(j)+0.5), Step*Step/12.0
		if j == Levels {
			at = topPercent
		}
		mean, square = mean+p*at, square+p*(at*at+own)
	}
	return mean, max(0, square-mean*mean)
}

// Evidence is the normal distribution of the score, in points, that says next to other
// knowledge what the curve says by itself; false where it says as good as nothing.
func (c Curve) Evidence() (points, deviation float64, ok bool) {
	mean, variance := moments(c.crossings)
	if points, deviation, ok = WithoutPrior(mean, variance); ok && c.side == Kernel {
		points = topPercent - points
	}
	return points, deviation, ok
}

// EvidenceOf is Evidence of a score that has an interval and no curve, its own halves on
// either side (the split normal distribution; Wallis 2014, §2). A deviation of 0 is a score
// without an interval, which is taken as it is.
func EvidenceOf(e interference.Estimate, side Side) (points, deviation float64, ok bool) {
	at, known := e.Score.Percent()
	if !known {
		return 0, 0, false
	}
	low, hasLow := e.Low.Percent()
	high, hasHigh := e.High.Percent()
	if !hasLow || !hasHigh {
		return at, 0, true
	}
	if side == Kernel {
		at, low, high = topPercent-at, topPercent-high, topPercent-low
	}
	below, above := max(0, at-low)/stat.Normal95, max(0, high-at)/stat.Normal95
	mean := at + math.Sqrt(2/math.Pi)*(above-below)
	variance := (1-2/math.Pi)*(above-below)*(above-below) + above*below
	points, deviation, ok = WithoutPrior(mean, variance)
	if side == Kernel {
		points = topPercent - points
	}
	return points, deviation, ok
}

// leastTold is the share by which the variance of a crossing must be less than that of one of
// which nothing is known, to say anything (chosen by us).
const leastTold = 0.02

// WithoutPrior takes out of a crossing's mean and variance, in points, what is believed of
// any crossing before it is measured; precisions subtract. False where nothing is left.
func WithoutPrior(mean, variance float64) (points, deviation float64, ok bool) {
	prior := known()
	if !(variance < (1-leastTold)*prior.variance) {
		return 0, 0, false
	}
	variance = max(variance, leastVariance)
	precision := 1/variance - 1/prior.variance
	points = (mean/variance - prior.mean/prior.variance) / precision
	return min(topPercent, max(0, points)), 1 / math.Sqrt(precision), true
}

// leastVariance of a score: where between two levels the bound is lost is not measured.
const leastVariance = Step * Step / 12.0

// Estimate is the score that the curve gives at a bound in percent, with its 95 % interval.
// Tolerated is the pressure at which the bound is lost; caused is 100 less the pressure at
// which the kernel loses it (Delimitrou 2015, chapter 5).
func (c Curve) Estimate(bound float64) interference.Estimate {
	quantile := func(q float64) float64 { return Step * crossing(c.crossings, q) }
	if bound != Bound {
		response := fit(c.means, c.believed)
		quantile = func(q float64) float64 { return Step * response.CrossingOf(logOf(bound), q) }
	}
	at, low, high := quantile(0.5), quantile((1-confidence)/2), quantile((1+confidence)/2)
	if c.side == Kernel {
		at, low, high = topPercent-at, topPercent-high, topPercent-low
	}
	return interference.Estimate{
		Score: interference.Percent(at), Low: interference.Percent(low), High: interference.Percent(high),
		Origin: interference.Measured,
	}
}

// crossing is the q-quantile in levels.
func crossing(crossings []float64, q float64) float64 {
	sum := 0.0
	for j, p := range crossings[:Levels] {
		if sum+p > q {
			return float64(j) + (q-sum)/p
		}
		sum += p
	}
	return Levels
}

// OnGrid widens the interval of a score to whole steps, as a profiling run does: what
// happens between two levels was not measured.
func OnGrid(e interference.Estimate) interference.Estimate {
	low, known := e.Low.Percent()
	high, also := e.High.Percent()
	if known && also {
		e.Low, e.High = interference.Percent(Step*math.Floor(low/Step)), interference.Percent(Step*math.Ceil(high/Step))
	}
	return e
}

// Points is the curve as the ramp of a profile: at every level the median share that is
// kept, with the interval that holds 95 %.
func (c Curve) Points(source interference.Source) []profile.RampPoint {
	response := fit(c.means, c.believed)
	out := make([]profile.RampPoint, 0, Levels)
	for level := 1; level <= Levels; level++ {
		at := func(q float64) *float64 {
			v := math.Exp(response.Quantile(level, q))
			return &v
		}
		p := profile.RampPoint{Source: source, IntensityPercent: Step * float64(level), AchievedPercent: topPercent, Placement: Modelled}
		value, low, high := at(0.5), at((1-confidence)/2), at((1+confidence)/2)
		if c.side == Workload {
			p.WorkloadRatio, p.WorkloadLow, p.WorkloadHigh = value, low, high
		} else {
			p.KernelRatio, p.KernelLow, p.KernelHigh = value, low, high
		}
		out = append(out, p)
	}
	return out
}

// Modelled is the placement of a ramp's points that are not single measurements.
const Modelled = "curve"

// Completed is a profile with the scores that were left unknown although the ramp shows what
// was measured: a profiling run calls no interval of more than half of the scale a score. Other
// unknown scores stay unknown.
func Completed(p profile.Profile) profile.Profile {
	p.Sensitivity.Tolerated = completed(p, p.Sensitivity.Tolerated, Workload)
	p.Sensitivity.Caused = completed(p, p.Sensitivity.Caused, Kernel)
	return p
}

func completed(p profile.Profile, scores interference.Scores, side Side) interference.Scores {
	out := maps.Clone(scores)
	for source, e := range scores {
		if e.Score.Known() {
			continue
		}
		if c, ok := Measured(p.Ramp, source, side); ok {
			given := OnGrid(c.Estimate(BoundOf(&p)))
			given.Note = e.Note
			out[source] = given
		}
	}
	return out
}
