package wording

import (
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// Window is what the allocations of a group did together in one window of
// time.
type Window struct {
	At time.Time // its first observation
	Measured
}

// History is what was measured of a group, window by window, oldest first.
type History struct {
	Windows []Window
	Judged  int // windows that can be compared with the target
	Met     int // of them, those that met it
}

// spreadWindows is how many of the newest windows a spread rests on at most:
// two minutes at the default interval.
const spreadWindows = 6

// Over puts the observations of each window together and compares it with the
// target. An allocation that is seen again, or an observation later than its
// window's first by more than the window, begins the next one.
func Over(t performance.Target, observations []cluster.Observation) History {
	sorted := slices.Clone(observations)
	slices.SortStableFunc(sorted, func(a, b cluster.Observation) int { return a.At.Compare(b.At) })
	var h History
	from, seen := 0, map[string]bool{}
	for i, o := range sorted {
		if i > from && (seen[o.Allocation] || o.At.Sub(sorted[from].At) > o.Window) {
			h.add(t, sorted[from:i])
			from = i
			clear(seen)
		}
		seen[o.Allocation] = true
	}
	if from < len(sorted) {
		h.add(t, sorted[from:])
	}
	return h
}

func (h *History) add(t performance.Target, observations []cluster.Observation) {
	w := Window{observations[0].At, Measure(t, observations)}
	h.Windows = append(h.Windows, w)
	switch w.Verdict {
	case Met:
		h.Met++
		h.Judged++
	case Missed:
		h.Judged++
	case NoVerdict:
	}
}

// Known are the windows with a number.
func (h History) Known() []Window {
	return slices.DeleteFunc(slices.Clone(h.Windows), func(w Window) bool { return !w.Measured.Known })
}

// MetShare is the share of the judged windows that met the target, 0..1; ok is
// false where none could be judged.
func (h History) MetShare() (share float64, ok bool) {
	if h.Judged == 0 {
		return 0, false
	}
	return float64(h.Met) / float64(h.Judged), true
}

// Spread is the lowest and the highest of the newest windows with a number,
// and how many those are; fewer than two have no spread.
func (h History) Spread() (low, high float64, windows int) {
	known := h.Known()
	known = known[max(0, len(known)-spreadWindows):]
	for i, w := range known {
		if i == 0 {
			low, high = w.Value, w.Value
		}
		low, high = min(low, w.Value), max(high, w.Value)
	}
	return low, high, len(known)
}
