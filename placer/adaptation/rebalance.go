package adaptation

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/adapt"
	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/placement"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// Bounds of rebalancing, chosen by us.
const (
	freshObservation = 3 * recordEvery // older ones are not about now
	violationMargin  = 5.0             // points beyond what is tolerated that a move is worth: a score's own step
	rebalanceWrites  = 1 << 10         // an operator who asks for all moves gets them
)

// Rebalancer moves what would reach its target better elsewhere, when an operator asks
// for it. It has a term of its own, of which nothing is remembered: the leader's
// adaptation goes on, and compare-and-set keeps the two apart.
type Rebalancer struct{ cfg Config }

// NewRebalancer returns a rebalancer that does nothing by itself.
func NewRebalancer(cfg Config) *Rebalancer { return &Rebalancer{cfg: cfg} }

// Rebalance lists the allocations that would reach their target better elsewhere, each
// with its reason and at most one of a workload, and carries those out that their job
// allows, where apply is set.
func (b *Rebalancer) Rebalance(ctx context.Context, apply bool) ([]cluster.Relocation, error) {
	own, err := startTerm(&b.cfg)
	if err != nil {
		return nil, err
	}
	if apply && own.adjuster == nil {
		return nil, errors.New("running jobs cannot be changed here")
	}
	own.writes = newBucket(rebalanceWrites, time.Second, own.started)
	running, err := b.running(ctx)
	if err != nil {
		return nil, err
	}
	list, err := b.relocations(ctx, running)
	if err == nil && apply {
		err = b.relocate(ctx, own, running, list)
	}
	return list, err
}

// running is every workload that could be elsewhere: a system job runs on every node.
func (b *Rebalancer) running(ctx context.Context) (map[cluster.WorkloadID]subject, error) {
	jobs, err := b.cfg.World.Jobs(ctx)
	if err != nil {
		return nil, err
	}
	running := map[cluster.WorkloadID]subject{}
	for _, job := range jobs {
		if job.Held || job.Stopped || job.Type == "system" || job.Type == "sysbatch" {
			continue
		}
		for _, w := range job.Workloads {
			running[w.ID] = subject{job, w}
		}
	}
	return running, nil
}

// relocations are the moves that would help, each judged as if those before it were made.
func (b *Rebalancer) relocations(ctx context.Context, running map[cluster.WorkloadID]subject) ([]cluster.Relocation, error) {
	snapshot, err := b.cfg.Decisions.Snapshot(ctx, b.cfg.World)
	if err != nil {
		return nil, err
	}
	var out []cluster.Relocation
	for _, id := range sortedIDs(running) {
		s := running[id]
		if s.workload.Spec.Target.Kind == performance.BestEffort {
			continue
		}
		r, found, err := b.relocation(ctx, newScene(snapshot, b.cfg.Estimator.Columns(), running), s)
		if err != nil {
			return out, fmt.Errorf("%s: %w", id, err)
		}
		if found {
			snapshot = relocated(snapshot, r)
			out = append(out, r)
		}
	}
	return out, nil
}

// relocation is a better node for the allocation of a workload that is worst off; not
// found where none is badly off, or no node is better.
func (b *Rebalancer) relocation(ctx context.Context, sc *scene, s subject) (cluster.Relocation, bool, error) {
	allocation, why, err := b.worst(ctx, sc, s)
	if err != nil || why == "" {
		return cluster.Relocation{}, false, err
	}
	d, err := b.cfg.Placer.Reconsider(ctx, s.job, s.workload, placement.WithoutNodes(sc.snapshot, map[cluster.NodeID]bool{allocation.Node: true}))
	if err != nil || d.Outcome != cluster.Placed || !goodEnough(d, s.workload.Spec, sc.share(s.workload.ID)) || len(d.Candidates) == 0 {
		return cluster.Relocation{}, false, err
	}
	best := d.Candidates[0]
	r := cluster.Relocation{
		Workload: s.workload.ID, Allocation: allocation.ID, From: allocation.Node, FromName: nameOf(sc.snapshot, allocation.Node), To: best.Node, ToName: best.Name,
		Reason: fmt.Sprintf("%s; %s: %s", why, best.Name, best.Why), Allowed: s.workload.Spec.Move,
	}
	return r, true, nil
}

// worst finds the allocation that is worst off, and says why; empty where none is.
// What was measured counts more than what is predicted: a workload at its target is
// well placed.
func (b *Rebalancer) worst(ctx context.Context, sc *scene, s subject) (cluster.Allocation, string, error) {
	share, err := b.recentShare(ctx, s)
	if err != nil {
		return cluster.Allocation{}, "", err
	}
	if share >= adapt.Defaults().Below {
		return cluster.Allocation{}, "", nil
	}
	var allocation cluster.Allocation
	var source interference.Source
	most := math.Inf(-1)
	for _, handle := range sc.handles[s.workload.ID] {
		if points, by := excess(sc, handle); points > most || allocation.ID == "" {
			allocation, most, source = sc.allocation(handle), points, by
		}
	}
	from := nameOf(sc.snapshot, allocation.Node)
	switch {
	case allocation.ID == "":
		return allocation, "", nil
	case !math.IsNaN(share) && most > 0:
		return allocation, fmt.Sprintf("it reaches %.0f %% of its target; its co-runners on %s exert %.0f points more on %s than it tolerates", 100*share, from, most, source), nil
	case !math.IsNaN(share):
		return allocation, fmt.Sprintf("it reaches %.0f %% of its target on %s", 100*share, from), nil
	case most > violationMargin && len(sc.snapshot.Known[s.workload.ID].Tolerated) > 0:
		return allocation, fmt.Sprintf("its co-runners on %s exert %.0f points more on %s than it tolerates, and it was not measured recently", from, most, source), nil
	}
	return allocation, "", nil
}

// excess is by how many points the co-runners of an allocation together exert more than
// it tolerates, on the source where that is most.
func excess(sc *scene, handle board.Handle) (float64, interference.Source) {
	residents := sc.board.Residents(sc.node(handle))
	i := slices.IndexFunc(residents, func(r board.Resident) bool { return r.Handle == handle })
	most, source := math.Inf(-1), interference.Source("")
	for k, column := range sc.board.Columns {
		experienced := sc.board.Caused(sc.node(handle))[k] - residents[i].Caused[k]
		if points := experienced - residents[i].Tolerated[k]; points > most {
			most, source = points, column
		}
	}
	return most, source
}

// recentShare is the share of its target that a workload reached in the last minute, from
// the book; NaN where that is not known.
func (b *Rebalancer) recentShare(ctx context.Context, s subject) (float64, error) {
	all, err := b.cfg.Book.Observations(ctx, s.workload.ID)
	if err != nil {
		return 0, err
	}
	newest := map[string]cluster.Observation{}
	for _, o := range all {
		if b.cfg.Clock.Now().Sub(o.At) <= freshObservation {
			newest[o.Allocation] = o
		}
	}
	var readings []cluster.Observation
	for _, o := range newest {
		readings = append(readings, o)
	}
	if len(readings) < s.workload.Count {
		return math.NaN(), nil
	}
	want, _ := s.workload.Spec.Rate() // without one nothing is reached of it
	return reached(s.workload.Spec, readings, 0) / want, nil
}

// relocated is the snapshot with an allocation on another node.
func relocated(s *cluster.Snapshot, r cluster.Relocation) *cluster.Snapshot {
	next := *s
	next.Allocations = make(map[cluster.NodeID][]cluster.Allocation, len(s.Allocations))
	for n, list := range s.Allocations {
		next.Allocations[n] = list
	}
	i := slices.IndexFunc(next.Allocations[r.From], func(a cluster.Allocation) bool { return a.ID == r.Allocation })
	if i < 0 {
		return s // a reservation: it is counted where it is
	}
	moved := next.Allocations[r.From][i]
	moved.Node = r.To
	next.Allocations[r.From] = slices.Delete(slices.Clone(next.Allocations[r.From]), i, i+1)
	next.Allocations[r.To] = append(slices.Clone(next.Allocations[r.To]), moved)
	return &next
}

// relocate carries out what is allowed, one after the other, on fresh state.
func (b *Rebalancer) relocate(ctx context.Context, own *term, running map[cluster.WorkloadID]subject, list []cluster.Relocation) error {
	for i := range list {
		r := &list[i]
		if !r.Allowed {
			continue
		}
		snapshot, err := b.cfg.Decisions.Snapshot(ctx, b.cfg.World)
		if err != nil {
			return err
		}
		s, sc := running[r.Workload], newScene(snapshot, b.cfg.Estimator.Columns(), running)
		record := cluster.ActionRecord{
			Workload: r.Workload, Kind: string(adapt.Move), Allocation: r.Allocation, From: "node " + r.FromName, To: "node " + r.ToName,
			Reason: "rebalance: " + r.Reason,
		}
		err = own.do(ctx, s, record, own.writes, nil, func(ctx context.Context) error {
			change := change(s, fmt.Sprintf("%s leaves node %s: rebalance: %s", r.Workload.Group, r.FromName, r.Reason))
			return own.rebound(ctx, sc, s, s.workload, change, true, map[cluster.NodeID]bool{r.From: true})
		})
		if r.Result = actionDone; err != nil {
			r.Result = err.Error()
		}
		if err := tolerated(err); err != nil {
			return err
		}
	}
	return nil
}
