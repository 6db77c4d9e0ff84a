package cluster

import (
	"math"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// DecisionFormat is the version of the JSON form of a Decision.
const DecisionFormat = 1

// Outcome is how a decision ended.
type Outcome string

// The outcomes.
const (
	Placed Outcome = "placed" // nodes were chosen
	Stock  Outcome = "stock"  // left to stock Nomad, with the reason
	Queued Outcome = "queued" // no node has room now; held until one has or the deadline
)

// Direction says whose bound is meant (Delimitrou 2015, §3.4).
type Direction string

// The two directions of interference.
const (
	D1 Direction = "D1" // a resident's, which the newcomer may break: t_server − c_new
	D2 Direction = "D2" // the newcomer's, which residents may break: t_new − c_server
)

// RejectReason classes why a node was dropped.
type RejectReason string

// The reasons a node is dropped.
const (
	RejectNotReady     RejectReason = "not ready"
	RejectPool         RejectReason = "node pool"
	RejectDatacenter   RejectReason = "datacenter"
	RejectDriver       RejectReason = "driver missing"
	RejectConstraint   RejectReason = "constraint"
	RejectCPU          RejectReason = "cpu exhausted"
	RejectCores        RejectReason = "cores exhausted"
	RejectMemory       RejectReason = "memory exhausted"
	RejectDisk         RejectReason = "disk exhausted"
	RejectBandwidth    RejectReason = "disk bandwidth exhausted"
	RejectInterference RejectReason = "interference"
	RejectSlower       RejectReason = "slower configuration"
	RejectTogether     RejectReason = "left to jobs sent together"
)

// Rejection says why one node was not chosen.
type Rejection struct {
	Node      NodeID              `json:"node"`
	Name      string              `json:"name"`
	Reason    RejectReason        `json:"reason"`
	Source    interference.Source `json:"source,omitempty"`    // with interference
	Direction Direction           `json:"direction,omitempty"` // with interference
	ByPoints  float64             `json:"by_points,omitempty"` // percent points short
	Detail    string              `json:"detail,omitempty"`
}

// ScorePart is one named term of a node's rank.
type ScorePart struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

// The parts of a candidate by which a policy compares what places are worth, in percent.
const (
	PartWorth   = "worth_percent"          // reached less lost by others
	PartReached = "reached_percent"        // of its target, or of its best performance
	PartLost    = "lost_by_others_percent" // the sum of such shares
)

// PartAllocations is how many allocations of the group a candidate is meant for, where that is
// more than one.
const PartAllocations = "allocations"

// PartFallback is 1 of candidates that are listed only in case better nodes fail.
const PartFallback = "fallback"

// Part is a part of the candidate's score; NaN where it has none of that name.
func (c *Candidate) Part(name string) float64 {
	for _, p := range c.Parts {
		if p.Name == name {
			return p.Value
		}
	}
	return math.NaN()
}

// Allocations is how many of the group the node is meant for, where it is meant for any.
func (c *Candidate) Allocations() int {
	if v := c.Part(PartAllocations); !math.IsNaN(v) {
		return int(v)
	}
	return 1
}

// Worth is what the place is worth as a share; false where the policy does not say.
func (c *Candidate) Worth() (share float64, ok bool) {
	v := c.Part(PartWorth)
	return v / 100, !math.IsNaN(v)
}

// Prediction is the performance expected, per group, in the target's rate unit.
type Prediction struct {
	Known      bool    `json:"known"`
	RatePerSec float64 `json:"rate_per_sec"`
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	Unit       string  `json:"unit"`
}

// Candidate is an acceptable node, best first in a Decision.
type Candidate struct {
	Node          NodeID      `json:"node"`
	Name          string      `json:"name"`
	Configuration string      `json:"configuration"`
	Score         float64     `json:"score"` // 0..1, 1 best
	Parts         []ScorePart `json:"parts,omitempty"`
	Predicted     Prediction  `json:"predicted"`
	Neighbours    []string    `json:"neighbours,omitempty"` // workloads already there
	Why           string      `json:"why"`                  // one sentence
}

// Relaxation is a QoS bound that had to give way to find any node.
type Relaxation struct {
	Source    interference.Source `json:"source"`
	Direction Direction           `json:"direction"`
	Points    float64             `json:"points"`
}

// Step is one timed stage of the engine.
type Step struct {
	Name     string        `json:"name"`
	Duration time.Duration `json:"duration"`
}

// Bounds on the lists of a Decision, so that a record stays readable and fits
// one Nomad Variable (64 KiB) at any cluster size.
const (
	MaxCandidates = 50
	MaxRejections = 50
)

// Decision is the one record of a placement.
type Decision struct {
	Format      int                      `json:"format"`
	Workload    WorkloadID               `json:"workload"`
	JobVersion  uint64                   `json:"job_version"`  // the version decided on
	ModifyIndex uint64                   `json:"modify_index"` // its JobModifyIndex
	JobType     string                   `json:"job_type,omitempty"`
	SubmittedAt time.Time                `json:"submitted_at,omitzero"` // that version; zero: not on record
	ProfileKey  string                   `json:"profile_key"`
	At          time.Time                `json:"at"`
	Policy      string                   `json:"policy"`
	Seed        uint64                   `json:"seed"`
	Target      performance.Target       `json:"target"`
	Outcome     Outcome                  `json:"outcome"`
	Reason      string                   `json:"reason"`
	Considered  int                      `json:"considered"`
	Candidates  []Candidate              `json:"candidates"`  // best first, ≤ MaxCandidates
	Rejected    []Rejection              `json:"rejected"`    // a sample, ≤ MaxRejections
	RejectedBy  map[RejectReason]int     `json:"rejected_by"` // all of them, counted
	Relaxed     []Relaxation             `json:"relaxed,omitempty"`
	Predicted   Prediction               `json:"predicted"` // for the whole group on the best candidates
	Count       int                      `json:"count"`
	Resources   Resources                `json:"resources"`
	Sizing      *Sizing                  `json:"sizing,omitempty"` // where a policy that sizes was asked
	Rental      *Rental                  `json:"rental,omitempty"` // where nodes are rented
	Disk        *DiskSaid                `json:"disk,omitempty"`   // where disk bandwidth is asked for
	Twin        *TwinSaid                `json:"twin,omitempty"`   // where it leans on storage and has a twin
	Near        *Nearness                `json:"near,omitempty"`   // where it has peers
	Sensitivity interference.Sensitivity `json:"sensitivity"`
	// RequiredFraction is the share of its performance in isolation that the target needs of each
	// allocation, on the slowest node configuration that was given one: 0 for best
	// effort, nil where it is not known. ToleranceAtTarget is the pressure under which it
	// keeps that; nil: as tolerated.
	RequiredFraction  *float64            `json:"needs_share,omitempty"`
	ToleranceAtTarget interference.Scores `json:"stands,omitempty"`
	Warnings          []string            `json:"warnings,omitempty"`
	Steps             []Step              `json:"steps,omitempty"`
}

// Bounds are the scores that matter to co-runners: what the workload tolerates, and causes.
func (d *Decision) Bounds() interference.Sensitivity {
	out := d.Sensitivity
	out.RequiredFraction = d.RequiredFraction
	if d.ToleranceAtTarget != nil {
		out.Tolerated, out.LateShare = d.ToleranceAtTarget, d.Target.LatePercent()/100
	}
	return out
}
