package validate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

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
func (s *session) measureLinearity(ctx context.Context, source interference.Source) (Linearity, error) {
	d, err := ibench.Describe(source)
	if err != nil {
		return Linearity{}, err
	}
	where := s.layout.kernelPlace(source)
	t := &team{session: s}
	k, err := t.kernel(ctx, source, where)
	if err != nil {
		return Linearity{}, err
	}
	out := Linearity{Source: source, Placement: where.Name, Unit: d.Unit, Measure: measurePeak}
	err = sweep{session: s, kernel: k, descriptor: d, where: where}.run(ctx, &out)
	return out, errors.Join(err, t.end())
}

// sweep is one linearity measurement.
type sweep struct {
	*session
	kernel     kernel
	descriptor ibench.Descriptor
	where      place
}

// level is what a kernel did at one intensity.
type level struct {
	opsPerSec float64
	steady    float64 // the same over the tempo of the cores; NaN where that is not known
	kept      float64 // share of the demand, 0..1
	held      float64 // bytes
	top       float64 // steady at intensity 100 in the same pass
}

// How often a level is measured: once in each of linearPasses passes, up and
// down in turn, so that a drift of the machine does not look like a slope. The
// median counts. A level that still is farther off the line than doubtPoints is
// measured again, in up to doubtPasses further passes.
const (
	linearPasses = 4
	doubtPasses  = 4
	doubtPoints  = 2.5
)

// sweepLevels are the levels of one direction: what each pass found.
type sweepLevels struct {
	x     []float64
	found [][]level
}

func (w sweep) run(ctx context.Context, out *Linearity) error {
	var up sweepLevels
	for x := 0; x <= 100; x += w.pace.linearStep {
		up.x = append(up.x, float64(x))
	}
	up.found = make([][]level, len(up.x))
	down := sweepLevels{slices.Clone(up.x), make([][]level, len(up.x))}
	slices.Reverse(down.x)
	both := []*sweepLevels{&up, &down}
	for pass := range linearPasses {
		if err := w.pass(ctx, both[pass%2], nil); err != nil {
			return err
		}
	}
	w.score(up, down, out)
	for pass := range doubtPasses {
		off := func(x float64) bool {
			return slices.ContainsFunc(out.Points, func(p LinearPoint) bool {
				return p.Intensity == x && !(math.Abs(float64(p.Impact)-x) <= doubtPoints)
			})
		}
		if !slices.ContainsFunc(up.x, off) {
			break
		}
		// What a level is compared with is measured again with it.
		again := func(x float64) bool { return x == 100 || off(x) }
		if err := w.pass(ctx, both[pass%2], again); err != nil {
			return err
		}
		w.score(up, down, out)
	}
	return nil
}

// pass measures the levels of one direction, or some of them and the top.
func (w sweep) pass(ctx context.Context, levels *sweepLevels, which func(x float64) bool) error {
	found, top := map[int]level{}, math.NaN()
	for i, x := range levels.x {
		if which != nil && !which(x) {
			continue
		}
		l, err := w.level(ctx, x)
		if err != nil {
			return fmt.Errorf("intensity %.0f: %w", x, err)
		}
		if x == 100 {
			top = l.steady
		}
		found[i] = l
	}
	for i, l := range found {
		l.top = top
		levels.found[i] = append(levels.found[i], l)
	}
	return nil
}

// score makes points of what the passes found.
func (w sweep) score(up, down sweepLevels, out *Linearity) {
	opsPerSec := func(_ float64, l level) float64 { return l.opsPerSec }
	top := stat.Median(append(up.of(100, opsPerSec), down.of(100, opsPerSec)...))
	out.PeakOps = Number(top)
	impact := func(_ float64, l level) float64 { return 100 * l.opsPerSec / top }
	switch {
	case w.descriptor.Knob == ibench.Duty:
		// The speed of a duty kernel is that of the core, whose clock drifts.
		impact = func(_ float64, l level) float64 { return 100 * l.steady / l.top }
	case w.descriptor.Source == interference.MemoryCapacity:
		out.Measure = measureResident
		held := func(_ float64, l level) float64 { return l.held }
		most := stat.Median(append(up.of(100, held), down.of(100, held)...))
		ground := stat.Median(up.of(0, held))
		impact = func(_ float64, l level) float64 { return 100 * (l.held - ground) / (most - ground) }
	case w.descriptor.Knob == ibench.Footprint:
		out.Measure = measureFootprint
		impact = func(x float64, l level) float64 { return x * min(1, l.kept) }
	}
	out.Points = out.Points[:0]
	for i, levels := range []sweepLevels{up, down} {
		for _, x := range levels.x {
			out.Points = append(out.Points, LinearPoint{Intensity: x, Impact: Number(stat.Median(levels.of(x, impact))), Down: i == 1})
		}
	}
	out.RSquared, out.MaxGap = straightness(out.Points)
}

// of returns a number of each visit to a level that has one: one in which no
// thread came to account for its time has none.
func (s sweepLevels) of(x float64, number func(x float64, l level) float64) []float64 {
	var out []float64
	for _, l := range s.found[slices.Index(s.x, x)] {
		if n := number(x, l); !math.IsNaN(n) {
			out = append(out, n)
		}
	}
	return out
}

func (w sweep) level(ctx context.Context, x float64) (level, error) {
	if err := w.setAndSettle(ctx, w.kernel, x); err != nil {
		return level{}, err
	}
	length := max(w.pace.level, 2*w.descriptor.Dwell)
	if w.where.Same {
		length = max(length, w.pace.sameLevel)
	}
	before, after, err := w.kernelStretch(ctx, w.kernel, length)
	if err != nil {
		return level{}, err
	}
	out := level{opsPerSec: opsPerWall(before, after), kept: 1}
	out.steady = out.opsPerSec / w.bench.Tempo(before.At, after.At)
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
