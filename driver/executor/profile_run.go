package executor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nomad-placer/nomad-placer/driver/cgroup"
	"github.com/nomad-placer/nomad-placer/driver/ibench"
	"github.com/nomad-placer/nomad-placer/profiler"
	"github.com/nomad-placer/nomad-placer/profiler/probe"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// The ends of a run other than a complete profile.
var (
	errPartial = errors.New("the profile is not complete")
	errNothing = errors.New("nothing was measured")
)

// profileRun is profile mode: one profiling run.
type profileRun struct {
	*journal
	room   *room
	shared string  // the allocation's shared directory, where its logs are
	out    string  // where the result is left
	target *Target // once it was found

	mu     sync.Mutex
	last   profiler.Progress
	advice profile.Advice // given and not yet taken
}

// measure is the profiling protocol; a test puts another in its place.
type measure func(ctx context.Context, r profiler.Request, s profiler.Subject, b profiler.Bench, o profiler.Options) (profile.Profile, error)

// runProfile carries the run out and always leaves a profile behind: complete,
// partial, or empty with the reason.
func (s *profileRun) runProfile(ctx context.Context, m measure) error {
	request := *s.room.spec.Profile
	s.progress(profiler.Progress{Phase: "waiting", Message: "waiting for the workload to start"})
	p, err := s.attempt(ctx, request, m)
	if err != nil && ctx.Err() != nil {
		err = s.cutShort(context.Cause(ctx))
	}
	if writeErr := s.leave(request, p, err); writeErr != nil {
		return errors.Join(err, writeErr)
	}
	return s.conclude(p, err)
}

// cutShort says why a run was cut short. When a workload fails, Nomad stops the
// other tasks of the group at once: then its end is the reason.
func (s *profileRun) cutShort(cause error) error {
	if s.target == nil || !errors.Is(cause, errStopped) {
		return cause
	}
	if _, err := s.target.Pids(); errors.Is(err, ErrNoProcess) {
		return fmt.Errorf("%w: %w", profiler.ErrWorkloadEnded, err)
	}
	return cause
}

// conclude says how the run ended: nil for a complete profile.
func (s *profileRun) conclude(p profile.Profile, cause error) error {
	switch {
	case cause == nil && p.Complete:
		s.progress(profiler.Progress{Phase: "done", Fraction: 1, Message: "the profile is complete"})
		return nil
	case cause == nil:
		// A run that went to its end and left gaps is done, with warnings.
		err := fmt.Errorf("%w: %s", errPartial, strings.Join(p.Warnings, "; "))
		s.progress(profiler.Progress{Phase: "done", Fraction: 1, Message: err.Error()})
		return err
	}
	s.progress(profiler.Progress{Phase: "failed", Fraction: s.fraction(), Message: cause.Error()})
	if len(p.Isolated) > 0 {
		return fmt.Errorf("%w: %w", errPartial, cause)
	}
	return fmt.Errorf("%w: %w", errNothing, cause)
}

// attempt finds the workload and measures it. What was measured before an
// error is returned with it.
func (s *profileRun) attempt(ctx context.Context, r profiler.Request, m measure) (profile.Profile, error) {
	if len(r.Tasks) == 0 {
		r.Tasks = []string{r.Task}
	}
	target := s.room.target(r.Tasks...)
	if err := await(ctx, target); err != nil {
		return profile.Profile{}, err
	}
	s.target = target
	// Whatever happens from here, the workload is not left paused.
	defer func() {
		if err := target.Resume(); err != nil {
			s.say("%v", err)
		}
	}()
	cpus, err := target.CPUs()
	if err != nil {
		return profile.Profile{}, err
	}
	if err := s.room.stepAside(cpus); err != nil {
		return profile.Profile{}, err
	}
	machine, err := ibench.ReadMachine("/")
	if err != nil {
		return profile.Profile{}, fmt.Errorf("read the machine: %w", err)
	}
	reader, err := s.probe(ctx, r)
	if err != nil {
		return profile.Profile{}, err
	}
	tempo := ibench.StartTempo()
	defer func() { _ = tempo.Close() }() // it cannot fail
	s.say("profiling %s on CPUs %s for %d s", strings.Join(r.Tasks, ", "), cpus, r.Seconds)
	return m(ctx, r, &subject{target: target, probe: reader}, &bench{room: s.room, target: target, machine: machine}, profiler.Options{
		Clock:    profiler.SystemClock{},
		Tempo:    tempo,
		Progress: s.progress,
		Review:   s.reviewOf(r),
		Machine: profile.Machine{
			NodeID: r.NodeID, NodeName: r.NodeName, Configuration: r.Configuration,
			CPUModel: machine.CPUModel, KernelRelease: machine.KernelRelease,
			Virtual: machine.Virtual, CPUs: cpus,
		},
	})
}

func (s *profileRun) probe(ctx context.Context, r profiler.Request) (probe.Probe, error) {
	if r.Probe == nil {
		return nil, fmt.Errorf("%w: it names no probe", profiler.ErrBadRequest)
	}
	d, ok := probe.Lookup(r.Probe.Type)
	if !ok {
		return nil, fmt.Errorf("%w: unknown probe %q; known: %s", profiler.ErrBadRequest, r.Probe.Type, probe.Names())
	}
	if err := d.Validate(*r.Probe, r.Target); err != nil {
		return nil, fmt.Errorf("%w: %w", profiler.ErrBadRequest, err)
	}
	reach := &Reach{
		Procs: s.room.procs, AllocID: s.room.spec.AllocID, Env: environMap(os.Environ()),
		Logs: Logs{Shared: s.shared}, Event: cgroup.Instructions,
	}
	if !d.Progress {
		// Such a probe sees nothing but the end of the task.
		var err error
		if reach.exits, err = hearExits(ctx, s.room.now); err != nil {
			s.say("the end of the task will not be noticed: %v", err)
		}
	}
	return d.New(*r.Probe, reach, r.Task)
}

// leave writes the profile. Of a failed run it holds what the request says of
// the workload, what was measured, and the reason as its last warning.
func (s *profileRun) leave(r profiler.Request, p profile.Profile, cause error) error {
	if cause != nil {
		p.Complete = false
		p.Warnings = append(slices.Clone(p.Warnings), cause.Error())
	}
	if p.Format == 0 {
		p.Format, p.Key, p.Workload, p.Taken = profile.Format, r.Key, r.Workload, s.room.now()
		p.Target, p.SlowdownMax = r.Target, r.SlowdownPercent
		p.Machine.NodeID, p.Machine.NodeName, p.Machine.Configuration = r.NodeID, r.NodeName, r.Configuration
	}
	if err := leaveResult(s.out, profiler.ResultFile, p); err != nil {
		return fmt.Errorf("leave the profile: %w", err)
	}
	return nil
}

// progress keeps the newest state, and leaves it for readers of the
// allocation's files. A state that cannot be written is not worth the run.
func (s *profileRun) progress(p profiler.Progress) {
	if p.At.IsZero() {
		p.At = s.room.now()
	}
	s.mu.Lock()
	changed := p.Phase != s.last.Phase || p.Source != s.last.Source
	s.last = p
	s.mu.Unlock()
	if changed {
		s.say("%s", progressLine(p))
	}
	if err := writeJSON(filepath.Join(s.out, profiler.ProgressFile), p); err != nil {
		s.say("progress: %v", err)
	}
}

func progressLine(p profiler.Progress) string {
	line := fmt.Sprintf("%3.0f %% %s", p.Fraction*100, p.Phase)
	if p.Source != "" {
		line += fmt.Sprintf(" %s at %.0f %%", p.Source, p.IntensityPercent)
	}
	if p.Message != "" {
		line += ": " + p.Message
	}
	return line
}

func (s *profileRun) fraction() float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last.Fraction
}

// handle answers commands: a run may be watched and advised; it chooses its own intensities.
func (s *profileRun) handle(_ context.Context, q Request) Response {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case q.Command == CommandAdvise && q.Advice != nil:
		s.advice = *q.Advice
	case q.Command != CommandStats:
		return Response{Error: fmt.Sprintf("a profiling run chooses its own intensities: %q is not possible; possible: %s, %s", q.Command, CommandStats, CommandAdvise)}
	}
	last := s.last
	return Response{Progress: &last}
}

// reviewOf leaves what a run has measured so far for whoever advises it, and takes what was
// advised meanwhile. Nil for a run that names nothing else to measure: nobody advises it.
func (s *profileRun) reviewOf(r profiler.Request) func(profile.SoFar) profile.Advice {
	if len(r.Further) == 0 {
		return nil
	}
	return func(now profile.SoFar) profile.Advice {
		if err := writeJSON(filepath.Join(s.out, profiler.SoFarFile), now); err != nil {
			s.say("what is measured so far: %v", err)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		taken := s.advice
		s.advice = profile.Advice{}
		return taken
	}
}

func environMap(environ []string) map[string]string {
	out := map[string]string{}
	for _, entry := range environ {
		if name, value, ok := strings.Cut(entry, "="); ok {
			out[name] = value
		}
	}
	return out
}

// profileGrace is how long a profiling run may take beyond its own time: the
// wait for the workload, for its probe, and writing.
const profileGrace = targetWait + profiler.DefaultWait + 30*time.Second

// ProfileDuration bounds a profiling run of that request.
func ProfileDuration(r profiler.Request) time.Duration {
	if r.Machine {
		return time.Duration(r.Seconds)*time.Second + machineGrace
	}
	return time.Duration(r.Seconds)*time.Second + profileGrace
}
