package nomadapi

import (
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/nomadapi/nomadtest"
)

// skewedWorld is a world on a machine whose clock is ahead of the servers'.
func skewedWorld(t *testing.T, ahead time.Duration, askClient bool) (w *World, server *nomadtest.Server, servers func() time.Time) {
	t.Helper()
	clock := newJumpClock()
	server = nomadtest.New(t)
	servers = func() time.Time { return clock.Now().Add(-ahead) }
	server.Now = servers
	if askClient { // a client on the same machine dates its answers by the same clock
		server.DatedBy = clock.Now
	}
	w, err := New(Options{Address: server.URL, Clock: clock, Decode: decodeForTest, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.API().Close)
	return w, server, servers
}

func assertTime(t *testing.T, w *World, servers func() time.Time, within time.Duration) {
	t.Helper()
	if off := w.ServerClock().Now().Sub(servers()); off.Abs() > within {
		t.Errorf("it is %s off", off)
	}
}

// An agent whose clock is five minutes ahead or behind goes by the servers'.
func TestTheServersTimeCounts(t *testing.T) {
	t.Parallel()
	for _, ahead := range []time.Duration{5 * time.Minute, -5 * time.Minute, 0} {
		w, server, servers := skewedWorld(t, ahead, false)
		if _, err := w.Jobs(t.Context()); err != nil {
			t.Fatal(err)
		}
		assertTime(t, w, servers, time.Second)
		server.Submit(testJob("web", "ok"), "") // in 1970: an old time says nothing
		if _, err := w.Jobs(t.Context()); err != nil {
			t.Fatal(err)
		}
		assertTime(t, w, servers, time.Second)
	}
}

// Through a client on its own machine an agent learns it from its own writes: the leader
// from its lock, the others before they release a job.
func TestTheServersTimeIsLearntThroughAClient(t *testing.T) {
	t.Parallel()
	for _, ahead := range []time.Duration{5 * time.Minute, -5 * time.Minute, 0} {
		w, _, servers := skewedWorld(t, ahead, true)
		if _, err := w.NewElector(Leader{Address: "a:1"}).tryAcquire(t.Context()); err != nil {
			t.Fatal(err)
		}
		assertTime(t, w, servers, 0)
		other, _, servers := skewedWorld(t, ahead, true)
		if err := other.AskTime(t.Context()); err != nil {
			t.Fatal(err)
		}
		assertTime(t, other, servers, 0)
	}
}

// steppedClock is one that somebody sets.
type steppedClock struct{ at time.Time }

func (c *steppedClock) Now() time.Time                       { return c.at }
func (c *steppedClock) After(time.Duration) <-chan time.Time { return nil }

// When the servers' clock is set, the newest answer counts; a job from the future sets a
// clock on that is behind.
func TestTheServersClockIsSet(t *testing.T) {
	t.Parallel()
	local := &steppedClock{time.Unix(1_800_000_000, 0)}
	c := newServerClock(local)
	for _, step := range []time.Duration{0, 10 * time.Minute, -10 * time.Minute, time.Minute} {
		c.wrote(local.at.Add(step), local.at, local.at.Add(20*time.Millisecond))
		if off := c.Now().Sub(local.at); (off - step).Abs() > 20*time.Millisecond {
			t.Errorf("%s off after a step to %s", off, step)
		}
	}
	c.saw(local.at.Add(3*time.Minute), 7)
	if off := c.Now().Sub(local.at); off != 3*time.Minute {
		t.Errorf("%s off, though something was submitted 3 minutes ahead", off)
	}
	c.stamped(local.at.Add(-10*time.Minute).UnixNano(), 9, local.at)
	c.saw(local.at.Add(3*time.Minute), 7)
	if off := c.Now().Sub(local.at); off != -10*time.Minute {
		t.Errorf("%s off: what was submitted before it was set back says nothing of now", off)
	}
}
