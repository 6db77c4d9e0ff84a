package pairs

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/stat"
)

const (
	// readyWithin bounds the wait for the first work of all workloads, which
	// start at the same time.
	readyWithin = 3 * time.Minute
	readyPoll   = 250 * time.Millisecond
	// edgePoll is the distance of two looks for a reading of the right time, and
	// edgeShare how many windows that may take.
	edgePoll  = 5 * time.Millisecond
	edgeShare = 3
	// cleanupWithin bounds putting things back after the context has ended.
	cleanupWithin = 10 * time.Second
	// minRounds with a ratio make a pair; fewer have no interval at all.
	minRounds = 3
)

// run is the state of one Measure.
type run struct {
	request  Request
	options  Options
	subjects map[string]Subject
	failed   map[string]error // applications that cannot be measured any more
	random   *rand.Rand
	start    time.Time
	total    time.Duration
}

// Measure measures the pairs of a request, one after another. Subjects are by
// name of their application. A workload that fails takes its pairs with it and
// no others; then the error is ErrPartial. When it returns, everything runs.
func Measure(ctx context.Context, r Request, subjects map[string]Subject, o Options) (err error) {
	if r, err = r.WithDefaults(); err != nil {
		return err
	}
	m := &run{
		request: r, options: o, subjects: subjects, failed: map[string]error{},
		random: rand.New(rand.NewPCG(r.Seed, r.Seed)), total: r.Duration(),
	}
	for _, a := range r.Applications {
		if subjects[a.Application] == nil {
			return fmt.Errorf("%w: no application is called %q", ErrRequest, a.Application)
		}
	}
	m.start = o.Clock.Now()
	defer func() { err = errors.Join(err, m.resumeAll(ctx)) }()
	if err := m.await(ctx); err != nil {
		return err
	}
	m.start = o.Clock.Now()
	for i, c := range r.Pairs {
		if err := m.one(ctx, i, c); err != nil {
			return err
		}
	}
	m.tell(profiler.PhaseDone, 1, "all pairs have been tried")
	return m.partial()
}

// one measures a pair. Only errors that end the whole run are returned.
func (m *run) one(ctx context.Context, i int, c Choice) error {
	for _, name := range []string{c.A, c.B} {
		if m.failed[name] != nil {
			return nil
		}
	}
	m.tell(profiler.PhaseRamp, float64(i)/float64(len(m.request.Pairs)), fmt.Sprintf("%s and %s, %s", c.A, c.B, c.Placement))
	pair, err := m.pair(ctx, c)
	var failure *subjectError
	switch {
	case ctx.Err() != nil:
		return errors.Join(ctx.Err(), err)
	case errors.As(err, &failure):
		m.failed[failure.name] = failure.cause
		return nil
	case err != nil:
		return err
	}
	return m.options.Measured(pair)
}

// subjectError is the failure of one workload.
type subjectError struct {
	name  string
	cause error
}

func (e *subjectError) Error() string { return e.name + ": " + e.cause.Error() }
func (e *subjectError) Unwrap() error { return e.cause }

// await waits until every workload has done some work, and stops it. One that
// does none is given up.
func (m *run) await(ctx context.Context) error {
	end := m.options.Clock.Now().Add(readyWithin)
	for _, a := range m.request.Applications {
		s := m.subjects[a.Application]
		m.tell(profiler.PhaseWaiting, 0, "waiting for "+a.Application)
		for {
			reading, err := s.Read(ctx)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err == nil && reading.Work > 0 {
				break
			}
			if !m.options.Clock.Now().Before(end) {
				m.failed[a.Application] = errors.Join(profiler.ErrNoMeasurableWork, err)
				break
			}
			if err := m.options.Clock.Sleep(ctx, readyPoll); err != nil {
				return err
			}
		}
	}
	for name, s := range m.subjects {
		if err := s.Pause(ctx); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// resumeAll lets everything run, whatever has happened.
func (m *run) resumeAll(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupWithin)
	defer cancel()
	var errs []error
	for name, s := range m.subjects {
		if err := s.Resume(ctx); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

func (m *run) partial() error {
	if len(m.failed) == 0 {
		return nil
	}
	err := ErrPartial
	for _, a := range m.request.Applications {
		if cause := m.failed[a.Application]; cause != nil {
			err = fmt.Errorf("%w; %s: %w", err, a.Application, cause)
		}
	}
	return err
}

func (m *run) tell(phase string, fraction float64, message string) {
	if m.options.Progress == nil {
		return
	}
	now := m.options.Clock.Now()
	m.options.Progress(profiler.Progress{
		At: now, Phase: phase, Fraction: fraction, Message: message,
		RemainingSeconds: m.total.Seconds() * (1 - fraction),
	})
}

// speeds collects the windows of one side.
type speeds struct {
	isolated, together []float64
	logs               []float64 // of the ratios, one a round
}

// The windows of a round.
const (
	windowA = iota
	windowB
	windowBoth
)

// orders are all orders of three windows.
var orders = [][windowsPerRound]int{
	{windowA, windowB, windowBoth}, {windowB, windowBoth, windowA}, {windowBoth, windowA, windowB},
	{windowB, windowA, windowBoth}, {windowA, windowBoth, windowB}, {windowBoth, windowB, windowA},
}

// pair binds the two and measures all rounds.
func (m *run) pair(ctx context.Context, c Choice) (profile.Pair, error) {
	cpusA, cpusB := m.request.cpus(c.Placement)
	for name, cpus := range map[string][]int{c.A: cpusA, c.B: cpusB} {
		if err := m.subjects[name].Pin(ctx, cpus); err != nil {
			return profile.Pair{}, &subjectError{name, err}
		}
	}
	var a, b speeds
	dropped := 0
	turns := m.random.Perm(len(orders))
	for round := range m.request.Rounds {
		var v [windowsPerRound][2]float64
		for _, window := range orders[turns[round%len(orders)]] {
			var err error
			if v[window], err = m.window(ctx, c, window); err != nil {
				return profile.Pair{}, err
			}
		}
		if !a.add(v[windowA][0], v[windowBoth][0]) || !b.add(v[windowB][1], v[windowBoth][1]) {
			dropped++
		}
	}
	out := profile.Pair{
		Format: profile.PairFormat, Placement: c.Placement, Taken: m.options.Clock.Now(),
		Machine: m.options.Machine, Pairs: m.request.Rounds - dropped,
		A: m.side(c.A, cpusA, a), B: m.side(c.B, cpusB, b),
	}
	out.Machine.CPUs = m.request.CPUs
	if dropped > 0 {
		out.Warnings = append(out.Warnings, fmt.Sprintf("%d of %d rounds gave no ratio", dropped, m.request.Rounds))
	}
	for _, s := range []struct {
		name string
		side speeds
	}{{c.A, a}, {c.B, b}} {
		if len(s.side.logs) < minRounds {
			return out, &subjectError{s.name, fmt.Errorf("only %d of %d rounds gave a ratio", len(s.side.logs), m.request.Rounds)}
		}
	}
	return out, nil
}

// add keeps a round, and says whether it gave a ratio.
func (s *speeds) add(isolated, together float64) bool {
	v, ok := stat.LogRatio(together, isolated)
	if !ok {
		return false
	}
	s.isolated, s.together, s.logs = append(s.isolated, isolated), append(s.together, together), append(s.logs, v)
	return true
}

func (m *run) side(name string, cpus []int, s speeds) profile.PairSide {
	a := m.application(name)
	ratio := stat.Exp(stat.HodgesLehmann(s.logs, confidence))
	unit := a.Target.RateUnit()
	return profile.PairSide{
		Key: a.Key, Application: name, CPUs: cpus,
		Isolated: measurement(s.isolated, unit), Together: measurement(s.together, unit),
		Ratio: ratio.Center, Low: ratio.Low, High: ratio.High,
	}
}

func (m *run) application(name string) Application {
	for _, a := range m.request.Applications {
		if a.Application == name {
			return a
		}
	}
	return Application{} // check has refused such a request
}

func measurement(windows []float64, unit string) profile.Measurement {
	s := stat.MedianInterval(windows, confidence)
	return profile.Measurement{Value: s.Center, Low: s.Low, High: s.High, Unit: unit, Windows: len(windows)}
}

// window lets one or both run for a window and returns their speeds; NaN for
// the one that stood still.
func (m *run) window(ctx context.Context, c Choice, window int) (speed [2]float64, err error) {
	names := []string{c.A, c.B}
	from, to := 0, 2
	switch window {
	case windowA:
		to = 1
	case windowB:
		from = 1
	}
	defer func() {
		for i := from; i < to; i++ {
			// Whatever happened, they stand still before anything else runs.
			if pausing := m.pause(ctx, names[i]); pausing != nil {
				err = errors.Join(err, &subjectError{names[i], pausing})
			}
		}
	}()
	speed = [2]float64{math.NaN(), math.NaN()}
	for i := from; i < to; i++ {
		if err := m.subjects[names[i]].Resume(ctx); err != nil {
			return speed, &subjectError{names[i], err}
		}
	}
	if err := m.options.Clock.Sleep(ctx, millis(m.request.SettleMillis)); err != nil {
		return speed, err
	}
	var begin [2]performance.Reading
	now := m.options.Clock.Now()
	for i := from; i < to; i++ {
		if begin[i], err = m.reading(ctx, names[i], now); err != nil {
			return speed, err
		}
	}
	if err := m.options.Clock.Sleep(ctx, millis(m.request.WindowMillis)); err != nil {
		return speed, err
	}
	for i := from; i < to; i++ {
		end, err := m.reading(ctx, names[i], begin[i].At.Add(millis(m.request.WindowMillis)*3/4))
		if err != nil {
			return speed, err
		}
		speed[i] = between(begin[i], end, m.application(names[i]).Target)
	}
	return speed, nil
}

func (m *run) pause(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupWithin)
	defer cancel()
	return m.subjects[name].Pause(ctx)
}

func millis(n int) time.Duration { return time.Duration(n) * time.Millisecond }

// reading takes a reading that is of no time before since, up to a limit: the
// count of a workload that works in long steps may still be that of before it
// was stopped.
func (m *run) reading(ctx context.Context, name string, since time.Time) (performance.Reading, error) {
	limit := m.options.Clock.Now().Add(edgeShare * millis(m.request.WindowMillis))
	for {
		r, err := m.subjects[name].Read(ctx)
		if ctx.Err() != nil {
			return r, ctx.Err()
		}
		if err != nil {
			if dead := m.subjects[name].Alive(ctx); dead != nil {
				return r, &subjectError{name, dead}
			}
		} else {
			if r.At.IsZero() {
				r.At = m.options.Clock.Now()
			}
			// Times of samples are whole milliseconds.
			if !r.At.Add(time.Millisecond).Before(since) {
				return r, nil
			}
		}
		if !m.options.Clock.Now().Before(limit) {
			if err != nil {
				return r, &subjectError{name, err}
			}
			return r, nil
		}
		if err := m.options.Clock.Sleep(ctx, edgePoll); err != nil {
			return r, err
		}
	}
}

// between is the speed between two readings: zero for a workload that stood
// still, NaN where there is none.
func between(a, b performance.Reading, t performance.Target) float64 {
	m, err := performance.Between(a, b, t)
	switch {
	case err == nil:
		return m.Goodput
	case errors.Is(err, performance.ErrNoWork) && a.Work == b.Work:
		return 0
	}
	return math.NaN()
}
