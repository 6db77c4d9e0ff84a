package profiling

import (
	"context"
	"sync"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// Admissions take a profile that was read within the last seconds: the jobs of a burst are
// of few kinds, and each would ask the store for the same profile. Chosen by us.
const (
	cachedFor    = 2 * time.Second
	cachedAtMost = 256 // profiles
)

// cache keeps the profiles that admissions have read, and what follows from them. The
// maps in it are shared by all jobs of the kind and not written to.
type cache struct {
	mu    sync.Mutex
	byKey map[string]CachedProfile
}

// CachedProfile is what the store had of a workload, and what follows from it.
type CachedProfile struct {
	at        time.Time
	Profile   *profile.Profile // nil: nothing
	Knowledge cluster.Knowledge
}

// Cached is what the store has of a profile, or had a moment ago. With an error it is
// what follows from nothing, and that is not kept.
func (l *Lab) Cached(ctx context.Context, w cluster.WorkloadID, key string) (CachedProfile, error) {
	now := l.cfg.Clock.Now()
	if r, ok := l.cache.of(key); ok && now.Sub(r.at) < cachedFor {
		return r, nil
	}
	p, err := l.Stored(ctx, w, key)
	r := CachedProfile{now, p, l.estimator.Classify(w.Namespace, key, p)}
	if p != nil {
		l.cache.keep(key, r)
	}
	return r, err
}

func (c *cache) of(key string) (CachedProfile, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, ok := c.byKey[key]
	return r, ok
}

func (c *cache) keep(key string, r CachedProfile) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byKey == nil || len(c.byKey) >= cachedAtMost {
		c.byKey = map[string]CachedProfile{}
	}
	c.byKey[key] = r
}
