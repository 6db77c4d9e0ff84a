package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/wording"
)

// maxCoRunners is how many co-runners a candidate lists, so that a record fits one Nomad
// Variable on full nodes; the sentence counts them all.
const maxCoRunners = 8

// candidate writes one line of the shortlist.
func (v *candidateSet) candidate(r ranking, c listed, replicas int) cluster.Candidate {
	o := r.nodes[c.index].candidate
	out := cluster.Candidate{
		Node: o.node.ID, Name: o.node.Name, Configuration: o.node.Configuration,
		Score: c.score, Predicted: v.predictShared(o, replicas),
	}
	others := v.coRunnersOn(o.node)
	out.Neighbours = others[:min(len(others), maxCoRunners)]
	if r.parts != nil {
		out.Parts = r.parts(o)
	}
	if replicas > 1 {
		out.Parts = append(out.Parts, cluster.ScorePart{Name: cluster.PartAllocations, Value: float64(replicas)})
	}
	if c.fallback {
		out.Parts = append(out.Parts, cluster.ScorePart{Name: cluster.PartFallback, Value: 1})
	}
	out.Why = v.sentence(r, r.nodes[c.index], out, replicas, others)
	return out
}

// sentence is what a job author reads.
func (v *candidateSet) sentence(r ranking, n *ranked, out cluster.Candidate, replicas int, others []string) string {
	var parts []string
	switch {
	case n.tier != good && out.Score < scoreWanted:
		parts = append(parts, "only in case better nodes fail: "+r.rejection(n).Detail)
	case n.tier != good:
		parts = append(parts, "chosen because there is no better node: "+r.rejection(n).Detail)
	case r.why != nil:
		parts = append(parts, r.why(n.candidate))
	}
	if n.candidate.incumbent {
		parts = append(parts, "the group already runs here")
	}
	if p := out.Predicted; p.Known {
		s := fmt.Sprintf("expected %s %s", wording.Number(p.RatePerSec), p.Unit)
		if p.Low < p.High {
			s += fmt.Sprintf(" (%s to %s)", wording.Number(p.Low), wording.Number(p.High))
		}
		if v.need > 0 {
			s += fmt.Sprintf(", each allocation needs %s", wording.Number(v.need))
		}
		parts = append(parts, s+v.loss(n.candidate, replicas))
	}
	switch k := len(others); k {
	case 0:
		parts = append(parts, "no other workload runs there")
	case 1:
		parts = append(parts, "co-located with "+others[0])
	default:
		parts = append(parts, fmt.Sprintf("co-located with %s and %s", others[0], wording.Count(k-1, "other")))
	}
	return strings.Join(parts, "; ")
}

// noticeablePercent is from which loss on co-runners are mentioned (chosen by us: a
// profiling run cannot tell less from noise).
const noticeablePercent = 1.0

// loss says what the co-runners cost an allocation, and on which source.
func (v *candidateSet) loss(o *candidate, replicas int) string {
	s := o.tolerance.curves.Share(v.withReplicas(o, max(0, replicas-1)))
	if lost := 100 * (1 - s.Value); lost >= noticeablePercent {
		return fmt.Sprintf(", %s %% less than in isolation because of %s", wording.Number(lost), wording.Source(s.Source))
	}
	return ""
}

// rejection completes the rejection of a node that is not good.
func (r ranking) rejection(n *ranked) cluster.Rejection {
	out := n.reject
	out.Node, out.Name = n.candidate.node.ID, n.candidate.node.Name
	if r.detail != nil {
		out.Detail = r.detail(n)
	}
	return out
}

// coRunnersOn lists the workloads on a node and on others of its machine, without the
// group's own, without copies under profile and without system jobs, which are on every
// node.
func (v *candidateSet) coRunnersOn(n *cluster.Node) []string {
	var out []string
	for _, of := range v.snapshot.Machine(n) {
		for _, a := range v.snapshot.Residents(of.ID, v.Workload.ID) {
			if !a.Profiling && !a.System {
				out = append(out, a.Workload.String())
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
