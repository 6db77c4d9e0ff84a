package nomadapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// The caches of jobs, nodes and allocations are followed while the event stream
// is open: they were read whole after the stream was opened, and every event
// since has been folded in, so an answer costs no request. Nomad's stream has no
// gaps while it is open (a reader that falls behind is cut off), and keeps the order
// of the writes, but it is not durable and not everything is an event (collected nodes
// are not). So the lists stay the truth: they are read anew whenever the stream was
// cut, at an event that cannot be read or comes after a later one, and once in a while.

// How long something that was no event can go unseen: relistInterval, or where the lists are
// long as long as reading them again takes one part in relistRest of the time, and
// longestRelist at most. Those of 10,000 nodes with 50,000 allocations take seconds of the
// server's time and of the agent's.
const (
	relistInterval = 30 * time.Second
	relistRest     = 50
	longestRelist  = 10 * time.Minute
)

// relistAfter is when lists are read again that took so long.
func relistAfter(took time.Duration) time.Duration {
	return min(max(relistInterval, relistRest*took), longestRelist)
}

// maxQueuedBytes bounds the events that wait while lists are read. Beyond it the
// stream is given up and begun anew, as Nomad itself would.
const maxQueuedBytes = 16 << 20

// batch is a line of the event stream: what one write to Nomad changed.
type batch struct {
	Index  uint64
	Events []event
}

type event struct {
	Topic   string
	Type    string
	Payload struct {
		Job        json.RawMessage
		Node       *nodeDetail
		Allocation *allocEvent
	}
}

// errUnreadable: an event does not say what changed.
var errUnreadable = errors.New("an event without what changed")

// errLate: an event of an earlier write than one already folded in. What had ended by
// then would come back with it.
var errLate = errors.New("an event after a later one")

// follow reads the lists and folds in the events of lines until ctx or lines
// end.
func (w *World) follow(ctx context.Context, lines *lineQueue) error {
	defer w.unfollow()
	w.folded = 0
	for {
		began := w.clock.Now()
		if err := w.relist(ctx); err != nil {
			return fmt.Errorf("reading the lists: %w", err)
		}
		w.wake()
		if err := w.foldUntil(ctx, lines, w.clock.After(relistAfter(w.clock.Now().Sub(began)))); err != nil {
			return err
		}
	}
}

// foldUntil folds events in until it is time to read the lists again, which is
// also after an event that cannot be read or came late.
func (w *World) foldUntil(ctx context.Context, lines *lineQueue, again <-chan time.Time) error {
	for {
		line, err := lines.next(ctx, again, w.wanted)
		if errors.Is(err, errAgain) || errors.Is(err, errWanted) && !w.snapshotsFollowed() {
			return nil
		}
		if errors.Is(err, errWanted) {
			continue // it was asked for before the lists were read
		}
		if err != nil {
			return err
		}
		if err := w.fold(line); err != nil {
			w.log.Debug("reading the lists again", "why", err)
			w.unfollow()
			return nil
		}
	}
}

// fold brings one line of the stream into the caches.
func (w *World) fold(line []byte) error {
	if len(bytes.TrimSpace(line)) <= len("{}") {
		return nil // a heartbeat
	}
	var b batch
	if err := json.Unmarshal(line, &b); err != nil {
		return fmt.Errorf("%w: %w", errUnreadable, err)
	}
	if b.Index < w.folded {
		return fmt.Errorf("%w: index %d after %d", errLate, b.Index, w.folded)
	}
	w.folded = b.Index
	wake := false
	for i := range b.Events {
		e := &b.Events[i]
		switch {
		case e.Payload.Job != nil:
			relevant, err := w.foldJob(b.Index, e.Type, e.Payload.Job)
			if err != nil {
				return err
			}
			wake = wake || relevant
		case e.Payload.Node != nil:
			w.nodes.fold(b.Index, e.Type == nodeGone, e.Payload.Node)
		case e.Payload.Allocation != nil:
			w.allocs.fold(b.Index, e.Payload.Allocation, w.jobs.versionAt)
		default:
			return fmt.Errorf("%w: topic %q", errUnreadable, e.Topic)
		}
	}
	if wake {
		w.wake()
	}
	return nil
}

// The event types that mean that the object is no more.
const (
	nodeGone = "NodeDeregistration"
	jobGone  = "JobDeregistered"
	jobsGone = "JobBatchDeregistered"
)

// relist reads the three lists whole and has them followed from there on.
func (w *World) relist(ctx context.Context) error {
	if err := w.nodes.startIfAsked(func() error { return w.readNodes(ctx) }); err != nil {
		return fmt.Errorf("nodes: %w", err)
	}
	if err := w.jobs.start(func() error { return w.readJobs(ctx) }); err != nil {
		return fmt.Errorf("jobs: %w", err)
	}
	if err := w.allocs.startIfAsked(func() error { return w.readAllocations(ctx) }); err != nil {
		return fmt.Errorf("allocations: %w", err)
	}
	return nil
}

// snapshotsFollowed reports whether snapshots need no request.
func (w *World) snapshotsFollowed() bool { return w.nodes.isFollowed() && w.allocs.isFollowed() }

// askToFollow has the lists read soon, and followed from there on, where the
// event stream is open.
func (w *World) askToFollow() {
	select {
	case w.wanted <- struct{}{}:
	default:
	}
}

// unfollow makes every answer come from the lists again.
func (w *World) unfollow() {
	w.nodes.unfollow()
	w.jobs.unfollow()
	w.allocs.unfollow()
}
