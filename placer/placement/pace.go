package placement

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// Jobs that are decided on before they are registered come no faster than Nomad places
// them. Its scheduler takes evaluations in the order in which they come, those that end
// deployments behind all jobs that wait, and behind a long queue decisions rest on
// in-flight plans instead of on what runs. So callers wait a little before their decision
// instead of longer after it. The bounds are chosen by us.
const (
	// unplacedAtMost is how many workloads Nomad may have to place yet: enough for all
	// its workers, and for the time until we hear that one is placed.
	unplacedAtMost = 64
	paceEvery      = 50 * time.Millisecond
	// paceStuck is how long the number may stay the same: what Nomad cannot place is no
	// reason to wait.
	paceStuck = 200 * time.Millisecond
	// paceAtMost of the time that the proxy gives a decision.
	paceAtMost = time.Second
)

// pace knows how much of what was decided on Nomad has yet to place.
type pace struct {
	mu       sync.Mutex
	unplaced int
	at       time.Time // when that was
}

// note counts the workloads that are reserved for.
func (p *pace) note(now time.Time, s *cluster.Snapshot, plans ...cluster.WorkloadID) int {
	workloads := make(map[cluster.WorkloadID]bool, unplacedAtMost)
	for _, list := range s.Reserved {
		for i := range list {
			workloads[list[i].Workload] = true
		}
	}
	for _, w := range plans {
		workloads[w] = true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.unplaced, p.at = len(workloads), now
	return p.unplaced
}

// seen is the number as last counted. Where it is to be counted again, one caller alone
// gets again = true.
func (p *pace) seen(now time.Time, first bool) (n int, again bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if first && p.unplaced < unplacedAtMost || now.Sub(p.at) < paceEvery {
		return p.unplaced, false
	}
	p.at = now
	return p.unplaced, true
}

// keepPace waits until Nomad has placed most of what was decided on, or stops placing.
func (pl *Placer) keepPace(ctx context.Context) error {
	now := pl.cfg.Clock.Now()
	least, until, stuck := unplacedAtMost, now.Add(paceAtMost), now.Add(paceStuck)
	for first := true; ; first = false {
		n, err := pl.unplaced(ctx, first)
		switch {
		case err != nil:
			return err
		case n < unplacedAtMost:
			return nil
		}
		now := pl.cfg.Clock.Now()
		if first || n < least {
			least, stuck = n, now.Add(paceStuck)
		}
		if !now.Before(until) || !now.Before(stuck) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-pl.cfg.Clock.After(paceEvery):
		}
	}
}

// unplaced is how many workloads Nomad has yet to place. At first the number that was seen
// last is enough, if it is small.
func (pl *Placer) unplaced(ctx context.Context, first bool) (int, error) {
	p := &pl.queue.pace
	now := pl.cfg.Clock.Now()
	n, again := p.seen(now, first)
	if !again {
		return n, nil
	}
	s, err := pl.cfg.World.Snapshot(ctx)
	if err != nil {
		return 0, fmt.Errorf("reading the cluster: %w", err)
	}
	return p.note(now, s, slices.Collect(maps.Keys(pl.queue.plans()))...), nil
}
