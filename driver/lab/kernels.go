package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// noise is kernel mode: kernels held at the wanted intensity.
type noise struct {
	*journal

	mu      sync.Mutex // serialises commands
	kernels []*voice
}

// voice is one kernel of a noise.
type voice struct {
	*placed
	ramp    context.CancelFunc // ends the ramp under way
	ramping bool
	paused  bool
	percent float64
}

// runKernels starts the kernels and holds them until ctx ends or one dies.
func runKernels(ctx context.Context, r *room, n *noise) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wait sync.WaitGroup
	defer wait.Wait()
	defer cancel(nil)
	if err := n.startAll(ctx, r, cancel, &wait); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx) // why it was cut short
		}
		return errors.Join(err, n.close())
	}
	<-ctx.Done()
	if err := n.close(); err != nil {
		return err
	}
	return context.Cause(ctx)
}

func (n *noise) startAll(ctx context.Context, r *room, cancel context.CancelCauseFunc, wait *sync.WaitGroup) error {
	placements, err := r.placements(ctx)
	if err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for i, spec := range r.spec.Kernels {
		if spec.Ramp != nil {
			spec.IntensityPercent = spec.Ramp.FromPercent
		}
		k, err := r.kernel(ctx, spec, placements[i])
		if err != nil {
			return err
		}
		v := &voice{placed: k, percent: spec.IntensityPercent, ramp: func() {}}
		n.kernels = append(n.kernels, v)
		n.say("%s: %.0f %% on CPUs %s%s", k.source, v.percent, k.placement.CPUs, r.relation(k.placement))
		wait.Go(func() { watch(ctx, v, cancel) })
		if spec.Ramp != nil {
			n.startRamp(ctx, v, *spec.Ramp, cancel, wait)
		}
	}
	return nil
}

// relation says where that is from the target's view.
func (r *room) relation(p Placement) string {
	switch {
	case r.spec.TargetTask == "":
		return ""
	case p.Same:
		return ", those of " + r.spec.TargetTask
	default:
		return ", beside " + r.spec.TargetTask
	}
}

// placements decides where each kernel runs.
func (r *room) placements(ctx context.Context) ([]Placement, error) {
	allowed, err := r.allowed()
	if err != nil {
		return nil, err
	}
	out := make([]Placement, len(r.spec.Kernels))
	if r.spec.TargetTask == "" {
		own := r.spec.CPUs.And(allowed)
		if len(own) == 0 {
			own = allowed
		}
		for i := range out {
			out[i] = Placement{CPUs: own}
		}
		return out, nil
	}
	target := r.target(r.spec.TargetTask)
	if err := await(ctx, target); err != nil {
		return nil, err
	}
	cpus, err := target.CPUs()
	if err != nil {
		return nil, err
	}
	for i, k := range r.spec.Kernels {
		if out[i], err = Place(k.Source, r.spec.Domain, cpus, allowed); err != nil {
			return nil, fmt.Errorf("kernel %s: %w (target on CPUs %s, driver on %s)", k.Source, err, cpus, allowed)
		}
	}
	return out, nil
}

// watch ends the task when a kernel ends on its own.
func watch(ctx context.Context, v *voice, cancel context.CancelCauseFunc) {
	exit, err := v.Wait(ctx)
	if err == nil && ctx.Err() == nil {
		cancel(fmt.Errorf("kernel %s %s", v.source, exit))
	}
}

func (n *noise) startRamp(ctx context.Context, v *voice, r Ramp, cancel context.CancelCauseFunc, wait *sync.WaitGroup) {
	ctx, v.ramp = context.WithCancel(ctx)
	v.ramping = true
	wait.Go(func() {
		if err := n.walk(ctx, v, r); err != nil && ctx.Err() == nil {
			cancel(err)
		}
	})
}

// walk goes through the ramp's levels and stays at the last.
func (n *noise) walk(ctx context.Context, v *voice, r Ramp) error {
	levels := r.Levels()
	for i, level := range levels {
		if i > 0 {
			if err := n.rampTo(ctx, v, level); err != nil {
				return err
			}
		}
		if i == len(levels)-1 {
			break
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(r.Dwell):
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	v.ramping = false
	return nil
}

// rampTo sets a level unless a command has ended the ramp meanwhile.
func (n *noise) rampTo(ctx context.Context, v *voice, level float64) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if ctx.Err() != nil {
		return nil
	}
	return n.set(ctx, v, level)
}

// set changes one kernel's level; the caller holds the lock.
func (n *noise) set(ctx context.Context, v *voice, percent float64) error {
	if err := v.Set(ctx, percent); err != nil {
		return err
	}
	n.say("%s: %.0f %% → %.0f %%", v.source, v.percent, percent)
	v.percent = percent
	return nil
}

func (n *noise) close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	var errs []error
	for _, v := range n.kernels {
		errs = append(errs, v.Close())
	}
	n.kernels = nil
	return errors.Join(errs...)
}

// handle carries out one command.
func (n *noise) handle(ctx context.Context, q Request) Response {
	n.mu.Lock()
	defer n.mu.Unlock()
	chosen, err := n.choose(q.Source)
	if err == nil {
		for _, v := range chosen {
			if err = n.apply(ctx, v, q); err != nil {
				break
			}
		}
	}
	if err != nil {
		return Response{Error: err.Error()}
	}
	return n.status(ctx, chosen)
}

func (n *noise) choose(source interference.Source) ([]*voice, error) {
	if len(n.kernels) == 0 {
		return nil, errors.New("no kernel runs yet: the task still waits for its target")
	}
	if source == "" {
		return n.kernels, nil
	}
	var chosen []*voice
	var names []string
	for _, v := range n.kernels {
		names = append(names, string(v.source))
		if v.source == source {
			chosen = append(chosen, v)
		}
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("this task has no kernel %q; it has: %s", source, strings.Join(slices.Compact(names), ", "))
	}
	return chosen, nil
}

func (n *noise) apply(ctx context.Context, v *voice, q Request) error {
	switch q.Command {
	case CommandSet, CommandAdd:
		percent := q.Percent
		if q.Command == CommandAdd {
			percent = min(100, max(0, v.percent+q.Percent))
		}
		if !(percent >= 0 && percent <= 100) {
			return fmt.Errorf("intensity %v is outside 0 to 100 percent", percent)
		}
		v.ramp()
		v.ramping = false
		return n.set(ctx, v, percent)
	case CommandPause, CommandResume:
		return n.pause(ctx, v, q.Command == CommandPause)
	case CommandStats:
		return nil
	default:
		return fmt.Errorf("unknown command %q", q.Command)
	}
}

func (n *noise) pause(ctx context.Context, v *voice, pause bool) error {
	act, word := v.Resume, "goes on"
	if pause {
		act, word = v.Pause, "paused"
	}
	if err := act(ctx); err != nil {
		return err
	}
	v.paused = pause
	n.say("%s: %s at %.0f %%", v.source, word, v.percent)
	return nil
}

func (n *noise) status(ctx context.Context, chosen []*voice) Response {
	var out Response
	for _, v := range chosen {
		stats, err := v.Stats(ctx)
		if err != nil {
			return Response{Error: err.Error()}
		}
		out.Kernels = append(out.Kernels, KernelStatus{
			Source: v.source, PID: v.PID(), Placement: v.Placement(), CPUs: v.placement.CPUs,
			Paused: v.paused, Ramp: v.ramping, KernelStats: stats,
		})
	}
	return out
}
