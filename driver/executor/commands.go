package executor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/driver/ibench"
	"github.com/nomad-placer/nomad-placer/profiler"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// runningKernel is one kernel of the set.
type runningKernel struct {
	*placed
	spec    KernelSpec
	claim   claim
	ramp    context.CancelFunc // ends the ramp under way
	ramping bool
	paused  bool
	over    bool // its duration is over
	percent float64
	gauge   gauge
}

// gauge turns a kernel's running totals into its present speed.
type gauge struct {
	from            profiler.KernelStats // start of the present window
	achieved, speed *float64             // of the last window that was long enough
}

// gaugeWindow is the shortest time over which a speed is measured (chosen by us:
// several windows of the rate limiter, and no more noise than metrics may have).
const gaugeWindow = 500 * time.Millisecond

// read takes the newest totals. Numbers of another level are forgotten.
func (g *gauge) read(now profiler.KernelStats, speed func(a, b profiler.KernelStats) float64) {
	if g.from.At.IsZero() || g.from.IntensityPct != now.IntensityPct {
		*g = gauge{from: now}
		return
	}
	if now.At.Sub(g.from.At) < gaugeWindow {
		return
	}
	g.achieved, g.speed = nil, nil
	if v := speed(g.from, now); v == v { // not NaN
		g.speed = &v
	}
	if v, ok := achievedPercent(g.from, now); ok {
		g.achieved = &v
	}
	g.from = now
}

// achievedPercent is the intensity reached between two totals of one level. A
// kernel that is asked for nothing and does nothing reaches its 0.
func achievedPercent(a, b profiler.KernelStats) (float64, bool) {
	ops, demand := b.Ops-a.Ops, b.DemandOps-a.DemandOps
	switch {
	case demand > 0:
		return b.IntensityPct * min(1, ops/demand), true
	case b.IntensityPct == 0:
		return 0, true
	}
	return 0, false
}

// handle carries out one command.
func (n *kernelSet) handle(ctx context.Context, q Request) Response {
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

func (n *kernelSet) choose(source interference.Source) ([]*runningKernel, error) {
	if len(n.kernels) == 0 {
		return nil, errors.New("no kernel runs: the task still waits for its target, or is ending")
	}
	if source == "" {
		return n.kernels, nil
	}
	var chosen []*runningKernel
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

func (n *kernelSet) apply(ctx context.Context, v *runningKernel, q Request) error {
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
	case CommandRamp:
		return n.rampOn(ctx, v, q.Ramp)
	case CommandPause, CommandResume:
		return n.pause(ctx, v, q.Command == CommandPause)
	case CommandStats:
		return nil
	default:
		return fmt.Errorf("unknown command %q", q.Command)
	}
}

// rampOn starts a ramp in place of the one under way.
func (n *kernelSet) rampOn(ctx context.Context, v *runningKernel, r *Ramp) error {
	if r == nil {
		return errors.New("ramp: from, to, step and dwell are missing")
	}
	if err := r.Check(); err != nil {
		return fmt.Errorf("ramp: %w", err)
	}
	v.ramp()
	if v.percent != r.FromPercent {
		if err := n.set(ctx, v, r.FromPercent); err != nil {
			return err
		}
	}
	n.startRamp(v, *r)
	return nil
}

// startRamp walks a ramp from the level the kernel is at; the caller holds the
// lock.
func (n *kernelSet) startRamp(v *runningKernel, r Ramp) {
	ctx, cancel := context.WithCancel(n.ctx)
	v.ramp, v.ramping = cancel, true
	n.say("%s: ramp from %.4g %% to %.4g %% in steps of %.4g %%, %s each", v.source, r.FromPercent, r.ToPercent, r.StepPercent, r.Dwell)
	n.wait.Go(func() {
		defer cancel()
		if err := n.walk(ctx, v, r); err != nil && ctx.Err() == nil {
			n.fail(err)
		}
	})
}

// walk goes through the ramp's levels and stays at the last.
func (n *kernelSet) walk(ctx context.Context, v *runningKernel, r Ramp) error {
	levels := r.Levels()
	for i, level := range levels {
		if i > 0 {
			if err := n.rampTo(ctx, v, level); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(r.Dwell):
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if ctx.Err() == nil {
		v.ramping = false
		n.say("%s: ramp done, stays at %.4g %%", v.source, v.percent)
	}
	return nil
}

// rampTo sets a level unless a command has ended the ramp meanwhile.
func (n *kernelSet) rampTo(ctx context.Context, v *runningKernel, level float64) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if ctx.Err() != nil {
		return nil
	}
	return n.set(ctx, v, level)
}

// set changes one kernel's level; the caller holds the lock.
func (n *kernelSet) set(ctx context.Context, v *runningKernel, percent float64) error {
	if err := v.Set(ctx, percent); err != nil {
		return err
	}
	n.say("%s: %.4g %% → %.4g %%", v.source, v.percent, percent)
	v.percent = percent
	return nil
}

func (n *kernelSet) pause(ctx context.Context, v *runningKernel, pause bool) error {
	act, word := v.Resume, "goes on"
	if pause {
		act, word = v.Pause, "paused"
	}
	if err := act(ctx); err != nil {
		return err
	}
	v.paused = pause
	n.say("%s: %s at %.4g %%", v.source, word, v.percent)
	return nil
}

func (n *kernelSet) status(ctx context.Context, chosen []*runningKernel) Response {
	var out Response
	for _, v := range chosen {
		report, err := v.Report(ctx)
		if err != nil {
			return Response{Error: err.Error()}
		}
		out.Kernels = append(out.Kernels, v.status(report))
	}
	return out
}

func (v *runningKernel) status(r ibench.Report) KernelStatus {
	v.gauge.read(r.KernelStats, v.Speed)
	return KernelStatus{
		Source: v.source, Variant: v.spec.Variant, PID: v.PID(), Placement: v.Placement(), CPUs: v.placement.CPUs,
		Paused: v.paused, Ramp: v.ramping, KernelStats: r.KernelStats,
		AchievedPercent: v.gauge.achieved, SpeedOpsPerSec: v.gauge.speed,
		ResidentBytes: r.ResidentBytes, Notes: r.Notes,
	}
}
