package profiler

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sort"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/stat"
)

// toleratedShare of a source's time goes to the tolerated score, in percent;
// what it leaves goes to the caused score (chosen by us: the workload is the
// noisier of the two).
const toleratedShare = 60

// maxBracketPoints: a score is unknown when its bracket is wider than this,
// half of the scale.
const maxBracketPoints = 50

// ramp measures one source in the time until deadline. Errors of the source
// alone become notes; errors of the workload end the run.
func (r *run) ramp(ctx context.Context, source interference.Source, deadline time.Time) (err error) {
	r.phase, r.source, r.intensity = PhaseRamp, source, 0
	r.tell("starting the kernel for " + title(source))
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
	p := newPressed(kernel)
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

func (r *run) bothScores(ctx context.Context, source interference.Source, p *pressed, deadline time.Time) error {
	r.unknownBoth(source, "the run ended before it was measured")
	var workload *search
	if why := r.noTolerated(); why != "" {
		r.out.Sensitivity.Tolerated[source] = interference.Estimate{Note: why}
	} else {
		// The source before may have left a queue.
		if err := r.settle(ctx, r.pace.settle, r.drain(drainAfterPressure)); err != nil {
			return err
		}
		now := r.clock.Now()
		s, b, err := r.tolerated(ctx, p, now.Add(deadline.Sub(now)*toleratedShare/100))
		workload = s
		r.out.Sensitivity.Tolerated[source] = r.toleratedEstimate(s, b, err)
		if err != nil {
			r.recordRamp(source, p, workload, nil)
			return err
		}
	}
	s, b, err := r.caused(ctx, p, deadline)
	r.out.Sensitivity.Caused[source] = r.causedEstimate(s, b, err)
	r.recordRamp(source, p, workload, s)
	return err
}

// noTolerated says why a tolerated score cannot be measured in this run.
func (r *run) noTolerated() string {
	switch {
	case r.request.Probe == nil:
		return "the workload has no probe, so its slowdown cannot be seen"
	case !r.progressing():
		return fmt.Sprintf("the %s probe shows no progress while the workload runs", r.request.Probe.Type)
	}
	return ""
}

func (r *run) unknownBoth(source interference.Source, note string) {
	r.out.Sensitivity.Tolerated[source] = interference.Estimate{Note: note}
	r.out.Sensitivity.Caused[source] = interference.Estimate{Note: note}
}

// toleratedEstimate: the score is the crossing, the interval the bracket.
func (r *run) toleratedEstimate(s *search, b bracket, err error) interference.Estimate {
	if note := unknowable(s, b, err, "workload", r.pace.dwell); note != "" {
		return interference.Estimate{Note: note}
	}
	return interference.Estimate{
		Score:  interference.Percent(float64(b.crossing)),
		Low:    interference.Percent(float64(b.clean)),
		High:   interference.Percent(float64(b.loss)),
		Origin: interference.Measured,
		Note:   r.contrary(b, "workload"),
	}
}

// causedEstimate: x* is the level above the crossing, c = 100 − x*, and 0 when
// the kernel never loses (Delimitrou 2015, chapter 5).
func (r *run) causedEstimate(s *search, b bracket, err error) interference.Estimate {
	if note := unknowable(s, b, err, "kernel", r.pace.dwell); note != "" {
		return interference.Estimate{Note: note}
	}
	return interference.Estimate{
		Score:  interference.Percent(float64(topLevel - b.crossing - gridStep)), // clipped at 0: never lost
		Low:    interference.Percent(float64(topLevel - b.loss)),
		High:   interference.Percent(float64(topLevel - b.clean)),
		Origin: interference.Measured,
		Note:   r.contrary(b, "kernel"),
	}
}

// unknowable says why a bracket is no score.
func unknowable(s *search, b bracket, err error, party string, dwell time.Duration) string {
	pairs, dropped := 0, 0
	if s != nil {
		for _, l := range s.levels {
			pairs, dropped = pairs+l.pairs(), dropped+l.dropped
		}
	}
	switch {
	case err != nil:
		return "the measurement was cut short: " + err.Error()
	case pairs == 0 && dropped > 0:
		return fmt.Sprintf("the %s did nothing in the windows it should be compared with, so there is no ratio", party)
	case pairs == 0:
		return fmt.Sprintf("no pair of windows gave a ratio in the time (a window of this workload takes %s)", dwell)
	case !b.decided:
		return fmt.Sprintf("no slowdown of the %s could be told from noise in %d pairs of windows", party, pairs)
	case min(b.loss, topLevel)-b.clean > maxBracketPoints:
		return fmt.Sprintf("between %d and %d %%, too wide to be a score after %d pairs of windows", b.clean, min(b.loss, topLevel), pairs)
	}
	return ""
}

func (r *run) contrary(b bracket, party string) string {
	if !b.contrary {
		return ""
	}
	return fmt.Sprintf("the %s lost at %d %% but not at a higher level; the lower one counts", party, b.loss)
}

// recordRamp writes one point per probed level, with both sides where both were
// measured.
func (r *run) recordRamp(source interference.Source, p *pressed, workload, kernel *search) {
	for _, percent := range probed(workload, kernel) {
		point := profile.RampPoint{
			Source:           source,
			IntensityPercent: float64(percent),
			Placement:        p.kernel.Placement(),
		}
		if v, ok := p.achievedPercent(percent); ok {
			point.AchievedPercent = v
		}
		w, k := side(workload, percent), side(kernel, percent)
		point.Pairs = max(w.N, k.N)
		point.WorkloadRatio, point.WorkloadLow, point.WorkloadHigh = pointers(w)
		point.KernelRatio, point.KernelLow, point.KernelHigh = pointers(k)
		r.out.Ramp = append(r.out.Ramp, point)
	}
}

// probed lists the levels with at least one pair, ascending.
func probed(searches ...*search) []int {
	seen := map[int]bool{}
	for _, s := range searches {
		if s == nil {
			continue
		}
		for percent, l := range s.levels {
			if l.pairs() > 0 {
				seen[percent] = true
			}
		}
	}
	var out []int
	for percent := range seen {
		out = append(out, percent)
	}
	sort.Ints(out)
	return out
}

func side(s *search, percent int) stat.Summary {
	if s == nil || s.levels[percent] == nil {
		return stat.Summary{Center: math.NaN()}
	}
	return stat.Exp(stat.HodgesLehmann(s.levels[percent].logs, confidence))
}

// pointers gives the ratio where there is one, and its interval where enough
// pairs carry the confidence.
func pointers(s stat.Summary) (ratio, low, high *float64) {
	if s.N == 0 || math.IsNaN(s.Center) {
		return nil, nil, nil
	}
	if s.Confidence < confidence {
		return &s.Center, nil, nil
	}
	return &s.Center, &s.Low, &s.High
}
