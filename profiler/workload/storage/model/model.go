package model

import (
	"fmt"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/workload/storage"
)

// Model is the state diagram of a trace. It holds no data of a user: no names, no
// contents, and addresses only as states. It is not written to after it was made.
type Model struct {
	Version   int    `json:"version"`
	Device    Device `json:"device"`
	Levels    int    `json:"levels"`
	Branching int    `json:"branching"`
	Form      Form   `json:"form"`
	// Seed is what a generator starts with when it is given none.
	Seed    uint64  `json:"seed"`
	Capture Capture `json:"capture"`
	// Loop is how the workload waits for its own I/Os; nil where that is not known: it is an
	// open loop then, as in the text.
	Loop *Loop `json:"loop,omitempty"`
	// MergedShare is the part of the I/Os whose size was replaced by the nearest that is
	// kept, 0..1.
	MergedShare float64    `json:"merged_share"`
	Categories  []Category `json:"categories"`
	Types       []Type     `json:"thread_types"`
}

// Loop is how a workload waits for its own I/Os. A trace has when they came, and not when they
// ended: it is said by whoever knows the workload.
type Loop struct {
	// Reads and Writes are how many of them it has outstanding at most.
	Reads  int `json:"reads"`
	Writes int `json:"writes"`
	// ThreadReads is how many reads one thread has outstanding at most; 0 has no bound of its own.
	ThreadReads int `json:"thread_reads,omitempty"`
	// Waits says that what an I/O takes longer all that come after are later by, as in a batch
	// job. Else the workload's own times come, as those of requests do, and it makes up for them.
	Waits bool `json:"waits,omitempty"`
}

// Bounds of what may be outstanding (the upper one chosen by us: the kernel's queues are not
// deeper).
const (
	leastOutstanding = 1
	mostOutstanding  = 65536
)

// Device is the address range.
type Device struct {
	Bytes int64 `json:"bytes"`
	// SectorBytes is what addresses are a multiple of.
	SectorBytes int64 `json:"sector_bytes"`
}

// Form is how transitions between groups of states are kept.
type Form string

// The forms. A hierarchical diagram keeps them between the ancestors where they part, a
// flat one between the smallest states.
const (
	Hierarchical Form = "hierarchical"
	Flat         Form = "flat"
)

// Capture is where a model comes from.
type Capture struct {
	Source  string  `json:"source"` // name of the trace's format
	Seconds float64 `json:"seconds"`
	IOs     int64   `json:"ios"`
	// Dropped is how many lines of the trace were no I/O, or were left out.
	Dropped int64 `json:"dropped"`
}

// Span is how long the trace is.
func (c Capture) Span() time.Duration { return time.Duration(c.Seconds * float64(time.Second)) }

// Category is what an I/O is besides its place and time.
type Category struct {
	Op    storage.Op   `json:"op"`
	Kind  storage.Kind `json:"kind"`
	Bytes int64        `json:"bytes"`
}

// Type is the diagram of the threads of one type.
type Type struct {
	Class
	Threads int   `json:"threads"`
	IOs     int64 `json:"ios"`
	// Weight is the type's part of all I/Os, 0..1.
	Weight      float64      `json:"weight"`
	Gap         Gap          `json:"gap"`
	Intervals   []Interval   `json:"intervals"`
	Transitions []Transition `json:"transitions"`
	// Entries are how often a state of the last level was the first one in a state at a
	// level above, by transitions of that level; Exits how often it was the one that was
	// left. They are what a walk needs to visit each as often as the trace did. Sorted by
	// level and state; a flat diagram has none.
	Entries []Crossing `json:"entries,omitempty"`
	Exits   []Crossing `json:"exits,omitempty"`
}

// Interval is a stretch of time of one rate.
type Interval struct {
	StartSeconds float64 `json:"start_seconds"`
	Seconds      float64 `json:"seconds"`
	IOs          int64   `json:"ios"`
	// GapScale is the mean gap here over that of the whole trace; nil without an I/O.
	GapScale *float64 `json:"gap_scale,omitempty"`
}

// Transition is one edge of the diagram: a pair of states of a level, with a category.
// In a file it is a row of numbers (FORMAT.md).
type Transition struct {
	Level, From, To int
	Category        int   // index into Model.Categories
	IOs             int64 // that made it
	Gap             Gap   // the time since the thread's I/O before
}

// Crossing counts transitions of a level that enter or leave a state of the last level.
type Crossing struct {
	Level, State int
	IOs          int64
}

// OnDevice is the model on a device of another size: states keep their shares, and addresses
// are as much closer. That changes how far a head moves, and what a cache of a size holds.
func (m *Model) OnDevice(bytes int64) (*Model, error) {
	least := int64(States(m.Levels)) * m.Device.SectorBytes
	for _, c := range m.Categories {
		least = max(least, c.Bytes)
	}
	if bytes < least {
		return nil, fmt.Errorf("%w: a device of %d bytes; the model needs %d for its states and largest I/O", ErrFit, bytes, least)
	}
	out := *m
	out.Device.Bytes = bytes / m.Device.SectorBytes * m.Device.SectorBytes
	return &out, nil
}

// Probability is prob(t): the part of the I/Os out of its source state that made the
// transition (§A.3.1); 0 where none left it. outOf is Type.OutOf.
func (t Transition) Probability(outOf map[StateOf]int64) float64 {
	n := outOf[StateOf{t.Level, t.From}]
	if n == 0 {
		return 0
	}
	return float64(t.IOs) / float64(n)
}

// StateOf names a state of a level.
type StateOf struct{ Level, State int }

// OutOf counts the I/Os out of every state of every level: those of its own transitions,
// and those of the transitions inside it and out of what is inside it.
func (m *Model) OutOf(t *Type) map[StateOf]int64 {
	leaves := map[int]int64{}
	for _, e := range t.Exits {
		leaves[e.State] += e.IOs
	}
	for _, x := range t.Transitions {
		if x.Level == m.Levels {
			leaves[x.From] += x.IOs
		}
	}
	out := map[StateOf]int64{}
	for leaf, n := range leaves {
		for level := 0; level <= m.Levels; level++ {
			out[StateOf{level, Ancestor(leaf, m.Levels, level)}] += n
		}
	}
	return out
}

// Visits is the part of the I/Os in every state of a level that is not below the model's
// last, over all types.
func (m *Model) Visits(level int) []float64 {
	level = min(level, m.Levels)
	counts, total := make([]float64, States(level)), 0.0
	add := func(leaf int, n int64) {
		counts[Ancestor(leaf, m.Levels, level)] += float64(n)
		total += float64(n)
	}
	for i := range m.Types {
		t := &m.Types[i]
		for _, x := range t.Transitions {
			if x.Level == m.Levels {
				add(x.To, x.IOs)
			}
		}
		for _, e := range t.Entries {
			add(e.State, e.IOs)
		}
	}
	for i := range counts {
		counts[i] /= max(total, 1)
	}
	return counts
}

// IOs is how many I/Os the model was made of.
func (m *Model) IOs() int64 {
	n := int64(0)
	for i := range m.Types {
		n += m.Types[i].IOs
	}
	return n
}

// Rows is how many transitions the diagrams of all types have together.
func (m *Model) Rows() int {
	n := 0
	for i := range m.Types {
		n += len(m.Types[i].Transitions)
	}
	return n
}

// ThreadGap is the mean time between two I/Os of a transition: the time in which its type
// is active over how many made it. It is what one generator thread per transition waits
// (§A.3.4); the gap in the diagram is since the thread's last I/O of any transition.
func (t *Type) ThreadGap(x Transition) time.Duration {
	active := 0.0
	for _, i := range t.Intervals {
		if i.IOs > 0 {
			active += i.Seconds
		}
	}
	return time.Duration(active / float64(x.IOs) * float64(time.Second))
}
