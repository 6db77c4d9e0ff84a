package main

import (
	"context"
	"errors"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/dashboard"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

var _ dashboard.WhatIf = engineRecords{}

func TestAQuestionIsPutToOneGroupOfACopy(t *testing.T) {
	t.Parallel()
	id := func(group string) cluster.WorkloadID {
		return cluster.WorkloadID{Namespace: "default", Job: "shop", Group: group}
	}
	job := cluster.Job{ID: id("").JobID(), Workloads: []cluster.Workload{{ID: id("web")}, {ID: id("db")}}}
	var asked cluster.Job
	preview := func(_ context.Context, j cluster.Job) (out []cluster.Decision, unprofiled []cluster.WorkloadID, err error) {
		asked = j
		for _, w := range j.Workloads {
			out = append(out, cluster.Decision{Workload: w.ID, Policy: w.Spec.Policy, Target: w.Spec.Target})
		}
		return out, []cluster.WorkloadID{id("web")}, nil
	}
	question := dashboard.Question{Policy: "quasar", Target: performance.Target{Kind: performance.QPS, QPS: 7}}
	answer, err := previewed(t.Context(), preview, job, id("db"), question)
	if err != nil {
		t.Fatal(err)
	}
	if answer.Decision.Workload != id("db") || answer.Decision.Policy != "quasar" || answer.Decision.Target.QPS != 7 || answer.Unprofiled {
		t.Errorf("answer %+v", answer)
	}
	if asked.Workloads[0].Spec.Policy != "" || job.Workloads[1].Spec.Policy != "" {
		t.Error("the question reached another group, or the job itself")
	}
	if answer, err = previewed(t.Context(), preview, job, id("web"), dashboard.Question{}); err != nil || !answer.Unprofiled {
		t.Errorf("a group without a profile: %+v, %v", answer, err)
	}
	if _, err := previewed(t.Context(), preview, job, id("cron"), question); !errors.Is(err, cluster.ErrNoRecord) {
		t.Errorf("a group without a block: %v", err)
	}
}

func TestQuestionsWaitForEachOther(t *testing.T) {
	t.Parallel()
	entered, leave := make(chan struct{}), make(chan struct{})
	ask := oneAtATime(func(context.Context, cluster.Job) ([]cluster.Decision, []cluster.WorkloadID, error) {
		entered <- struct{}{}
		<-leave
		return nil, nil, nil
	})
	first := make(chan error)
	go func() {
		_, _, err := ask(context.WithoutCancel(t.Context()), cluster.Job{})
		first <- err
	}()
	<-entered
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := ask(ended, cluster.Job{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a question whose asker is gone got %v", err)
	}
	close(leave)
	if err := <-first; err != nil {
		t.Error(err)
	}
}
