package trace

import "time"

// Unknown marks a duration or a count that the trace does not give. Sizes that
// are not given are NaN.
const Unknown = -1

// Class is how a submission wants to be treated, in the words of the project.
type Class uint8

// The classes. Each reader says how it maps the trace's own words; those stay in
// Job.Kind.
const (
	UnknownClass Class = iota
	Service            // runs until it is stopped, answers requests
	Batch              // runs to its end
	BestEffort         // may be evicted at any time
)

// String is the name of the class.
func (c Class) String() string {
	switch c {
	case Service:
		return "service"
	case Batch:
		return "batch"
	case BestEffort:
		return "best effort"
	default:
		return "unknown"
	}
}

// Field names a field of a Job that Fill can draw.
type Field uint8

// The fields Fill can draw, a set of bits.
const (
	TasksField Field = 1 << iota
	CoresField
	MemoryField
	DurationField
)

// Job is one submission: a number of equal tasks.
type Job struct {
	Sequence int64  // place in the reader's output, from 0: unique where ID is not
	ID       string // as in the trace, or the row number where it has none
	Group    string // what it belongs to: Google's and Alibaba's job of a task, Azure's batch; may be empty
	User     string // user, tenant or virtual cluster; may be empty
	Kind     string // the trace's or the user's own word: a queue, a QoS class, a scheduling class; may be empty
	Class    Class
	Priority int // larger is more important, on the trace's own scale; 0 where it has none

	Submit   time.Duration // since the origin of the reader, never negative
	Duration time.Duration // of a task that is not disturbed, Unknown where not given
	AtLeast  time.Duration // with Unknown: it was seen running this long; 0 if that is not known either

	Tasks       int      // Unknown where not given
	Cores       float64  // per task
	MemoryBytes float64  // per task
	DiskBytes   float64  // per task
	GPUs        float64  // per task; a fraction shares one device; 0 is none, NaN unknown
	GPUTypes    []string // acceptable models; empty: any

	InputBytes, ShuffleBytes, OutputBytes float64 // of the whole job

	// Apart: no two tasks of the Group on one node.
	Apart bool
	// Drawn is what the trace did not say and Fill drew.
	Drawn Field
}

// Known reports whether the trace gives the duration.
func (j *Job) Known() bool { return j.Duration >= 0 }

// Change is what happened to a node.
type Change uint8

// The changes.
const (
	Added   Change = iota // it is there from now on
	Removed               // it is gone
	Resized               // its capacity is another
)

// String is the name of the change.
func (c Change) String() string {
	switch c {
	case Added:
		return "added"
	case Removed:
		return "removed"
	default:
		return "resized"
	}
}

// NodeEvent is one change of the machines of a trace. The sizes of a Removed
// node are those it last had.
type NodeEvent struct {
	At            time.Duration // since the origin, never negative
	Node          string
	Change        Change
	Configuration string  // platform or model; may be empty
	Cores         float64 // NaN where not given
	MemoryBytes   float64 // NaN where not given
	GPUs          int
	GPUType       string
}
