package validate

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/nomad-placer/nomad-placer/driver/ibench"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/stat"
)

// What impact means in a linearity curve.
const (
	measurePeak      = "share of the operations per second at intensity 100"
	measureFootprint = "intensity times the share of refreshes of the footprint that were in time; the footprint itself is checked by the displacement curve"
	measureResident  = "share of the memory held at intensity 100, as the operating system counts it"
)

// measureLinearity sweeps the intensity up and down.
func measureLinearity(ctx context.Context, b bench, p pace, l layout, s interference.Source) (Linearity, error) {
	d, err := ibench.Describe(s)
	if err != nil {
		return Linearity{}, err
	}
	where := l.pressing(s)
	t := &team{bench: b}
	k, err := t.kernel(ctx, s, where)
	if err != nil {
		return Linearity{}, err
	}
	out := Linearity{Source: s, Placement: where.Name, Unit: d.Unit, Measure: measurePeak}
	err = sweep{bench: b, pace: p, kernel: k, descriptor: d, where: where}.run(ctx, &out)
	return out, errors.Join(err, t.end())
}

// sweep is one linearity measurement.
type sweep struct {
	bench      bench
	pace       pace
	kernel     kernel
	descriptor ibench.Descriptor
	where      place
}

// level is what a kernel did at one intensity.
type level struct {
	opsPerSec float64
	kept      float64 // share of the demand, 0..1
	held      float64 // bytes
}

func (w sweep) run(ctx context.Context, out *Linearity) error {
	// The top is visited four times, so that its own noise does not shift the
	// whole curve.
	points := []LinearPoint{{Intensity: 100}}
	for x := 0; x <= 100; x += w.pace.linearStep {
		points = append(points, LinearPoint{Intensity: float64(x)})
	}
	for x := 100; x >= 0; x -= w.pace.linearStep {
		points = append(points, LinearPoint{Intensity: float64(x), Down: true})
	}
	points = append(points, LinearPoint{Intensity: 100})
	levels := make([]level, len(points))
	for i, pt := range points {
		var err error
		if levels[i], err = w.level(ctx, pt.Intensity); err != nil {
			return fmt.Errorf("intensity %.0f: %w", pt.Intensity, err)
		}
	}
	out.PeakOps = Number(topOf(points, levels, func(l level) float64 { return l.opsPerSec }))
	switch {
	case w.descriptor.Source == interference.MemoryCapacity:
		out.Measure = measureResident
		top, ground := topOf(points, levels, func(l level) float64 { return l.held }), levels[1].held
		score(points, levels, func(_ float64, l level) float64 { return 100 * (l.held - ground) / (top - ground) })
	case w.descriptor.Knob == ibench.Footprint:
		out.Measure = measureFootprint
		score(points, levels, func(x float64, l level) float64 { return x * min(1, l.kept) })
	default:
		score(points, levels, func(_ float64, l level) float64 { return 100 * l.opsPerSec / float64(out.PeakOps) })
	}
	out.Points = points[1 : len(points)-1]
	out.RSquared, out.MaxGap = straightness(out.Points)
	return nil
}

func (w sweep) level(ctx context.Context, x float64) (level, error) {
	if err := setAndSettle(ctx, w.bench, w.pace, w.kernel, x); err != nil {
		return level{}, err
	}
	length := max(w.pace.level, 2*w.descriptor.Dwell)
	if w.where.Same {
		length = max(length, w.pace.sameLevel)
	}
	before, after, err := kernelStretch(ctx, w.bench, w.kernel, length)
	if err != nil {
		return level{}, err
	}
	out := level{opsPerSec: opsPerWall(before, after), kept: 1}
	if demand := after.DemandOps - before.DemandOps; demand > 0 {
		out.kept = (after.Ops - before.Ops) / demand
	} else if x > 0 {
		out.kept = 0
	}
	if w.descriptor.Source == interference.MemoryCapacity {
		held, err := w.bench.Anonymous(w.kernel.PID())
		if err != nil {
			return level{}, err
		}
		out.held = float64(held)
	}
	return out, nil
}

// topOf is the median over the visits of intensity 100.
func topOf(points []LinearPoint, levels []level, of func(level) float64) float64 {
	var top []float64
	for i, p := range points {
		if p.Intensity == 100 {
			top = append(top, of(levels[i]))
		}
	}
	return stat.Median(top)
}

func score(points []LinearPoint, levels []level, impact func(x float64, l level) float64) {
	for i := range points {
		points[i].Impact = Number(impact(points[i].Intensity, levels[i]))
	}
}

// straightness is how close the points are to the ideal line impact = x: the
// coefficient of determination against that line, and the largest gap in
// points. Points without a number make both unknown.
func straightness(points []LinearPoint) (rSquared, maxGap Number) {
	mean := 0.0
	for _, p := range points {
		mean += float64(p.Impact) / float64(len(points))
	}
	residual, total := 0.0, 0.0
	for _, p := range points {
		gap := float64(p.Impact) - p.Intensity
		residual += gap * gap
		total += (float64(p.Impact) - mean) * (float64(p.Impact) - mean)
		maxGap = max(maxGap, Number(math.Abs(gap)))
	}
	if total == 0 {
		return unknown, maxGap
	}
	return Number(1 - residual/total), maxGap
}
