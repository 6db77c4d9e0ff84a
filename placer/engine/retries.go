package engine

import (
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// The waits between attempts at a job that failed (chosen by us): they double up to a
// limit. A passing error may end at any moment, and the deadline be near; of what is
// refused for good only the user or the operator can change that.
const (
	retryFirst   = 500 * time.Millisecond
	retryPassing = 5 * time.Second
	retryRefused = time.Minute
)

// retries spaces out the attempts at jobs that failed, so that one which Nomad will never
// take again costs neither a place in the queue nor a request at each pass.
type retries struct {
	mu     sync.Mutex
	failed map[cluster.JobID]failure
}

// failure is of one version of a job.
type failure struct {
	modifyIndex uint64
	times       int
	again       time.Time
	refused     bool
}

func newRetries() *retries { return &retries{failed: map[cluster.JobID]failure{}} }

// due reports whether the version may be tried.
func (r *retries) due(job cluster.Job, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	f, ok := r.failed[job.ID]
	return !ok || f.modifyIndex != job.ModifyIndex || !now.Before(f.again)
}

// note counts an attempt that ended with err, nil for success, and reports whether this
// version was refused for good for the first time. A deadline that is still ahead is
// tried at, however long the wait would be.
func (r *retries) note(job cluster.Job, now, deadline time.Time, err error) (firstRefusal bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		delete(r.failed, job.ID)
		return false
	}
	f := r.failed[job.ID]
	if f.modifyIndex != job.ModifyIndex {
		f = failure{modifyIndex: job.ModifyIndex}
	}
	refused, limit := errors.Is(err, cluster.ErrRefused), retryPassing
	if refused {
		limit = retryRefused
	}
	wait := limit
	if f.times < 10 {
		wait = min(limit, retryFirst<<f.times)
	}
	f.again = now.Add(wait)
	if now.Before(deadline) && deadline.Before(f.again) {
		f.again = deadline
	}
	firstRefusal = refused && !f.refused
	f.times, f.refused = f.times+1, refused
	r.failed[job.ID] = f
	return firstRefusal
}

// refused counts the jobs whose release was refused for good when it was tried last.
func (r *retries) refused() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, f := range r.failed {
		if f.refused {
			n++
		}
	}
	return n
}

func (r *retries) forgetAllBut(present map[cluster.JobID]bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.failed, func(id cluster.JobID, _ failure) bool { return !present[id] })
}
