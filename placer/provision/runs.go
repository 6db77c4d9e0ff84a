package provision

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// Run is one stay of a workload on the cluster, from its submission until nothing of it was there any
// more. A time that nobody saw is zero, which is unknown.
type Run struct {
	Workload  cluster.WorkloadID `json:"workload"`
	Service   bool               `json:"service,omitempty"`  // it serves until it is stopped; else it is work that ends
	Submitted time.Time          `json:"submitted,omitzero"` // the version that was decided on
	Started   time.Time          `json:"started,omitzero"`   // it was seen with an allocation first
	Ended     time.Time          `json:"ended,omitzero"`     // it was seen without one
	Gone      bool               `json:"gone,omitempty"`     // it is not there any more; without Ended nobody saw it go
	Count     int                `json:"count"`              // of its allocations
	Cores     float64            `json:"cores"`              // of one
	MemoryMB  int                `json:"memory_mb"`          // of one
	Program   string             `json:"program,omitempty"`  // its profile key, by which its scores are on record
}

// Scores are what a program tolerates and causes, in percent by source. What is not known is missing.
type Scores struct {
	Tolerated map[interference.Source]float64 `json:"tolerated,omitempty"`
	Caused    map[interference.Source]float64 `json:"caused,omitempty"`
}

// NewScores are those of a workload, to a tenth of a point; none where all is assumed.
func NewScores(s interference.Sensitivity, columns []interference.Source) Scores {
	out := Scores{Tolerated: map[interference.Source]float64{}, Caused: map[interference.Source]float64{}}
	learnt := false
	for _, c := range columns {
		for _, side := range []struct {
			of interference.Estimate
			to map[interference.Source]float64
		}{{s.Tolerated[c], out.Tolerated}, {s.Caused[c], out.Caused}} {
			if v, known := side.of.Score.Percent(); known {
				side.to[c] = math.Round(10*v) / 10
				learnt = learnt || side.of.Origin != interference.Assumed
			}
		}
	}
	if !learnt {
		return Scores{}
	}
	return out
}

// Known reports whether anything is known.
func (s Scores) Known() bool { return len(s.Tolerated)+len(s.Caused) > 0 }

func (s Scores) equal(o Scores) bool {
	return maps.Equal(s.Tolerated, o.Tolerated) && maps.Equal(s.Caused, o.Caused)
}

// RunPage is a document's worth of runs.
type RunPage struct {
	Number   int               `json:"-"`                    // by which pages follow each other
	Whole    time.Time         `json:"whole_since,omitzero"` // from when on no run is missing, as far as an agent led
	At       time.Time         `json:"written,omitzero"`     // when it was written
	Programs map[string]Scores `json:"programs,omitempty"`   // by Run.Program
	Runs     []Run             `json:"runs,omitempty"`       // in the order in which they were seen
}

// Runs are all runs on record.
type Runs struct {
	Since      time.Time         `json:"since,omitzero"` // from when on none is missing, as far as an agent led
	Programs   map[string]Scores `json:"programs,omitempty"`
	Runs       []Run             `json:"runs"`
	Unreadable int               `json:"unreadable,omitempty"` // documents
}

// JoinRuns puts pages together. What the newest one says of a program counts.
func JoinRuns(pages []RunPage) Runs {
	out := Runs{Programs: map[string]Scores{}, Runs: []Run{}}
	pages = slices.Clone(pages)
	slices.SortFunc(pages, func(a, b RunPage) int { return cmp.Compare(a.Number, b.Number) })
	for _, p := range pages {
		if p.Whole.After(out.Since) {
			out.Since = p.Whole
		}
		maps.Copy(out.Programs, p.Programs)
		out.Runs = append(out.Runs, p.Runs...)
	}
	return out
}
