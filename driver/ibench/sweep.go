package ibench

import (
	"math"
	"slices"
	"time"
)

// How a sweep deals with the machine's other work. A level is measured once in
// each of up to sweepPasses passes, up and down in turn, so that a drift of the
// machine does not look like a slope; the median counts. Levels that still are
// farther from what is expected, or spread wider, than doubtPercent are
// measured again, up to doubtRounds times.
const (
	sweepPasses  = 3
	doubtRounds  = 4
	doubtPercent = 2.5
)

// calibrationBench measures the impact of knobs, as often as time allows.
type calibrationBench struct {
	measure func(knobPercent float64) (impactPercent float64, err error)
	// unit says that impacts count in relation to that of knob 100: the speed of
	// a duty kernel is that of the core, whose clock drifts.
	unit    bool
	dwell   time.Duration // of one measurement, about
	ends    time.Time
	reserve int // measurements to come after this sweep
}

// sweep returns the impacts of the knobs, which should be those expected. Both
// in percent.
func (b *calibrationBench) sweep(knobs, expected []float64) ([]float64, error) {
	runs := make([][]float64, len(knobs))
	add := func(i int) error {
		impact, err := b.measure(knobs[i])
		runs[i] = append(runs[i], impact)
		return err
	}
	for pass := range sweepPasses {
		if pass > 0 && !b.timeFor(len(knobs)) {
			break
		}
		for i := range knobs {
			if pass%2 == 1 {
				i = len(knobs) - 1 - i
			}
			if err := add(i); err != nil {
				return nil, err
			}
		}
	}
	for range doubtRounds {
		doubtful := b.doubtful(runs, expected)
		if len(doubtful) == 0 || !b.timeFor(len(doubtful)) {
			break
		}
		for _, i := range doubtful {
			if err := add(i); err != nil {
				return nil, err
			}
		}
	}
	return b.impacts(runs), nil
}

// timeFor reports whether that many more measurements fit before the end.
func (b *calibrationBench) timeFor(measurements int) bool {
	return time.Now().Add(time.Duration(measurements+b.reserve) * (b.dwell + settleDwell)).Before(b.ends)
}

// impacts returns the medians of the runs. The last one is that of knob 100.
func (b *calibrationBench) impacts(runs [][]float64) []float64 {
	out := make([]float64, len(runs))
	for i := range runs {
		out[i] = median(runs[i])
	}
	scale := 1.0
	if top := out[len(out)-1]; b.unit && top > 0 {
		scale = 100 / top
	}
	for i := range out {
		out[i] = min(100, out[i]*scale)
	}
	return out
}

// doubtful returns which levels to measure again.
func (b *calibrationBench) doubtful(runs [][]float64, expected []float64) []int {
	var out []int
	for i, impact := range b.impacts(runs) {
		spread := (slices.Max(runs[i]) - slices.Min(runs[i])) / float64(len(runs[i]))
		if math.Abs(impact-expected[i]) > doubtPercent || spread > doubtPercent {
			out = append(out, i)
		}
	}
	return out
}
