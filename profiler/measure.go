package profiler

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/probe"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// Errors of a profiling run. Where something was measured before the error,
// the profile returned with it holds that, with Complete false.
var (
	ErrBadRequest        = errors.New("the profiling request cannot be carried out as written")
	ErrProbeSilent       = errors.New("the workload never gave a usable reading")
	ErrNoMeasurableWork  = errors.New("the workload answers its probe but does no measurable work")
	ErrWorkloadEnded     = errors.New("the workload ended while it was profiled")
	ErrWorkloadRestarted = errors.New("the workload keeps restarting while it is profiled")
	ErrStillPaused       = errors.New("the workload could not be resumed after it was paused")
	// ErrKernelUnsupported is returned by a Bench for a source that has no
	// working kernel on this node; the source is noted as unknown and the run
	// goes on.
	ErrKernelUnsupported = errors.New("no interference kernel for this source on this node")
)

// ErrWorkloadFinished is the ErrWorkloadEnded of a workload that did what it had
// to do: no failure, only too short for the run.
var ErrWorkloadFinished = fmt.Errorf("%w: it finished its work", ErrWorkloadEnded)

// Options are the surroundings of a run.
type Options struct {
	Clock    Clock           // required
	Progress func(Progress)  // at least once a second of Clock; may be nil
	Machine  profile.Machine // copied into the profile; node fields come from the request
	// Tempo says how fast the cores ran; nil where that is not known.
	Tempo Tempo
	// Wait bounds the time until the probe's first usable reading; it is not
	// part of Request.Seconds. 0 means DefaultWait.
	Wait time.Duration
	// Review is shown what is known so far, between the windows of a source; what it
	// advises is followed. May be nil.
	Review func(profile.SoFar) profile.Advice
}

// DefaultWait is how long a workload may take to start answering (chosen by
// us: with 45 s of measuring it keeps a run inside 75 s).
const DefaultWait = 30 * time.Second

// Measure carries out a profiling run. Request.Seconds bounds it, less the wait
// for the first reading. It never leaves the workload paused, nor a kernel
// running that it started, also when ctx ends.
func Measure(ctx context.Context, r Request, s Subject, b Bench, o Options) (profile.Profile, error) {
	run, err := newRun(r, s, b, o)
	if err != nil {
		return profile.Profile{}, err
	}
	begun := o.Clock.Now()
	run.out.Complete = true
	err = run.finished(ctx, run.measure(ctx, o))
	if err != nil {
		run.out.Complete = false
		run.warn("the run was cut short: %s", err)
		run.phase = PhaseFailed
		run.announce(err.Error())
	}
	run.out.Taken = o.Clock.Now()
	run.out.Duration = run.out.Taken.Sub(begun)
	return run.out, err
}

// finished tells a workload that ended well from one that failed: its processes
// are gone either way, but its probe knows.
func (r *run) finished(ctx context.Context, err error) error {
	if !errors.Is(err, ErrWorkloadEnded) || r.request.Probe == nil {
		return err
	}
	if reading, readErr := r.subject.Read(ctx); readErr == nil && reading.Done {
		return ErrWorkloadFinished
	}
	return err
}

// slowdownMaxPercent bounds what may be asked for: at 100 everything is
// tolerated.
const slowdownMaxPercent = 90

func newRun(r Request, s Subject, b Bench, o Options) (*run, error) {
	if r.SlowdownPercent == 0 {
		r.SlowdownPercent = performance.DefaultSlowdownMaxPercent
	}
	if r.Seconds == 0 {
		r.Seconds = performance.DefaultProfileSeconds
	}
	if err := checkRequest(r); err != nil {
		return nil, err
	}
	if o.Clock == nil {
		return nil, fmt.Errorf("%w: no clock", ErrBadRequest)
	}
	machine := o.Machine
	machine.NodeID, machine.NodeName, machine.Configuration = r.NodeID, r.NodeName, r.Configuration
	return &run{
		request:  r,
		subject:  s,
		bench:    b,
		clock:    o.Clock,
		tempo:    o.Tempo,
		report:   o.Progress,
		lastWork: math.NaN(),
		random:   rand.New(rand.NewPCG(r.Seed, seedStream)),
		logBound: math.Log1p(-r.SlowdownPercent / 100),
		review:   o.Review,
		pace:     pace{dwell: minDwell, settle: max(minSettle, minDwell/settleShare)},
		out: profile.Profile{
			Format:      profile.Format,
			Key:         r.Key,
			Workload:    r.Workload,
			Machine:     machine,
			SlowdownMax: r.SlowdownPercent,
			Target:      r.Target,
			Isolated:    map[string]profile.Measurement{},
			Sensitivity: interference.Sensitivity{
				Tolerated: interference.Scores{},
				Caused:    interference.Scores{},
			},
		},
	}, nil
}

// seedStream keeps this package's random numbers apart from others drawn from
// the same seed.
const seedStream = 0x70726f66696c6572 // "profiler"

func checkRequest(r Request) error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s", ErrBadRequest, fmt.Sprintf(format, args...))
	}
	switch {
	case r.Format != RequestFormat:
		return bad("format %d, this version reads %d", r.Format, RequestFormat)
	case r.Key == "":
		return bad("no key")
	case r.Configuration == "":
		return bad("no node configuration")
	case r.Method != "" && r.Method != MethodSearch && r.Method != MethodSweep:
		return bad("method %q, known: %s, %s", r.Method, MethodSearch, MethodSweep)
	case r.Seconds < 0:
		return bad("%d seconds", r.Seconds)
	case !(r.SlowdownPercent > 0) || r.SlowdownPercent > slowdownMaxPercent:
		return bad("a slowdown bound of %v %%; it must be above 0 and at most %d", r.SlowdownPercent, slowdownMaxPercent)
	}
	seen := map[interference.Source]bool{}
	for _, s := range slices.Concat(r.Sources, r.Further) {
		if _, err := interference.ParseSource(string(s)); err != nil {
			return bad("%s", err)
		}
		if seen[s] {
			return bad("source %s is asked for twice", s)
		}
		seen[s] = true
	}
	return checkProbe(r)
}

func checkProbe(r Request) error {
	if r.Probe == nil {
		return nil
	}
	d, ok := probe.Lookup(r.Probe.Type)
	if !ok {
		return fmt.Errorf("%w: unknown probe %q; known: %s", ErrBadRequest, r.Probe.Type, probe.Names())
	}
	if err := d.Validate(*r.Probe, r.Target); err != nil {
		return fmt.Errorf("%w: %w", ErrBadRequest, err)
	}
	return nil
}

// progressing says whether the workload's readings show progress.
func (r *run) progressing() bool { return r.descriptor().Progress }

// descriptor is that of the workload's probe; zero without one.
func (r *run) descriptor() probe.Descriptor {
	if r.request.Probe == nil {
		return probe.Descriptor{}
	}
	d, _ := probe.Lookup(r.request.Probe.Type)
	return d
}

// unit is that of the workload's speed.
func (r *run) unit() string {
	if d := r.descriptor(); d.Unit != "" {
		return d.Unit + "/s"
	}
	return r.request.Target.RateUnit()
}

func (r *run) measure(ctx context.Context, o Options) error {
	if err := r.waitFirst(ctx, o.Wait); err != nil {
		return err
	}
	r.start = r.clock.Now()
	r.deadline = r.start.Add(time.Duration(r.request.Seconds) * time.Second)
	if r.progressing() {
		if err := r.baseline(ctx); err != nil {
			return err
		}
	}
	if err := r.ramps(ctx); err != nil {
		return err
	}
	if err := r.awaitCompletion(ctx); err != nil {
		return err
	}
	r.phase, r.source, r.intensity = PhaseDone, "", 0
	r.announce("done")
	return nil
}

func (r *run) waitFirst(ctx context.Context, wait time.Duration) error {
	if wait <= 0 {
		wait = DefaultWait
	}
	if r.request.Probe == nil {
		return r.alive(ctx)
	}
	err := r.waitReady(ctx, wait)
	if errors.Is(err, probe.ErrUnsupported) && r.request.Target.Kind == performance.BestEffort {
		// No target needs its speed, and what it causes can be measured without.
		r.warn("its speed was not measured: %s", err)
		r.request.Probe = nil
		return r.alive(ctx)
	}
	return err
}

// ramps gives every source an equal part of the time that is left, so that what
// one does not need goes to the next.
func (r *run) ramps(ctx context.Context) error {
	r.queue = slices.Clone(r.request.Sources)
	for len(r.queue) > 0 {
		now := r.clock.Now()
		slice := r.deadline.Sub(now) / time.Duration(len(r.queue))
		source := r.queue[0]
		r.queue = r.queue[1:]
		if err := r.ramp(ctx, source, now.Add(slice)); err != nil {
			r.unmeasured("the run ended before it was measured")
			return err
		}
	}
	r.unmeasured("the run ended without it: what it would say was not expected to change the decision")
	return nil
}

// unmeasured notes why the sources that were asked for and not measured are unknown.
func (r *run) unmeasured(why string) {
	for _, s := range r.request.Sources {
		if _, ok := r.out.Sensitivity.Caused[s]; !ok {
			r.unknownBoth(s, why)
		}
	}
}
