package ibench

import (
	"context"
	"sync/atomic"
	"time"
)

// filling is how a kernel fills memory or a disk up to a goal: in a goroutine of its
// own, so that neither workers nor control requests wait for it.
type filling struct {
	least, most int64        // bytes that are always held, and that may be
	goal        atomic.Int64 // bytes
	held        atomic.Int64 // bytes, least at least
	short       alert        // why the goal is not held

	wake chan struct{}
	stop context.CancelFunc
	done chan struct{}
}

// start follows the goal until end. step takes or gives back one part and reports
// whether there may be more to do at once. Where there is not, it looks again after
// every recheck, because what is available changes.
func (f *filling) start(step func(ctx context.Context) bool, recheck time.Duration) {
	ctx, stop := context.WithCancel(context.Background())
	f.wake, f.stop, f.done = make(chan struct{}, 1), stop, make(chan struct{})
	go func() {
		defer close(f.done)
		timer := time.NewTimer(recheck)
		defer timer.Stop()
		for ctx.Err() == nil {
			if step(ctx) {
				continue
			}
			var again <-chan time.Time
			if f.held.Load() > f.least || f.goal.Load() > f.least {
				timer.Reset(recheck)
				again = timer.C
			}
			select {
			case <-ctx.Done():
			case <-f.wake:
			case <-again:
			}
		}
	}()
}

// end returns when nothing is taken or given back any more.
func (f *filling) end() {
	f.stop()
	<-f.done
}

// setGoal says how much to hold. It returns at once.
func (f *filling) setGoal(bytes int64) {
	f.goal.Store(min(bytes, f.most))
	select {
	case f.wake <- struct{}{}:
	default: // it has not looked at the last one yet
	}
}

// measures are the load's Measures.
func (f *filling) measures() map[string]float64 {
	return map[string]float64{
		"capacity_bytes": float64(f.most), MeasureGoal: float64(f.goal.Load()), MeasureHeld: float64(f.held.Load()),
	}
}
