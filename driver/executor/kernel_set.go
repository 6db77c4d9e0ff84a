package executor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nomad-placer/nomad-placer/driver/cgroup"
)

// kernelSet is kernel mode: kernels held at the wanted intensity.
type kernelSet struct {
	*journal
	room   *room
	target *Target // nil without one
	gone   time.Time

	ctx  context.Context         // of the whole run
	fail context.CancelCauseFunc // ends it
	wait sync.WaitGroup          // for what runs in the background

	mu      sync.Mutex       // serialises commands
	kernels []*runningKernel // those that run
}

// How often the surroundings of the kernels are looked at, and how long a
// target may be away: a restart of its task takes Nomad a moment.
const (
	lookPeriod  = 500 * time.Millisecond
	targetGrace = 3 * time.Second
)

// runKernels starts the kernels and holds them until ctx ends, one dies, or the
// last one's duration is over.
func runKernels(ctx context.Context, r *room, n *kernelSet) error {
	n.room = r
	n.ctx, n.fail = context.WithCancelCause(ctx)
	defer n.wait.Wait()
	defer n.fail(nil)
	if err := n.startAll(n.ctx); err != nil {
		if n.ctx.Err() != nil {
			err = context.Cause(n.ctx) // why it was cut short
		}
		return errors.Join(err, n.close())
	}
	n.attend()
	if err := n.close(); err != nil {
		return fmt.Errorf("%w (ended because: %s)", err, context.Cause(n.ctx).Error())
	}
	return context.Cause(n.ctx)
}

// attend watches what the kernels depend on until the run ends.
func (n *kernelSet) attend() {
	ticker := time.NewTicker(lookPeriod)
	defer ticker.Stop()
	for {
		select {
		case <-n.ctx.Done():
			return
		case <-ticker.C:
		}
		if err := errors.Join(n.lookAtTarget(), n.giveWay()); err != nil {
			n.fail(err)
			return
		}
	}
}

// lookAtTarget ends the run when the target has been away for too long.
func (n *kernelSet) lookAtTarget() error {
	if n.target == nil {
		return nil
	}
	err := n.target.Alive()
	if err == nil {
		n.gone = time.Time{}
		return nil
	}
	if !errors.Is(err, ErrNoProcess) {
		return err
	}
	now := n.room.now()
	if n.gone.IsZero() {
		n.gone = now
	}
	if now.Sub(n.gone) < targetGrace {
		return nil
	}
	return fmt.Errorf("%w: %s", errTargetGone, n.room.spec.TargetTask)
}

// giveWay moves kernels off CPUs that Nomad has meanwhile reserved for other
// allocations. A kernel left without any CPU ends the run.
func (n *kernelSet) giveWay() error {
	allowed, err := n.room.allowed()
	if err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, v := range n.kernels {
		before := v.placement.CPUs
		left := before.And(allowed)
		switch {
		case len(left) == len(before):
		case len(left) == 0:
			return fmt.Errorf("kernel %s: %w", v.source, ErrNoCPU)
		default:
			if err := n.move(v, left); err != nil {
				return err
			}
			n.say("%s: moved to CPUs %s: %s reserved for another allocation", v.source, left, before.Without(left))
		}
	}
	return nil
}

// move starts a kernel anew on other CPUs, as it was: the threads of a kernel
// keep to their own. The caller holds the lock.
func (n *kernelSet) move(v *runningKernel, cpus cgroup.CPUs) error {
	old := v.placed
	where := old.placement
	where.CPUs = cpus
	spec := v.spec
	spec.IntensityPercent = v.percent
	v.placed = nil // the end of the old one is not that of the task
	if err := old.Close(); err != nil {
		v.placed = old
		return fmt.Errorf("kernel %s: %w", spec.Source, err)
	}
	k, err := n.room.kernel(n.ctx, spec, where)
	if err != nil {
		v.placed = old
		return err
	}
	v.placed, v.gauge = k, gauge{}
	n.wait.Go(func() { n.watch(v, k) })
	if v.paused {
		return k.Pause(n.ctx)
	}
	return nil
}

func (n *kernelSet) startAll(ctx context.Context) error {
	placements, err := n.placements(ctx)
	if err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for i, spec := range n.room.spec.Kernels {
		if spec.Ramp != nil {
			spec.IntensityPercent = spec.Ramp.FromPercent
		}
		if err := n.start(ctx, spec, placements[i]); err != nil {
			return err
		}
	}
	return nil
}

// start starts one kernel; the caller holds the lock.
func (n *kernelSet) start(ctx context.Context, spec KernelSpec, where Placement) error {
	c, err := n.room.claim(spec, where)
	if err != nil {
		return fmt.Errorf("kernel %s: %w", spec.Source, err)
	}
	k, err := n.room.kernel(ctx, spec, where)
	if err != nil {
		return errors.Join(err, n.room.claims.drop(c))
	}
	v := &runningKernel{placed: k, spec: spec, claim: c, percent: spec.IntensityPercent, ramp: func() {}}
	n.kernels = append(n.kernels, v)
	n.say("%s: %.4g %% on CPUs %s%s", k.source, v.percent, k.placement.CPUs, n.room.relation(k.placement))
	n.wait.Go(func() { n.watch(v, k) })
	if spec.Ramp != nil {
		n.startRamp(v, *spec.Ramp)
	}
	if spec.Duration > 0 {
		n.wait.Go(func() { n.endAfter(v, spec.Duration) })
	}
	return nil
}

// relation says where that is from the target's view.
func (r *room) relation(p Placement) string {
	switch {
	case r.spec.TargetTask == "":
		return ""
	case p.Name() == placementAcross:
		return ", one of them of " + r.spec.TargetTask
	case p.Same:
		return ", those of " + r.spec.TargetTask
	case p.Name() == string(DomainSibling):
		return ", sibling threads of " + r.spec.TargetTask
	default:
		return ", next to " + r.spec.TargetTask
	}
}

// placements decides where each kernel runs.
func (n *kernelSet) placements(ctx context.Context) ([]Placement, error) {
	r := n.room
	allowed, err := r.allowed()
	if err != nil {
		return nil, err
	}
	if len(allowed) == 0 {
		return nil, ErrNoCPU
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
	n.target = target
	return out, r.placeAll(out, cpus, allowed)
}

// placeAll places every kernel relative to a target.
func (r *room) placeAll(out []Placement, target, allowed cgroup.CPUs) error {
	for i, k := range r.spec.Kernels {
		var err error
		if out[i], err = Place(r.machine, k.Source, r.spec.Domain, target, allowed); err != nil {
			return fmt.Errorf("kernel %s: %w (target on CPUs %s, driver on %s)", k.Source, err, target, allowed)
		}
	}
	return nil
}

// watch ends the task when a kernel ends on its own, with the kernel's reason.
func (n *kernelSet) watch(v *runningKernel, k *placed) {
	exit, err := k.Wait(n.ctx)
	if err != nil || n.ctx.Err() != nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if v.over || v.placed != k {
		return // it was ended
	}
	reason := exit.String()
	if words := k.words.String(); words != "" {
		reason += ": " + words
	}
	n.fail(fmt.Errorf("kernel %s %s", k.source, reason))
}

// endAfter ends a kernel when its own duration is over, and the run with the
// last one.
func (n *kernelSet) endAfter(v *runningKernel, d time.Duration) {
	select {
	case <-n.ctx.Done():
		return
	case <-time.After(d):
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ctx.Err() != nil {
		return
	}
	v.over = true
	for i, k := range n.kernels {
		if k == v {
			n.kernels = append(n.kernels[:i:i], n.kernels[i+1:]...)
			break
		}
	}
	n.say("%s: ended after its duration of %s", v.source, d)
	if err := n.end(v); err != nil {
		n.fail(err)
	} else if len(n.kernels) == 0 {
		n.fail(errDone)
	}
}

// end closes a kernel and takes its claim back.
func (n *kernelSet) end(v *runningKernel) error {
	v.ramp()
	return errors.Join(v.Close(), n.room.claims.drop(v.claim))
}

func (n *kernelSet) close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	var errs []error
	for _, v := range n.kernels {
		errs = append(errs, n.end(v))
	}
	n.kernels = nil
	return errors.Join(errs...)
}
