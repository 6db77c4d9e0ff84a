package main

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/e2e/cluster"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi"
)

// What the promise about held jobs allows.
const (
	watchEvery = 500 * time.Millisecond
	// holdGrace is how long after its deadline a job may be held.
	holdGrace = 5 * time.Second
	// recovery is how long an agent has that has just come back, or whose server has: it
	// connects and lists the jobs.
	recovery = 15 * time.Second
)

// watch looks at the held jobs until ctx ends.
func (c *campaign) watch(ctx context.Context) {
	able, leading := abilities{}, abilities{}
	for cluster.Sleep(ctx, watchEvery) == nil {
		began := time.Now()
		looked, cancel := context.WithTimeout(ctx, answerWithin)
		held, err := c.held(looked)
		cancel()
		if err != nil {
			clear(able) // no agent can do what we cannot
			clear(leading)
			continue
		}
		agents := c.site.able(ctx)
		one, ok := able.at(began, agents)
		led, isLed := leading.at(began, c.leaderOf(agents))
		for _, j := range held {
			// What was dispatched while its parent was held is dispatched again by who leads.
			if dispatched := j.ParentID != ""; dispatched && isLed {
				c.overdue(j, began, led)
			} else if !dispatched && ok {
				c.overdue(j, began, one)
			}
		}
	}
}

// ability is of one agent: which process it is, and since when nothing keeps it from
// releasing jobs.
type ability struct {
	pid   int
	since time.Time
}

// abilities are those of the agents that are able now, by their clients.
type abilities map[string]ability

// at takes in who is able at a moment, and returns since when the agent is that has been
// able for the longest: several that are killed one after the other are no one who can
// release a job.
func (a abilities) at(now time.Time, able map[string]int) (since time.Time, ok bool) {
	maps.DeleteFunc(a, func(client string, was ability) bool { return able[client] != was.pid })
	for client, pid := range able {
		if _, known := a[client]; !known {
			a[client] = ability{pid, now}
		}
	}
	for _, one := range a {
		if !ok || one.since.Before(since) {
			since, ok = one.since, true
		}
	}
	return since, ok
}

// leaderOf is the one of the agents that leads, by its client.
func (c *campaign) leaderOf(agents map[string]int) map[string]int {
	if client, pid := c.leader(); pid != 0 && agents[client] == pid {
		return map[string]int{client: pid}
	}
	return nil
}

// held lists the jobs in the hold pool that want to run.
func (c *campaign) held(ctx context.Context) ([]*api.JobListStub, error) {
	jobs, _, err := c.site.nomad.Jobs().List((&api.QueryOptions{
		Filter: fmt.Sprintf("NodePool == %q and Stop == false", nomadapi.DefaultHoldPool),
	}).WithContext(ctx))
	return jobs, err
}

// overdue checks one held job at a moment.
func (c *campaign) overdue(j *api.JobListStub, now, ableSince time.Time) {
	hold, known := c.ledger.hold(j.ID, j.ParentID)
	if !known {
		return
	}
	c.count(func(r *Result) { r.Looks++ })
	deadline := time.Unix(0, j.SubmitTime).Add(hold)
	limit := deadline.Add(holdGrace)
	if back := ableSince.Add(recovery); ableSince.After(deadline.Add(-recovery)) && back.After(limit) {
		limit = back
	}
	if now.After(limit) {
		c.broken(promiseDeadline, j.ID, fmt.Sprintf("held %s past its deadline of %s although an agent could release it for %s",
			now.Sub(deadline).Round(100*time.Millisecond), hold, now.Sub(ableSince).Round(time.Second)))
	}
}
