package ibench

import (
	"math"
	"slices"
	"time"
)

// How a sweep deals with the machine's other work. A level is measured once in
// each of a number of passes, up and down in turn, so that a drift of the
// machine does not look like a slope; the median counts. Levels that still are
// farther from what is expected, or spread wider, than doubtPercent are
// measured again, up to doubtRounds times.
const (
	sweepPasses  = 3 // of a kernel that runs at each level for its dwell
	probePasses  = 7 // where a level is measured in a third of that
	doubtRounds  = 4
	doubtPercent = 2.5
)

// calibrationBench measures the impact of knobs, as often as time allows.
type calibrationBench struct {
	measure func(knobPercent float64) (impactPercent float64, err error)
	// unit says that impacts count in relation to that of knob 100 in the same
	// pass: the speed of a duty kernel is that of the core, whose clock drifts.
	unit    bool
	step    float64 // percent between the levels of a curve
	passes  int
	dwell   time.Duration // of one measurement, about
	ends    time.Time
	reserve int // measurements to come after this sweep
	// correct multiplies the peak that levels are shares of by a factor; nil
	// where there is none.
	correct func(factor float64)

	top     float64   // impact of the last knob in the last sweep, in percent, unbounded
	spreads []float64 // of the levels of the last sweep measured again, in points
}

// toppedRounds is how often a sweep is made with a corrected peak, and
// toppedLooks how often the top is looked at before the first.
const (
	toppedRounds = 3
	toppedLooks  = 5
)

// topped sweeps all knobs. A peak is first measured in a few moments, and the
// sweep then meets the top often and for longer: where that is another one, the
// levels below were shares of a wrong peak, and are measured again.
func (b *calibrationBench) topped(knobs []float64) (impacts []float64, err error) {
	if b.correct != nil {
		var looks []float64
		for range toppedLooks {
			impact, err := b.measure(100)
			if err != nil {
				return nil, err
			}
			looks = append(looks, impact)
		}
		b.top = median(looks)
		b.corrected()
	}
	for range toppedRounds {
		if impacts, err = b.sweep(knobs, knobs); err != nil {
			return nil, err
		}
		if !b.corrected() || !b.timeFor(len(knobs)) {
			break
		}
	}
	return impacts, nil
}

// corrected corrects the peak where the last top was another one, and reports
// whether it did.
func (b *calibrationBench) corrected() bool {
	if b.correct == nil || b.top <= 0 || math.Abs(b.top-100) <= topPercent {
		return false
	}
	b.correct(b.top / 100)
	return true
}

// topPercent is how far from 100 the top of a sweep may be, in points.
const topPercent = 1

// scatter is by how many points measurements of one level differed in the last
// sweep: three quarters of the levels, and the top, by less. NaN where none was
// measured again.
func (b *calibrationBench) scatter() float64 {
	if len(b.spreads) == 0 {
		return math.NaN()
	}
	top := b.spreads[len(b.spreads)-1]
	sorted := slices.Sorted(slices.Values(b.spreads))
	return max(top, sorted[len(sorted)*3/4])
}

// sweep returns the impacts of the knobs, which should be those expected. Both
// in percent.
func (b *calibrationBench) sweep(knobs, expected []float64) ([]float64, error) {
	runs := make([][]float64, len(knobs))
	upwards := make([]int, len(knobs))
	for i := range upwards {
		upwards[i] = i
	}
	downwards := slices.Clone(upwards)
	slices.Reverse(downwards)
	for pass := range b.passes {
		if pass > 0 && !b.timeFor(len(knobs)) {
			break
		}
		which := upwards
		if pass%2 == 1 {
			which = downwards
		}
		if err := b.pass(knobs, which, runs); err != nil {
			return nil, err
		}
	}
	for range doubtRounds {
		doubtful := b.doubtful(runs, expected)
		if len(doubtful) == 0 || !b.timeFor(len(doubtful)) {
			break
		}
		if err := b.pass(knobs, doubtful, runs); err != nil {
			return nil, err
		}
	}
	b.note(runs)
	return b.impacts(runs), nil
}

// topRepeats is how often a pass measures the top where levels are shares of a
// peak: those below are held to their rate, but the top is as fast as it can.
const topRepeats = 3

// pass measures some of the knobs, the last of them all among them where impacts
// count in relation to it.
func (b *calibrationBench) pass(knobs []float64, which []int, runs [][]float64) error {
	found := make([][]float64, len(which))
	unit := 1.0
	for k, i := range which {
		repeats := 1
		if b.correct != nil && i == len(knobs)-1 {
			repeats = topRepeats
		}
		for range repeats {
			impact, err := b.measure(knobs[i])
			if err != nil {
				return err
			}
			found[k] = append(found[k], impact)
		}
		if top := median(found[k]); b.unit && i == len(knobs)-1 && top > 0 {
			unit = 100 / top
		}
	}
	for k, i := range which {
		for _, impact := range found[k] {
			runs[i] = append(runs[i], unit*impact)
		}
	}
	return nil
}

// note keeps what a sweep says of itself.
func (b *calibrationBench) note(runs [][]float64) {
	b.top = median(runs[len(runs)-1])
	b.spreads = b.spreads[:0]
	for _, r := range runs {
		if len(r) > 1 {
			b.spreads = append(b.spreads, slices.Max(r)-slices.Min(r))
		}
	}
}

// timeFor reports whether that many more measurements fit before the end.
func (b *calibrationBench) timeFor(measurements int) bool {
	return time.Now().Add(time.Duration(measurements+b.reserve) * b.dwell).Before(b.ends)
}

// impacts returns the medians of the runs.
func (b *calibrationBench) impacts(runs [][]float64) []float64 {
	out := make([]float64, len(runs))
	for i := range runs {
		out[i] = min(100, median(runs[i]))
	}
	return out
}

// doubtful returns which levels to measure again, with the last one where
// impacts count in relation to it.
func (b *calibrationBench) doubtful(runs [][]float64, expected []float64) []int {
	var out []int
	for i, impact := range b.impacts(runs) {
		spread := (slices.Max(runs[i]) - slices.Min(runs[i])) / float64(len(runs[i]))
		if math.Abs(impact-expected[i]) > doubtPercent || spread > doubtPercent {
			out = append(out, i)
		}
	}
	if last := len(runs) - 1; b.unit && len(out) > 0 && out[len(out)-1] != last {
		out = append(out, last)
	}
	return out
}
