package validate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nomad-placer/nomad-placer/driver/ibench"
	"github.com/nomad-placer/nomad-placer/driver/validate/worker"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// observerPercent is the intensity of the kernel that is watched: it works, and
// has room to slow down.
const observerPercent = 50

// measureCrossTalk measures what one kernel at 100 costs another one.
func (s *session) measureCrossTalk(ctx context.Context, from, to interference.Source) (CrossTalk, error) {
	out := CrossTalk{From: from, To: to}
	d, err := ibench.Describe(to)
	if err != nil {
		return out, err
	}
	exerting, observing := s.layout.pair(from, to)
	out.Placement = exerting.Name
	aggressor, err := s.cast.aggressor(ctx, from, exerting)
	if err != nil {
		return out, err
	}
	observer, err := s.cast.observer(ctx, to, observing)
	if err != nil {
		return out, err
	}
	if err := s.setAndSettle(ctx, observer, observerPercent); err != nil {
		return out, err
	}
	length := max(s.pace.window, d.Dwell)
	if observing.Same {
		length = max(length, sameWindow)
	}
	out.Loss, err = s.fullPressure(ctx, aggressor, s.kernelWindow(observer), length, excuse(from, to, out.Placement) != "")
	if err = errors.Join(err, aggressor.Set(ctx, 0), observer.Set(ctx, 0)); err != nil {
		return out, err
	}
	out.Verdict, out.Why = judge(from, to, out.Placement, out.Loss)
	return out, nil
}

// cast keeps kernels and victims between the cells of a matrix: one kernel that
// exerts pressure, and every observer at intensity 0 or victim paused, which costs them
// next to nothing. So a cell need not wait for them to start.
type cast struct {
	bench     bench
	exerting  *exertingKernel
	observers map[string]kernel
	victims   map[interference.Source]subject
}

// exertingKernel is the kernel that exerts pressure.
type exertingKernel struct {
	role   string
	kernel kernel
}

func newCast(b bench) *cast {
	return &cast{bench: b, observers: map[string]kernel{}, victims: map[interference.Source]subject{}}
}

// roleOf names a kernel at a place.
func roleOf(s interference.Source, where place) string {
	return fmt.Sprintf("%s on %s same=%t", s, ibench.FormatCPUList(where.CPUs), where.Same)
}

// aggressor returns the kernel that exerts pressure; the one before ends.
func (c *cast) aggressor(ctx context.Context, s interference.Source, where place) (kernel, error) {
	role := roleOf(s, where)
	if c.exerting != nil && c.exerting.role == role {
		return c.exerting.kernel, nil
	}
	if err := c.endAggressor(); err != nil {
		return nil, err
	}
	k, err := c.bench.Kernel(ctx, s, where)
	if err != nil {
		return nil, err
	}
	c.exerting = &exertingKernel{role, k}
	return k, nil
}

func (c *cast) endAggressor() error {
	if c.exerting == nil {
		return nil
	}
	k := c.exerting.kernel
	c.exerting = nil
	return k.Close()
}

// observer returns the kernel of a source at a place, started once.
func (c *cast) observer(ctx context.Context, s interference.Source, where place) (kernel, error) {
	role := roleOf(s, where)
	if k, ok := c.observers[role]; ok {
		return k, nil
	}
	k, err := c.bench.Kernel(ctx, s, where)
	if err != nil {
		return nil, err
	}
	c.observers[role] = k
	return k, nil
}

// victim returns the victim of a source, started once and paused.
func (c *cast) victim(ctx context.Context, v victim, spec worker.Spec) (subject, error) {
	if w, ok := c.victims[v.source]; ok {
		return w, nil
	}
	w, err := c.bench.Worker(ctx, spec)
	if err != nil {
		return nil, fmt.Errorf("victim: %w", err)
	}
	c.victims[v.source] = w
	return w, nil
}

// end ends everybody.
func (c *cast) end() error {
	errs := []error{c.endAggressor()}
	for role, k := range c.observers {
		errs = append(errs, k.Close())
		delete(c.observers, role)
	}
	for s, w := range c.victims {
		errs = append(errs, w.Close())
		delete(c.victims, s)
	}
	return errors.Join(errs...)
}

// expectPair is about how long a cell of a matrix takes.
func expectPair(p pace, length time.Duration) time.Duration {
	return time.Duration(2*p.pairs)*(length+p.settle+time.Millisecond) + 40*time.Millisecond
}
