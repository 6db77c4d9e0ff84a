package nomadapi

import (
	"sync"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// leaseMargin is how long before its TTL a lock counts as run out (chosen by us): a
// request that is sent now takes a moment to reach Nomad.
const leaseMargin = 2 * time.Second

// lease is how long this agent may take its lock for held: the TTL from when the last
// renewal was sent, on this machine's own clock. An agent that was paused finds it run out
// before it has asked anybody.
type lease struct {
	clock cluster.Clock

	mu    sync.Mutex
	until time.Time
}

// renewed counts from when the request was sent: Nomad counts from later.
func (l *lease) renewed(sent time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.until = sent.Add(leaderTTL - leaseMargin)
}

func (l *lease) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.until = time.Time{}
}

// check implements cluster.Lease.
func (l *lease) check() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.clock.Now().Before(l.until) {
		return cluster.ErrNotLeading
	}
	return nil
}
