package nomadapi

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"sync"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi/rights"
)

// ClockPath is the variable that an agent writes to learn the servers' time.
const ClockPath = rights.RecordsPath + "/clock"

// serverClock tells the time of Nomad's servers, by which jobs are submitted and so by
// which their hold deadlines pass. It runs on the time since it was made, so that a step
// of this machine's clock does nothing, and goes with this machine's clock until an answer
// says otherwise.
type serverClock struct {
	local cluster.Clock
	start time.Time // by the local clock

	mu      sync.Mutex
	answers bounds // by the Date of answers: often of a client on this machine
	stamps  bounds // by times that a server wrote; they count before the others
	offset  time.Duration
	index   uint64 // of the newest write of ours that a server gave a time
}

// bounds of how much the servers' clock is ahead of ours.
type bounds struct{ low, high time.Duration }

const farOff = time.Duration(math.MaxInt64)

func unbounded() bounds { return bounds{-farOff, farOff} }

// narrowed by a sample. One that contradicts is newer, and right: a clock was set.
func (b bounds) narrowed(by bounds) bounds {
	if by.low > b.high || by.high < b.low {
		return by
	}
	return bounds{max(b.low, by.low), min(b.high, by.high)}
}

func (b bounds) nearest(d time.Duration) time.Duration { return max(b.low, min(d, b.high)) }

func newServerClock(local cluster.Clock) *serverClock {
	return &serverClock{local: local, start: local.Now(), answers: unbounded(), stamps: unbounded()}
}

// steady is the local time without its steps.
func (c *serverClock) steady() time.Time { return c.start.Add(c.local.Now().Sub(c.start)) }

// Now implements cluster.Clock.
func (c *serverClock) Now() time.Time {
	now := c.steady()
	c.mu.Lock()
	defer c.mu.Unlock()
	return now.Add(c.offset)
}

// After implements cluster.Clock.
func (c *serverClock) After(d time.Duration) <-chan time.Time { return c.local.After(d) }

// answered takes the Date of an answer in: the second in which it was made.
func (c *serverClock) answered(date, sent, received time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answers = c.answers.narrowed(bounds{date.Sub(received), date.Add(time.Second).Sub(sent)})
	c.settle()
}

// wrote takes the time in that a server gave a write.
func (c *serverClock) wrote(at, sent, received time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stamps = c.stamps.narrowed(bounds{at.Sub(received), at.Sub(sent)})
	c.settle()
}

// saw takes the time in that a server gave a write of that index earlier: its clock is past
// it, unless it was set back since.
func (c *serverClock) saw(at time.Time, index uint64) {
	low := at.Sub(c.steady())
	c.mu.Lock()
	defer c.mu.Unlock()
	if index < c.index && low > c.stamps.high {
		return // what a server said of a later write counts
	}
	c.stamps = c.stamps.narrowed(bounds{low, farOff})
	c.settle()
}

// settle moves the offset no further than the bounds ask for.
func (c *serverClock) settle() { c.offset = c.stamps.nearest(c.answers.nearest(c.offset)) }

// ServerClock is the time of Nomad's servers, as far as their answers tell.
func (w *World) ServerClock() cluster.Clock { return w.serverTime }

// Steady implements cluster.Timekeeper.
func (w *World) Steady() time.Time { return w.serverTime.steady() }

// AskTime learns the servers' time from a write of its own.
func (w *World) AskTime(ctx context.Context) error {
	var answer struct {
		ModifyTime  int64
		ModifyIndex uint64
	}
	sent := w.serverTime.steady()
	// The text differs each time: Nomad gives no new time to a variable that stays the same.
	items := map[string]any{"Path": ClockPath, "Items": map[string]string{"asked": sent.Format(time.RFC3339Nano)}}
	if err := w.nomad.write(ctx, "/v1/var/"+ClockPath, "", items, &answer); err != nil {
		return fmt.Errorf("asking for the servers' time: %w", err)
	}
	w.serverTime.stamped(answer.ModifyTime, answer.ModifyIndex, sent)
	return nil
}

// stamped takes the time in that a server gave a write of ours just now, in nanoseconds, and
// its index; 0 where it gave none.
func (c *serverClock) stamped(at int64, index uint64, sent time.Time) {
	if at > 0 {
		c.wrote(time.Unix(0, at), sent, c.steady())
		c.mu.Lock()
		defer c.mu.Unlock()
		c.index = max(c.index, index)
	}
}

// dated tells the clock the Date of answers.
type dated struct {
	http.RoundTripper
	clock *serverClock
}

// CloseIdleConnections is called by http.Client's method of that name.
func (d dated) CloseIdleConnections() {
	if c, ok := d.RoundTripper.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// RoundTrip implements http.RoundTripper.
func (d dated) RoundTrip(r *http.Request) (*http.Response, error) {
	sent := d.clock.steady()
	answer, err := d.RoundTripper.RoundTrip(r)
	if err != nil {
		return answer, err
	}
	if date, err := http.ParseTime(answer.Header.Get("Date")); err == nil {
		d.clock.answered(date, sent, d.clock.steady())
	}
	return answer, nil
}
