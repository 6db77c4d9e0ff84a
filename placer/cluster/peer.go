package cluster

import "strings"

// DefaultRackMeta is the key of a node's meta that names its rack: Nomad has no racks.
const DefaultRackMeta = "rack"

// MaxAffinityCount is the group count above which affinities are left out: the work of
// Nomad's scheduler on them grows with the square of the count.
const MaxAffinityCount = 100

// Peer is a task group or a job that a workload exchanges data with. It is looked for in the
// workload's own namespace only, so no tenant has a say in where another's jobs go.
type Peer struct {
	Name string // job, see ParentJob, or job/group
	// BytesPerSec is what both exchange, both directions added up; 0: it was declared.
	BytesPerSec float64
}

// Is reports whether a workload of the same namespace is the peer.
func (p Peer) Is(w WorkloadID) bool {
	job := ParentJob(w.Job)
	return p.Name == job || p.Name == job+"/"+w.Group
}

// Exchanged is what all allocations of a workload exchange over the network, by captured traffic.
type Exchanged struct {
	SentBytesPerSec, ReceivedBytesPerSec float64
	Basis                                string  // which time that was, as in "in the same hour a day before"
	LinkMbitPerSec                       float64 // what the link of a node carries in each direction
}

// Nearness is what became of a workload's wish to be in the rack of its peers.
type Nearness struct {
	Peers     []string `json:"peers"`     // job, or job/group
	Attribute string   `json:"attribute"` // what names the rack of a node, such as ${meta.rack}
	// Racks are those that it is led to, the best first; none: nothing changed.
	Racks []RackWeight `json:"racks,omitempty"`
	Why   string       `json:"why"` // one sentence
}

// RackWeight is a rack and how much is exchanged with it.
type RackWeight struct {
	Rack          string `json:"rack"`
	WeightPercent int    `json:"weight_percent"` // of the best rack's, 1..100
	// NextUplinkBytesPerSec is what its uplink is expected to carry in the next hour, without
	// the workload; nil: not known.
	NextUplinkBytesPerSec *float64 `json:"next_uplink_bytes_per_sec,omitempty"`
}

// instances are what Nomad puts between the name of a job and what tells its instances
// apart.
var instances = []string{"/dispatch-", "/periodic-"}

// ParentJob is one name for all instances of a periodic or parameterized job: what is
// learnt of one holds for the next.
func ParentJob(id string) string {
	for _, i := range instances {
		if at := strings.LastIndex(id, i); at > 0 {
			id = id[:at]
		}
	}
	return id
}
