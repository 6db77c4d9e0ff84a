package engine

import (
	"context"
	"sync"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// What was read lately counts for admissions: the jobs of a burst are of few kinds, and
// each would ask the store for the same profile. Chosen by us.
const (
	latelyFor    = 2 * time.Second
	latelyAtMost = 256 // profiles
)

// lately keeps the profiles that admissions have read, and what follows from them. The
// maps in it are shared by all jobs of the kind; nobody writes to them.
type lately struct {
	mu    sync.Mutex
	byKey map[string]readLately
}

type readLately struct {
	at        time.Time
	profile   *profile.Profile // nil: nothing
	knowledge cluster.Knowledge
}

// readLately is what the store has of a profile, or had a moment ago. With an error it is
// what follows from nothing, and that is not kept.
func (e *Engine) readLately(ctx context.Context, key string) (readLately, error) {
	now := e.cfg.Clock.Now()
	if r, ok := e.lately.of(key); ok && now.Sub(r.at) < latelyFor {
		return r, nil
	}
	p, err := e.storedProfile(ctx, key)
	r := readLately{now, p, e.classify(p)}
	if p != nil {
		e.lately.keep(key, r)
	}
	return r, err
}

func (l *lately) of(key string) (readLately, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r, ok := l.byKey[key]
	return r, ok
}

func (l *lately) keep(key string, r readLately) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.byKey == nil || len(l.byKey) >= latelyAtMost {
		l.byKey = map[string]readLately{}
	}
	l.byKey[key] = r
}
