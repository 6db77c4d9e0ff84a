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
	idPrefixOperator = "regexp"
	idPrefixesStart  = "^(" + ourMark + "|"
)

// idPrefixDigits of an ID are what Nomad shows of it, and tell nodes apart well enough
// where the shortlist stops who passes for another.
const idPrefixDigits = 8

func idPrefix(n cluster.NodeID) string {
	return regexp.QuoteMeta(string(n)[:min(idPrefixDigits, len(n))])
}

// oneOf matches the IDs that begin as one of those.
func oneOf(idPrefixes []string) string { return idPrefixesStart + strings.Join(idPrefixes, "|") + ")" }

func usesIDPrefixes(line object) bool {
	return strings.HasPrefix(line.text("RTarget"), idPrefixesStart)
}

// prefilter writes the job's own constraint that only nodes of its groups' shortlists meet.
// It forbids nothing that the shortlists allow, and is there for Nomad's sake alone,
// which holds every node of the cluster against a job's constraints first and then, for
// those that meet them, against drivers and the groups' constraints. Beginnings are a
// quarter as long as whole IDs, in the job and in the metrics of its evaluations. A job
// of which a group is free has none.
func prefilter(job object) {
	dropLines(job, isPlacement)
	if t := job.text("Type"); t == "system" || t == "sysbatch" {
		return // each node is looked at by itself
	}
	if idPrefixes := shortlisted(job); len(idPrefixes) > 0 {
		constrain(job, idPrefixOperator, oneOf(idPrefixes))
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
			out = append(out, idPrefix(n))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
