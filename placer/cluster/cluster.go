package cluster

import (
	"cmp"
	"maps"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// NodeID is Nomad's node ID.
type NodeID string

// JobID names a job.
type JobID struct {
	Namespace string `json:"namespace"`
	ID        string `json:"id"`
}

// String prints namespace/id.
func (j JobID) String() string { return j.Namespace + "/" + j.ID }

// WorkloadID names a task group of a job: the unit that is profiled and placed.
type WorkloadID struct {
	Namespace string `json:"namespace"`
	Job       string `json:"job"`
	Group     string `json:"group"`
}

// JobID returns the job the group belongs to.
func (w WorkloadID) JobID() JobID { return JobID{w.Namespace, w.Job} }

// String prints namespace/job/group.
func (w WorkloadID) String() string { return w.Namespace + "/" + w.Job + "/" + w.Group }

// Compare orders workloads by namespace, job and group.
func (w WorkloadID) Compare(o WorkloadID) int {
	return cmp.Or(cmp.Compare(w.Namespace, o.Namespace), cmp.Compare(w.Job, o.Job), cmp.Compare(w.Group, o.Group))
}

// Resources are asked or offered, in Nomad's units.
type Resources struct {
	CPUMHz   int `json:"cpu_mhz"`
	Cores    int `json:"cores"` // reserved whole cores; their MHz are not in CPUMHz of an ask
	MemoryMB int `json:"memory_mb"`
	DiskMB   int `json:"disk_mb"`
}

// Add returns r + o.
func (r Resources) Add(o Resources) Resources {
	return Resources{r.CPUMHz + o.CPUMHz, r.Cores + o.Cores, r.MemoryMB + o.MemoryMB, r.DiskMB + o.DiskMB}
}

// Node is a Nomad client.
type Node struct {
	ID            NodeID            `json:"id"`
	Name          string            `json:"name"`
	Datacenter    string            `json:"datacenter"`
	Pool          string            `json:"pool"`
	Class         string            `json:"class"`
	Configuration string            `json:"configuration"` // server configuration: column of the utility matrix
	Address       string            `json:"address,omitempty"`
	Total         Resources         `json:"total"` // what allocations may use
	CoreMHz       int               `json:"core_mhz"`
	Machine       string            `json:"machine,omitempty"` // shared by the nodes of that name; empty: of its own
	Ready         bool              `json:"ready"`             // up, eligible and not draining
	Kernels       bool              `json:"kernels"`           // it has the ibench driver, which may profile there
	Attributes    Attributes        `json:"-"`
	Meta          map[string]string `json:"-"`
}

// Workload is a task group with a performance block.
type Workload struct {
	ID          WorkloadID       `json:"id"`
	Spec        performance.Spec `json:"spec"`
	ProfileKey  string           `json:"profile_key"` // hash of image, command, env and size
	Count       int              `json:"count"`
	Ask         Resources        `json:"ask"` // per allocation
	Drivers     []string         `json:"drivers,omitempty"`
	Constraints []Constraint     `json:"constraints,omitempty"` // the user's own: job, group and tasks
	Datacenters []string         `json:"datacenters,omitempty"`
	Sizable     Sizable          `json:"sizable,omitzero"`
	Spread      string           `json:"spread,omitempty"`     // what the user spreads it over; "": nothing
	NotCopied   string           `json:"not_copied,omitempty"` // why no copy of it may be profiled; "": one may
	Bound       ShortlistDigest  `json:"-"`                    // the nodes that an earlier decision bound it to
	Pinned      string           `json:"-"`                    // the host volume that it uses, whose data stay on their node; "": none
	Migrates    bool             `json:"-"`                    // its ephemeral disk is copied to where it goes
}

// Job is a submitted job as the engine sees it.
type Job struct {
	ID          JobID      `json:"id"`
	Version     uint64     `json:"version"`
	ModifyIndex uint64     `json:"modify_index"` // JobModifyIndex: the compare-and-set token
	SubmittedAt time.Time  `json:"submitted_at"`
	Type        string     `json:"type"` // service, batch, system, sysbatch
	Held        bool       `json:"held"`
	Stopped     bool       `json:"stopped"`
	Complete    bool       `json:"complete,omitempty"` // a batch job that has ended: nothing of it will be placed again
	RunPool     string     `json:"run_pool"`
	Workloads   []Workload `json:"workloads"`          // groups that have a performance block
	Warnings    []string   `json:"warnings,omitempty"` // of the whole job, for its decisions
	Problems    []string   `json:"problems,omitempty"` // why a block could not be read; the job runs under stock rules
}

// Allocation is a live allocation.
type Allocation struct {
	ID          string     `json:"id"`
	Workload    WorkloadID `json:"workload"`
	Node        NodeID     `json:"node"`
	Resources   Resources  `json:"resources"`
	Transferred Resources  `json:"lent,omitzero"` // part of Resources that is transferred to it while it runs
	Version     uint64     `json:"version"`       // job version
	Profiling   bool       `json:"profiling"`     // a run of ours, or a transfer of ours without a recipient: no co-runner of anything
	System      bool       `json:"system"`        // of a system job: on every node whatever we decide
}

// Given is what the allocation was placed with.
func (a Allocation) Given() Resources {
	return Resources{
		a.Resources.CPUMHz - a.Transferred.CPUMHz, a.Resources.Cores - a.Transferred.Cores,
		a.Resources.MemoryMB - a.Transferred.MemoryMB, a.Resources.DiskMB - a.Transferred.DiskMB,
	}
}

// Snapshot is one consistent look at the cluster. Nobody writes to it.
type Snapshot struct {
	Index       uint64
	Nodes       []*Node                                 // sorted by ID
	Allocations map[NodeID][]Allocation                 // live, by node
	Known       map[WorkloadID]interference.Sensitivity // residents' scores; absent: unknown
	Reserved    map[NodeID][]Allocation                 // decided and not yet seen as allocations
	Disk        map[WorkloadID]performance.DiskSpec     // what is promised to each allocation of its node's disk; absent: nothing
	Cache       *Cache                                  // nil: nothing is kept from one snapshot to the next
}

// Machines lists the nodes of each machine that has several, by its name.
func Machines(nodes []*Node) map[string][]*Node {
	all := map[string][]*Node{}
	for _, n := range nodes {
		if n.Machine != "" {
			all[n.Machine] = append(all[n.Machine], n)
		}
	}
	maps.DeleteFunc(all, func(_ string, of []*Node) bool { return len(of) < 2 })
	return all
}

// Machine are the nodes of a node's machine, itself first. O(nodes) where it has a
// name; see Machines for many.
func (s *Snapshot) Machine(n *Node) []*Node {
	out := []*Node{n}
	if n.Machine == "" {
		return out
	}
	for _, o := range s.Nodes {
		if o.ID != n.ID && o.SharesMachine(n) {
			out = append(out, o)
		}
	}
	return out
}

// SharesMachine reports whether two nodes are of one machine.
func (n *Node) SharesMachine(o *Node) bool {
	return n.ID == o.ID || n.Machine != "" && n.Machine == o.Machine
}

// Residents are the allocations and reservations on a node, without those of
// the workload except.
func (s *Snapshot) Residents(n NodeID, except WorkloadID) []Allocation {
	var out []Allocation
	for _, list := range [2][]Allocation{s.Allocations[n], s.Reserved[n]} {
		for _, a := range list {
			if a.Workload != except {
				out = append(out, a)
			}
		}
	}
	return out
}

// Used sums the resources of allocations.
func Used(allocs []Allocation) Resources {
	var sum Resources
	for _, a := range allocs {
		sum = sum.Add(a.Resources)
	}
	return sum
}

// Knowledge is what the classifiers say of a workload before it is placed.
type Knowledge struct {
	Sensitivity interference.Sensitivity       `json:"sensitivity"`
	Speed       map[string]profile.Measurement `json:"speed"` // performance in isolation, by node configuration
	SpeedOrigin map[string]interference.Origin `json:"speed_origin"`
	Ramp        []profile.RampPoint            `json:"-"`
	// ScaleUp is performance by the CPUs an allocation may use; empty: its size was
	// never varied. Speed is at ReferenceCores.
	ScaleUp        []ScaleSpeed `json:"scale_up,omitempty"`
	ReferenceCores int          `json:"reference_cores,omitempty"`
	// Works is the part of its time alone in which it works on a CPU, where only its
	// throughput counts; 0: unknown, or delays count as well.
	DutyCycle    float64  `json:"works_share,omitempty"`
	MemoryPeakMB float64  `json:"memory_peak_mb,omitempty"` // the most the sized task was seen to use; 0: not seen
	Confidence   float64  `json:"confidence"`               // share of scores that were measured, 0..1
	Warnings     []string `json:"warnings,omitempty"`
}

// On is the same on nodes of a configuration: the busier they are with the same work, the
// more of its time the workload works.
func (k *Knowledge) On(configuration string) *Knowledge {
	on := *k
	on.DutyCycle = min(1, k.DutyCycle*max(1, k.Sensitivity.DemandFactor[configuration]))
	return &on
}
