package chart

import (
	"math"
	"strconv"
)

// Axis is one axis of a chart.
type Axis struct {
	Title     string                 // with the unit
	Low, High float64                // both 0: as the values need
	Tight     bool                   // from the least value to the greatest, not from 0 to a round number
	Log       bool                   // values that a logarithm does not have are drawn at the lower end
	Ticks     []float64              // nil: round numbers; empty: none
	Text      func(v float64) string // of a tick; nil: Number
}

// intervals is into about how many parts ticks divide an axis.
const intervals = 5

// fit completes what the axis leaves open for these values.
func (a Axis) fit(values []float64) Axis {
	if a.Low == 0 && a.High == 0 {
		a.Low, a.High = a.reach(values)
	}
	if a.Ticks == nil {
		a.Ticks = a.ticks()
	}
	if a.Text == nil {
		a.Text = Number
	}
	return a
}

// reach is from where to where an axis of these values goes.
func (a Axis) reach(values []float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if finite(v) && (!a.Log || v > 0) {
			low, high = min(low, v), max(high, v)
		}
	}
	if low > high {
		low, high = 1, 1
	}
	if !a.Tight && !a.Log {
		low = min(0, low)
	}
	if low == high {
		high = low + 1
	}
	if a.Tight || a.Log {
		return low, high
	}
	step := roundStep((high - low) / intervals)
	return math.Floor(low/step) * step, math.Ceil(high/step-1e-9) * step
}

// ticks are round numbers on the axis.
func (a Axis) ticks() []float64 {
	if a.Log {
		return a.logTicks()
	}
	var out []float64
	step := roundStep((a.High - a.Low) / intervals)
	for i := int(math.Ceil(a.Low/step - 1e-9)); float64(i)*step <= a.High+1e-9*step; i++ {
		out = append(out, float64(i)*step)
	}
	return out
}

// logTicks are the powers of ten on the axis, and twice and five times them
// where there are few; its ends where it holds none.
func (a Axis) logTicks() []float64 {
	factors := []float64{1}
	if a.High/a.Low < 1000 {
		factors = []float64{1, 2, 5}
	}
	var out []float64
	for power := math.Floor(math.Log10(a.Low)); power <= math.Log10(a.High); power++ {
		for _, f := range factors {
			if v := f * math.Pow(10, power); v >= a.Low*(1-1e-9) && v <= a.High*(1+1e-9) {
				out = append(out, v)
			}
		}
	}
	if len(out) < 2 {
		return []float64{a.Low, a.High}
	}
	return out
}

// roundStep is the least of 1, 2, 2.5 and 5 times a power of ten that is not
// below v.
func roundStep(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 2.5, 5} {
		if v <= m*power*(1+1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// scale maps the values of an axis to pixels. What is outside is at the edge.
type scale struct {
	axis     Axis
	from, to float64
}

func (s scale) at(v float64) float64 {
	low, high := s.axis.Low, s.axis.High
	if s.axis.Log {
		low, high, v = math.Log(low), math.Log(high), math.Log(max(v, low))
	}
	if high <= low {
		return s.from
	}
	return s.from + (s.to-s.from)*min(1, max(0, (v-low)/(high-low)))
}

// Number writes a number with four digits that count, without an exponent where
// it stays readable.
func Number(v float64) string {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 4, 64), 64)
	switch {
	case err != nil || rounded == 0:
		return "0"
	case math.Abs(rounded) >= 1e-4 && math.Abs(rounded) < 1e7:
		return strconv.FormatFloat(rounded, 'f', -1, 64)
	default:
		return strconv.FormatFloat(rounded, 'g', -1, 64)
	}
}
