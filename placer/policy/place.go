package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/wording"
)

// place is the course that all policies have in common (package comment): the candidates
// are computed (step 2, open), the policy ranks them (steps 3 to 5, rank), and finish makes
// a decision of the ranking (step 6).
func place(r Request, name string, rank func(v *candidateSet) ranking) (cluster.Decision, error) {
	d, _, err := placed(r, name, rank)
	return d, err
}

// placed is place, with the facts of the decision.
func placed(r Request, name string, rank func(v *candidateSet) ranking) (cluster.Decision, facts, error) {
	work := workspaces.Get().(*workspace)
	work.used = 0
	defer workspaces.Put(work)
	v, err := open(r, work)
	if err != nil {
		return cluster.Decision{}, facts{}, err
	}
	defer v.giveBoard()
	d := blank(r, name)
	switch {
	case r.JobType == "system" || r.JobType == "sysbatch":
		d.Outcome, d.Reason = cluster.Stock, "a "+r.JobType+" job runs on every node: there is nothing to choose"
	case r.Workload.Count == 0:
		d.Outcome, d.Reason = cluster.Stock, "the group's count is 0: there is nothing to place"
	case len(v.candidates) == 0:
		d.Outcome, d.Reason = cluster.Queued, nothingFits(v.counts)
		v.reject(&d, ranking{})
	default:
		v.finish(&d, rank(v))
	}
	v.sayDisk(&d)
	if v.looked > 0 {
		d.Considered = v.looked
	}
	d.Warnings = append(d.Warnings, v.warnings...)
	return d, v.facts, nil
}

// facts of a decision that it says in words only.
type facts struct {
	missing  int  // allocations without room
	violates bool // a QoS violation is predicted
}

// blank is the decision before a node is looked at.
func blank(r Request, name string) cluster.Decision {
	w := r.Workload
	d := cluster.Decision{
		Format: cluster.DecisionFormat, Workload: w.ID, ProfileKey: w.ProfileKey, At: r.At,
		Policy: name, Seed: r.Seed, Target: w.Spec.Target,
		Considered: len(r.Snapshot.Nodes), RejectedBy: map[cluster.RejectReason]int{},
		Count: w.Count, Resources: w.Ask,
		Predicted: cluster.Prediction{Unit: w.Spec.Target.RateUnit()},
	}
	if w.Spec.Disk != nil {
		d.Disk = &cluster.DiskSaid{Promise: *w.Spec.Disk}
	}
	if r.Knowledge != nil {
		d.Sensitivity = r.Knowledge.Sensitivity
		d.Warnings = slices.Clone(r.Knowledge.Warnings)
	}
	return d
}

// resourceReasons are those that pass when something ends.
var resourceReasons = []cluster.RejectReason{
	cluster.RejectCPU, cluster.RejectCores, cluster.RejectMemory, cluster.RejectDisk, cluster.RejectBandwidth,
}

func nothingFits(counts map[cluster.RejectReason]int) string {
	if len(counts) == 0 {
		return "the cluster has no nodes"
	}
	var parts []string
	room := false
	for _, reason := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%s (%s)", reason, wording.Count(counts[reason], "node")))
		room = room || slices.Contains(resourceReasons, reason)
	}
	if room {
		return "no node has room now: " + strings.Join(parts, ", ")
	}
	return "no node qualifies: " + strings.Join(parts, ", ")
}

// ranking is a policy's answer: every candidate, tiers ascending, best first within a
// tier. The functions are called for listed nodes only, and may be nil.
type ranking struct {
	nodes   []*ranked
	reason  string // how the best was found
	waits   string // why nothing is placed now though there is room; else empty
	relaxed []cluster.Relaxation
	parts   func(o *candidate) []cluster.ScorePart
	why     func(o *candidate) string // why a good node is good, in the policy's words
	detail  func(n *ranked) string    // why another one is not
	// preset is the number of allocations per node where the policy has chosen
	// them itself; nil: assign does.
	preset []int
	// together reports whether one more allocation may share a node with n of its own
	// group; nil: always.
	together func(o *candidate, n int) bool
}

// ranked is a candidate in a policy's order.
type ranked struct {
	candidate *candidate
	tier      tier
	key       [3]float64        // within the tier, smaller first
	reject    cluster.Rejection // why it is not good; without node and detail
}

// tier says how good a node is; lower is better.
type tier int

const (
	good      tier = iota // what the policy wants
	slower                // violates no bound, but others are preferred
	violating             // a QoS violation is predicted
)
