package provision

import (
	"slices"
	"time"
)

// Capacity is what there was at a time, in cores.
type Capacity struct {
	At       time.Time `json:"at"`
	Owned    float64   `json:"owned"`    // of owned nodes that are ready
	Given    float64   `json:"given"`    // to jobs, of these
	Serving  float64   `json:"serving"`  // of rented nodes with jobs
	Held     float64   `json:"held"`     // of rented nodes that are on their way, or kept for a job that is not there yet
	Retained float64   `json:"retained"` // of rented nodes without a job
	// Used is what jobs were measured to keep busy, on owned and rented nodes; nil: of no job that is known.
	// Of Unmeasured workloads it is not, so they are not in it.
	Used       *float64 `json:"used,omitempty"`
	Unmeasured int      `json:"unmeasured,omitempty"`
}

// What is kept of capacity, chosen by us: half a day, by the minute.
const (
	CapacityEvery = time.Minute
	mostCapacity  = 720
)

// Capacities are samples, the oldest first.
type Capacities []Capacity

// Add a sample if the newest one is old enough, and reports whether it was.
func (c *Capacities) Add(sample Capacity) bool {
	if n := len(*c); n > 0 && sample.At.Sub((*c)[n-1].At).Abs() < CapacityEvery {
		return false
	}
	*c = append(*c, sample)
	if over := len(*c) - mostCapacity; over > 0 {
		*c = slices.Delete(*c, 0, over)
	}
	return true
}
