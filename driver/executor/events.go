package executor

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// journal hands events to whoever listens and writes them to the task's
// standard output. A listener that does not keep up loses old events, never
// the newest.
type journal struct {
	out io.Writer
	now func() time.Time

	mu        sync.Mutex
	listeners map[chan Event]bool
	recent    []Event // given to a new listener, so that none misses the start
}

// journalDepth bounds what waits for a slow listener, and journalKeeps what a
// new one is given: Nomad shows the last ten events of a task.
const (
	journalDepth = 16
	journalKeeps = 10
)

func newJournal(out io.Writer, now func() time.Time) *journal {
	return &journal{out: out, now: now, listeners: map[chan Event]bool{}}
}

func (j *journal) say(format string, args ...any) {
	e := Event{At: j.now(), Message: fmt.Sprintf(format, args...)}
	j.mu.Lock()
	defer j.mu.Unlock()
	// A task whose log collector is gone goes on without it.
	_, _ = fmt.Fprintf(j.out, "%s %s\n", e.At.UTC().Format(time.RFC3339Nano), e.Message)
	j.recent = append(j.recent, e)
	j.recent = j.recent[max(0, len(j.recent)-journalKeeps):]
	for c := range j.listeners {
		offer(c, e)
	}
}

func offer(c chan Event, e Event) {
	for {
		select {
		case c <- e:
			return
		default:
		}
		select {
		case <-c: // drop the oldest
		default:
		}
	}
}

func (j *journal) events() (<-chan Event, func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	c := make(chan Event, journalDepth)
	for _, e := range j.recent {
		c <- e
	}
	j.listeners[c] = true
	return c, func() {
		j.mu.Lock()
		defer j.mu.Unlock()
		delete(j.listeners, c)
	}
}
