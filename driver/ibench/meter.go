package ibench

import (
	"sync"
	"sync/atomic"
	"time"
)

// meter holds one thread's totals. One thread adds, any may read.
type meter struct {
	mu     sync.Mutex
	totals totals
	taken  atomic.Uint32 // the last change this thread took over
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

func (m *meter) add(t totals) {
	m.mu.Lock()
	m.totals = m.totals.plus(t)
	m.mu.Unlock()
}

func (m *meter) read() totals {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.totals
}
