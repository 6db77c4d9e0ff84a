package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/dashboard"
	"github.com/nomad-placer/nomad-placer/placer/policy"
)

// Policies implements dashboard.WhatIf.
func (r engineRecords) Policies() []string {
	return policy.Names()
}

// WhatIf implements dashboard.WhatIf: the job as Nomad has it now, with the
// question put into the one group, through the engine's preview.
func (r engineRecords) WhatIf(ctx context.Context, w cluster.WorkloadID, q dashboard.Question) (dashboard.Answer, error) {
	job, err := r.world.Job(ctx, w.JobID())
	if err != nil {
		return dashboard.Answer{}, fmt.Errorf("reading the job: %w", err)
	}
	if job.Stopped {
		return dashboard.Answer{}, cluster.ErrGone
	}
	if len(job.Problems) > 0 {
		return dashboard.Answer{}, errors.New("the performance block could not be used: " + strings.Join(job.Problems, "; "))
	}
	return previewed(ctx, r.preview, job, w, q)
}

// previewed asks preview about a copy of the job with the question in it. The
// job's own lists may be shared with a cache, and stay as they are.
func previewed(ctx context.Context, preview previewer, job cluster.Job, w cluster.WorkloadID, q dashboard.Question) (dashboard.Answer, error) {
	job.Workloads = append([]cluster.Workload(nil), job.Workloads...)
	for i := range job.Workloads {
		if job.Workloads[i].ID != w {
			continue
		}
		if q.Policy != "" {
			job.Workloads[i].Spec.Policy = q.Policy
		}
		if q.Target.Kind != "" {
			job.Workloads[i].Spec.Target = q.Target
		}
	}
	decisions, unprofiled, err := preview(ctx, job)
	if err != nil {
		return dashboard.Answer{}, err
	}
	var answer dashboard.Answer
	for _, u := range unprofiled {
		answer.Unprofiled = answer.Unprofiled || u == w
	}
	for _, d := range decisions {
		if d.Workload == w {
			answer.Decision = d
			return answer, nil
		}
	}
	return dashboard.Answer{}, fmt.Errorf("group %s of job %s has no performance block now: %w", w.Group, w.Job, cluster.ErrNoRecord)
}

// previewer is engine.Engine's Preview.
type previewer func(context.Context, cluster.Job) ([]cluster.Decision, []cluster.WorkloadID, error)

// oneAtATime lets questions wait for each other: a preview fits models, and
// anybody who sees the pages may ask.
func oneAtATime(preview previewer) previewer {
	turn := make(chan struct{}, 1)
	return func(ctx context.Context, job cluster.Job) ([]cluster.Decision, []cluster.WorkloadID, error) {
		select {
		case turn <- struct{}{}:
		case <-ctx.Done():
			return nil, nil, fmt.Errorf("other questions are being answered: %w", ctx.Err())
		}
		defer func() { <-turn }()
		return preview(ctx, job)
	}
}
