package provision

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/numeric/digits"
)

// Reading is how "the 90th percentile of quality" is read.
type Reading string

// The readings.
const (
	ReachedByMost Reading = "reached-by-most" // what 90 % of the nodes reach or exceed
	ReachedByFew  Reading = "reached-by-few"  // what 10 % do: the literal percentile
)

// Mode is how a job is held against what nodes offered.
type Mode string

// The modes.
const (
	Scalar Mode = "scalar" // as one number (published)
	Vector Mode = "vector" // each resource by itself
)

// sample is the pressure on one node at a time.
type sample struct {
	at       time.Time
	pressure Digits
}

// History is what pressed on the nodes of one type lately.
type History struct {
	samples []sample // by time
	within  time.Duration
	most    int
}

// NewHistory keeps samples for so long, and so many at most.
func NewHistory(within time.Duration, most int) *History { return &History{within: within, most: most} }

// Add a sample; they come in the order of time.
func (h *History) Add(at time.Time, pressure Digits) {
	h.samples = append(h.samples, sample{at, slices.Clone(pressure)})
	if over := len(h.samples) - h.most; over > 0 {
		h.samples = slices.Delete(h.samples, 0, over)
	}
	h.forget(at)
}

func (h *History) forget(now time.Time) {
	old := 0
	for old < len(h.samples) && now.Sub(h.samples[old].at) > h.within {
		old++
	}
	h.samples = slices.Delete(h.samples, 0, old)
}

// Samples is how many there are.
func (h *History) Samples(now time.Time) int {
	h.forget(now)
	return len(h.samples)
}

// rank of the percentile among n, from the worst: the least index that share of the samples
// reach or exceed.
func (r Reading) rank(n int, share float64) int {
	if r == ReachedByFew {
		share = 1 - share
	}
	return min(n-1, max(0, n-int(math.Ceil(share*float64(n)))))
}

// Quality is what the share of the nodes offered, false where none was seen.
func (h *History) Quality(now time.Time, share float64, r Reading) (Quality, bool) {
	h.forget(now)
	if len(h.samples) == 0 {
		return nil, false
	}
	offers := make([]Quality, len(h.samples))
	for i, s := range h.samples {
		offers[i] = Offer(s.pressure)
	}
	slices.SortFunc(offers, Quality.Compare)
	return offers[r.rank(len(offers), share)], true
}

// Pressure is what pressed on each resource of the share of the nodes at most, false where none
// was seen.
func (h *History) Pressure(now time.Time, share float64, r Reading) (Digits, bool) {
	h.forget(now)
	if len(h.samples) == 0 {
		return nil, false
	}
	out := make(Digits, len(h.samples[0].pressure))
	column := make([]uint8, len(h.samples))
	for i := range out {
		for k, s := range h.samples {
			column[k] = digits.Top
			if i < len(s.pressure) {
				column[k] = s.pressure[i]
			}
		}
		slices.SortFunc(column, func(x, y uint8) int { return cmp.Compare(y, x) }) // the worst first
		out[i] = column[r.rank(len(column), share)]
	}
	return out, true
}

// Sufficed reports whether the share of the nodes was good enough for a job. A type of which
// nothing was seen is expected to be: somebody has to be the first, and what a provider does not
// share is quiet.
func (h *History) Sufficed(now time.Time, job Digits, share float64, m Mode, r Reading) bool {
	if m == Vector {
		pressure, ok := h.Pressure(now, share, r)
		return !ok || Tolerates(job, pressure)
	}
	q, ok := h.Quality(now, share, r)
	return !ok || q.Suffices(Demand(job))
}
