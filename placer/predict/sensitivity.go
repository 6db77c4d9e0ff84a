package predict

import (
	"cmp"
	"math"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// The share kept under full pressure where it was never measured: the point
// value and the range seen among applications (iBench §2.9, .1 to .9).
const (
	fullPressureShare     = 0.5
	fullPressureShareLow  = 0.1
	fullPressureShareHigh = 0.9
)

// Curves are how much of its performance a workload keeps under pressure, source by
// source. They may be used concurrently.
type Curves struct {
	columns []interference.Source
	at      []curve
}

// Prepare compiles what is known of a workload. slowdownPercent is the QoS bound that
// its scores were measured at.
func Prepare(k *cluster.Knowledge, columns []interference.Source, slowdownPercent float64) *Curves {
	p := &Curves{columns: columns, at: make([]curve, len(columns))}
	for i, s := range columns {
		p.at[i] = curveOf(k, s, slowdownPercent/100)
	}
	return p
}

// Kept is the share that Curves give of a workload of which only the tolerated scores
// are known, under a pressure: both by column, in percent and without NaN. slowdown is the QoS bound as a share. More than full pressure
// is full pressure, as in the papers whose policies ask.
func Kept(tolerated, pressure []float64, slowdown float64) float64 {
	kept := 1.0
	for k, x := range pressure {
		if x > 0 {
			kept = min(kept, response(min(100, x), tolerated[k], slowdown, fullPressureShare))
		}
	}
	return kept
}

// Share under pressure[k] percent on column k: the scarcest source decides.
func (p *Curves) Share(pressure []float64) Share {
	all := Share{Value: 1, Low: 1, High: 1, Known: true}
	pressed, known, worst := 0, 0, 1.0
	for i, x := range pressure {
		if !(x > 0) {
			continue
		}
		pressed++
		if !p.at[i].known() {
			// Whatever it does, it was not measured: only the lower bound moves.
			all.Low = min(all.Low, fullPressureShareLow)
			continue
		}
		known++
		one := p.at[i].under(x)
		if one.Value < worst {
			worst, all.Source = one.Value, p.columns[i]
		}
		all.Value, all.Low, all.High = min(all.Value, one.Value), min(all.Low, one.Low), min(all.High, one.High)
	}
	all.Known = pressed == 0 || known > 0
	return all
}

// curve is a piecewise-linear measured response, or the two-part formula.
type curve struct {
	points    []point // ascending x, from (0, 1); nil: use the formula
	tolerated [3]float64
	slowdown  float64
	dutyCycle float64 // part of the time in isolation that co-runners stretch; 0: unknown, or not shared by time
}

// point is the share kept at a pressure, with its interval.
type point struct{ x, value, low, high float64 }

// indexes into curve.tolerated
const (
	atValue = iota
	atLow   // the low bound of the tolerated score: the pessimistic curve
	atHigh
)

func curveOf(k *cluster.Knowledge, s interference.Source, slowdown float64) curve {
	e := k.Sensitivity.Tolerated[s]
	t, _ := e.Score.Percent()
	c := curve{
		points:    measuredPoints(k.Ramp, s),
		tolerated: [3]float64{t, e.Low.Or(t), e.High.Or(t)},
		slowdown:  slowdown,
	}
	if interference.TimeShared(s) {
		c.dutyCycle = k.DutyCycle
	}
	return c
}

func (c curve) known() bool { return c.points != nil || !math.IsNaN(c.tolerated[atValue]) }

// measuredPoints is the ramp of a source as a curve that never rises: noise may
// not make more pressure look better. Nil without a measured level.
func measuredPoints(ramp []profile.RampPoint, s interference.Source) []point {
	points := []point{{0, 1, 1, 1}}
	for _, r := range ramp {
		if r.Source != s || r.WorkloadRatio == nil || !(r.IntensityPercent > 0) || !finite(*r.WorkloadRatio) {
			continue
		}
		p := point{x: r.IntensityPercent, value: *r.WorkloadRatio}
		p.low, p.high = orElse(r.WorkloadLow, p.value), orElse(r.WorkloadHigh, p.value)
		points = append(points, p)
	}
	if len(points) == 1 {
		return nil
	}
	slices.SortStableFunc(points, func(a, b point) int { return cmp.Compare(a.x, b.x) })
	for i := 1; i < len(points); i++ {
		before := points[i-1]
		points[i].value = min(before.value, clip(points[i].value))
		points[i].low = min(before.low, clip(points[i].low), points[i].value)
		points[i].high = max(min(before.high, clip(points[i].high)), points[i].value)
	}
	return points
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

func orElse(v *float64, fallback float64) float64 {
	if v == nil || !finite(*v) {
		return fallback
	}
	return *v
}

func clip(v float64) float64 { return min(1, max(0, v)) }

// under any pressure: more than full pressure is that of several co-runners that each
// exert all of it, among which the source is shared alike. Where one of them leaves s, n
// leave 1/(1+n(1/s−1)) (chosen by us: the papers add pressures up and end at 100).
func (c curve) under(x float64) Share {
	if x <= 100 {
		return c.share(x)
	}
	several := func(s float64) float64 {
		if s <= 0 {
			return 0
		}
		return 1 / (1 + x/100*(1/s-1))
	}
	full := c.share(100)
	return Share{Value: several(full.Value), Low: several(full.Low), High: several(full.High)}
}

// share under pressure x in (0, 100]: as the kernel had it, or more where co-runners
// leave the workload its part whenever it wants it.
func (c curve) share(x float64) Share {
	s, fair := c.response(x), c.stretched(x)
	return Share{Value: max(s.Value, fair), Low: max(s.Low, fair), High: max(s.High, fair)}
}

// stretched is the share kept where co-runners take x of the CPU time next to what works. A
// kernel takes its intensity by force, and who rests often, and wakes often, then waits
// much longer than with co-runners of its own kind (decision 0017).
func (c curve) stretched(x float64) float64 {
	if !(c.dutyCycle > 0) {
		return 0
	}
	return Stretched(c.dutyCycle, 1-x/100)
}

// response under pressure x in (0, 100] of a kernel.
func (c curve) response(x float64) Share {
	if c.points == nil {
		return Share{
			Value: response(x, c.tolerated[atValue], c.slowdown, fullPressureShare),
			Low:   response(x, c.tolerated[atLow], c.slowdown, fullPressureShareLow),
			High:  response(x, c.tolerated[atHigh], c.slowdown, fullPressureShareHigh),
		}
	}
	i, _ := slices.BinarySearchFunc(c.points, x, func(p point, x float64) int { return cmp.Compare(p.x, x) })
	if i == len(c.points) {
		return c.beyond(x)
	}
	a, b := c.points[max(0, i-1)], c.points[i]
	return between(a, b, x)
}

// beyond the last measured level the line goes on to the share assumed at full
// pressure, or stays level where the workload already kept less.
func (c curve) beyond(x float64) Share {
	last := c.points[len(c.points)-1]
	full := point{
		x:     100,
		value: min(last.value, fullPressureShare),
		low:   min(last.low, fullPressureShareLow),
		high:  min(last.high, fullPressureShareHigh),
	}
	if t := c.tolerated[atValue]; t >= 100 {
		// The profile says the bound holds up to full pressure.
		full.value = min(last.value, 1-c.slowdown)
		full.high = last.high
	}
	return between(last, full, x)
}

func between(a, b point, x float64) Share {
	f := 1.0
	if b.x > a.x {
		f = (x - a.x) / (b.x - a.x)
	}
	mix := func(a, b float64) float64 { return a + f*(b-a) }
	return Share{Value: mix(a.value, b.value), Low: mix(a.low, b.low), High: mix(a.high, b.high)}
}

// response is f(X) of the package comment: pressure x and tolerated score t in
// percent, slowdown bound and share at full pressure as fractions.
func response(x, t, slowdown, full float64) float64 {
	if x <= t {
		return 1 - slowdown*(x/t)*(x/t)
	}
	knee := 1 - slowdown
	return knee - (knee-min(full, knee))*(x-t)/(100-t)
}
