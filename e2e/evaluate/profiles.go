package main

import (
	"context"
	"fmt"
	"time"

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
	p := profiles{Number: 1, Run: e.run, Began: time.Now().UTC(), Load: loadAverage(), Jobs: map[string]decided{}}
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
		e.progress.begin("profile", fmt.Sprintf("the placer profiles and decides on %s, on an idle cluster", a.name))
		d, err := e.decideAlone(ctx, a, known[a.name], p.version())
		if err != nil {
			return p, err
		}
		p.Jobs[a.name] = d
	}
	return p, e.dir.write(fileProfiles(p.Number), p)
}

// decideAlone has the placer decide on one job, and takes the job away again. What
// was learnt of it stays.
func (e *evaluation) decideAlone(ctx context.Context, a app, known alone, version string) (decided, error) {
	f, err := e.render(a, known, variant{version: version})
	if err != nil {
		return decided{}, err
	}
	var d decided
	err = e.whileRunning(ctx, []rig.JobFile{f}, func(context.Context) error {
		return e.rig.SubmitHeld(f)
	}, func(ctx context.Context) error {
		var err error
		d, err = e.decision(ctx, f)
		return err
	})
	return d, err
}
