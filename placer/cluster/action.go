package cluster

import "time"

// ActionRecord is one change, made or refused, to a job that already runs: what
// people and pages are shown of adaptation.
type ActionRecord struct {
	At         time.Time  `json:"at"`
	Workload   WorkloadID `json:"workload"`
	Kind       string     `json:"kind"`                 // grow, shrink, evict, move, …
	Allocation string     `json:"allocation,omitempty"` // where one allocation was changed
	From       string     `json:"from,omitempty"`       // what was, in words: "count 1", "node alpha"
	To         string     `json:"to,omitempty"`
	Reason     string     `json:"reason"`
	Result     string     `json:"result"` // "done", or why not
}
