package placement

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/policy"
	"github.com/nomad-placer/nomad-placer/placer/profiling"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// Patience is how long a job may wait for a better node than there is (chosen by us: a live
// job's run time is not known).
const Patience = time.Minute

// Decide asks the policy of each workload on a fresh look at the cluster.
func (pl *Placer) Decide(ctx context.Context, job cluster.Job, known []profiling.Known) (decisions []cluster.Decision, err error) {
	snapshot, err := pl.cfg.Decisions.Snapshot(ctx, pl.cfg.World)
	if err != nil {
		return nil, err
	}
	pl.WithHosts(withPlans(snapshot, nil), func(s *cluster.Snapshot) { decisions, _, err = pl.decideOn(s, job, known) })
	return decisions, err
}

// WithHosts gives a look at a snapshot the hosts that decisions keep, which nobody else uses
// until it has ended: a look at all residents anew is as much again as the agent keeps of them.
func (pl *Placer) WithHosts(s *cluster.Snapshot, look func(*cluster.Snapshot)) {
	pl.queue.deciding <- struct{}{}
	defer func() { <-pl.queue.deciding }()
	kept := *s
	kept.Cache = &pl.queue.cache
	look(&kept)
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
		undo = undoBoth(reserve(snapshot, d), undo)
	}
	return decisions, undo, nil
}

// policyOf a workload is the one its author names, or the agent's.
func (pl *Placer) policyOf(w cluster.Workload) string { return cmp.Or(w.Spec.Policy, pl.cfg.Policy) }

func (pl *Placer) ask(job cluster.Job, k *profiling.Known, snapshot *cluster.Snapshot) (cluster.Decision, error) {
	desc, err := policy.Lookup(pl.policyOf(k.Workload))
	if err != nil {
		return cluster.Decision{}, err
	}
	known := pl.withCaptured(*k)
	k = &known
	workload, knowledge, kept, maySize := pl.sized(k, snapshot)
	request := policy.Request{
		Workload:  &workload,
		JobType:   job.Type,
		RunPool:   job.RunPool,
		Knowledge: &knowledge,
		Snapshot:  snapshot,
		Columns:   pl.cfg.Estimator.Columns(),
		Seed:      profiling.Seed(job, k.Workload),
		At:        pl.cfg.Clock.Now(),
		MaySize:   maySize,
		MayWait:   pl.cfg.Clock.Now().Before(k.WaitsUntil),
	}
	d, err := desc.New().Place(request)
	if err == nil {
		d, err = pl.near(desc, request, d)
	}
	if err != nil {
		return d, fmt.Errorf("policy %s on %s: %w", desc.Name, k.Workload.ID, err)
	}
	pl.sayDisk(&d, &workload, snapshot)
	if kept != nil {
		d.Sizing = kept
	}
	if s := k.Workload.Spec.Scale; !desc.Sizes && len(s.Count)+len(s.Cores)+len(s.MemoryMB) > 0 {
		d.Warnings = append(d.Warnings, "the scale block is not used: policy "+desc.Name+" does not choose sizes (quasar does)")
	}
	describe(&d, job, *k)
	return d, nil
}

// describe completes a decision with what is known of its workload.
func describe(d *cluster.Decision, job cluster.Job, k profiling.Known) {
	d.Format = cluster.DecisionFormat
	d.JobVersion, d.ModifyIndex = job.Version, job.ModifyIndex
	d.JobType, d.SubmittedAt = job.Type, job.SubmittedAt
	d.ProfileKey = k.Workload.ProfileKey
	d.Target = k.Workload.Spec.Target
	d.Sensitivity = k.Knowledge.Sensitivity
	d.Warnings = slices.Concat(job.Warnings, k.Warnings, d.Warnings)
	if k.Rental != nil {
		d.Rental = k.Rental
		d.Reason = strings.TrimPrefix(d.Reason+"; "+rentalText(*k.Rental), "; ")
	}
}

// rentalText says on which side a workload is, and why.
func rentalText(r cluster.Rental) string {
	switch r.Side {
	case cluster.SideOwned:
		return "owned nodes: " + r.Why
	case cluster.SideRented:
		return "a rented node: " + r.Why
	default:
		return "it has no place yet: " + r.Why
	}
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

// reserve adds the decision's best nodes to a snapshot, and returns how to take
// them away again.
func reserve(s *cluster.Snapshot, d cluster.Decision) (undo func()) {
	undoScores, undoDisk := put(s.Known, d.Workload, d.Bounds()), func() {}
	if d.Disk != nil {
		undoDisk = put(s.Disk, d.Workload, d.Disk.Promise)
	}
	added := reservedFor(d)
	addReserved(s, added)
	return func() {
		undoScores()
		undoDisk()
		for _, a := range added {
			list := s.Reserved[a.Node]
			at := slices.IndexFunc(list, func(b cluster.Allocation) bool { return b.ID == a.ID && b.Workload == a.Workload })
			s.Reserved[a.Node] = slices.Concat(list[:at], list[at+1:])
		}
	}
}

// put a value into a map, and return how to have it as it was.
func put[K comparable, V any](m map[K]V, key K, value V) (undo func()) {
	before, was := m[key]
	m[key] = value
	return func() {
		if was {
			m[key] = before
		} else {
			delete(m, key)
		}
	}
}

// undoBoth undoes what was done last first.
func undoBoth(last, before func()) func() {
	return func() {
		last()
		before()
	}
}

// reservedFor are the allocations a decision will most likely become: its best
// nodes, as many as the group's count. Where they are more than its nodes, each gets
// another in turn.
func reservedFor(d cluster.Decision) []cluster.Allocation {
	if len(d.Candidates) == 0 {
		return nil
	}
	out := make([]cluster.Allocation, d.Count)
	for i := range out {
		node := d.Candidates[i%len(d.Candidates)].Node
		out[i] = cluster.Allocation{ID: "decided", Workload: d.Workload, Node: node, Resources: d.Resources}
	}
	return out
}

// addReserved adds reservations to a snapshot whose map of them is its own; the
// lists in it may be others'.
func addReserved(s *cluster.Snapshot, allocations []cluster.Allocation) {
	for _, a := range allocations {
		s.Reserved[a.Node] = append(slices.Clip(s.Reserved[a.Node]), a)
	}
}

// withPlans returns a snapshot that may be written to, with the in-flight plans that are
// not visible in it yet. Its Known and Disk are the engine's own.
func withPlans(s *cluster.Snapshot, inFlight map[cluster.WorkloadID]plan) *cluster.Snapshot {
	next := *s
	next.Reserved = maps.Clone(s.Reserved)
	if next.Reserved == nil {
		next.Reserved = map[cluster.NodeID][]cluster.Allocation{}
	}
	if next.Disk == nil {
		next.Disk = map[cluster.WorkloadID]performance.DiskSpec{}
	}
	if len(inFlight) == 0 {
		return &next
	}
	seen := visible(s, inFlight)
	for id, p := range inFlight {
		next.Known[id] = p.sensitivity
		if p.disk != nil {
			next.Disk[id] = *p.disk
		}
		addReserved(&next, p.allocations[min(seen[id], len(p.allocations)):])
	}
	return &next
}

// visible counts, for each workload with an in-flight plan, the allocations and
// reservations that its write has brought about already.
func visible(s *cluster.Snapshot, inFlight map[cluster.WorkloadID]plan) map[cluster.WorkloadID]int {
	out := map[cluster.WorkloadID]int{}
	for _, lists := range [2]map[cluster.NodeID][]cluster.Allocation{s.Allocations, s.Reserved} {
		for _, list := range lists {
			for i := range list {
				if p, ok := inFlight[list[i].Workload]; ok && list[i].Version >= p.outcome {
					out[list[i].Workload]++
				}
			}
		}
	}
	return out
}
