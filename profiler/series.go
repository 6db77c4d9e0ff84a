package profiler

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/probe"
)

// kind of a window.
type kind int

const (
	workloadOnly kind = iota // the kernel at 0
	both
	kernelOnly // the workload paused
)

// step is one window of a block, for one of its visits.
type step struct {
	kind  kind
	visit int
}

// The orders of windows in a block of two visits, which are cut short for one.
// Each is its own mirror image, so that a linear drift shows with opposite signs
// in its two ratios, and the workload is paused once. A service's blocks have one
// visit: its queue from one level of pressure must be gone before the next.
var (
	orderShared   = []step{{workloadOnly, 0}, {both, 0}, {kernelOnly, 0}, {kernelOnly, 1}, {both, 1}, {workloadOnly, 1}}
	orderWorkload = []step{{workloadOnly, 0}, {both, 0}, {both, 1}, {workloadOnly, 1}}
	orderKernel   = []step{{both, 0}, {kernelOnly, 0}, {kernelOnly, 1}, {both, 1}}
	orderService  = []step{{workloadOnly, 0}, {both, 0}}
)

// series is the visits of one source under one arrangement of windows.
type series struct {
	*run
	kernel   *activeKernel
	workload *side // nil: not compared in this series
	caused   *side // nil: not compared in this series
	order    []step
	levels   levels

	present *condition // nil before the first, and after a failed change
	paused  bool       // some part of the workload may be
	bad     int        // windows without a number, in a row
}

// condition is what a window is measured under.
type condition struct {
	percent int
	paused  bool
}

func (r *run) newSeries(p *activeKernel, workload, kernel *side) *series {
	s := &series{run: r, kernel: p, workload: workload, caused: kernel}
	s.levels = levels{dense: r.request.Method == MethodSweep, block: 2, random: r.random}
	for _, side := range []*side{workload, kernel} {
		if side != nil {
			s.levels.sides = append(s.levels.sides, side)
		}
	}
	switch {
	case kernel == nil && r.serves():
		s.order, s.levels.block = orderService, 1
	case kernel == nil:
		s.order = orderWorkload
	case workload == nil:
		s.order = orderKernel
	default:
		s.order = orderShared
	}
	return s
}

// until visits levels while there is time for one more before deadline, and
// leaves the workload running and the kernel at rest.
func (s *series) until(ctx context.Context, deadline time.Time) (err error) {
	// Also on a panic in a Subject or a Bench: a paused workload is worse than
	// a lost run.
	defer func() { err = errors.Join(err, s.resume(ctx)) }()
	begun, done := s.clock.Now(), 0
	for {
		now := s.clock.Now()
		perVisit := s.visitTime()
		if done > 0 {
			// With the queues that drained, and steps that were waited for.
			perVisit = max(perVisit, now.Sub(begun)/time.Duration(done))
		}
		next := s.levels.next(int(deadline.Sub(now) / perVisit))
		if len(next) == 0 {
			break
		}
		if err := s.block(ctx, next); err != nil {
			return err
		}
		done += len(next)
		if s.ask(); s.left {
			break
		}
	}
	return s.kernel.kernel.Set(ctx, 0)
}

// visitTime is what one visit takes, with its switches.
func (s *series) visitTime() time.Duration {
	var total time.Duration
	for _, st := range s.order {
		if st.visit == 0 {
			total += s.windowTime(st.kind) + s.settleTime(st.kind)
		}
	}
	return total
}

// windowTime: most kernels count finely, so where the workload's count does not
// matter their windows are short. Next to a workload that works in long steps they
// must still hold whole ones.
func (s *series) windowTime(k kind) time.Duration {
	switch {
	case k == kernelOnly, s.workload == nil && s.pace.tick == 0:
		return s.kernelWindowTime()
	case s.workload == nil:
		return max(s.pace.dwell, s.kernelWindowTime())
	}
	return s.workloadWindowTime() + s.pace.edgeWait()
}

// kernelWindowTime is that of a window of the kernel's own speed.
func (s *series) kernelWindowTime() time.Duration {
	if p, ok := s.kernel.kernel.(Paced); ok && s.pace.fine {
		return p.Window()
	}
	return minDwell
}

// workloadWindowTime: the pressure must be even over a window of the workload too.
func (s *series) workloadWindowTime() time.Duration {
	if s.pace.fine {
		return max(s.pace.dwell, s.kernelWindowTime())
	}
	return s.pace.dwell
}

func (s *series) settleTime(k kind) time.Duration {
	if k == kernelOnly || s.workload == nil {
		return max(minSettle, s.kernelWindowTime()/settleShare)
	}
	return max(s.pace.settle, s.workloadWindowTime()/settleShare)
}

// readings are the windows of one visit; NaN where there was none.
type readings struct {
	isolated        timed // of the workload
	activeKernel    timed // of the workload
	kernelColocated timed
	kernelOnly      timed
}

// block carries out one or two visits.
func (s *series) block(ctx context.Context, visits []chosen) error {
	got := make([]readings, len(visits))
	for i := range got {
		got[i] = readings{untimed, untimed, untimed, untimed}
	}
	for _, st := range s.order {
		if st.visit >= len(visits) || !s.clock.Now().Before(s.run.deadline) {
			continue
		}
		if err := s.step(ctx, st.kind, visits[st.visit].percent, &got[st.visit]); err != nil {
			return err
		}
	}
	for i, v := range visits {
		if s.workload != nil {
			s.workload.add(v.percent, v.pass, got[i].activeKernel, got[i].isolated)
		}
		if s.caused != nil {
			s.caused.add(v.percent, v.pass, got[i].kernelColocated, got[i].kernelOnly)
		}
	}
	for _, side := range s.levels.sides {
		side.refit()
	}
	return nil
}

// step takes one window. One that gives no number is passed over; too many in a
// row are an error.
func (s *series) step(ctx context.Context, k kind, percent int, into *readings) error {
	s.intensity = float64(percent)
	err := s.enter(ctx, k, percent)
	if err == nil {
		err = s.measure(ctx, k, into)
	}
	var bad *badWindow
	switch {
	case err == nil:
		s.bad = 0
		return nil
	case !errors.As(err, &bad):
		return err
	}
	if s.bad++; s.bad >= maxBadWindows {
		return fmt.Errorf("%d windows in a row gave no number: %w", s.bad, bad.cause)
	}
	// A probe that fails at once must not turn this into a busy loop.
	return s.sleep(ctx, s.windowTime(k))
}

// enter brings about the condition of a window and lets it settle.
func (s *series) enter(ctx context.Context, k kind, percent int) error {
	want := condition{percent: percent, paused: k == kernelOnly}
	if k == workloadOnly {
		want.percent = 0
	}
	if s.present != nil && *s.present == want {
		return nil
	}
	s.present = nil
	if err := s.setLevel(ctx, want.percent); err != nil {
		return err
	}
	resumed := s.paused && !want.paused
	if err := s.setPaused(ctx, want.paused); err != nil {
		return err
	}
	s.present = &want
	return s.settle(ctx, s.settleTime(k), s.backlog(k, resumed))
}

// setLevel sets the kernel's level and waits until it has reached it: one that
// still fills memory presses on other things than it should, and is slow itself.
func (s *series) setLevel(ctx context.Context, percent int) error {
	if err := s.kernel.kernel.Set(ctx, float64(percent)); err != nil {
		return err
	}
	if k, ok := s.kernel.kernel.(Settler); ok {
		return k.Settle(ctx)
	}
	return nil
}

// backlog is how long work that queued up under the condition before may drain:
// what queues up under pressure is its effect, and a paused workload answers
// nothing; but a workload that catches up causes more than it usually does.
func (s *series) backlog(k kind, resumed bool) time.Duration {
	switch {
	case k == workloadOnly:
		return s.drain(drainAfterPressure)
	case k == both && resumed:
		return s.drain(drainAfterPause)
	}
	return 0
}

func (s *series) setPaused(ctx context.Context, pause bool) error {
	if !pause {
		return s.resume(ctx)
	}
	if s.paused {
		return nil
	}
	s.paused = true // before the call: a failed pause may have paused a part
	if err := s.subject.Pause(ctx); err != nil {
		return fmt.Errorf("pause the workload: %w", err)
	}
	return nil
}

func (s *series) resume(ctx context.Context) error {
	if !s.paused {
		return nil
	}
	ctx, cancel := cleanup(ctx)
	defer cancel()
	if err := s.subject.Resume(ctx); err != nil {
		return fmt.Errorf("%w: %w", ErrStillPaused, err)
	}
	s.paused = false
	return nil
}

func (s *series) measure(ctx context.Context, k kind, into *readings) (err error) {
	switch {
	case k == workloadOnly:
		into.isolated, err = s.window(ctx, s.workloadWindowTime())
	case k == kernelOnly:
		into.kernelOnly, err = s.kernelWindow(ctx, func() error { return s.sleep(ctx, s.windowTime(k)) })
	case s.workload == nil:
		into.kernelColocated, err = s.kernelWindow(ctx, func() error {
			if err := s.sleep(ctx, s.windowTime(k)); err != nil {
				return err
			}
			return s.alive(ctx)
		})
	default:
		into.kernelColocated, err = s.kernelWindow(ctx, func() error {
			into.activeKernel, err = s.window(ctx, s.workloadWindowTime())
			if starved(err) {
				into.activeKernel, err = timed{0, math.NaN(), math.NaN()}, nil
			}
			return err
		})
		var bad *badWindow
		if s.caused == nil && errors.As(err, &bad) && !math.IsNaN(into.activeKernel.speed) {
			return nil // only the kernel's speed is missing, and it was not asked for
		}
	}
	return err
}

// kernelWindow measures the kernel's own speed during something.
func (s *series) kernelWindow(ctx context.Context, during func() error) (timed, error) {
	before, err := s.kernel.kernel.Stats(ctx)
	if err != nil {
		return untimed, err
	}
	from := s.clock.Now()
	if err := during(); err != nil {
		return untimed, err
	}
	after, err := s.kernel.kernel.Stats(ctx)
	if err != nil {
		return untimed, err
	}
	if !s.paused {
		s.kernel.achieve(s.intensity, before, after)
	}
	speed := s.kernel.kernel.Speed(before, after)
	if math.IsNaN(speed) || math.IsInf(speed, 0) || speed < 0 {
		return untimed, &badWindow{fmt.Errorf("the kernel gave a speed of %v", speed)}
	}
	return s.timed(speed, from, s.clock.Now()), nil
}

// starved: under pressure the workload lives but does not even answer its
// probe, which it does without. That is a standstill, not a failed window.
func starved(err error) bool {
	var bad *badWindow
	return errors.As(err, &bad) && errors.Is(bad.cause, probe.ErrNotReady)
}
