package production

import (
	"math"
	"slices"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// Whose is where an experiment comes from, seen from a workload.
type Whose int

// Of the same namespace; of another one that shares profiles with it.
const (
	Own Whose = iota
	Foreign
)

// AddTolerated adds the likelihoods of a workload's own scores by an experiment.
func AddTolerated(said *profile.Production, columns []interference.Source, f Finding, e Evidence, whose Whose) (change float64) {
	said.Tolerated, change = added(said.Tolerated, columns, f.Tolerated, f.Weight, whose)
	if whose == Foreign || !(f.Level.Precision > 0) {
		return change // somebody else may have a part in how slow it was
	}
	if said.Levels == nil {
		said.Levels = map[string]profile.Level{}
	}
	l := said.Levels[e.Configuration]
	l.Precision, l.Shift = rounded(l.Precision+f.Level.Precision), rounded(l.Shift+f.Level.Shift)
	if most := 1 / (leastIsolated * leastIsolated); l.Precision > most {
		l.Shift *= most / l.Precision
		l.Precision = most
	}
	said.Levels[e.Configuration] = l
	return change
}

// AddCaused adds those of a co-runner's scores.
func AddCaused(said *profile.Production, columns []interference.Source, f Finding, coRunner int, whose Whose) (change float64) {
	said.Caused, change = added(said.Caused, columns, f.Caused[coRunner], f.Weight, whose)
	return change
}

// added are the likelihoods with what was found, within their bounds; change is the most by
// which any moved.
func added(to profile.Likelihoods, columns []interference.Source, found map[int][]float64, weight float64, whose Whose) (_ profile.Likelihoods, change float64) {
	for k, l := range found {
		if to == nil {
			to = profile.Likelihoods{}
		}
		was := to[columns[k]]
		now := was
		now.Experiments = rounded(was.Experiments + weight)
		if whose == Own {
			now.Own = sum(was.Own, l, spanOfOwn)
		} else {
			now.Foreign = sum(was.Foreign, l, spanOfForeign)
		}
		change = max(change, differ(was.Own, now.Own), differ(was.Foreign, now.Foreign))
		to[columns[k]] = now
	}
	return to, change
}

// sum of two log-likelihoods, the best at 0, none below -span.
func sum(a, b []float64, span float64) []float64 {
	out := slices.Clone(b)
	if len(a) == len(b) {
		for i := range out {
			out[i] += a[i]
		}
	}
	best := slices.Max(out)
	for i := range out {
		out[i] = rounded(max(-span, out[i]-best))
	}
	return out
}

func differ(a, b []float64) float64 {
	most := 0.0
	for i := range b {
		before := 0.0
		if i < len(a) {
			before = a[i]
		}
		most = max(most, math.Abs(b[i]-before))
	}
	return most
}

// rounded to what is worth storing. It is never -0.
func rounded(v float64) float64 { return math.Round(v*1000)/1000 + 0 }
