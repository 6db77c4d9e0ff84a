package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/hashicorp/nomad/api"
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
	stepLend: `
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

// sparedFor is how long nothing that leads is killed by chance, so that a new leader comes to
// adapting: it watches a job for some windows first.
const sparedFor = 60 * time.Second

// aimAtAdaptation makes a job fall short, and kills the agent when it begins to help.
func (c *campaign) aimAtAdaptation(ctx context.Context, r *rand.Rand, u *user, step string) (err error) {
	s := u.fresh(service)
	s.Count, s.Block, s.Hold = 1, remedies[step], 40*time.Second
	if step == stepLend {
		s.Script, s.Memory = hungry, 64
	}
	c.spare(sparedFor)
	if err := u.registerBy(byHoldPool, s, "submitted"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, u.purge(s.ID)) }()
	if step == stepEvict {
		node, err := c.runsOn(ctx, s.ID)
		if err != nil {
			return err
		}
		beside := u.fresh(noise)
		beside.Beside = node
		if err := u.registerBy(pastTheGate, beside, "submitted"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, u.purge(beside.ID)) }()
	}
	c.spare(sparedFor)
	return c.aimAct(ctx, step, time.Duration(r.Int64N(int64(time.Second))))
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
