package lotes

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/numeric/kmeans"
)

// History is the jobs of a sliding window, and the classes that they make (§5.3.2).
// Times are since the start of the world.
type History struct {
	Window  time.Duration // a day
	Classes int           // at most; of jobs that declare none

	jobs   []past // by arrival
	ended  []past // by end
	seen   uint64 // arrivals ever
	random *rand.Rand
}

// past is a job that arrived, or one that ended after so many hours somewhere.
type past struct {
	at       time.Duration
	size     Size
	declared int
	hours    float64
	where    int // configuration
}

// Limits of what is remembered and learnt from.
const (
	jobsMost       = 20_000
	clusteredMost  = 4_000
	clusterStarts  = 20
	smallestClass  = 0.01 // share of the jobs for which a further class is worth it (§5.3.2)
	shortest       = 1e-9 // hours: a rate is finite
	finishedEnough = 30   // jobs that tell the rate of a class on a configuration
)

// NewHistory of a window, and at most so many classes.
func NewHistory(window time.Duration, classes int, random *rand.Rand) *History {
	return &History{Window: window, Classes: classes, random: random}
}

// Seen counts all arrivals.
func (h *History) Seen() uint64 { return h.seen }

// Arrived notes a job.
func (h *History) Arrived(m *Mix, now time.Duration, a *board.Request) {
	h.seen++
	h.jobs = appended(h.jobs, past{at: now, size: m.sizeOf(a.Size), declared: a.Class})
}

// Ran notes that an allocation ended after so long on a configuration.
func (h *History) Ran(m *Mix, now time.Duration, size cluster.Resources, declared int, span time.Duration, configuration int) {
	h.ended = appended(h.ended, past{now, m.sizeOf(size), declared, max(span.Hours(), shortest), configuration})
}

// appended drops the older half of a list that is full.
func appended(list []past, p past) []past {
	if len(list) >= 2*jobsMost {
		list = slices.Delete(list, 0, jobsMost)
	}
	return append(list, p)
}

// Model of the jobs in the window; false where there are none.
func (h *History) Model(m *Mix, now time.Duration, configurations int) (Model, bool) {
	h.jobs, h.ended = recent(h.jobs, now-h.Window), recent(h.ended, now-h.Window)
	jobs := every(h.jobs, clusteredMost)
	if len(jobs) == 0 {
		return Model{}, false
	}
	out := Model{Declared: !slices.ContainsFunc(jobs, func(j past) bool { return j.declared <= 0 })}
	class, count := h.declared(jobs)
	if !out.Declared {
		class, count = h.cluster(m, jobs)
	}
	out.Classes = make([]ModelClass, count)
	for i, j := range jobs {
		c := &out.Classes[class[i]]
		c.Share++
		c.Size.CPUMHz, c.Size.MemoryMB, c.Size.DiskMB = c.Size.CPUMHz+j.size.CPUMHz, c.Size.MemoryMB+j.size.MemoryMB, c.Size.DiskMB+j.size.DiskMB
	}
	for k := range out.Classes {
		if c := &out.Classes[k]; c.Share > 0 {
			c.Size = Size{c.Size.CPUMHz / c.Share, c.Size.MemoryMB / c.Share, c.Size.DiskMB / c.Share}
		}
	}
	h.rates(m, &out, configurations)
	return out, true
}

// recent are those since an instant, or the last one.
func recent(list []past, since time.Duration) []past {
	at := 0
	for at < len(list)-1 && list[at].at < since {
		at++
	}
	return slices.Delete(list, 0, at)
}

// every n-th, so that they are most at most.
func every(list []past, most int) []past {
	step := max(1, (len(list)+most-1)/most)
	var out []past
	for i := 0; i < len(list); i += step {
		out = append(out, list[i])
	}
	return out
}

func (h *History) declared(jobs []past) (class []int, count int) {
	for _, j := range jobs {
		class = append(class, j.declared-1)
		count = max(count, j.declared)
	}
	return class, count
}

// cluster by cpu and memory, in units of their spread: the run time is not known of
// a job that arrives. A further class is accepted while the smallest has its share.
func (h *History) cluster(m *Mix, jobs []past) ([]int, int) {
	points := make([][]float64, len(jobs))
	for i, j := range jobs {
		points[i] = []float64{j.size.CPUMHz / m.unit.CPUMHz, j.size.MemoryMB / m.unit.MemoryMB}
	}
	best, count := make([]int, len(jobs)), 1
	for k := 2; k <= h.Classes; k++ {
		c, err := kmeans.Fit(points, kmeans.Config{Clusters: k, Restarts: clusterStarts, Seed: h.random.Uint64()})
		if err != nil {
			break
		}
		if sizes := c.Sizes(); len(sizes) < k || float64(slices.Min(sizes)) < smallestClass*float64(len(jobs)) {
			break
		}
		best, count = c.Assigned, k
	}
	return best, count
}

// rates of the classes on each configuration, from what ended in the window; where
// too few have, that of the class on all of them. Until anything has ended, all are
// alike.
func (h *History) rates(m *Mix, model *Model, configurations int) {
	type sum struct{ hours, ended float64 }
	whole, by := make([]sum, len(model.Classes)), make([][]sum, len(model.Classes))
	var all sum
	for k := range by {
		by[k] = make([]sum, configurations)
	}
	for _, e := range every(h.ended, jobsMost) {
		k := m.nearest(model, e.size, e.declared)
		if e.where >= configurations {
			continue
		}
		for _, s := range []*sum{&all, &whole[k], &by[k][e.where]} {
			s.hours, s.ended = s.hours+e.hours, s.ended+1
		}
	}
	for k := range model.Classes {
		c := &model.Classes[k]
		for j := range configurations {
			rate := 1.0
			for _, s := range []sum{by[k][j], whole[k], all} {
				if s.ended >= finishedEnough || s == all && s.ended > 0 {
					rate = s.ended / s.hours
					break
				}
			}
			c.Rate = append(c.Rate, rate)
		}
	}
}
