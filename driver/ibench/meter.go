package ibench

import (
	"sync"
	"sync/atomic"
	"time"
)

// meter holds one thread's totals. One thread adds, any may read.
type meter struct {
	mu      sync.Mutex
	totals  totals
	resting bool          // at intensity 0: wall time goes by, and nothing adds it
	since   time.Duration // the rest began, on the rig's clock
	taken   atomic.Uint32 // the last change this thread took over
}

// totals count since the workers began. Times exclude pauses.
type totals struct {
	ops, demandOps float64
	busy, wall     time.Duration
}

func (t totals) plus(o totals) totals {
	return totals{t.ops + o.ops, t.demandOps + o.demandOps, t.busy + o.busy, t.wall + o.wall}
}

func (t totals) minus(o totals) totals {
	return totals{t.ops - o.ops, t.demandOps - o.demandOps, t.busy - o.busy, t.wall - o.wall}
}

// add adds what was done, and ends a rest.
func (m *meter) add(t totals) {
	m.mu.Lock()
	m.totals = m.totals.plus(t)
	m.resting = false
	m.mu.Unlock()
}

// rest says that from since on only wall time goes by, until the next add:
// so an idle thread need not wake up to count it.
func (m *meter) rest(since time.Duration) {
	m.mu.Lock()
	m.resting, m.since = true, since
	m.mu.Unlock()
}

// read returns the totals at a time of the rig's clock.
func (m *meter) read(now time.Duration) totals {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.totals
	if m.resting {
		t.wall += max(now-m.since, 0)
	}
	return t
}
