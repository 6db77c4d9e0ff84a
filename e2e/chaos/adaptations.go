package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/e2e/cluster"
)

// shortBlock asks for more than its task does, ten units a second: the agent looks for a remedy
// as long as the job runs.
const shortBlock = `
      target {
        rate = 14
      }` + logProbe + `
      profile {
        skip = true
      }`

// What the agent can do about it.
var remedies = map[string]string{
	stepEvict: shortBlock,
	stepMove: shortBlock + `
      move = true`,
	stepTransfer: `
      target {
        rate = 24
      }` + logProbe + `
      scale {
        memory = [64, 96]
      }
      profile {
        seconds = 5
        sources = ["int"]
      }`,
}

// The times of aiming at an adaptation. A leader watches a job for some 20 s before it helps,
// and a killed one is followed by another after as long. A job is moved when no best-effort
// work is left that could leave instead.
const (
	adaptsWithin = 100 * time.Second
	movesWithin  = 4 * time.Minute
)

// How long after its beginning an adaptation is struck, at most: a transfer takes a second,
// the others some requests.
var strikeAfter = map[string]time.Duration{
	stepTransfer: 500 * time.Millisecond, stepMove: 10 * time.Millisecond, stepEvict: 10 * time.Millisecond,
}

// aimAtAdaptation makes a job fall short, and kills the agent when it begins to help.
func (c *campaign) aimAtAdaptation(ctx context.Context, r *rand.Rand, u *user, step string) (err error) {
	s := u.fresh(service)
	s.Count, s.Block, s.Hold = 1, remedies[step], 40*time.Second
	if step == stepTransfer {
		s.Script, s.Memory = hungry, 64
	} else {
		s.Cores = 1 // it could be given more of a shared CPU instead
	}
	c.spare(adaptsWithin, "")
	room := func() error { return nil }
	if step == stepMove {
		s.Datacenters = []string{"dc1", spareDatacenter}
		filler, err := c.fillSpare(ctx, u)
		room = sync.OnceValue(func() error { return u.purge(filler) })
		if err != nil {
			return errors.Join(err, room())
		}
	}
	defer func() { err = errors.Join(err, room()) }()
	if err := u.registerBy(byHoldPool, s, "submitted"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, u.purge(s.ID)) }()
	node, err := c.runsOn(ctx, s.ID)
	if err != nil {
		return err
	}
	if err := room(); err != nil {
		return err
	}
	if step == stepEvict {
		beside := u.fresh(noise)
		beside.Beside = node
		if err := u.registerBy(pastTheGate, beside, "submitted"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, u.purge(beside.ID)) }()
	}
	within := adaptsWithin
	if step == stepMove {
		within = movesWithin
	}
	return c.killAdapting(ctx, r, aimed{s.ID, step}, time.Now().Add(within))
}

// fillSpare reserves a core of the spare node: a job that needs one as well does not begin there,
// and is moved there once the filler is gone.
func (c *campaign) fillSpare(ctx context.Context, u *user) (id string, err error) {
	s := u.fresh(service)
	s.Count, s.Block, s.Script, s.Cores, s.Datacenters = 1, bestEffortBlock, pace, 1, []string{spareDatacenter}
	if err := u.registerBy(pastTheGate, s, "submitted"); err != nil {
		return s.ID, err
	}
	_, err = c.runsOn(ctx, s.ID)
	return s.ID, err
}

// aimed is a job that is to be adapted, and how.
type aimed struct{ job, step string }

// killAdapting waits for the wanted kind of adaptation and kills its agent. Others are let be: an
// eviction that ends makes a move the next remedy, and another agent leads only half a minute later.
func (c *campaign) killAdapting(ctx context.Context, r *rand.Rand, a aimed, until time.Time) error {
	for {
		node, err := c.runsOn(ctx, a.job)
		if err != nil {
			return err
		}
		c.spare(time.Until(until), node)
		b, err := c.awaitAdaptation(ctx, until)
		if err != nil {
			return err
		}
		if b.step != a.step {
			continue
		}
		if err := cluster.Sleep(ctx, time.Duration(r.Int64N(int64(strikeAfter[b.step])))); err != nil {
			return err
		}
		if err = c.strike(b); err == nil {
			return nil
		}
		c.say("%v", err)
	}
}

// runsOn waits until a job's one allocation runs, and returns its node.
func (c *campaign) runsOn(ctx context.Context, id string) (string, error) {
	node := ""
	err := waitFor(ctx, id+" to run", time.Minute, func() bool {
		list, err := c.allocationsOf(ctx, id)
		if err != nil {
			return false
		}
		for _, a := range list {
			if a.ClientStatus == api.AllocClientStatusRunning && a.DesiredStatus == api.AllocDesiredStatusRun {
				node = a.NodeName
			}
		}
		return node != ""
	})
	if err != nil {
		return "", fmt.Errorf("%w: %w", errMissed, err)
	}
	return node, nil
}
