package profiling

import (
	"maps"
	"sync"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// Fitting the models of a scope takes seconds of CPU time, and every profile that is stored
// changes its rows. So they are fitted aside, one scope at a time: who asks waits a moment for
// a fit that has begun, and takes the one before where that does not suffice; and fitting rests
// so many times as long as it took (chosen by us).
const (
	fitWait    = time.Second
	fitRests   = 9
	fitsAtMost = 64 // that are kept: each scope has its own
)

// fits are the models of each scope; those of "" are of the shipped rows alone.
type fits struct {
	fitting sync.Mutex // one scope at a time
	ending  sync.WaitGroup

	mu      sync.Mutex
	newest  map[string]*learnt
	current map[string]bool // fitted to the rows as they are
	renewal map[string]*renewal
	ended   time.Time // the newest fit
	rests   time.Duration
}

// renewal is a fit under way.
type renewal struct {
	began time.Time
	done  chan struct{}
	void  bool // rows have changed since it began
	gone  bool // rows have been taken away since it began: nobody may learn from them
}

func (f *fits) of(scope string) *learnt {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.newest[scope]
}

func (f *fits) put(scope string, of *learnt) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.set(scope, of, true)
}

// set needs the lock.
func (f *fits) set(scope string, of *learnt, current bool) {
	if f.newest == nil {
		f.newest, f.current, f.renewal = map[string]*learnt{}, map[string]bool{}, map[string]*renewal{}
	}
	if len(f.newest) >= fitsAtMost && f.newest[scope] == nil {
		f.keepShipped()
	}
	f.newest[scope], f.current[scope] = of, current
}

func (f *fits) keepShipped() {
	maps.DeleteFunc(f.newest, func(scope string, _ *learnt) bool { return scope != "" })
	clear(f.current)
}

// outdate: rows of a scope were added or replaced.
func (f *fits) outdate(scope string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.current, scope)
	if r := f.renewal[scope]; r != nil {
		r.void = true
	}
}

// drop: rows of a scope were taken away, and what was learnt from them goes at once.
func (f *fits) drop(scope string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.newest, scope)
	delete(f.current, scope)
	if r := f.renewal[scope]; r != nil {
		r.gone = true
	}
}

// dropAll drops every scope.
func (f *fits) dropAll() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.keepShipped()
	for _, r := range f.renewal {
		r.gone = true
	}
}

func (f *fits) isOutdated(scope string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.current[scope]
}

// renew has the models of a scope fitted to its rows as they are, and waits for a moment from
// when that began. While fitting rests, nothing is begun.
func (f *fits) renew(clock cluster.Clock, scope string, fit func() *learnt) {
	for f.isOutdated(scope) {
		r := f.renewing(clock, scope, fit)
		if r == nil {
			return
		}
		left := fitWait - clock.Now().Sub(r.began)
		if left <= 0 {
			return
		}
		select {
		case <-r.done:
		case <-clock.After(left):
			return
		}
	}
}

func (f *fits) renewing(clock cluster.Clock, scope string, fit func() *learnt) *renewal {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r := f.renewal[scope]; r != nil {
		return r
	}
	now := clock.Now()
	if now.Sub(f.ended).Abs() < f.rests {
		return nil
	}
	r := &renewal{began: now, done: make(chan struct{})}
	f.renewal[scope] = r
	f.ending.Go(func() {
		f.fitting.Lock()
		defer f.fitting.Unlock()
		began := clock.Now()
		of := fit()
		f.end(scope, r, of, began, clock.Now())
	})
	return r
}

func (f *fits) end(scope string, r *renewal, of *learnt, began, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !r.gone {
		f.set(scope, of, !r.void)
	}
	delete(f.renewal, scope)
	f.ended, f.rests = now, fitRests*now.Sub(began)
	close(r.done)
}
