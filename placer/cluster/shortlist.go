package cluster

import "hash/fnv"

// A shortlist has a node for each allocation and some in reserve, so that a job is not stranded
// where some of its nodes fill up or are lost. Nomad checks every node of the cluster
// against the list and keeps it with the job, so more of them cost (chosen by us).
const (
	// LeastSpareNodes are on it where that many are feasible, however good they are.
	LeastSpareNodes = 2
	mostSpareNodes  = 19
	// MaxRebound is how many a group may be bound to that runs: with the nodes that its
	// allocations have already. Nomad scores no more than 100 nodes where a group has
	// affinities.
	MaxRebound = 100
)

// ShortlistLength is how many nodes the shortlist of a group has: least where that many
// are feasible, and up to most where they are good.
func ShortlistLength(count int) (least, most int) {
	return min(MaxCandidates, count+LeastSpareNodes), min(MaxCandidates, count+mostSpareNodes)
}

// Shortlisted are the candidates that the job is bound to, best first. A system job may
// run on all of them.
func (d *Decision) Shortlisted(jobType string) []Candidate {
	if d.Outcome != Placed {
		return nil
	}
	if jobType == "system" || jobType == "sysbatch" {
		return d.Candidates
	}
	_, most := ShortlistLength(d.Count) // an older release kept more candidates than it bound a job to
	return d.Candidates[:min(len(d.Candidates), most)]
}

// ShortlistDigest is of the nodes that a decision bound a workload to, in order; 0 is
// none. It tells whether a job was registered as decided.
type ShortlistDigest uint64

// DigestShortlist digests nodes, best first.
func DigestShortlist(nodes []NodeID) ShortlistDigest {
	if len(nodes) == 0 {
		return 0
	}
	h := fnv.New64a()
	for _, n := range nodes {
		_, _ = h.Write([]byte(n)) // a hash takes everything
		_, _ = h.Write([]byte{0})
	}
	return ShortlistDigest(h.Sum64())
}

// ShortlistDigest is that of the nodes that the decision binds its workload to.
func (d *Decision) ShortlistDigest(jobType string) ShortlistDigest {
	list := d.Shortlisted(jobType)
	nodes := make([]NodeID, len(list))
	for i, c := range list {
		nodes[i] = c.Node
	}
	return DigestShortlist(nodes)
}
