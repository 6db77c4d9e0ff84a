package placement

import (
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/policy"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// againRounds bounds how often jobs that were decided on together are decided on
// again (chosen by us: the first decision cannot know of the others, and a second answer
// settles nearly all of it).
const againRounds = 3

// decideAgainOnAll decides again on jobs that were decided on together, each in turn now
// that it is known where the others go, as long as that leaves fewer QoS violations.
// Decided on one after the other, the first take a quiet node each, and those that exert
// much pressure then find no node without a resident that tolerates little.
func (pl *Placer) decideAgainOnAll(s *cluster.Snapshot, decided []*placement) {
	moved := false
	objective := pl.objective(decided)
	for round := 0; round < againRounds && len(decided) > 1 && pl.violates(s, decided, objective); round++ {
		changed := false
		for _, p := range decided {
			changed = pl.decideAgain(s, p, objective) || changed
		}
		if !changed {
			break
		}
		moved = true
	}
	if moved {
		pl.describeAgain(s, decided)
	}
}

// objective is that of the jobs' policies.
func (pl *Placer) objective(decided []*placement) policy.Objective {
	var names []string
	for _, p := range decided {
		for i := range p.known {
			names = append(names, pl.policyOf(p.known[i].Workload))
		}
	}
	return policy.ObjectiveOf(names)
}

// violates reports whether a QoS violation is predicted on a node of the decisions.
func (pl *Placer) violates(s *cluster.Snapshot, decided []*placement, on policy.Objective) bool {
	var nodes []cluster.NodeID
	for _, p := range decided {
		nodes = append(nodes, nodesIn(p.decisions)...)
	}
	return on(s, nodes, pl.cfg.Estimator.Columns()).Count > 0
}

// describeAgain decides again on jobs that keep their place while others moved, and takes
// the new decision where it leads to the same allocations: the old one names co-runners,
// predictions and violations that are not there any more.
func (pl *Placer) describeAgain(s *cluster.Snapshot, decided []*placement) {
	for _, p := range decided {
		p.undo()
		next, undo, err := pl.decideOn(s, p.job, p.known)
		undo()
		if err == nil && FirstQueued(next) == nil && slices.Equal(allocationsIn(next), allocationsIn(p.decisions)) {
			p.decisions = next
		}
		p.undo = reserveAll(s, p.decisions)
	}
}

// hasTarget reports whether anything of the job must be achieved.
func (p *placement) hasTarget() bool {
	return slices.ContainsFunc(p.job.Workloads, func(w cluster.Workload) bool { return w.Spec.Target.Kind != performance.BestEffort })
}

// decideAgain replaces the decisions on a job by others that leave fewer QoS violations,
// and reports whether there are any.
func (pl *Placer) decideAgain(s *cluster.Snapshot, p *placement, on policy.Objective) bool {
	old := p.decisions
	p.undo()
	next, undo, err := pl.decideOn(s, p.job, p.known)
	nodes := append(nodesIn(old), nodesIn(next)...)
	after := on(s, nodes, pl.cfg.Estimator.Columns())
	undo()
	p.undo = reserveAll(s, old)
	if err != nil || FirstQueued(next) != nil || !after.Less(on(s, nodes, pl.cfg.Estimator.Columns())) {
		return false
	}
	p.undo()
	p.decisions, p.undo = next, reserveAll(s, next)
	return true
}

// nodesIn are the nodes on which decisions put their allocations.
func nodesIn(decisions []cluster.Decision) []cluster.NodeID {
	var out []cluster.NodeID
	for _, a := range allocationsIn(decisions) {
		out = append(out, a.Node)
	}
	return out
}

func allocationsIn(decisions []cluster.Decision) []cluster.Allocation {
	var out []cluster.Allocation
	for _, d := range decisions {
		out = append(out, reservedFor(d)...)
	}
	return out
}

// reserveAll is reserve for all decisions on a job.
func reserveAll(s *cluster.Snapshot, decisions []cluster.Decision) (undo func()) {
	undo = func() {}
	for _, d := range decisions {
		undo = undoBoth(reserve(s, d), undo)
	}
	return undo
}
