package production

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// Whose says whose word an experiment is for a workload.
type Whose int

// Of the same namespace; of another one that shares profiles with it.
const (
	Own Whose = iota
	Foreign
)

// AddTolerated adds what an experiment says of a workload's own scores.
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

// AddCaused adds what it says of a co-runner's scores.
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

// Drift: so many of the newest experiments must contradict the profile in one direction,
// in more than one situation or over a while (chosen by us: one is an accident).
const (
	surprisesLookedAt = 6
	surprisesWanted   = 4
	surprisesApart    = 20 * time.Minute
)

// AddSurprise notes how an experiment compares with the profile alone, and says whether the
// profile is of another behaviour than what runs.
func AddSurprise(said *profile.Production, s profile.Surprise) (reason string, drifted bool) {
	said.Surprises = append(said.Surprises, s)
	if n := len(said.Surprises); n > surprisesLookedAt {
		said.Surprises = slices.Clone(said.Surprises[n-surprisesLookedAt:])
	}
	for side, words := range map[int]string{-1: "less", 1: "more"} {
		var of []profile.Surprise
		for _, o := range said.Surprises {
			if o.Side == side {
				of = append(of, o)
			}
		}
		if len(of) < surprisesWanted {
			continue
		}
		first, last := of[0], of[len(of)-1]
		situations := map[string]bool{}
		for _, o := range of {
			situations[o.Situation] = true
		}
		if len(situations) < 2 && last.At.Sub(first.At) < surprisesApart {
			continue
		}
		return fmt.Sprintf("in %d of its newest %d experiments in production it did %s than its profile allows, beyond the intervals of both", len(of), len(said.Surprises), words), true
	}
	return "", false
}

// Counted is how many experiments of a situation have counted, with one more.
func Counted(said *profile.Production, situation string, at time.Time) (earlier int) {
	i := slices.IndexFunc(said.Situations, func(s profile.SituationOf) bool { return s.Situation == situation })
	if i >= 0 {
		earlier = said.Situations[i].Experiments
		said.Situations = slices.Delete(said.Situations, i, i+1)
	}
	said.Situations = append(said.Situations, profile.SituationOf{Situation: situation, Experiments: earlier + 1, At: at})
	if n := len(said.Situations); n > situationsKept {
		said.Situations = slices.Clone(said.Situations[n-situationsKept:])
	}
	return earlier
}

// situationsKept bounds what is remembered of situations (chosen by us).
const situationsKept = 32
