package report

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/sim"
)

// run is a result with what several metrics read, sorted once; not to be written to.
type run struct {
	*sim.Result
	lists    map[string][]float64
	shortest []*sim.Record
}

func (r *run) list(name string, of func() []float64) []float64 {
	out, ok := r.lists[name]
	if !ok {
		if r.lists == nil {
			r.lists = map[string][]float64{}
		}
		out = of()
		r.lists[name] = out
	}
	return out
}

func (r *run) performances() []float64 {
	return r.list("performance", func() []float64 { return sorted(r, performance) })
}

func (r *run) withWaits() []float64 {
	return r.list("with wait", func() []float64 { return sorted(r, withWait) })
}

// waits of all jobs; see waitsOf.
func (r *run) waits() []float64 {
	return r.list("waits", func() []float64 { return waitsOf(r, 0, sim.Instant(math.MaxInt64)) })
}

// decidings are milliseconds.
func (r *run) decidings() []float64 {
	return r.list("decidings", func() []float64 {
		return sorted(r, func(r *sim.Record) float64 { return float64(r.Deciding) / float64(time.Millisecond) })
	})
}

// shortestFirst are the jobs that ended, by their ideal time.
func (r *run) shortestFirst() []*sim.Record {
	if r.shortest == nil {
		for i := range r.Records {
			if rec := &r.Records[i]; rec.Outcome == sim.Done && rec.Ideal > 0 {
				r.shortest = append(r.shortest, rec)
			}
		}
		slices.SortStableFunc(r.shortest, func(a, b *sim.Record) int { return cmp.Compare(a.Ideal, b.Ideal) })
	}
	return r.shortest
}
