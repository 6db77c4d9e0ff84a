package main

import (
	"context"
	"fmt"
	"time"

	"github.com/nomad-placer/nomad-placer/e2e/cluster"
	"github.com/nomad-placer/nomad-placer/e2e/machine"
)

// settleFor is left between rounds, for the server to finish what a round left
// behind.
const settleFor = 3 * time.Second

// measure runs the rounds on a started rig.
func (r *rig) measure(ctx context.Context, say func(string)) (Result, error) {
	o := r.options
	out := Result{Nodes: o.nodes, Allocations: o.allocations, JobsPerRound: o.jobs, Writers: o.writers, Seed: o.seed, Pool: o.pool, Began: time.Now(), MemoryLimit: memoryLimitOf(o.nodes), Machine: machine.Description(), LoadBefore: r.loadBefore}
	if err := r.createHoldPool(); err != nil {
		return out, err
	}
	workloads, err := knownWorkloads()
	if err != nil {
		return out, err
	}
	say(fmt.Sprintf("storing %d known profiles", len(workloads)))
	if err := r.seed(ctx, workloads); err != nil {
		return out, err
	}
	say("a system job on every node")
	if err := r.fillEveryNode(ctx); err != nil {
		return out, err
	}
	if o.allocations > 0 {
		if err := r.fill(ctx, workloads, say); err != nil {
			return out, err
		}
	}
	server, err := usageOf(r.cluster.ServerPID())
	if err != nil {
		return out, err
	}
	out.IdleServer = server.rssMiB
	say("starting the agent")
	if err := r.startLeader(ctx); err != nil {
		return out, err
	}
	if err := r.residentsKnown(ctx, workloads, say); err != nil {
		return out, err
	}
	if !o.pool {
		if err := r.startFront(ctx); err != nil {
			return out, err
		}
	}
	if err := r.settle(ctx); err != nil {
		return out, err
	}
	agent, err := usageOf(r.agent.pid())
	if err != nil {
		return out, err
	}
	out.IdleAgentMiB = agent.rssMiB
	stopTrace := r.trace(ctx, say)
	err = r.rounds(ctx, workloads, &out, say)
	out.LoadAfter = machine.LoadAverages()
	stopTrace()
	if err != nil {
		return out, err
	}
	if err := r.conclude(ctx, &out, say); err != nil {
		return out, err
	}
	if o.profile {
		if out.Profiles, err = r.profiledRound(ctx, workloads, say); err != nil {
			return out, err
		}
	}
	if o.trouble {
		out.Trouble, err = r.trouble(ctx, workloads, say)
	}
	return out, err
}

// rounds lets the sides take turns; who goes first changes, so that neither
// always meets the emptier cluster.
func (r *rig) rounds(ctx context.Context, workloads []workload, out *Result, say func(string)) error {
	for n := range r.options.rounds {
		sides := []side{stock, placed}
		if n%2 == 1 {
			sides = []side{placed, stock}
		}
		for _, s := range sides {
			round, err := r.runRound(ctx, s, n, workloads, say)
			if err != nil {
				return err
			}
			say(fmt.Sprintf("round %d, %s: %d jobs in %.1f s, %.1f jobs/s", n+1, s, round.Jobs, round.Seconds, round.JobsPerSecond))
			out.Rounds = append(out.Rounds, round)
			if err := r.settle(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// fillEveryNode gives every node an allocation of the system job.
func (r *rig) fillEveryNode(ctx context.Context) error {
	if err := register(ctx, r.api, systemJob()); err != nil {
		return err
	}
	for began := time.Now(); ; {
		n := len(r.ran.nodesWith(everywhere))
		if n == r.options.nodes {
			return r.settle(ctx)
		}
		if time.Since(began) > max(joinAtLeast, joinPerNode*time.Duration(r.options.nodes)) {
			return fmt.Errorf("the system job runs on %d of %d nodes", n, r.options.nodes)
		}
		if cluster.Sleep(ctx, watchEvery) != nil {
			return ctx.Err()
		}
	}
}

// settle waits until the server's brokers are empty.
func (r *rig) settle(ctx context.Context) error {
	for quiet := time.Now(); time.Since(quiet) < settleFor; {
		gauges, err := readGauges(ctx, r.cluster.Addr())
		if err != nil {
			return err
		}
		if gauges["broker.total_ready"]+gauges["broker.total_unacked"]+gauges["broker.total_pending"] > 0 {
			quiet = time.Now()
		}
		if cluster.Sleep(ctx, sampleEvery/2) != nil {
			return ctx.Err()
		}
	}
	return nil
}

// conclude reads what only the end can tell.
func (r *rig) conclude(ctx context.Context, out *Result, say func(string)) error {
	say("reading decisions, job versions and evaluations")
	var ids []string
	for _, x := range out.of(placed) {
		ids = append(ids, x.ids...)
	}
	var err error
	if out.Wanted, err = r.wanted(ctx, ids); err != nil {
		return err
	}
	if out.Writes, err = r.writes(ids); err != nil {
		return err
	}
	if out.Evaluations, err = r.evaluations(len(ids)); err != nil {
		return err
	}
	out.Problems, out.Problem = r.problems.get()
	out.Again = r.ran.repeated()
	return nil
}
