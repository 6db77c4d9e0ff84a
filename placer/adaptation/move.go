package adaptation

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/adapt"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// moveInstead tries another node where more of a workload is not possible.
func (c *Controller) moveInstead(ctx context.Context, sc *scene, s subject, a adapt.Action) error {
	if s.workload.Count != 1 {
		return nil
	}
	return c.move(ctx, sc, s, adapt.Action{Kind: adapt.Move, Handle: a.Handle, Reason: a.Reason}, firstAllocation(sc, s.workload.ID))
}

// move lets an allocation start on a better node, where the user allows that.
func (c *Controller) move(ctx context.Context, sc *scene, s subject, a adapt.Action, allocation cluster.Allocation) error {
	record := cluster.ActionRecord{
		Workload: s.workload.ID, Kind: string(a.Kind), Allocation: allocation.ID, From: nodeText(sc.snapshot, allocation.Node), Reason: a.Reason,
	}
	if allocation.ID == "" {
		return nil
	}
	if !s.workload.Spec.Move {
		c.live.refused(ctx, record, refuse("its performance block does not say move = true"))
		return nil
	}
	return tolerated(c.live.do(ctx, s, record, c.live.writes, c.live.moves, func(ctx context.Context) error {
		change := change(s, fmt.Sprintf("%s leaves %s: %s", s.workload.ID.Group, nodeText(sc.snapshot, allocation.Node), a.Reason))
		return c.live.rebound(ctx, sc, s, s.workload, change, true, map[cluster.NodeID]bool{allocation.Node: true})
	}))
}

func nodeText(s *cluster.Snapshot, id cluster.NodeID) string { return "node " + nameOf(s, id) }

// nameOf is a node's name; its ID where it is gone.
func nameOf(s *cluster.Snapshot, id cluster.NodeID) string {
	for _, n := range s.Nodes {
		if n.ID == id {
			return n.Name
		}
	}
	return string(id)
}

// errNoRoom: the policy finds no node with room on which no bound breaks.
var errNoRoom = errors.New("no other node is good enough")

// rebound chooses a shortlist for a workload as it is to be, without some nodes, and
// writes it with the change. Allocations elsewhere stay where they are.
// Best-effort work with nowhere to go waits; other work stays.
func (a *term) rebound(ctx context.Context, sc *scene, s subject, as cluster.Workload, change cluster.Change, bind bool, avoid map[cluster.NodeID]bool) error {
	d, written, err := a.cfg.Placer.Elsewhere(ctx, s.job, as, avoid)
	if err != nil {
		return err
	}
	defer written()
	bestEffort := as.Spec.Target.Kind == performance.BestEffort
	if !bestEffort && (d.Outcome == cluster.Queued || d.Outcome == cluster.Placed && !goodEnough(d, as.Spec, sc.share(s.workload.ID))) {
		return fmt.Errorf("%w: %s", errNoRoom, d.Reason)
	}
	if !bind {
		return a.adjust(ctx, s, as, change, nil)
	}
	change.Rebind = true
	if d.Outcome == cluster.Placed {
		change.Nodes = slices.Clone(d.Candidates)
	}
	for _, c := range present(sc, s.workload.ID) {
		listed := slices.ContainsFunc(change.Nodes, func(o cluster.Candidate) bool { return o.Node == c.Node })
		if !listed && !avoid[c.Node] {
			change.Nodes = append(change.Nodes, c)
		}
	}
	if len(change.Nodes) == 0 && !bestEffort {
		return fmt.Errorf("%w: %s", errNoRoom, d.Reason)
	}
	return a.adjust(ctx, s, as, change, &d)
}

// gain is how many times its present rate a workload must be predicted to reach elsewhere
// for its own bounds not to count there (chosen by us: the error of a prediction).
const gain = 1.2

// goodEnough reports whether a running workload may go to the nodes of a decision. No bound
// of a resident may break by more than the step of a score; its own may where it misses
// its target now, of which it reaches share, and would do better there.
func goodEnough(d cluster.Decision, spec performance.Spec, share float64) bool {
	want, _ := spec.Rate()
	better := d.Predicted.Known && share < 1 && d.Predicted.RatePerSec >= gain*share*want
	return !slices.ContainsFunc(d.Relaxed, func(r cluster.Relaxation) bool {
		return r.Points > violationMargin && !(better && r.Direction == cluster.D2)
	})
}

// present are the nodes a workload is on, as the last of candidates.
func present(sc *scene, id cluster.WorkloadID) []cluster.Candidate {
	var out []cluster.Candidate
	for _, n := range sc.snapshot.Nodes {
		for _, a := range sc.snapshot.Allocations[n.ID] {
			if a.Workload == id {
				out = append(out, cluster.Candidate{Node: n.ID, Name: n.Name, Configuration: n.Configuration, Why: "it runs there"})
				break
			}
		}
	}
	return out
}
