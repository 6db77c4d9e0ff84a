package nomadapi

import (
	"fmt"
	"strings"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// ourMark is the first element of every node list we write, and of every prefilter. No node has
// such an id, so it matches nothing; it says that the line is ours and in which form.
const ourMark = "placer:v1"

const (
	nodeIDTarget   = "${node.unique.id}"
	listedOperator = "set_contains_any"
)

// Bounds of the rewrite (placer design, "what is rewritten and how").
const (
	maxBuckets = 10 // steps of the affinity score
	// firstWeight of 100 is kept for the first candidate of a single replica: Nomad
	// takes the mean of the affinity score and of its own bin packing, of 0..1 each,
	// so that a fuller node comes before the decided one only where packing differs by
	// more than that.
	firstWeight = 60
)

// Rewrite returns the raw job as the plan wants it: in the run pool, each placed
// group bound to its shortlist, earlier additions of ours gone, everything the
// user wrote as it was. The input is not touched.
//
// Count and resources are written only where a policy has chosen them, and only
// while the job is held: a job that runs keeps the size it has, because a count that
// `nomad job scale` or an autoscaler changed must survive.
func Rewrite(job map[string]any, p cluster.Plan, holdPool string) (map[string]any, error) {
	held := object(job).text("NodePool") == holdPool
	var out object
	if held {
		out = Strip(job)
		out["NodePool"] = p.Job.RunPool
	} else {
		out = stripPlacement(job)
	}
	decisions := map[string]cluster.Decision{}
	for _, d := range p.Decisions {
		if d.Outcome == cluster.Queued {
			return nil, fmt.Errorf("workload %s is queued and cannot be released yet", d.Workload)
		}
		decisions[d.Workload.Group] = d
	}
	for _, group := range out.objects("TaskGroups") {
		if d, ok := decisions[group.text("Name")]; ok {
			if held && d.Outcome == cluster.Placed {
				writeSize(group, d)
			}
			bind(group, d, out.text("Type"))
		}
	}
	prefilter(out)
	writePage(out, p.Page, p.Link)
	return out, nil
}

// Release returns the raw job freed from the hold pool and from everything this
// package ever added: what `job release` writes when no placer is alive.
func Release(job map[string]any, holdPool, runPool string) map[string]any {
	out := object(Strip(job))
	if out.text("NodePool") == holdPool {
		out["NodePool"] = runPool
	}
	return out
}

// Strip returns the raw job without anything this package ever added, and with the
// sizes its user wrote.
func Strip(job map[string]any) map[string]any {
	out := object(job).clone()
	for _, group := range out.objects("TaskGroups") {
		unsize(group)
	}
	out = stripPlacement(out)
	for _, group := range out.objects("TaskGroups") {
		dropLines(group, isOurs) // the mark too
	}
	return out
}

// stripPlacement returns the raw job without what binds it to nodes and without our
// page; sizes and the marks of them stay.
func stripPlacement(job map[string]any) object {
	out := object(job).clone()
	dropLines(out, isPlacement)
	for _, group := range out.objects("TaskGroups") {
		dropLines(group, isPlacement)
	}
	stripPage(out)
	return out
}

// dropLines removes constraints and affinities.
func dropLines(holder object, drop func(line object) bool) {
	for _, key := range []string{"Constraints", "Affinities"} {
		list := holder.objects(key)
		kept := make([]object, 0, len(list))
		for _, line := range list {
			if !drop(line) {
				kept = append(kept, line)
			}
		}
		if len(kept) != len(list) {
			holder.setList(key, kept)
		}
	}
}

// isOurs reports whether a constraint or affinity was written by us.
func isOurs(line object) bool {
	first, _, _ := strings.Cut(line.text("RTarget"), ",")
	return strings.TrimSpace(first) == ourMark || usesIDPrefixes(line)
}

// isPlacement reports whether it binds to nodes.
func isPlacement(line object) bool { return isOurs(line) && !isSizeMark(line) }

func isSizeMark(line object) bool { return strings.HasPrefix(line.text("RTarget"), sizeMarkPrefix) }

// bind adds the shortlist of a decision to its group, and the order inside it
// where Nomad takes one.
func bind(group object, d cluster.Decision, jobType string) {
	leadToPeers(group, d, jobType)
	candidates := d.Shortlisted(jobType)
	if len(candidates) == 0 {
		return
	}
	constrain(group, listedOperator, nodeList(candidates))
	prefer(group, candidates, jobType)
}

// leadToPeers adds affinities to the racks of a group's peers, where Nomad chooses the node.
// Where a policy chose, they are in the order of the shortlist (decision 0057): a second
// affinity would make the decided node's lead in Nomad's own score smaller.
func leadToPeers(group object, d cluster.Decision, jobType string) {
	if d.Near == nil || d.Outcome == cluster.Placed || !takesAffinities(jobType, group.number("Count")) {
		return
	}
	list := group.objects("Affinities")
	for _, r := range d.Near.Racks {
		list = append(list, object{"LTarget": d.Near.Attribute, "RTarget": ourMark + "," + r.Rack, "Operand": listedOperator, "Weight": r.WeightPercent})
	}
	if len(d.Near.Racks) > 0 {
		group.setList("Affinities", list)
	}
}

// prefer adds the order of the candidates, where Nomad takes one.
func prefer(group object, candidates []cluster.Candidate, jobType string) {
	count := group.number("Count")
	if !takesAffinities(jobType, count) || len(candidates) < 2 {
		return
	}
	lead := 0
	if count == 1 {
		lead = firstWeight
	}
	group.setList("Affinities", append(group.objects("Affinities"), buckets(candidates, lead)...))
}

// constrain adds a constraint on nodes' IDs to a job or a group.
func constrain(holder object, operator, ids string) {
	holder.setList("Constraints", append(holder.objects("Constraints"), object{"LTarget": nodeIDTarget, "RTarget": ids, "Operand": operator}))
}

func takesAffinities(jobType string, count int64) bool {
	return jobType != "system" && jobType != "sysbatch" && count <= cluster.MaxAffinityCount
}

// buckets are nested affinities of equal weight: the k-th of L lists every
// candidate that scores at least k/L, so that the share of matched weight grows
// with the score. Scores are first stretched to 0..1 over the shortlist, because
// only their order inside it matters to Nomad; equal neighbouring buckets are
// written once with their weights added. The shortlist says exactly who is meant, so
// that the beginnings of IDs will do here, at a quarter of the length.
//
// lead of the 100 are the first candidate's alone. Replicas have none: they are spread
// over nodes of about the same score.
func buckets(candidates []cluster.Candidate, lead int) []object {
	low, high := scoreRange(candidates)
	if high == low {
		return nil
	}
	var out []object
	bucketWeight := (100 - lead) / maxBuckets
	previous, weight := "", 0
	flush := func() {
		if weight > 0 {
			out = append(out, object{
				"LTarget": nodeIDTarget,
				"RTarget": previous,
				"Operand": idPrefixOperator,
				"Weight":  weight,
			})
		}
	}
	for k := 1; k <= maxBuckets; k++ {
		var inside []string
		for _, c := range candidates {
			// The small allowance keeps a score of exactly k/L in bucket k.
			if (c.Score-low)/(high-low)+1e-9 >= float64(k)/maxBuckets {
				inside = append(inside, idPrefix(c.Node))
			}
		}
		list := oneOf(inside)
		if list != previous {
			flush()
			previous, weight = list, 0
		}
		weight += bucketWeight
	}
	if first := oneOf([]string{idPrefix(candidates[0].Node)}); lead > 0 && first != previous {
		flush()
		previous, weight = first, 0
	}
	weight += lead
	flush()
	return out
}

func scoreRange(candidates []cluster.Candidate) (low, high float64) {
	low, high = candidates[0].Score, candidates[0].Score
	for _, c := range candidates {
		low, high = min(low, c.Score), max(high, c.Score)
	}
	return low, high
}

func nodeList(candidates []cluster.Candidate) string {
	var b strings.Builder
	b.WriteString(ourMark)
	for _, c := range candidates {
		b.WriteByte(',')
		b.WriteString(string(c.Node))
	}
	return b.String()
}

// ShortlistOf returns the nodes a raw group was bound to by an earlier rewrite,
// and whether it was.
func ShortlistOf(group map[string]any) (nodes []cluster.NodeID, bound bool) {
	for _, line := range object(group).objects("Constraints") {
		if !isOurs(line) || isSizeMark(line) {
			continue
		}
		for _, id := range strings.Split(line.text("RTarget"), ",")[1:] {
			nodes = append(nodes, cluster.NodeID(id))
		}
		return nodes, true
	}
	return nil, false
}
