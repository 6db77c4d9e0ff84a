// Package curve is what the ramp of a profile says of one source: the posterior of the
// performance under every pressure, of the workload and of the kernel, and the scores
// that follow from it.
//
// A profile keeps means and intervals by level, not single visits, so what is said here is
// a little less certain than what the profiling run itself said (stat.FitMeans); every
// score that the run gave is kept. It is what completes profiles from before a wide
// interval was a score, and what predictions from curves start from.
package curve

import (
	"math"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
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

// Measured is what the ramp says of one source and side; false where it says nothing.
func Measured(p *profile.Profile, source interference.Source, side Side) (stat.Response, bool) {
	bound := math.Log1p(-p.SlowdownMax / 100)
	means := levelMeans(p.Ramp, source, side)
	if len(means) == 0 || !(bound < 0) || math.IsInf(bound, 0) {
		return stat.Response{}, false
	}
	return stat.FitMeans(means, Levels, bound), true
}

// leastError of a mean, as a log ratio: windows are not told apart more finely than to a
// thousandth, whatever a ramp claims. (Chosen by us; ratios are kept to four digits.)
const leastError = 1e-3

func levelMeans(ramp []profile.RampPoint, source interference.Source, side Side) []stat.LevelMean {
	var out []stat.LevelMean
	for _, r := range ramp {
		ratio, low, high := r.WorkloadRatio, r.WorkloadLow, r.WorkloadHigh
		if side == Kernel {
			ratio, low, high = r.KernelRatio, r.KernelLow, r.KernelHigh
		}
		level := int(math.Round(r.IntensityPercent / Step))
		if r.Source != source || ratio == nil || low == nil || high == nil || level < 1 || level > Levels {
			continue
		}
		// A standstill has no logarithm; the grid of the fit ends well before this.
		const least = 1e-6
		width := math.Log(max(*high, least)) - math.Log(max(*low, least))
		out = append(out, stat.LevelMean{
			Level: level, Log: math.Log(max(*ratio, least)),
			Error: max(leastError, width/2/stat.Normal95), Count: max(1, r.Pairs),
		})
	}
	return out
}

// Estimate is the score that a curve gives, with its 95 % interval on whole steps: what
// happens between two levels was not measured. Tolerated is the pressure at which the bound
// is lost; caused is 100 less the pressure at which the kernel loses it (Delimitrou 2015,
// chapter 5).
func Estimate(r stat.Response, side Side) interference.Estimate {
	at := Step * r.Crossing(0.5)
	low := Step * math.Floor(r.Crossing((1-confidence)/2))
	high := Step * math.Ceil(r.Crossing((1+confidence)/2))
	if side == Kernel {
		at, low, high = topPercent-at, topPercent-high, topPercent-low
	}
	return interference.Estimate{
		Score: interference.Percent(at), Low: interference.Percent(low), High: interference.Percent(high),
		Origin: interference.Measured,
	}
}

// Complete gives a profile the scores that were left unknown although the ramp shows what was
// measured: before, an interval of more than half of the scale was no score. Other
// unknown scores stay unknown. It returns how many were given.
func Complete(p *profile.Profile) int {
	return completeSide(p, p.Sensitivity.Tolerated, Workload) + completeSide(p, p.Sensitivity.Caused, Kernel)
}

func completeSide(p *profile.Profile, scores interference.Scores, side Side) int {
	given := 0
	for _, source := range sourcesOf(scores) {
		e := scores[source]
		if e.Score.Known() {
			continue
		}
		r, ok := Measured(p, source, side)
		if !ok {
			continue
		}
		note := e.Note
		e = Estimate(r, side)
		e.Note = note
		scores[source] = e
		given++
	}
	return given
}

func sourcesOf(scores interference.Scores) []interference.Source {
	var out []interference.Source
	for s := range scores {
		out = append(out, s)
	}
	return out
}
