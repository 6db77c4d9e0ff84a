package proxy

import (
	"context"
	"sync"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// quota counts what all requests may have together, and those of one address.
type quota struct {
	all, each int
	within    time.Duration // that a request waits for its turn
	clock     cluster.Clock

	mu      sync.Mutex
	used    int
	by      map[string]int
	changed chan struct{} // closed when something comes back
}

func newQuota(clock cluster.Clock, all, each int, within time.Duration) *quota {
	return &quota{all: all, each: each, within: within, clock: clock, by: map[string]int{}, changed: make(chan struct{})}
}

// take waits for one; false where none came in time.
func (q *quota) take(ctx context.Context, source string) bool {
	var late <-chan time.Time
	for {
		wait := q.tryTake(source)
		if wait == nil {
			return true
		}
		if late == nil {
			late = q.clock.After(q.within)
		}
		select {
		case <-wait:
		case <-late:
			return false
		case <-ctx.Done():
			return false
		}
	}
}

// tryTake counts one more, or says what to wait for.
func (q *quota) tryTake(source string) (wait <-chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.used >= q.all || q.by[source] >= q.each {
		return q.changed
	}
	q.used++
	q.by[source]++
	return nil
}

func (q *quota) give(source string, n int) {
	if n == 0 {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.used -= n
	if q.by[source] -= n; q.by[source] <= 0 {
		delete(q.by, source)
	}
	close(q.changed)
	q.changed = make(chan struct{})
}
