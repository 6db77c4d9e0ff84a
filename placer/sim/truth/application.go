package truth

import "math"

// Application is the true behaviour of one program with one input.
type Application struct {
	Name  string
	Class string // workload type: its matrices are kept apart
	Unit  string
	// Cores and MemoryMB are the reference size of one allocation: what Alone and
	// Pressure were stated at.
	Cores, MemoryMB float64
	// Alone is the performance of one allocation of the reference size, by index
	// of configuration.
	Isolated []float64
	// ScaleUp is the performance by cores, relative to the reference size; by
	// ascending cores. Empty: in proportion up to the reference, flat beyond.
	ScaleUp []ScalePoint
	Out     ScaleOut
	// Phases are what it does in turn; at least one.
	Phases []Phase
	Origin string // measured row, public data, or the distribution it was drawn from

	id uint64 // of pair residuals; from the name
}

// ScalePoint is a relative performance at a size.
type ScalePoint struct {
	Cores    float64
	Relative float64
}

// ScaleOut is how n allocations work together: the universal scalability law
// (Gunther 1993), with a gain of data that fits into memory only together.
//
//	speed(n) = n · (1 + gain·(1 − e^(−(n−1)/2))) / (1 + serial·(n−1) + crosstalk·n·(n−1))
type ScaleOut struct{ Serial, Crosstalk, Gain float64 }

// Relative is the performance of n allocations relative to n times that of one.
func (s ScaleOut) Relative(n int) float64 {
	m := float64(n)
	return (1 + s.Gain*(1-math.Exp(-(m-1)/2))) / (1 + s.Serial*(m-1) + s.Crosstalk*m*(m-1))
}

// Phase is a stretch of uniform behaviour.
type Phase struct {
	Share     float64   // of the work
	Response  []Curve   // by column
	Pressure  []float64 // by column: it makes, percent, at the reference size
	MemoryMB  float64   // it really needs; above its ask it may be killed
	Intensity float64   // CPU it really uses, share of its ask
}

// CurveStepPercent is the distance of the points of a Curve.
const CurveStepPercent = 5

// curvePoints is the number of points of a Curve.
const curvePoints = 100/CurveStepPercent + 1

// Curve is the share of performance kept under a pressure of 0, 5, … 100 %.
// Between points it is linear.
type Curve [curvePoints]float64

// Point is a share kept under a pressure.
type Point struct{ Percent, Share float64 }

// At returns the share kept under a pressure in percent.
func (c *Curve) At(percent float64) float64 {
	if percent <= 0 {
		return c[0]
	}
	at := percent / CurveStepPercent
	i := int(at)
	if i >= curvePoints-1 {
		return c[curvePoints-1]
	}
	return c[i] + (c[i+1]-c[i])*(at-float64(i))
}

// Through returns the curve through points of ascending pressure, from (0, 1)
// on; beyond the last one it is flat.
func Through(points ...Point) Curve {
	var c Curve
	for i := range c {
		x := float64(i * CurveStepPercent)
		before := Point{0, 1}
		c[i] = before.Share
		for _, p := range points {
			if p.Percent >= x {
				c[i] = before.Share
				if p.Percent > before.Percent {
					c[i] += (p.Share - before.Share) * (x - before.Percent) / (p.Percent - before.Percent)
				}
				break
			}
			before, c[i] = p, p.Share
		}
	}
	return c
}

// Planted is the response with a known tolerated score: 1 − 0.05·(X/t)² up to t,
// from there linear to the share kept at full pressure (the stated model of
// sources' responses; t = 100 never falls below 0.95).
func Planted(toleratedPercent, atFull float64) Curve {
	var c Curve
	for i := range c {
		x := float64(i * CurveStepPercent)
		switch {
		case x <= toleratedPercent && toleratedPercent > 0:
			c[i] = 1 - 0.05*(x/toleratedPercent)*(x/toleratedPercent)
		case toleratedPercent >= 100 || x == 0:
			c[i] = 1
		default:
			c[i] = 0.95 + (atFull-0.95)*(x-toleratedPercent)/(100-toleratedPercent)
		}
	}
	return c
}

// Tolerated is the true tolerated score of the curve: the greatest pressure up
// to which never more than the share loss is lost, in percent (Delimitrou 2015,
// §3.3.2).
func (c *Curve) Tolerated(loss float64) float64 {
	bound := 1 - loss
	for i := 1; i < curvePoints; i++ {
		if c[i] < bound {
			return CurveStepPercent * (float64(i-1) + (c[i-1]-bound)/(c[i-1]-c[i]))
		}
	}
	return 100
}

// relativeCores is the performance on some cores relative to the reference.
func (a *Application) relativeCores(cores float64) float64 {
	if len(a.ScaleUp) == 0 {
		return min(1, cores/a.Cores)
	}
	before := ScalePoint{}
	for _, p := range a.ScaleUp {
		if p.Cores >= cores {
			return before.Relative + (p.Relative-before.Relative)*(cores-before.Cores)/(p.Cores-before.Cores)
		}
		before = p
	}
	return before.Relative
}

// UsefulCores is the least number of cores that gives 95 % of the performance
// on any number.
func (a *Application) UsefulCores() float64 {
	if len(a.ScaleUp) == 0 {
		return a.Cores
	}
	top := 0.0
	for _, p := range a.ScaleUp {
		top = max(top, p.Relative)
	}
	for _, p := range a.ScaleUp {
		if p.Relative >= 0.95*top {
			return p.Cores
		}
	}
	return a.Cores
}

// shortOfMemory is the share of performance kept with less memory than needed:
// all of it from the need on, thrashing linearly down to 0.3 at half, and killed
// below fatalMemoryShare.
func shortOfMemory(have, need float64) float64 {
	switch {
	case have >= need:
		return 1
	case have < fatalMemoryShare*need:
		return 0
	default:
		return max(0.3, 1-1.4*(need-have)/need)
	}
}

// fatalMemoryShare of its need is the least an allocation runs with (chosen by
// us: a working set below two fifths cannot make progress between faults).
const fatalMemoryShare = 0.4

// Best is the greatest performance in isolation on any configuration that can hold it,
// and which. Where none can, it is 0 on configuration 0.
func (a *Application) Best(holds func(configuration int) bool) (configuration int, value float64) {
	for i, v := range a.Isolated {
		if v > value && holds(i) {
			configuration, value = i, v
		}
	}
	return configuration, value
}

// Resized is the program with allocations of another size, which is then what it needs: it takes
// memory and presses as programs of that size are drawn to, does as much on a core, and gains from
// so many times as many what it did.
func (a *Application) Resized(cores float64) *Application {
	out := *a
	out.Cores, out.ScaleUp, out.Out, out.Phases = cores, nil, ScaleOut{}, nil
	times := cores / a.Cores
	for _, p := range a.ScaleUp {
		out.ScaleUp = append(out.ScaleUp, ScalePoint{p.Cores * times, p.Relative})
	}
	memory, pressing := math.Sqrt(times), presses(cores)/presses(a.Cores)
	out.MemoryMB *= memory
	for _, p := range a.Phases {
		p.MemoryMB *= memory
		pressure := make([]float64, len(p.Pressure))
		for k, v := range p.Pressure {
			pressure[k] = min(maxPressurePercent, v*pressing)
		}
		p.Pressure = pressure
		out.Phases = append(out.Phases, p)
	}
	out.Isolated = nil
	for _, v := range a.Isolated {
		out.Isolated = append(out.Isolated, v*times)
	}
	return &out
}

// presses is how hard a size presses relative to a core. A share of a core is that share of the
// time on it.
func presses(cores float64) float64 {
	if cores < 1 {
		return cores
	}
	return math.Pow(cores, pressureExponent)
}

// Size is the performance of a size alone, relative to the reference size; 0
// where it cannot run.
func (a *Application) Size(phase int, cores, memoryMB float64) float64 {
	return a.relativeCores(cores) * shortOfMemory(memoryMB, a.Phases[phase].MemoryMB)
}
