package placement

import (
	"cmp"
	"context"
	"fmt"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/policy"
	"github.com/nomad-placer/nomad-placer/placer/profiling"
)

// Decide asks the policy of each workload on a fresh look at the cluster.
func (pl *Placer) Decide(ctx context.Context, job cluster.Job, known []profiling.Known) ([]cluster.Decision, error) {
	snapshot, err := pl.cfg.Decisions.Snapshot(ctx, pl.cfg.World)
	if err != nil {
		return nil, err
	}
	decisions, _, err := pl.decideOn(withPromises(snapshot, nil), job, known)
	return decisions, err
}

// decideOn asks the policy of each workload. Earlier groups of the same job
// count as residents for later ones: the snapshot, which is the caller's own,
// has them all afterwards, until undo is called.
func (pl *Placer) decideOn(snapshot *cluster.Snapshot, job cluster.Job, known []profiling.Known) (decisions []cluster.Decision, undo func(), err error) {
	undo = func() {}
	for i := range known {
		d, err := pl.ask(job, &known[i], snapshot)
		if err != nil {
			return nil, undo, err
		}
		decisions = append(decisions, d)
		before, last := undo, reserve(snapshot, d)
		undo = func() {
			last()
			before()
		}
	}
	return decisions, undo, nil
}

func (pl *Placer) ask(job cluster.Job, k *profiling.Known, snapshot *cluster.Snapshot) (cluster.Decision, error) {
	desc, err := policy.Lookup(cmp.Or(k.Workload.Spec.Policy, pl.cfg.Policy))
	if err != nil {
		return cluster.Decision{}, err
	}
	workload, knowledge, kept, maySize := pl.sized(k, snapshot)
	d, err := desc.New().Place(policy.Request{
		Workload:  &workload,
		JobType:   job.Type,
		RunPool:   job.RunPool,
		Knowledge: &knowledge,
		Snapshot:  snapshot,
		Columns:   pl.cfg.Estimator.Columns(),
		Seed:      profiling.Seed(job, k.Workload),
		At:        pl.cfg.Clock.Now(),
		MaySize:   maySize,
	})
	if err != nil {
		return d, fmt.Errorf("policy %s on %s: %w", desc.Name, k.Workload.ID, err)
	}
	if kept != nil {
		d.Sizing = kept
	}
	if s := k.Workload.Spec.Scale; !desc.Sizes && len(s.Count)+len(s.Cores)+len(s.MemoryMB) > 0 {
		d.Warnings = append(d.Warnings, "the scale block is not used: policy "+desc.Name+" does not choose sizes (quasar does)")
	}
	d.Format = cluster.DecisionFormat
	d.JobVersion, d.ModifyIndex = job.Version, job.ModifyIndex
	d.ProfileKey = k.Workload.ProfileKey
	d.Target = k.Workload.Spec.Target
	d.Sensitivity = k.Knowledge.Sensitivity
	d.Warnings = append(append([]string(nil), k.Warnings...), d.Warnings...)
	return d, nil
}

// FirstQueued is the first decision of a group that must wait; nil where none does.
func FirstQueued(decisions []cluster.Decision) *cluster.Decision {
	for i := range decisions {
		if decisions[i].Outcome == cluster.Queued {
			return &decisions[i]
		}
	}
	return nil
}
