package nomadapi

import (
	"regexp"
	"slices"
	"strings"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// A list of how nodes' IDs begin. The mark is one of the beginnings, which is none of a
// node's.
const (
	beginningOperator = "regexp"
	beginningsPrefix  = "^(" + ourMark + "|"
)

// beginningDigits of an ID are what Nomad shows of it, and tell nodes apart well enough
// where the shortlist stops who passes for another.
const beginningDigits = 8

func beginning(n cluster.NodeID) string {
	return regexp.QuoteMeta(string(n)[:min(beginningDigits, len(n))])
}

// oneOf matches the IDs that begin as one of those.
func oneOf(beginnings []string) string { return beginningsPrefix + strings.Join(beginnings, "|") + ")" }

func saysBeginnings(line object) bool {
	return strings.HasPrefix(line.text("RTarget"), beginningsPrefix)
}

// sieve writes the job's own constraint that only nodes of its groups' shortlists meet.
// It forbids nothing that the shortlists allow, and is there for Nomad's sake alone,
// which holds every node of the cluster against a job's constraints first and then, for
// those that meet them, against drivers and the groups' constraints. Beginnings are a
// quarter as long as whole IDs, in the job and in the metrics of its evaluations. A job
// of which a group is free has none.
func sieve(job object) {
	dropLines(job, isPlacement)
	if t := job.text("Type"); t == "system" || t == "sysbatch" {
		return // each node is looked at by itself
	}
	if beginnings := shortlisted(job); len(beginnings) > 0 {
		constrain(job, beginningOperator, oneOf(beginnings))
	}
}

// shortlisted are the beginnings of all nodes that the job's groups are bound to; none
// where a group is not.
func shortlisted(job object) []string {
	var out []string
	for _, group := range job.objects("TaskGroups") {
		nodes, bound := ShortlistOf(group)
		if !bound {
			return nil
		}
		for _, n := range nodes {
			out = append(out, beginning(n))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
