package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/e2e/cluster"
	"github.com/nomad-placer/nomad-placer/e2e/machine"
	"github.com/nomad-placer/nomad-placer/e2e/rig"
)

// profiles is what the placer learnt of every job alone, on one cluster, and decided
// on the idle cluster. They die with the cluster: a run that goes on makes another
// set.
type profiles struct {
	Number int                `json:"number"` // from 1
	Run    string             `json:"run"`
	Began  time.Time          `json:"began"`
	Load   string             `json:"load_before"`
	Jobs   map[string]decided `json:"jobs"`
}

// version makes the profiles of a set its own: the same job of another version is
// another workload to the placer.
func (p profiles) version() string { return fmt.Sprintf("%s-%d", p.Run, p.Number) }

// learn has the placer profile and decide on each job alone.
func (e *evaluation) learn(ctx context.Context, known map[string]alone) (profiles, error) {
	p := profiles{Number: 1, Run: e.run, Began: time.Now().UTC(), Load: machine.LoadAverages(), Jobs: map[string]decided{}}
	for {
		found, err := e.dir.read(fileProfiles(p.Number), &profiles{})
		if err != nil {
			return p, err
		}
		if !found {
			break
		}
		p.Number++
	}
	for _, a := range profiled(e.quick) {
		if err := e.untilIdle(ctx); err != nil {
			return p, err
		}
		e.progress.begin("profile", fmt.Sprintf("the placer profiles and decides on %s, on an idle cluster", a.name))
		d, err := e.decideAlone(ctx, a, known[a.name], p.version())
		if err != nil {
			return p, err
		}
		p.Jobs[a.name] = d
	}
	return p, e.dir.measured(fileProfiles(p.Number), p)
}

// untilIdle waits until nothing but the agent runs, and until the agent has seen
// that: its profiling runs take a moment to go, too, and keep their nodes so long.
func (e *evaluation) untilIdle(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, runWithin)
	defer cancel()
	for {
		jobs, _, err := e.rig.API().Jobs().List(nil)
		if err != nil {
			return err
		}
		busy := slices.IndexFunc(jobs, func(j *api.JobListStub) bool { return j.ID != rig.AgentJob && j.Status != "dead" })
		if busy < 0 {
			return cluster.Sleep(ctx, e.plan.Settle)
		}
		if err := cluster.Sleep(ctx, batchPoll); err != nil {
			return fmt.Errorf("the cluster does not become idle, %s still runs: %w", jobs[busy].ID, err)
		}
	}
}

// decideAlone has the placer decide on one job, and takes the job away again. What
// was learnt of it stays.
func (e *evaluation) decideAlone(ctx context.Context, a app, known alone, version string) (decided, error) {
	f, err := e.render(a, known, variant{version: version})
	if err != nil {
		return decided{}, err
	}
	var d decided
	err = e.whileSubmitted(ctx, []rig.JobFile{f}, func(context.Context) error { return e.rig.SubmitHeld(f) }, func(ctx context.Context) error {
		if err := e.waitReleased(ctx, f); err != nil {
			return err
		}
		var err error
		d, err = e.decision(ctx, f)
		return err
	})
	return d, err
}

// waitReleased waits until a job left the hold pool. Whether it runs then is for its
// measurement to say.
func (e *evaluation) waitReleased(ctx context.Context, f rig.JobFile) error {
	ctx, cancel := context.WithTimeout(ctx, runWithin)
	defer cancel()
	for {
		job, _, err := e.rig.API().Jobs().Info(f.ID, nil)
		if err == nil && *job.NodePool != rig.HoldPool {
			return nil
		}
		if cluster.Sleep(ctx, batchPoll) != nil {
			return fmt.Errorf("%s was not released within %s: %w", f.ID, runWithin, errors.Join(ctx.Err(), err))
		}
	}
}
