package placement

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/profiling"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// sorter sends workloads to a node by the name of their group; "wait" has to wait.
type sorter struct{ asked []string }

func (r *sorter) Route(_ *cluster.Snapshot, job cluster.Job, k profiling.Known) (profiling.Known, cluster.Rental) {
	r.asked = append(r.asked, job.ID.ID+"/"+k.Workload.ID.Group)
	if k.Workload.ID.Group == "wait" {
		return k, cluster.Rental{Side: cluster.SideWaits, Why: "there is no node yet"}
	}
	k.Workload = *onto(&k.Workload, k.Workload.ID.Group)
	return k, cluster.Rental{Side: cluster.SideRented, Node: cluster.NodeID(k.Workload.ID.Group), Why: "it is kept for it"}
}

func (r *sorter) Stay(_ *cluster.Snapshot, w cluster.Workload) cluster.Workload { return w }

func onto(w *cluster.Workload, node string) *cluster.Workload {
	out := *w
	out.Constraints = append(slices.Clone(w.Constraints), cluster.Constraint{Attribute: "${node.unique.id}", Operator: "=", Value: node})
	return &out
}

func TestJobsAreRouted(t *testing.T) {
	t.Parallel()
	target := struct {
		target            performance.Target
		tolerated, caused float64
	}{rate(20), 60, 20}
	e, s, batch := together(t, map[string]struct {
		target            performance.Target
		tolerated, caused float64
	}{"late": target, "early": target, "both": target}, "late", "early", "both")
	router := &sorter{}
	e.cfg.Router = router
	late, early, both := batch[0], batch[1], batch[2]
	for _, p := range batch {
		p.undo()
		p.decisions = nil
	}
	group := func(p *placement, names ...string) {
		one := p.known[0]
		p.known = nil
		for _, name := range names {
			k := one
			k.Workload.ID.Group = name
			p.known = append(p.known, k)
		}
	}
	group(late, "n1")
	group(early, "n2")
	group(both, "n1", "wait")
	late.job.SubmittedAt, early.job.SubmittedAt, both.job.SubmittedAt = time.Unix(3, 0), time.Unix(1, 0), time.Unix(2, 0)

	routed := e.route(s, batch)
	if !slices.Equal(router.asked, []string{"early/n2", "both/n1", "both/wait", "late/n1"}) {
		t.Errorf("asked for %v; who was submitted first comes first", router.asked)
	}
	if len(routed) != 2 || slices.Contains(routed, both) {
		t.Fatalf("%d jobs may be decided on", len(routed))
	}
	waits := FirstQueued(both.decisions)
	if waits == nil || waits.Rental.Side != cluster.SideWaits || !strings.Contains(waits.Reason, "no place yet: there is no node yet") || waits.Target != both.known[1].Workload.Spec.Target {
		t.Errorf("%+v", waits)
	}
	for p, node := range map[*placement]cluster.NodeID{late: "n1", early: "n2"} {
		decisions, undo, err := e.decideOn(s, p.job, p.known)
		if undo(); err != nil || len(decisions[0].Candidates) != 1 || decisions[0].Candidates[0].Node != node || decisions[0].Rental.Node != node ||
			!strings.HasSuffix(decisions[0].Reason, "a rented node: it is kept for it") || decisions[0].RejectedBy[cluster.RejectConstraint] != 1 {
			t.Errorf("%+v, %v", decisions, err)
		}
	}
}
