package cluster

import (
	"math"
	"slices"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// Sizable says which part of a group's size may be chosen for it: how much one
// of its tasks gets, and how many allocations there are. What may be chosen is
// for the user's scale block to say.
type Sizable struct {
	Task       string    `json:"task,omitempty"`        // the one task that is sized; empty: none
	Own        Resources `json:"own"`                   // what it asks for as the user wrote it
	Others     Resources `json:"beside"`                // what the group's other tasks take while it runs, disk included
	Least      Resources `json:"least"`                 // what the group takes at the least, in its other phases
	SizeFixed  string    `json:"size_fixed,omitempty"`  // why no task's size is ours to choose
	CountFixed string    `json:"count_fixed,omitempty"` // why the count is not
	CountMin   int       `json:"count_min,omitempty"`   // bounds of a disabled scaling block; 0: none
	CountMax   int       `json:"count_max,omitempty"`
}

// Group is what one allocation of the group asks for when the sized task gets
// own.
func (s Sizable) Group(own Resources) Resources {
	sum := s.Others.Add(own)
	return Resources{
		CPUMHz: max(sum.CPUMHz, s.Least.CPUMHz), Cores: sum.Cores,
		MemoryMB: max(sum.MemoryMB, s.Least.MemoryMB), DiskMB: sum.DiskMB,
	}
}

// cgroupsVersion is the node attribute of the version of control groups.
const cgroupsVersion = "os.cgroups.version"

// WithoutLastCore is the snapshot for choosing whole cores: under control groups
// v1 Nomad fails a task that would reserve the last core of a node on which others
// share cores, so there one less is on offer.
func (s *Snapshot) WithoutLastCore() *Snapshot {
	out := *s
	out.Nodes = make([]*Node, len(s.Nodes))
	for i, n := range s.Nodes {
		out.Nodes[i] = n
		if n.Attributes.Text(cgroupsVersion) == "1" {
			less := *n
			less.Total.Cores = max(0, n.Total.Cores-1)
			out.Nodes[i] = &less
		}
	}
	return &out
}

// ScaleSpeed is the performance of one allocation by the CPUs it may use,
// relative to that of Knowledge.ReferenceCores.
type ScaleSpeed struct {
	Cores    int                 `json:"cores"`
	Relative float64             `json:"relative"`
	Low      float64             `json:"low"`
	High     float64             `json:"high"`
	Origin   interference.Origin `json:"origin"`
}

// AtCores is the relative performance on so many CPUs: as known, or, between two
// known numbers, on the line that joins them, which is careful for everything
// that gains less from each further CPU; none at all does nothing. Beyond the
// last known number nothing is known.
func (k *Knowledge) AtCores(cores int) (ScaleSpeed, bool) {
	points := slices.SortedFunc(slices.Values(k.ScaleUp), func(a, b ScaleSpeed) int { return a.Cores - b.Cores })
	below := ScaleSpeed{}
	for _, p := range points {
		switch {
		case p.Cores == cores:
			return p, true
		case p.Cores > cores && cores > 0:
			share := float64(cores-below.Cores) / float64(p.Cores-below.Cores)
			between := func(a, b float64) float64 { return a + (b-a)*share }
			return ScaleSpeed{
				Cores: cores, Origin: interference.Assumed,
				Relative: between(below.Relative, p.Relative), Low: between(below.Low, p.Low), High: between(below.High, p.High),
			}, true
		}
		below = p
	}
	return ScaleSpeed{}, false
}

// AtSize is the knowledge of the same workload at another size: every speed times
// a relative one.
func (k *Knowledge) AtSize(s ScaleSpeed) *Knowledge {
	out := *k
	out.Speed = make(map[string]profile.Measurement, len(k.Speed))
	for configuration, m := range k.Speed {
		m.Value *= s.Relative
		m.Low, m.High = m.Low*s.Low, m.High*s.High
		out.Speed[configuration] = m
	}
	return &out
}

// memoryReserve is what an allocation gets beyond the memory that a run was seen
// to use: two deviations of a measurement, so that it is not killed for a misreading.
const memoryReserve = 1.05

// MemoryBlock is the least of the blocks that holds what was seen to be used, or
// the largest; blocks are ascending. Without blocks it is what was seen and the
// reserve.
func MemoryBlock(blocksMB []int, seenMB float64) (mb int, holds bool) {
	for _, mb := range blocksMB {
		if float64(mb) >= memoryReserve*seenMB {
			return mb, true
		}
	}
	if len(blocksMB) == 0 {
		return int(math.Ceil(memoryReserve * seenMB)), true
	}
	return blocksMB[len(blocksMB)-1], false
}

// MaxTried bounds the list of tried sizes of a record.
const MaxTried = 30

// Sizing is how the size of a group was chosen, or why it was not.
type Sizing struct {
	Chosen   bool       `json:"chosen"` // Decision.Count and Resources are the placer's
	Task     string     `json:"task,omitempty"`
	Own      Resources  `json:"own"`       // of the task, chosen
	OwnWas   Resources  `json:"own_was"`   // as the user wrote it
	CountWas int        `json:"count_was"` // as the user wrote it
	Speed    ScaleSpeed `json:"speed"`     // of one allocation, relative to the profiled one
	Reaches  bool       `json:"reaches"`   // the target is predicted to be reached, or there is none
	Kept     bool       `json:"kept,omitempty"`
	Why      string     `json:"why"` // one sentence
	Tried    []Tried    `json:"tried,omitempty"`
	NotTried int        `json:"not_tried,omitempty"` // larger ones, which were not needed
}

// Changes reports that the group gets something else than the user wrote.
func (s *Sizing) Changes(count int) bool {
	return s != nil && s.Chosen && (s.Own != s.OwnWas || s.CountWas != count)
}

// Tried is one size that was considered.
type Tried struct {
	Count     int        `json:"count"`
	Own       Resources  `json:"own"`
	Predicted Prediction `json:"predicted"`
	Reaches   bool       `json:"reaches"`
	Note      string     `json:"note,omitempty"` // what speaks against it
}
