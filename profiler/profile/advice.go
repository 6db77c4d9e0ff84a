package profile

import "github.com/nomad-placer/nomad-placer/profiler/interference"

// SoFar is what a run knows while it goes on.
type SoFar struct {
	Profile       Profile               `json:"profile"` // what is measured by now; of the present source in part
	Source        interference.Source   `json:"source"`  // under measurement
	SourceSeconds float64               `json:"source_seconds"`
	Seconds       float64               `json:"seconds"` // since the measuring began
	Left          []interference.Source `json:"left,omitempty"`
}

// Advice is what to measure next, from whoever knows what the profile is for: a run knows
// its workload only. The zero value changes nothing.
type Advice struct {
	// Sources are measured from now on, in this order, in place of those that are left. Nil
	// leaves them as they are; an empty list ends the run after the present source. What
	// the run was not asked for, or has measured, is passed over.
	Sources []interference.Source `json:"sources"`
	// Leave is the source that is not worth going on with: if it is still under
	// measurement, what it has given by now is its result. Empty: none.
	Leave interference.Source `json:"leave,omitempty"`
}
