package nomadapi

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi/nomadtest"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// pausedClock stands still for whoever waits, as a process does that is stopped, until a
// test sets it on.
type pausedClock struct {
	*jumpClock
	ticks chan time.Time
}

func newPausedClock() *pausedClock { return &pausedClock{newJumpClock(), make(chan time.Time)} }

func (c *pausedClock) After(time.Duration) <-chan time.Time { return c.ticks }

// passes lets time pass of which the process knows nothing.
func (c *pausedClock) passes(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// A leader that was paused beyond the TTL of its lock sends nothing when it goes on, though
// nobody has told it yet that another leads.
func TestALeaderPausedPastItsTTLWritesNothing(t *testing.T) {
	t.Parallel()
	_, server, ctx := testWorld(t)
	clock := newPausedClock()
	w, err := New(Options{Address: server.URL, RunPool: "prod", NodeMetadata: true, Decode: decodeForTest, Clock: clock, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.API().Close)
	job := testJob("web", "ok")
	server.Submit(job, "")
	held := mustJob(t, w, ctx, "web")
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	elected, ended := make(chan context.Context), make(chan error, 1)
	go func() {
		ended <- w.NewElector(Leader{Address: "a:1"}).Run(ctx, func(ctx context.Context) error {
			elected <- ctx
			<-ctx.Done()
			return ctx.Err()
		})
	}()
	leading := <-elected
	id := held.Workloads[0].ID
	if err := w.Note(leading, id, "leading", false); err != nil {
		t.Fatalf("while it leads: %v", err)
	}
	clock.passes(leaderTTL)
	writes := len(server.Writes())
	for name, write := range map[string]func(context.Context) error{
		"a scaling note": func(ctx context.Context) error { return w.Note(ctx, id, "paused", false) },
		"the stop of an allocation": func(ctx context.Context) error {
			return w.StopAllocation(ctx, id, "a1")
		},
		"a transfer": func(ctx context.Context) error {
			return w.transfer(ctx, cluster.JobID{Namespace: "default", ID: transferJobPrefix + "a1"}, "n1", object{})
		},
		"the removal of a run": func(ctx context.Context) error {
			return w.RemoveJob(context.WithoutCancel(ctx), cluster.JobID{Namespace: "default", ID: labJobPrefix + "1"})
		},
		"node metadata": func(ctx context.Context) error {
			return w.Publish(ctx, maps.All(map[cluster.NodeID]cluster.Pressure{"n1": {Caused: interference.Scores{"mem_bw": {Score: interference.Percent(10)}}}}))
		},
		"the release of a job": func(ctx context.Context) error {
			_, err := w.Apply(ctx, cluster.Plan{Job: held})
			return err
		},
	} {
		if err := write(leading); !errors.Is(err, cluster.ErrNotLeading) {
			t.Errorf("%s: %v, want that it does not lead", name, err)
		}
	}
	if after := server.Writes(); len(after) != writes {
		t.Errorf("Nomad got %q", after[writes:])
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Where the lock is lost, the removal of a run that is under way ends at once, so that the
// old leader is out of the way.
func TestAfterALossNoRemovalIsWaitedFor(t *testing.T) {
	t.Parallel()
	w, server, ctx := testWorld(t)
	id := cluster.JobID{Namespace: "default", ID: labJobPrefix + "1"}
	run := testJob(id.ID, "")
	run["NodePool"], run["Meta"] = "prod", nomadtest.Object{metaOwner: DefaultOwner}
	server.Submit(run, "")
	held := &lease{clock: w.clock}
	held.renewed(w.clock.Now())
	ctx = cluster.WithLease(ctx, held.check)
	server.PutAlloc(nomadtest.Object{"ID": "a1", "Namespace": "default", "JobID": id.ID, "NodeID": "n1", "DesiredStatus": "stop", "ClientStatus": "unknown"})
	server.OnRequest = func(path string) {
		if strings.HasSuffix(path, "/allocations") {
			held.end() // while it waits for the run to end
		}
	}
	began := w.clock.Now()
	if err := w.RemoveJob(ctx, id); !errors.Is(err, cluster.ErrNotLeading) {
		t.Errorf("removal: %v", err)
	}
	if took := w.clock.Now().Sub(began); took > time.Second {
		t.Errorf("it went on for %s", took)
	}
	if purged := slices.ContainsFunc(server.Writes(), func(r string) bool { return strings.Contains(r, "purge") }); purged {
		t.Error("it was purged by an agent that does not lead")
	}
}
