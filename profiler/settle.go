package profiler

import (
	"context"
	"errors"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

const (
	// drained is the share of the goodput in isolation at which a queue counts as
	// empty (chosen by us: twice the default slowdown bound below).
	drained = 0.9
	// drainAfterPressure bounds the wait after pressure, drainAfterPause the
	// one after a pause, in dwells (chosen by us: a server at 60 % load drains
	// what queued up in ten windows of standstill within fifteen).
	drainAfterPressure = 15
	drainAfterPause    = 8
)

// settle lets a switch take effect. A service under open-loop load also has a
// queue from the condition before, whose late answers would count against the
// condition after; up to limit it is waited for.
func (r *run) settle(ctx context.Context, settle, limit time.Duration) error {
	if limit <= 0 || !r.queues() {
		return r.sleep(ctx, settle)
	}
	end := r.clock.Now().Add(limit)
	if end.After(r.deadline) {
		end = r.deadline
	}
	for {
		v, err := r.probeSettling(ctx, settle)
		var bad *badWindow
		if err != nil && !errors.As(err, &bad) {
			return err
		}
		if bad == nil && v >= drained*r.isolated || !r.clock.Now().Before(end) {
			return nil
		}
	}
}

// queues: late answers count, and the readings are fine enough to see them go.
func (r *run) queues() bool {
	return r.request.Target.Latency != nil && r.isolated > 0 && !r.pace.coarse() && !(r.pace.exact && r.pace.tick > 0)
}

// serves: requests come to the workload from outside. What it did not serve in
// time it may serve later, so that a window shows what was before it.
func (r *run) serves() bool { return r.request.Target.Kind == performance.QPS }

// probeSettling is the goodput of one settle time.
func (r *run) probeSettling(ctx context.Context, settle time.Duration) (float64, error) {
	a, err := r.read(ctx)
	if err != nil {
		return 0, errors.Join(err, r.sleep(ctx, settle))
	}
	if err := r.sleep(ctx, settle); err != nil {
		return 0, err
	}
	b, err := r.read(ctx)
	if err != nil {
		return 0, err
	}
	return r.between(a, b)
}

// drain is how long after pressure or a pause the queue may take to empty.
func (r *run) drain(dwells int) time.Duration { return time.Duration(dwells) * r.pace.dwell }
