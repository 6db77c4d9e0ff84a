package provision

import (
	"math"
	"slices"
	"time"
)

// The least that the distribution of waits must rest on, and what is remembered (chosen by us).
const (
	leastWaits = 20
	mostWaits  = 1000
)

// Waits estimates how long a job of one class of nodes waits for room in the base: by the waits
// of others, or while these are few, by the rate at which such room became free (§8.4.2).
type Waits struct {
	waits    []time.Duration // the newest last
	releases int
	first    time.Time // of the releases
	last     time.Time
}

// Waited notes that a job of the class got room after a while.
func (w *Waits) Waited(d time.Duration) {
	w.waits = append(w.waits, d)
	if over := len(w.waits) - mostWaits; over > 0 {
		w.waits = slices.Delete(w.waits, 0, over)
	}
}

// Released notes that room for a job of the class became free.
func (w *Waits) Released(at time.Time) {
	if w.releases == 0 {
		w.first = at
	}
	w.releases++
	w.last = at
}

// Within is the time after which a job has room with probability p, where position others of its
// class wait before it; false where nothing is known.
func (w *Waits) Within(p float64, position int) (time.Duration, bool) {
	if len(w.waits) >= leastWaits {
		sorted := slices.Sorted(slices.Values(w.waits))
		rank := int(math.Ceil(p*float64(len(sorted)))) - 1
		return sorted[min(len(sorted)-1, max(0, rank))], true
	}
	if span := w.last.Sub(w.first); w.releases >= 2 && span > 0 {
		between := span / time.Duration(w.releases-1)
		return time.Duration(position+1) * between, true
	}
	return 0, false
}
