package profiler

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/probe"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/stat"
)

// The phases of a run, as Progress names them.
const (
	PhaseWaiting  = "waiting"
	PhaseBaseline = "baseline"
	PhaseRamp     = "ramp"
	PhaseDone     = "done"
	PhaseFailed   = "failed"
)

const (
	// reportEvery is the longest time without a Progress.
	reportEvery = 500 * time.Millisecond
	// resumeWithin bounds the resuming of a paused workload once the run's own
	// context has ended (chosen by us: a freezer thaws in milliseconds).
	resumeWithin = 10 * time.Second
	// aliveEvery: asking whether the workload lives may mean a look at every
	// process of the machine, so it is not done with every reading.
	aliveEvery = minDwell
	// maxRestarts is how often a workload's counter may go backwards before
	// the run gives up (chosen by us: one restart is bad luck, three a fault).
	maxRestarts = 3
	// maxBadWindows is how many windows in a row may give no number.
	maxBadWindows = 5
)

// run is the state of one Measure. It is used by one goroutine.
type run struct {
	request Request
	subject Subject
	bench   Bench
	clock   Clock
	tempo   Tempo // nil: not known
	report  func(Progress)
	review  func(profile.SoFar) profile.Advice // nil: nobody advises
	random  *rand.Rand

	start    time.Time // of the measuring, after the wait
	deadline time.Time // start plus Request.Seconds
	pace     pace
	logBound float64         // ln(1 − slowdown)
	isolated float64         // goodput without pressure; 0 before it was measured
	noise    stat.NoiseGuess // of a ratio of two windows of the workload

	phase      string
	source     interference.Source
	queue      []interference.Source // to be measured after source
	left       bool                  // source was left by advice
	sofar      func() profile.SoFar  // what is known by now; nil outside of a source
	intensity  float64
	lastReport time.Time
	lastAlive  time.Time // when Alive was last asked
	restarts   int
	lastWork   float64             // NaN before the first reading
	kept       performance.Reading // end of the window that has just ended
	isKept     bool                // no time has passed since

	out profile.Profile
}

// announce reports progress now.
func (r *run) announce(message string) {
	r.lastReport = r.clock.Now()
	if r.report == nil {
		return
	}
	p := Progress{At: r.lastReport, Phase: r.phase, Source: r.source, IntensityPercent: r.intensity, Message: message}
	p.RemainingSeconds = float64(r.request.Seconds)
	if !r.start.IsZero() {
		total := r.deadline.Sub(r.start).Seconds()
		p.Fraction = min(1, r.lastReport.Sub(r.start).Seconds()/total)
		p.RemainingSeconds = max(0, r.deadline.Sub(r.lastReport).Seconds())
	}
	if r.phase == PhaseDone {
		p.Fraction, p.RemainingSeconds = 1, 0
	}
	r.report(p)
}

// sleep waits for d, reporting at least every reportEvery.
func (r *run) sleep(ctx context.Context, d time.Duration) error {
	r.isKept = false
	for d > 0 {
		step := min(d, reportEvery)
		if err := r.clock.Sleep(ctx, step); err != nil {
			return err
		}
		d -= step
		if r.clock.Now().Sub(r.lastReport) >= reportEvery {
			r.announce(r.describe())
		}
	}
	return ctx.Err()
}

func (r *run) describe() string {
	switch r.phase {
	case PhaseWaiting:
		return "waiting for the workload's first reading"
	case PhaseBaseline:
		return "measuring the performance in isolation"
	}
	return fmt.Sprintf("pressing on %s at %g %%", title(r.source), r.intensity)
}

func title(s interference.Source) string {
	if info, ok := interference.Info(s); ok {
		return info.Title
	}
	return string(s)
}

// warn keeps a sentence for the reader of the profile.
func (r *run) warn(format string, args ...any) {
	r.out.Warnings = append(r.out.Warnings, fmt.Sprintf(format, args...))
}

// badWindow is a window without a number; the run goes on with the next.
type badWindow struct{ cause error }

func (b *badWindow) Error() string { return "a window gave no number: " + b.cause.Error() }
func (b *badWindow) Unwrap() error { return b.cause }

// read takes one reading. A workload that has ended is ErrWorkloadEnded; a
// probe that fails otherwise is a badWindow.
func (r *run) read(ctx context.Context) (performance.Reading, error) {
	reading, err := r.subject.Read(ctx)
	if ctx.Err() != nil {
		return reading, ctx.Err()
	}
	if err == nil && reading.Done {
		return reading, ErrWorkloadFinished
	}
	if errors.Is(err, probe.ErrUnsupported) {
		return reading, err
	}
	if err != nil || r.clock.Now().Sub(r.lastAlive) >= aliveEvery {
		if alive := r.alive(ctx); alive != nil {
			return reading, alive
		}
	}
	if err != nil {
		return reading, &badWindow{err}
	}
	if reading.At.IsZero() {
		reading.At = r.clock.Now()
	}
	return reading, r.checkRestart(reading)
}

// checkRestart notices a count that went backwards, also between windows.
func (r *run) checkRestart(reading performance.Reading) error {
	back := reading.Work < r.lastWork // false for NaN
	r.lastWork = reading.Work
	if !back {
		return nil
	}
	r.restarts++
	if r.restarts >= maxRestarts {
		return fmt.Errorf("%w: its count went backwards %d times", ErrWorkloadRestarted, r.restarts)
	}
	r.warn("the workload restarted while it was measured; the window was dropped")
	return &badWindow{performance.ErrCounterReset}
}

// alive returns ErrWorkloadEnded with the reason once the workload is gone.
func (r *run) alive(ctx context.Context) error {
	r.lastAlive = r.clock.Now()
	err := r.subject.Alive(ctx)
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("%w: %w", ErrWorkloadEnded, err)
}

// window measures the workload's goodput for a time, usually one dwell.
func (r *run) window(ctx context.Context, length time.Duration) (timed, error) {
	a, err := r.windowStart(ctx)
	if err != nil {
		return untimed, err
	}
	used := r.used()
	if err := r.sleep(ctx, length-r.pace.edgeWait()/2); err != nil {
		return untimed, err
	}
	b, err := r.edge(ctx, &a)
	if err != nil {
		return untimed, err
	}
	cpus := r.cpusSince(used)
	r.kept, r.isKept = b, true
	v, err := r.between(a, b)
	if err == nil && v == 0 {
		// Standing still may be death: a log outlives the one who wrote it.
		err = r.alive(ctx)
	}
	t := r.timed(v, a.At, b.At)
	t.cpus = cpus
	return t, err
}

// windowStart of a window: the end of the one before, if that was just now.
func (r *run) windowStart(ctx context.Context) (performance.Reading, error) {
	if r.isKept {
		return r.kept, nil
	}
	return r.edge(ctx, nil)
}

// edge takes the reading at the end of a window, or at its beginning if begun is
// nil. For a workload that counts in coarse steps it waits for the next step, so
// that a window holds whole steps. For one that says when it counted it waits
// only where there is no count yet of the time since the window began.
func (r *run) edge(ctx context.Context, begun *performance.Reading) (performance.Reading, error) {
	entered := r.clock.Now()
	first, err := r.read(ctx)
	if err != nil {
		return first, err
	}
	enough := func(next performance.Reading) bool { return stepped(first, next) }
	switch {
	case r.pace.exact && begun == nil:
		enough = func(next performance.Reading) bool { return !next.At.Before(entered) }
	case r.pace.exact:
		enough = func(next performance.Reading) bool { return stepped(*begun, next) }
	case !r.pace.coarse():
		return first, nil
	}
	if r.pace.exact && enough(first) {
		return first, nil
	}
	return r.poll(ctx, first, enough)
}

// poll reads until a reading is enough. If none is within the limit the workload
// all but stands still, which is what the window must say.
func (r *run) poll(ctx context.Context, last performance.Reading, enough func(performance.Reading) bool) (performance.Reading, error) {
	for end := r.clock.Now().Add(r.pace.edgeLimit()); r.clock.Now().Before(end); {
		if err := r.sleep(ctx, r.pace.poll()); err != nil {
			return last, err
		}
		next, err := r.read(ctx)
		if err != nil || enough(next) {
			return next, err
		}
	}
	return r.read(ctx)
}

// between is the goodput between two readings.
func (r *run) between(a, b performance.Reading) (float64, error) {
	if a.Exact != b.Exact {
		return math.NaN(), &badWindow{errStampsChange}
	}
	m, err := performance.Between(a, b, r.request.Target)
	switch {
	case err == nil:
		return m.Goodput, nil
	case errors.Is(err, performance.ErrNoWork) && m.RatePerSec == 0 && (b.At.After(a.At) || a.Exact && a.Work == b.Work):
		return 0, nil // the count stood still: a real zero
	}
	return math.NaN(), &badWindow{err}
}

// errStampsChange: a rate between a moment of counting and one of reading would
// be wrong by what lies between the two.
var errStampsChange = errors.New("only one of two readings carries its time")

// stepped says whether the workload has moved on between two readings.
func stepped(a, b performance.Reading) bool {
	return moved(a.Work, b.Work) || (math.IsNaN(b.Work) && moved(a.RateNow, b.RateNow))
}

func moved(a, b float64) bool { return !math.IsNaN(b) && a != b }

// cleanup returns a context for putting things back after ctx has ended.
func cleanup(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), resumeWithin)
}
