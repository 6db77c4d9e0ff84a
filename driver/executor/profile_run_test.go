package executor

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nomad-placer/nomad-placer/profiler"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// newProfileRun is a profiling run of a real process, with a protocol of the test's.
func newProfileRun(t *testing.T, request profiler.Request) (*profileRun, int) {
	t.Helper()
	id := TaskID{AllocID: "study-" + strconv.Itoa(os.Getpid()) + t.Name(), Task: "web"}
	pid := startTask(t, id, nil)
	shared := t.TempDir()
	r := &room{
		spec: Spec{AllocID: id.AllocID, Profile: &request, Allowed: []int{0}}, dir: t.TempDir(),
		procs: liveProc, now: time.Now, journal: newJournal(io.Discard, time.Now), stderr: io.Discard,
	}
	return &profileRun{journal: r.journal, room: r, shared: shared, out: t.TempDir()}, pid
}

func goodRequest() profiler.Request {
	return profiler.Request{
		Format: profiler.RequestFormat, Key: "k", Workload: "w", Configuration: "c", Task: "web", Seconds: 1,
		Target: performance.Target{Kind: performance.Rate, Rate: 1},
		Probe:  &performance.ProbeSpec{Type: "log", Pattern: `(\d+)`},
	}
}

func left(t *testing.T, s *profileRun) profile.Profile {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(s.out, profiler.ResultFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := receiptLeft(t, s.out).Check(data); err != nil {
		t.Errorf("the receipt: %v", err)
	}
	var p profile.Profile
	if err := json.Unmarshal(data, &p); err != nil {
		t.Fatal(err)
	}
	return p
}

var isolated = map[string]profile.Measurement{"c": {Value: 1}}

func TestProfileEnds(t *testing.T) {
	t.Parallel()
	crash := errors.New("the workload crashed")
	for _, c := range []struct {
		name    string
		profile profile.Profile
		err     error
		code    int
		warning string
	}{
		{"complete", profile.Profile{Format: 1, Isolated: isolated, Complete: true}, nil, CodeComplete, ""},
		{"gaps", profile.Profile{Format: 1, Isolated: isolated, Warnings: []string{"a gap"}}, nil, CodePartial, "a gap"},
		{"cut short", profile.Profile{Format: 1, Isolated: isolated}, crash, CodePartial, crash.Error()},
		{"nothing", profile.Profile{}, crash, CodeFailed, crash.Error()},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, _ := newProfileRun(t, goodRequest())
			err := s.runProfile(t.Context(), func(context.Context, profiler.Request, profiler.Subject, profiler.Bench, profiler.Options) (profile.Profile, error) {
				return c.profile, c.err
			})
			exit := exitOf(err)
			if exit.Code != c.code || !strings.Contains(exit.Reason, c.warning) {
				t.Errorf("exit %+v, want code %d and %q", exit, c.code, c.warning)
			}
			p := left(t, s)
			if p.Complete != (c.code == CodeComplete) || !strings.Contains(strings.Join(p.Warnings, "\n"), c.warning) {
				t.Errorf("left complete=%v, warnings %q", p.Complete, p.Warnings)
			}
			if c.code == CodeFailed && (p.Key != "k" || p.Format != profile.Format) {
				t.Errorf("a failed run does not say of what: %+v", p)
			}
		})
	}
}

// The protocol gets the real workload, and whatever it does, the workload runs
// when it is over.
func TestProfileLeavesWorkloadRunning(t *testing.T) {
	t.Parallel()
	s, pid := newProfileRun(t, goodRequest())
	_ = s.runProfile(t.Context(), func(ctx context.Context, _ profiler.Request, subject profiler.Subject, _ profiler.Bench, o profiler.Options) (profile.Profile, error) {
		if err := subject.Alive(ctx); err != nil {
			t.Error(err)
		}
		if len(o.Machine.CPUs) == 0 || o.Machine.KernelRelease == "" {
			t.Errorf("machine: %+v", o.Machine)
		}
		if err := subject.Pause(ctx); err != nil {
			t.Error(err)
		}
		awaitState(t, pid, 'T')
		o.Progress(profiler.Progress{Phase: "ramp", Fraction: 0.5})
		if r := s.handle(ctx, Request{Command: CommandStats}); r.Progress == nil || r.Progress.Fraction != 0.5 {
			t.Errorf("progress: %+v", r)
		}
		return profile.Profile{}, errors.New("gave up while it was paused")
	})
	awaitState(t, pid, 'S')
	data, err := os.ReadFile(filepath.Join(s.out, profiler.ProgressFile))
	if err != nil || !strings.Contains(string(data), "gave up") {
		t.Errorf("progress file: %s, %v", data, err)
	}
	if r := s.handle(t.Context(), Request{Command: CommandSet}); r.Error == "" {
		t.Error("a profiling run let itself be steered")
	}
}

// A run that names further sources leaves what it has measured so far, and takes each advice
// once; one that names none has no use for any.
func TestProfileIsAdvised(t *testing.T) {
	t.Parallel()
	request := goodRequest()
	request.Further = []interference.Source{interference.LLCCapacity}
	s, _ := newProfileRun(t, request)
	_ = s.runProfile(t.Context(), func(ctx context.Context, _ profiler.Request, _ profiler.Subject, _ profiler.Bench, o profiler.Options) (profile.Profile, error) {
		if a := o.Review(profile.SoFar{Source: interference.MemoryBandwidth, Seconds: 2}); a.Leave != "" || a.Sources != nil {
			t.Errorf("advice from nowhere: %+v", a)
		}
		data, err := os.ReadFile(filepath.Join(s.out, profiler.SoFarFile))
		if now, readErr := profiler.ReadSoFar(data); err != nil || readErr != nil || now.Source != interference.MemoryBandwidth {
			t.Errorf("so far: %+v, %v, %v", now, err, readErr)
		}
		given := profile.Advice{Leave: interference.MemoryBandwidth, Sources: request.Further}
		if r := s.handle(ctx, Request{Command: CommandAdvise, Advice: &given}); r.Error != "" {
			t.Error(r.Error)
		}
		if a := o.Review(profile.SoFar{}); a.Leave != given.Leave || len(a.Sources) != 1 {
			t.Errorf("took %+v", a)
		}
		if a := o.Review(profile.SoFar{}); a.Leave != "" {
			t.Errorf("took it twice: %+v", a)
		}
		if r := s.handle(ctx, Request{Command: CommandAdvise}); r.Error == "" {
			t.Error("advice without any was taken")
		}
		return profile.Profile{}, errors.New("enough")
	})
	plain, _ := newProfileRun(t, goodRequest())
	_ = plain.runProfile(t.Context(), func(_ context.Context, _ profiler.Request, _ profiler.Subject, _ profiler.Bench, o profiler.Options) (profile.Profile, error) {
		if o.Review != nil {
			t.Error("a run that names no further sources waits for advice")
		}
		return profile.Profile{}, errors.New("enough")
	})
}

// A run that is stopped says why, and is not taken for a complete one.
func TestProfileStopped(t *testing.T) {
	t.Parallel()
	s, _ := newProfileRun(t, goodRequest())
	ctx, cancel := context.WithCancelCause(t.Context())
	err := s.runProfile(ctx, func(ctx context.Context, _ profiler.Request, _ profiler.Subject, _ profiler.Bench, _ profiler.Options) (profile.Profile, error) {
		cancel(errTimeUp)
		return profile.Profile{}, ctx.Err()
	})
	if exit := exitOf(err); exit.Code != CodeFailed || !strings.Contains(exit.Reason, errTimeUp.Error()) {
		t.Errorf("exit %+v", exit)
	}
}

// Nomad stops a group's other tasks when one fails: the reason is that failure.
func TestProfileStoppedByCrash(t *testing.T) {
	t.Parallel()
	s, pid := newProfileRun(t, goodRequest())
	ctx, cancel := context.WithCancelCause(t.Context())
	err := s.runProfile(ctx, func(ctx context.Context, _ profiler.Request, _ profiler.Subject, _ profiler.Bench, _ profiler.Options) (profile.Profile, error) {
		if err := sendSignal(pid, unix.SIGKILL); err != nil {
			t.Error(err)
		}
		awaitState(t, pid, 'Z')
		cancel(errStopped)
		return profile.Profile{}, ctx.Err()
	})
	if exit := exitOf(err); exit.Code != CodeFailed || !errors.Is(err, profiler.ErrWorkloadEnded) {
		t.Errorf("exit %+v", exit)
	}
}

func TestProfileBadRequest(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*profiler.Request){
		"no probe":      func(r *profiler.Request) { r.Probe = nil },
		"unknown probe": func(r *profiler.Request) { r.Probe = &performance.ProbeSpec{Type: "guess"} },
		"bad pattern":   func(r *profiler.Request) { r.Probe = &performance.ProbeSpec{Type: "log", Pattern: "("} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := goodRequest()
			change(&r)
			s, _ := newProfileRun(t, r)
			err := s.runProfile(t.Context(), func(context.Context, profiler.Request, profiler.Subject, profiler.Bench, profiler.Options) (profile.Profile, error) {
				t.Error("measured in spite of it")
				return profile.Profile{}, nil
			})
			if exit := exitOf(err); exit.Code != CodeFailed || !errors.Is(err, profiler.ErrBadRequest) {
				t.Errorf("exit %+v", exit)
			}
		})
	}
}

func TestExitOf(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]int{
		nil: CodeComplete, errStopped: CodeComplete, errTimeUp: CodeComplete, errAllocGone: CodeComplete,
		errKillSwitch: CodeFailed, errPartial: CodePartial, errNothing: CodeFailed, errors.New("other"): CodeFailed,
	} {
		if got := exitOf(err); got.Code != want || got.Reason == "" {
			t.Errorf("%v: %+v, want code %d", err, got, want)
		}
	}
}
