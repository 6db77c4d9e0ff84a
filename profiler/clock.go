package profiler

import (
	"context"
	"time"
)

// Clock is the only time a profiling run knows.
type Clock interface {
	Now() time.Time
	// Sleep returns after d, or with the context's error before.
	Sleep(ctx context.Context, d time.Duration) error
}

// SystemClock is the machine's clock, for mains.
type SystemClock struct{}

// Now returns the wall clock's time, with its monotonic reading.
func (SystemClock) Now() time.Time { return time.Now() }

// Sleep waits for d or for the end of ctx.
func (SystemClock) Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
