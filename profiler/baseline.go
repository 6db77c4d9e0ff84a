package profiler

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/probe"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/stat"
)

const (
	// waitPoll is the distance of two attempts at the first reading.
	waitPoll = 250 * time.Millisecond
	// isolatedWindowsWanted give the performance in isolation and a first idea of the noise;
	// at most baselineShare of the run goes into them, and learning the pace.
	isolatedWindowsWanted = 12
	isolatedTimeWanted    = isolatedWindowsWanted * minDwell // of shorter windows there are more
	baselineShare         = 4
	// isolatedOnly is how long a run without sources takes at most.
	isolatedOnly = 8 * time.Second
	// learnPoll and learnMoves: the pace of a workload is learned from readings
	// this far apart, until so many have moved.
	learnPoll  = minDwell / 2
	learnMoves = 8
	// grainSteps and grainLimit bound the closer look: the collector of Nomad's
	// logs writes every 100 ms, so a second shows ten of its steps.
	grainSteps = 10
	grainLimit = 1200 * time.Millisecond
	// learnShare of the run may pass before a workload that has not moved once
	// counts as doing nothing.
	learnShare = 3
	// minWindows is the least number of windows for an interval of a median.
	minWindows = 6
	// confidence of every interval in a profile.
	confidence = 0.95
	// noisyPercent: windows without pressure that differ by more are worth a warning.
	noisyPercent = 10
)

// waitReady waits for the first usable reading.
func (r *run) waitReady(ctx context.Context, wait time.Duration) error {
	r.phase = PhaseWaiting
	r.announce(r.describe())
	end := r.clock.Now().Add(wait)
	for {
		_, err := r.read(ctx)
		if errors.Is(err, ErrWorkloadFinished) && !r.progressing() {
			return nil // a short run under a probe that sees whole runs
		}
		var bad *badWindow
		if !errors.As(err, &bad) {
			return err
		}
		if errors.Is(err, probe.ErrFailed) {
			return fmt.Errorf("%w: %w", ErrWorkloadEnded, bad.cause)
		}
		if !r.clock.Now().Before(end) {
			return fmt.Errorf("%w within %s: %w", ErrProbeSilent, wait, bad.cause)
		}
		if err := r.sleep(ctx, waitPoll); err != nil {
			return err
		}
	}
}

// baseline learns the workload's pace and measures its performance in isolation.
func (r *run) baseline(ctx context.Context) error {
	r.phase = PhaseBaseline
	r.announce(r.describe())
	total := r.deadline.Sub(r.start)
	if err := r.learnPace(ctx, total/learnShare); err != nil {
		return err
	}
	until := r.start.Add(total / baselineShare)
	if len(r.request.Sources) == 0 {
		until = r.start.Add(min(isolatedOnly, total))
	}
	stop := r.meterCPU()
	windows, err := r.isolatedWindows(ctx, until)
	stop()
	if len(windows) > 0 {
		r.noise = noiseOf(steadied(windows))
		r.recordIsolated(speeds(windows))
	}
	return err
}

// meterCPU begins to watch the CPU time that the workload uses in isolation; the returned
// function ends it. A subject that cannot tell leaves it unknown.
func (r *run) meterCPU() (stop func()) {
	meter, ok := r.subject.(CPUMeter)
	if !ok {
		return func() {}
	}
	before, failed := meter.CPUTime()
	began := r.clock.Now()
	return func() {
		after, err := meter.CPUTime()
		if err = errors.Join(failed, err); err != nil {
			r.warn("the CPU time that it uses in isolation is unknown: %v", err)
			return
		}
		had, used := r.clock.Now().Sub(began)-(after.Stolen-before.Stolen), after.Used-before.Used
		if had <= 0 || used <= 0 {
			return
		}
		r.out.CPUsIsolated = used.Seconds() / had.Seconds()
		if length, ok := runLength(before, after); ok {
			r.out.RunIsolatedMS = float64(length) / float64(time.Millisecond)
		}
		if after.CPUs > 0 {
			part := math.Min(1, r.out.CPUsIsolated/after.CPUs)
			r.out.CPUShareIsolated = map[string]float64{r.out.Machine.Configuration: part}
		}
	}
}

// learnPace watches how often and how fast the count moves.
func (r *run) learnPace(ctx context.Context, limit time.Duration) error {
	first, err := r.readRetry(ctx)
	if err != nil {
		return err
	}
	last, firstMove, lastMove, steps := first, first, first, 0
	for end := r.clock.Now().Add(limit); steps < learnMoves; {
		if !r.clock.Now().Before(end) {
			break
		}
		if err := r.sleep(ctx, learnPoll); err != nil {
			return err
		}
		next, err := r.readRetry(ctx)
		if err != nil {
			return err
		}
		if stepped(last, next) {
			if steps++; steps == 1 {
				firstMove = next
			}
			lastMove = next
		}
		last = next
	}
	if err := r.setPace(first, firstMove, lastMove, steps, last); err != nil {
		return err
	}
	switch {
	case r.pace.tick > 0 || r.pace.rates:
		return nil
	case r.pace.exact:
		return r.learnSteps(ctx)
	}
	return r.learnGrain(ctx)
}

// learnSteps looks closer at exact readings that moved at every look: whether
// they move in short steps too. Looks are further apart than short steps, but at
// a random moment the last step is half a step old on average.
func (r *run) learnSteps(ctx context.Context) error {
	var age time.Duration
	looks := 0
	for end := r.clock.Now().Add(minDwell); r.clock.Now().Before(end); looks++ {
		if err := r.sleep(ctx, minPoll); err != nil {
			return err
		}
		asked := r.clock.Now()
		reading, err := r.readRetry(ctx)
		if err != nil {
			return err
		}
		age += max(0, asked.Sub(reading.At))
	}
	r.pace = r.pace.withSteps(2*age/time.Duration(looks), r.request.Target)
	return nil
}

// learnGrain looks closer at a count that moved at every look: it may still
// come in steps (a log is collected in bursts) or in units so large that a
// short window holds only a few of them.
func (r *run) learnGrain(ctx context.Context) error {
	last, err := r.readRetry(ctx)
	if err != nil {
		return err
	}
	var firstStep, lastStep performance.Reading
	steps, grain := 0, 0.0
	for end := r.clock.Now().Add(grainLimit); steps < grainSteps && r.clock.Now().Before(end); {
		if err := r.sleep(ctx, minPoll); err != nil {
			return err
		}
		next, err := r.readRetry(ctx)
		if err != nil {
			return err
		}
		if !stepped(last, next) {
			continue
		}
		if steps++; steps == 1 {
			firstStep = next
		} else {
			grain = commonDivisor(grain, next.Work-last.Work)
		}
		last, lastStep = next, next
	}
	if steps < 2 {
		return nil
	}
	r.pace = r.pace.withGrain(lastStep.At.Sub(firstStep.At)/time.Duration(steps-1), grain)
	return nil
}

// commonDivisor of two whole numbers; 0 says that there is none to speak of.
func commonDivisor(a, b float64) float64 {
	if a != math.Trunc(a) || b != math.Trunc(b) || b <= 0 {
		return 0
	}
	for b > 0 {
		a, b = b, math.Mod(a, b)
	}
	return a
}

func (r *run) setPace(first, firstMove, lastMove performance.Reading, steps int, last performance.Reading) error {
	rates := math.IsNaN(last.Work)
	if steps == 0 && !(rates && last.RateNow > 0) {
		return fmt.Errorf("%w: its count has been %v for %s", ErrNoMeasurableWork, count(last), r.clock.Now().Sub(r.start).Round(time.Second))
	}
	var tick time.Duration
	if steps > 1 {
		tick = lastMove.At.Sub(firstMove.At) / time.Duration(steps-1)
	} else if steps == 1 {
		tick = last.At.Sub(first.At)
	}
	if tick <= learnPoll*5/4 {
		tick = 0 // it moved at every look; its steps cannot be told apart
	}
	rate := last.RateNow
	if !rates {
		rate = (last.Work - first.Work) / last.At.Sub(first.At).Seconds()
	}
	r.pace = paceOf(tick, rate, r.request.Target, last)
	return nil
}

// count is the number a message shows of a reading.
func count(reading performance.Reading) float64 {
	if math.IsNaN(reading.Work) {
		return reading.RateNow
	}
	return reading.Work
}

// readRetry reads, passing over a few failures in a row.
func (r *run) readRetry(ctx context.Context) (performance.Reading, error) {
	for failed := 1; ; failed++ {
		reading, err := r.read(ctx)
		var bad *badWindow
		if !errors.As(err, &bad) {
			return reading, err
		}
		if failed >= maxBadWindows {
			return reading, fmt.Errorf("%d readings in a row failed: %w", failed, bad.cause)
		}
		if err := r.sleep(ctx, waitPoll); err != nil {
			return reading, err
		}
	}
}

// isolatedWindows takes windows until a time or until there are enough for the
// ramps, and minWindows at least.
func (r *run) isolatedWindows(ctx context.Context, until time.Time) ([]timed, error) {
	var windows []timed
	bad := 0
	enough := max(isolatedWindowsWanted, int(isolatedTimeWanted/r.pace.dwell))
	if len(r.request.Sources) == 0 {
		enough = math.MaxInt
	}
	for len(windows) < minWindows || (len(windows) < enough && r.clock.Now().Before(until)) {
		if !r.clock.Now().Add(r.pace.dwell).Before(r.deadline) {
			break
		}
		v, err := r.window(ctx, r.pace.dwell)
		var none *badWindow
		switch {
		case err == nil:
			windows, bad = append(windows, v), 0
			continue
		case !errors.As(err, &none):
			return windows, err
		}
		if bad++; bad >= maxBadWindows {
			return windows, fmt.Errorf("%d windows in a row gave no number: %w", bad, none.cause)
		}
		if err := r.sleep(ctx, r.pace.dwell); err != nil {
			return windows, err
		}
	}
	return windows, nil
}

func speeds(windows []timed) []float64 {
	out := make([]float64, len(windows))
	for i, w := range windows {
		out[i] = w.speed
	}
	return out
}

// guessedNoise holds where the windows without pressure say nothing, noiseSpread where they
// do: a dozen windows tell their noise to a third, and pressure may change it.
var guessedNoise = stat.NoiseGuess{Sigma: 0.03, Spread: 0.9}

const (
	noiseSpread = 0.5
	leastNoise  = 0.001
)

// noiseOf is the noise of the ratio of two windows next to each other.
func noiseOf(windows []float64) stat.NoiseGuess {
	var logs []float64
	for i := 1; i < len(windows); i++ {
		if v, ok := stat.LogRatio(windows[i], windows[i-1]); ok {
			logs = append(logs, math.Abs(v))
		}
	}
	if len(logs) < minWindows-1 {
		return guessedNoise
	}
	return stat.NoiseGuess{Sigma: max(leastNoise, absToSigma*stat.Median(logs)), Spread: noiseSpread}
}

// absToSigma makes the median absolute value of a normal sample about 0 estimate
// its standard deviation, 1/Φ⁻¹(3/4).
const absToSigma = 1.4826022185056018

func (r *run) recordIsolated(windows []float64) {
	s := stat.MedianInterval(windows, confidence)
	for _, w := range s.Warnings {
		r.warn("performance in isolation: %s", w)
	}
	if spread := 100 * stat.MAD(windows) / s.Center; spread > noisyPercent {
		r.warn("the performance in isolation differs by %.0f %% from window to window", spread)
	}
	r.setIsolated(profile.Measurement{
		Value: s.Center, Low: s.Low, High: s.High, Unit: r.unit(), Windows: len(windows),
	})
}

func (r *run) setIsolated(m profile.Measurement) {
	r.out.Isolated[r.request.Configuration] = m
	r.isolated = m.Value
}
