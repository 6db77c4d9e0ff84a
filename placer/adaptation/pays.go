package adaptation

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/adapt"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/wording"
)

// moveWhatPays looks now and then at workloads that may be moved and were placed by what each
// node is worth to them: a workload goes to another node where its policy finds that worth so
// much more that the move pays. The nodes of a move wait for the next look.
func (c *Controller) moveWhatPays(ctx context.Context, sc *scene) error {
	now := c.cfg.Clock.Now()
	if now.Sub(c.live.looked) < adapt.LookEvery {
		return nil
	}
	c.live.looked = now
	var errs []error
	changed := map[cluster.NodeID]bool{}
	for _, s := range c.toLookAt(sc) {
		if ctx.Err() != nil {
			break
		}
		allocation := firstAllocation(sc, s.workload.ID)
		best, gain, err := c.betterNode(ctx, sc, s, allocation)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: is another node worth more: %w", s.workload.ID, err))
			continue
		}
		if !adapt.Pays(gain, 0, 0) || changed[best.Node] || changed[allocation.Node] {
			continue
		}
		changed[best.Node], changed[allocation.Node] = true, true
		reason := fmt.Sprintf("node %s is worth %s points more to it (what it is expected to reach there, less what others are expected to lose)", best.Name, wording.Number(math.Round(100*gain)))
		errs = append(errs, c.move(ctx, sc, s, adapt.Action{Kind: adapt.Move, Reason: reason}, allocation))
	}
	return errors.Join(errs...)
}

// toLookAt are the workloads of one allocation that may be moved, whose decision says what
// nodes are worth, and which have been where they are for a while: as many as one look is for,
// in turn.
func (c *Controller) toLookAt(sc *scene) []subject {
	var out []subject
	for _, id := range sortedIDs(sc.running) {
		s := sc.running[id]
		allocation := firstAllocation(sc, id)
		if !s.workload.Spec.Move || s.workload.Count != 1 || s.job.Type != "service" || len(sc.handles[id]) != 1 || allocation.Version != s.job.Version ||
			c.live.looked.Sub(c.live.since(allocation.ID)) < adapt.LookEvery {
			continue
		}
		if d, ok := c.cfg.Decisions.Of(id); ok && slices.ContainsFunc(d.Candidates, func(o cluster.Candidate) bool { _, ok := o.Worth(); return ok }) {
			out = append(out, s)
		}
	}
	if len(out) <= adapt.MostLooked {
		return out
	}
	first := c.live.lookedAt % len(out)
	c.live.lookedAt = first + adapt.MostLooked
	return slices.Concat(out[first:], out[:first])[:adapt.MostLooked]
}

// betterNode is the node that is worth most to a workload, and by how much that is more than
// where it is; a gain that is not known is 0. What a workload was measured to reach of its
// target counts where it is, and not what was predicted.
func (c *Controller) betterNode(ctx context.Context, sc *scene, s subject, allocation cluster.Allocation) (best cluster.Candidate, gain float64, err error) {
	d, err := c.cfg.Placer.Reconsider(ctx, s.job, s.workload, sc.snapshot)
	if err != nil || d.Outcome != cluster.Placed || len(d.Candidates) == 0 {
		return best, 0, err
	}
	best = d.Candidates[0]
	most, ok := best.Worth()
	at := slices.IndexFunc(d.Candidates, func(o cluster.Candidate) bool { return o.Node == allocation.Node })
	if !ok || at == 0 {
		return best, 0, nil
	}
	// A node that is not listed is worth no more than the last that is.
	here := d.Candidates[len(d.Candidates)-1]
	if at > 0 {
		here = d.Candidates[at]
	}
	now, ok := here.Worth()
	if !ok {
		return best, 0, nil
	}
	if share := sc.share(s.workload.ID); at > 0 && !math.IsNaN(share) {
		now += min(1, share) - here.Part(cluster.PartReached)/100
	}
	return best, most - now, nil
}
