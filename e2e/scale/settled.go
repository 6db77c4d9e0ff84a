package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/e2e/cluster"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi"
)

// Nomad hears of a node's failure when its heartbeat is late, and lets nodes beat the
// less often the more there are: 50 a second in all, and up to twice as far apart.
const (
	settleAtLeast = 3 * time.Minute
	settlePerNode = 60 * time.Millisecond
	lookEvery     = 3 * time.Second
	// missedLooks is for how many of them a job waits for a failed node before Nomad is asked
	// to look at it again.
	missedLooks = 10
)

// settled looks until all is as it was asked, or the time for that is over.
func (t *troubled) settled(ctx context.Context) error {
	began, told := time.Now(), time.Now()
	within := settleAtLeast + settlePerNode*time.Duration(t.options.nodes)
	jobs := t.asked.all()
	for {
		v, err := t.look(ctx, jobs)
		if err != nil {
			return err
		}
		t.out.SettledSeconds = time.Since(began).Seconds()
		if err := t.evaluateMissed(ctx, v); err != nil {
			return err
		}
		if len(v.faults) == 0 || time.Since(began) > within {
			t.out.Jobs, t.out.Allocations, t.out.EndedWithADrain, t.out.Faults = len(jobs), v.allocations, v.ended, v.faults
			t.out.SlowestSeconds = t.slowest()
			return nil
		}
		if time.Since(told) > tellEvery {
			told = time.Now()
			first := slices.Min(slices.Collect(maps.Keys(v.faults)))
			t.say(fmt.Sprintf("trouble: %d jobs and nodes are not as asked yet, for %d s at most; %s: %s", len(v.faults), int((within - time.Since(began)).Seconds()), first, v.faults[first]))
		}
		if cluster.Sleep(ctx, lookEvery) != nil {
			return ctx.Err()
		}
	}
}

// evaluateMissed asks Nomad for another look at jobs that wait for a node that failed, as an
// operator would. A plan is checked against the cluster as its scheduler saw it: what is placed
// in the moment in which the node's failure is noted is not among the allocations that are
// placed again for it, and Nomad looks at the job no more.
func (t *troubled) evaluateMissed(ctx context.Context, v verdict) error {
	for id, node := range v.missed {
		if _, unknown := v.faults[nodeFault+node]; unknown {
			continue // Nomad has not missed its heartbeat yet
		}
		if t.missed[id]++; t.missed[id] != missedLooks {
			continue
		}
		t.out.Missed++
		t.say(fmt.Sprintf("trouble: %s waits for a node that failed; Nomad is asked to evaluate it", id))
		if _, _, err := t.api.Jobs().ForceEvaluate(id, (&api.WriteOptions{}).WithContext(ctx)); err != nil {
			return fmt.Errorf("evaluating %s: %w", id, err)
		}
	}
	return nil
}

// slowest is how long a job took to run, of those that came in the phase.
func (t *troubled) slowest() float64 {
	most := 0.0
	for _, q := range t.submitted {
		if l, ok := t.ran.of([]string{q.id})[q.id]; ok {
			most = max(most, l.at.Sub(t.sentAt[q.id]).Seconds())
		}
	}
	return most
}

// look reads what Nomad and the light nodes say, and judges it.
func (t *troubled) look(ctx context.Context, jobs map[string]request) (verdict, error) {
	s, nodes, err := t.see(ctx)
	if err != nil {
		return verdict{}, err
	}
	v := judge(jobs, s)
	maps.Copy(v.faults, nodes)
	return v, nil
}

// see also says which nodes are not as they are to be.
func (t *troubled) see(ctx context.Context) (seen, map[string]string, error) {
	s := seen{held: map[string]bool{}, versions: map[string]version{}, running: t.ran.allRunning(), ended: map[string]bool{}, gone: map[string]bool{}}
	for _, id := range t.failing {
		s.gone[id] = true
	}
	nodes, nodesErr := t.nodeFaults(ctx, s.gone)
	return s, nodes, errors.Join(nodesErr, t.seeJobs(ctx, &s), t.seeAllocations(ctx, &s))
}

// nodeFault comes before the ID of a node that is not as it is to be.
const nodeFault = "node "

func (t *troubled) nodeFaults(ctx context.Context, gone map[string]bool) (map[string]string, error) {
	list, _, err := t.api.Nodes().List((&api.QueryOptions{}).WithContext(ctx))
	if err != nil {
		return nil, fmt.Errorf("nodes: %w", err)
	}
	faults := map[string]string{}
	for _, n := range list {
		switch {
		case gone[n.ID] && n.Status != api.NodeStatusDown:
			faults[nodeFault+n.ID] = "it failed, and Nomad has it " + n.Status
		case !gone[n.ID] && n.Status != api.NodeStatusReady:
			faults[nodeFault+n.ID] = "it is " + n.Status + ", and it did not fail"
		case n.Drain:
			faults[nodeFault+n.ID] = "its drain goes on"
		}
	}
	return faults, nil
}

func (t *troubled) seeJobs(ctx context.Context, s *seen) error {
	q := (&api.QueryOptions{Filter: fmt.Sprintf("NodePool == %q and Stop == false", nomadapi.DefaultHoldPool)}).WithContext(ctx)
	held, _, err := t.api.Jobs().List(q)
	if err != nil {
		return fmt.Errorf("held jobs: %w", err)
	}
	for _, j := range held {
		s.held[j.ID] = true
	}
	for _, u := range t.updated {
		job, _, err := t.api.Jobs().Info(u.id, (&api.QueryOptions{}).WithContext(ctx))
		if err != nil {
			return fmt.Errorf("job %s: %w", u.id, err)
		}
		mark, err := strconv.Atoi(job.TaskGroups[0].Tasks[0].Meta[markKey])
		if err != nil {
			mark = 0 // the update is lost
		}
		s.versions[u.id] = version{*job.Version, mark}
	}
	return nil
}

func (t *troubled) seeAllocations(ctx context.Context, s *seen) error {
	q := (&api.QueryOptions{
		Filter: fmt.Sprintf("ClientStatus == %q or ClientStatus == %q", api.AllocClientStatusRunning, api.AllocClientStatusPending),
		Params: map[string]string{"task_states": "false"},
	}).WithContext(ctx)
	var err error
	if s.live, _, err = t.api.Allocations().List(q); err != nil {
		return fmt.Errorf("allocations: %w", err)
	}
	for _, id := range t.draining {
		list, _, err := t.api.Nodes().Allocations(id, (&api.QueryOptions{}).WithContext(ctx))
		if err != nil {
			return fmt.Errorf("allocations of node %s: %w", id, err)
		}
		for _, a := range list {
			if a.Job.Type != nil && *a.Job.Type == api.JobTypeBatch && a.DesiredStatus == api.AllocDesiredStatusStop {
				s.ended[a.JobID] = true
			}
		}
	}
	return nil
}
