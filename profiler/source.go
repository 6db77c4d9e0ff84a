package profiler

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/stat"
)

// toleratedShare of a source's time goes to the tolerated score, in percent,
// where the two need windows of their own; what it leaves goes to the caused
// score (chosen by us: the workload is the noisier of the two).
const toleratedShare = 60

// maxBracketPoints: a score is unknown when its interval is wider than this,
// half of the scale.
const maxBracketPoints = 50

// PlacementSame is the placement of a kernel on the workload's own CPUs.
const PlacementSame = "same"

// ramp measures one source in the time until deadline. Errors of the source
// alone become notes; errors of the workload end the run.
func (r *run) ramp(ctx context.Context, source interference.Source, deadline time.Time) (err error) {
	r.phase, r.source, r.intensity = PhaseRamp, source, 0
	r.announce("starting the kernel for " + title(source))
	kernel, err := r.bench.Kernel(ctx, source)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		r.unknownBoth(source, fmt.Sprintf("no kernel on this node: %s", err))
		r.warn("%s was not measured: %s", title(source), err)
		if !errors.Is(err, ErrKernelUnsupported) {
			r.out.Complete = false
		}
		return nil
	}
	p := newActiveKernel(kernel)
	defer func() {
		if closing := kernel.Close(); closing != nil && err == nil {
			r.warn("the kernel for %s did not end cleanly: %s", title(source), closing)
		}
	}()
	return r.sourceError(ctx, source, r.bothScores(ctx, source, p, deadline))
}

// sourceError decides whether an error ends the run or only this source.
func (r *run) sourceError(ctx context.Context, source interference.Source, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return errors.Join(ctx.Err(), keep(err, ErrStillPaused))
	}
	for _, fatal := range []error{ErrWorkloadEnded, ErrWorkloadRestarted, ErrStillPaused} {
		if errors.Is(err, fatal) {
			return err
		}
	}
	r.out.Complete = false
	r.warn("%s was measured only in part: %s", title(source), err)
	return nil
}

// keep returns err if it is of that kind.
func keep(err, kind error) error {
	if errors.Is(err, kind) {
		return err
	}
	return nil
}

func (r *run) bothScores(ctx context.Context, source interference.Source, p *activeKernel, deadline time.Time) error {
	r.unknownBoth(source, "the run ended before it was measured")
	var workload *side
	if why := r.noTolerated(); why != "" {
		r.out.Sensitivity.Tolerated[source] = interference.Estimate{Note: why}
	} else {
		workload = r.newSide("workload", r.noise)
		// The source before may have left a queue.
		if err := r.settle(ctx, r.pace.settle, r.drain(drainAfterPressure)); err != nil {
			return err
		}
	}
	kernel := r.newSide("kernel", kernelNoise)
	defer r.reviewing(source, p, workload, kernel)()
	err := r.visit(ctx, p, workload, kernel, deadline)
	r.record(&r.out, source, p, workload, kernel, err)
	return err
}

// record writes what was measured of a source into a profile.
func (r *run) record(into *profile.Profile, source interference.Source, p *activeKernel, workload, kernel *side, err error) {
	if workload != nil {
		into.Sensitivity.Tolerated[source] = r.toleratedEstimate(workload, err)
	}
	into.Sensitivity.Caused[source] = r.causedEstimate(kernel, err)
	into.Ramp = append(into.Ramp, rampOf(source, p, workload, kernel)...)
}

// kernelNoise is the guess for a kernel, which is not watched in isolation before.
var kernelNoise = stat.NoiseGuess{Sigma: 0.02, Spread: 0.9}

func (r *run) newSide(party string, n stat.NoiseGuess) *side {
	s := &side{party: party, logBound: r.logBound, noise: n}
	s.refit()
	return s
}

// visit measures both sides: together where one window under pressure serves
// both, else one after the other.
func (r *run) visit(ctx context.Context, p *activeKernel, workload, kernel *side, deadline time.Time) error {
	if workload != nil && r.shares(p) {
		return r.newSeries(p, workload, kernel).until(ctx, deadline)
	}
	if workload != nil {
		now := r.clock.Now()
		if err := r.newSeries(p, workload, nil).until(ctx, now.Add(deadline.Sub(now)*toleratedShare/100)); err != nil {
			return err
		}
	}
	if r.left {
		return nil
	}
	if y, ok := p.kernel.(Yielder); ok {
		if err := y.Yield(ctx); err != nil {
			return err
		}
	}
	return r.newSeries(p, nil, kernel).until(ctx, deadline)
}

// noTolerated says why a tolerated score cannot be measured in this run.
func (r *run) noTolerated() string {
	switch {
	case r.request.Probe == nil:
		return "the workload has no probe that can be read here, so its slowdown cannot be seen"
	case !r.progressing():
		return fmt.Sprintf("the %s probe shows no progress while the workload runs", r.request.Probe.Type)
	}
	return ""
}

func (r *run) unknownBoth(source interference.Source, note string) {
	r.out.Sensitivity.Tolerated[source] = interference.Estimate{Note: note}
	r.out.Sensitivity.Caused[source] = interference.Estimate{Note: note}
}

// toleratedEstimate: the score is the crossing.
func (r *run) toleratedEstimate(s *side, err error) interference.Estimate {
	if note := r.unknowable(s, err); note != "" {
		return interference.Estimate{Note: note}
	}
	c := s.crossing().onGrid()
	return interference.Estimate{
		Score:  interference.Percent(c.at),
		Low:    interference.Percent(c.low),
		High:   interference.Percent(c.high),
		Origin: interference.Measured,
		Note:   r.hysteresis(s),
	}
}

// causedEstimate: x* is the crossing, c = 100 − x*, and 0 when the kernel never
// loses (Delimitrou 2015, chapter 5).
func (r *run) causedEstimate(s *side, err error) interference.Estimate {
	if note := r.unknowable(s, err); note != "" {
		return interference.Estimate{Note: note}
	}
	c := s.crossing().onGrid()
	return interference.Estimate{
		Score:  interference.Percent(topLevel - c.at),
		Low:    interference.Percent(topLevel - c.high),
		High:   interference.Percent(topLevel - c.low),
		Origin: interference.Measured,
		Note:   r.hysteresis(s),
	}
}

// unknowable says why a side gives no score.
func (r *run) unknowable(s *side, err error) string {
	c := s.crossing()
	switch {
	case err != nil:
		return "the measurement was cut short: " + err.Error()
	case len(s.visits) == 0 && s.dropped > 0:
		return fmt.Sprintf("the %s did nothing in the windows it should be compared with, so there is no ratio", s.party)
	case len(s.visits) == 0:
		return fmt.Sprintf("no pair of windows gave a ratio in the time (a window of this workload takes %s)", r.pace.dwell)
	case c.width() > maxBracketPoints:
		return fmt.Sprintf("between %.0f and %.0f %%, too wide to be a score after %d pairs of windows with %.1f %% of noise",
			c.low, c.high, len(s.visits), 100*s.fit.Sigma())
	}
	return ""
}

func (r *run) hysteresis(s *side) string {
	if r.request.Method != MethodSweep {
		return ""
	}
	if d := s.hysteresis(); d > 0 {
		return fmt.Sprintf("the crossing of the %s moved by %.0f points between the way up and the visits after", s.party, d)
	}
	return ""
}

// rampOf is one point per visited level, with both sides where both were measured.
func rampOf(source interference.Source, p *activeKernel, workload, kernel *side) (out []profile.RampPoint) {
	for percent := gridStep; percent <= topLevel; percent += gridStep {
		w, hasWorkload := workload.atLevel(percent)
		k, hasKernel := kernel.atLevel(percent)
		if !hasWorkload && !hasKernel {
			continue
		}
		point := profile.RampPoint{
			Source:           source,
			IntensityPercent: float64(percent),
			Pairs:            max(w.N, k.N),
			Placement:        p.kernel.Placement(),
		}
		if v, ok := p.achievedPercent(percent); ok {
			point.AchievedPercent = v
		}
		if hasWorkload {
			point.WorkloadRatio, point.WorkloadLow, point.WorkloadHigh = &w.Center, &w.Low, &w.High
		}
		if c, ok := workload.perCPU(percent); ok {
			point.PerCPURatio, point.PerCPULow, point.PerCPUHigh = &c.Center, &c.Low, &c.High
		}
		if hasKernel {
			point.KernelRatio, point.KernelLow, point.KernelHigh = &k.Center, &k.Low, &k.High
		}
		out = append(out, point)
	}
	return out
}
