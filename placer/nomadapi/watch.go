package nomadapi

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/nomad/api"
)

// Bounds of watching, chosen by us.
const (
	pollInterval   = 2 * time.Second // the wake-up without an event stream
	streamMinWait  = 200 * time.Millisecond
	streamMaxWait  = 10 * time.Second
	streamReadSize = 64 << 10
)

// The topics that can change what a snapshot or the list of jobs says; see
// events.go for what is made of them.
const eventPath = "/v1/event/stream?topic=Job:*&topic=Node:*&topic=Allocation:*"

// Changed receives when something may have changed; several changes may come as
// one. It stays silent unless Watch runs.
func (w *World) Changed() <-chan struct{} { return w.changed }

func (w *World) wake() {
	select {
	case w.changed <- struct{}{}:
	default: // a wake-up is waiting already
	}
}

// Watch feeds Changed until ctx ends: from Nomad's event stream, connected again
// with growing pauses when it breaks, and every two seconds from a clock. It also looks
// again at what was written without an answer.
func (w *World) Watch(ctx context.Context) error {
	var parts sync.WaitGroup
	parts.Go(func() { w.followEvents(ctx) })
	parts.Go(func() { w.Confirm(ctx) })
	defer parts.Wait()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-w.clock.After(pollInterval):
			w.wake()
		}
	}
}

func (w *World) followEvents(ctx context.Context) {
	wait := streamMinWait
	for ctx.Err() == nil {
		began := w.clock.Now()
		err := w.readEvents(ctx)
		if ctx.Err() != nil {
			return
		}
		if w.clock.Now().Sub(began) > streamMaxWait {
			wait = streamMinWait
		}
		w.log.Debug("event stream ended, polling meanwhile", "error", err, "again_in", wait)
		select {
		case <-ctx.Done():
			return
		case <-w.clock.After(wait):
		}
		wait = min(2*wait, streamMaxWait)
	}
}

// readEvents opens the stream and follows it until it ends. Nomad 1.11.2 answers
// with the status line "HTTP/0.0 200 OK", which Go's client accepts.
func (w *World) readEvents(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	q := (&api.QueryOptions{Namespace: allNamespaces}).WithContext(ctx)
	body, err := w.nomad.api.Raw().Response(eventPath, q)
	if err != nil {
		return fmt.Errorf("event stream: %w", err)
	}
	lines := newLineQueue()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		lines.fill(body)
	}()
	defer func() {
		cancel()
		body.Close()
		<-ended
	}()
	w.wake() // what happened while there was no stream
	if err := w.follow(ctx, lines); err != nil {
		return fmt.Errorf("event stream: %w", err)
	}
	return nil
}
