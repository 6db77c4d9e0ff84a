package cluster

import "hash/fnv"

// spareNodes are on a shortlist beside one for each allocation: enough that a job is not
// stranded where some of its nodes fill up or are lost. Nomad holds every node of the
// cluster against the list and keeps it with the job, so more of them cost
// (chosen by us).
const spareNodes = 19

// Shortlisted are the candidates that the job is bound to, best first. A system job may
// run on all of them.
func (d *Decision) Shortlisted(jobType string) []Candidate {
	if d.Outcome != Placed {
		return nil
	}
	if jobType == "system" || jobType == "sysbatch" {
		return d.Candidates
	}
	return d.Candidates[:min(len(d.Candidates), d.Count+spareNodes)]
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
