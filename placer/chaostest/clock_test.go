package chaostest

import (
	"sync"
	"testing"
	"time"
	"unsafe"
)

// machineClock is that of an agent's machine. It is off, it can be set while the agent runs,
// and its timers stand still while the agent is paused.
type machineClock struct {
	link  *link
	began time.Time

	mu sync.Mutex
	by time.Duration
}

// Now implements cluster.Clock.
func (c *machineClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	return reading(now.Add(c.by), now.Sub(c.began))
}

// After is held up while the agent is paused.
func (c *machineClock) After(d time.Duration) <-chan time.Time {
	return time.After(max(d, c.link.pauseLeft()))
}

// set moves the clock, as an operator or a time service does.
func (c *machineClock) set(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.by += by
}

// The words of a time.Time that has a monotonic reading, as package time says them.
type timeWords struct {
	wall uint64 // this bit, 33 bits of seconds since 1885, 30 of nanoseconds
	ext  int64  // the monotonic reading
	loc  *time.Location
}

const (
	hasMonotonic   = 1 << 63
	nanosecondBits = 30
	until1885      = (1884*365 + 1884/4 - 1884/100 + 1884/400) * 24 * 60 * 60
)

// reading is a time as a machine's clock gives it: what it is set to, and how long it has
// run. In a bubble time.Now has the first alone, and a step of it would change differences,
// which it does on no machine.
func reading(wall time.Time, steady time.Duration) time.Time {
	wall = wall.Round(0)
	words := (*timeWords)(unsafe.Pointer(&wall)) // there is no other way to a monotonic reading; TestAStepOfAClock
	words.wall |= hasMonotonic | uint64(words.ext-until1885)<<nanosecondBits
	words.ext = int64(steady) + 1
	return wall
}

// A step of a clock changes what it says, and no difference.
func TestAStepOfAClock(t *testing.T) {
	t.Parallel()
	began := time.Date(2000, 1, 1, 0, 0, 0, 7, time.UTC)
	before, after := reading(began, 0), reading(began.Add(time.Second+10*time.Minute), time.Second)
	if !before.Equal(began) || after.UnixNano() != began.Add(time.Second+10*time.Minute).UnixNano() {
		t.Errorf("the clock says %s and %s", before, after)
	}
	if d := after.Sub(before); d != time.Second {
		t.Errorf("%s passed, want a second", d)
	}
}
