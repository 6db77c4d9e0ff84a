package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/journal"
)

// residents are the jobs that hold so many allocations together: two of each workload,
// a service and a batch job, with nearly equal counts.
func residents(allocations int, workloads []workload) []request {
	out := requestsOf(idsOf("resident", min(allocations, 2*len(workloads))), workloads)
	for i := range out {
		out[i].count = (allocations + i) / len(out)
	}
	return out
}

// fill has stock Nomad place allocations of the known workloads, as a cluster has them
// before the placer is installed: the jobs have a performance block and did not pass the
// hold pool. An agent that starts knows what they are, and leaves them where they are.
func (r *rig) fill(ctx context.Context, workloads []workload, say func(string)) error {
	requests := residents(r.options.allocations, workloads)
	ids := make([]string, len(requests))
	for i, q := range requests {
		ids[i] = q.id
	}
	r.ran.expect(ids)
	before, err := usageOf(r.cluster.ServerPID())
	if err != nil {
		return err
	}
	began := time.Now()
	for _, q := range requests {
		if err := register(ctx, r.api, longRunning(q.job("", block))); err != nil {
			return err
		}
		r.asked.note(q)
	}
	err = awaitAll(ctx, "allocations run before the first round", r.options.allocations, r.ran.resident, say)
	if errors.Is(err, errStalled) {
		return fmt.Errorf("%w: %s", err, r.why(ids))
	}
	if err != nil {
		return err
	}
	after, err := usageOf(r.cluster.ServerPID())
	if err != nil {
		return err
	}
	say(fmt.Sprintf("%d allocations of %d jobs run after %.1f s, in which the server used %.1f s of CPU time", r.options.allocations, len(ids), time.Since(began).Seconds(), after.cpuSeconds-before.cpuSeconds))
	return r.settle(ctx)
}

// longRunning is the job without a deployment: Nomad has collected that of a job that has
// run for some hours, and here it would make most of the work of starting so many.
func longRunning(job *api.Job) *api.Job {
	if update := job.TaskGroups[0].Update; update != nil {
		none := 0
		update.MaxParallel = &none
	}
	return job
}

// residentsKnown waits until the agent has a record of each resident: what it knows of
// co-runners it takes from there.
func (r *rig) residentsKnown(ctx context.Context, workloads []workload, say func(string)) error {
	requests := residents(r.options.allocations, workloads)
	book := journal.Book{Store: r.store}
	known, failed := 0, error(nil)
	err := awaitAll(ctx, "resident jobs have a record", len(requests), func() int {
		for ; known < len(requests); known++ {
			id := cluster.WorkloadID{Namespace: namespace, Job: requests[known].id, Group: group}
			if _, failed = book.Decision(ctx, id); failed != nil {
				break
			}
		}
		return known
	}, say)
	if err != nil {
		return errors.Join(err, failed)
	}
	return nil
}
