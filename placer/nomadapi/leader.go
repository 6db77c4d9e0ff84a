package nomadapi

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi/rights"
)

// The leader's lock. A lock is not a fence: every write of a job is fenced by its
// JobModifyIndex, so two leaders for a moment waste work and break nothing. What has no
// such index is not sent without a look at the lease (see lease.go). That is why no lock
// delay is kept after a lock expires.
const (
	LeaderPath      = rights.RecordsPath + "/leader"
	leaderTTL       = 15 * time.Second
	leaderLockDelay = time.Second // the least Nomad takes is above zero
	leaderRenew     = leaderTTL / 3
	leaderRetry     = 3 * time.Second
)

// Items of the leader's variable.
const (
	LeaderItem         = "address"
	leaderInstanceItem = "instance"
	leaderLoopbackItem = "loopback"
)

// Leader is what a leading instance says of itself in the variable.
type Leader struct {
	Address string // where its pages are
	// Instance is a word made up at its start, which its answers repeat: whoever else
	// answers at the address cannot know it without the right to read the variable.
	Instance string
	// Loopback names the host, and the network in it, whose loopback addresses are the
	// leader's: an Address there means another program everywhere else.
	Loopback string
}

func (l Leader) items() map[string]string {
	items := map[string]string{LeaderItem: l.Address, leaderInstanceItem: l.Instance, leaderLoopbackItem: l.Loopback}
	maps.DeleteFunc(items, func(_, value string) bool { return value == "" })
	return items
}

// Elector takes part in the election of one leading instance.
type Elector struct {
	w    *World
	self Leader
	path string
}

// NewElector returns an elector for this instance; self is what the others find in the
// variable.
func (w *World) NewElector(self Leader) *Elector {
	return &Elector{w: w, self: self, path: LeaderPath}
}

// Run tries for leadership until ctx ends. While this instance leads, onElected
// runs with a context that ends when the lock is lost; after a loss Run tries
// again. Run returns the error of onElected when it ends by itself, having given
// up the lock so that another instance leads at once.
func (e *Elector) Run(ctx context.Context, onElected func(context.Context) error) error {
	for {
		held := &lease{clock: e.w.clock}
		lock, err := e.acquire(ctx, held)
		if err != nil {
			return err
		}
		lost, err := e.lead(ctx, lock, held, onElected)
		if !lost {
			return err
		}
		e.w.log.Warn("leadership lost", "error", err)
	}
}

// acquire blocks until this instance holds the lock.
func (e *Elector) acquire(ctx context.Context, held *lease) (string, error) {
	said := onceLog{}
	for {
		sent := e.w.clock.Now()
		lock, err := e.tryAcquire(ctx)
		if ctx.Err() != nil {
			if err == nil {
				e.release(lock)
			}
			return "", ctx.Err()
		}
		if err == nil {
			held.renewed(sent)
			e.w.log.Info("leading", "address", e.self.Address)
			return lock, nil
		}
		if said.first("", err.Error()) {
			e.w.log.Info("not leading", "why", err)
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-e.w.clock.After(leaderRetry):
		}
	}
}

// errLocked: another instance holds the lock, or ours was lost.
var errLocked = errors.New("the lock is held by another instance")

// lockVariable is a variable as the lock operations take and answer it.
type lockVariable struct {
	Path  string
	Items map[string]string `json:",omitempty"`
	Lock  variableLock

	// Of the answer: nanoseconds, by a server's clock, and the index of the write.
	ModifyTime  int64  `json:",omitempty"`
	ModifyIndex uint64 `json:",omitempty"`
}

type variableLock struct {
	ID        string `json:",omitempty"`
	TTL       string `json:",omitempty"`
	LockDelay string `json:",omitempty"`
}

// tryAcquire returns the id of the lock. The api package has a client for locks,
// but making one writes to the settings its other requests read.
func (e *Elector) tryAcquire(ctx context.Context) (id string, err error) {
	sent := e.w.serverTime.steady()
	answer, err := e.lockOperation(ctx, "lock-acquire", lockVariable{
		Items: e.self.items(),
		Lock:  variableLock{TTL: leaderTTL.String(), LockDelay: leaderLockDelay.String()},
	})
	if err != nil {
		return "", err
	}
	e.w.serverTime.stamped(answer.ModifyTime, answer.ModifyIndex, sent)
	return answer.Lock.ID, nil
}

// lockOperation is not ended by ctx, only by its own short timeout: an answer
// thrown away could be a lock that no agent knows of and that has to expire.
func (e *Elector) lockOperation(ctx context.Context, operation string, v lockVariable) (lockVariable, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaderRenew)
	defer cancel()
	v.Path = e.path
	var answer lockVariable
	err := e.w.nomad.write(ctx, "/v1/var/"+e.path+"?"+operation, e.w.opts.RecordsNamespace, v, &answer)
	if statusOf(err) == http.StatusConflict {
		return answer, fmt.Errorf("%s: %w", operation, errLocked)
	}
	return answer, wrap(err, "leader %s", operation)
}

// lead runs onElected while the lock is kept. lost is true where the lock went
// away under it, whatever onElected made of that: from then on Nomad gets no write of it,
// so that it ends soon.
func (e *Elector) lead(ctx context.Context, lock string, held *lease, onElected func(context.Context) error) (lost bool, err error) {
	leading, stop := context.WithCancel(cluster.WithLease(ctx, held.check))
	defer stop()
	done := make(chan error, 1)
	go func() { done <- onElected(leading) }()
	renewed := e.w.clock.Now()
	for {
		select {
		case err := <-done:
			e.release(lock)
			return false, err
		case <-e.w.clock.After(leaderRenew):
			sent := e.w.clock.Now()
			err := e.renew(ctx, lock)
			if err == nil {
				renewed = sent
				held.renewed(sent)
				continue
			}
			// A server without a leader cannot renew; the lock itself lives on
			// until its TTL, so one more try is left before it is given up.
			if !errors.Is(err, errLocked) && e.w.clock.Now().Sub(renewed)+leaderRenew < leaderTTL {
				continue
			}
			held.end()
			stop()
			<-done //nolint:errcheck // it was cancelled
			return true, err
		}
	}
}

func (e *Elector) renew(ctx context.Context, lock string) error {
	_, err := e.lockOperation(ctx, "lock-renew", lockVariable{Lock: variableLock{ID: lock}})
	return err
}

func (e *Elector) release(lock string) {
	_, err := e.lockOperation(context.Background(), "lock-release", lockVariable{Lock: variableLock{ID: lock}})
	if err != nil {
		e.w.log.Debug("leader lock not released, it expires by itself", "error", err)
	}
}

// Leader returns what the last elected leader said of itself, nothing where there was
// none. Whether its lock is still held Nomad tells only its holder and management
// tokens, so it may be of an instance that has gone.
func (w *World) Leader(ctx context.Context) (Leader, error) {
	var v struct{ Items map[string]string }
	_, err := w.nomad.get(ctx, "/v1/var/"+LeaderPath, api.QueryOptions{Namespace: w.opts.RecordsNamespace}, &v)
	if isNotFound(err) {
		return Leader{}, nil
	}
	return Leader{Address: v.Items[LeaderItem], Instance: v.Items[leaderInstanceItem], Loopback: v.Items[leaderLoopbackItem]}, wrap(err, "leader")
}
