package classify

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// Telling says which sources tell most of a workload of which nothing is measured yet. The
// zero value knows none.
type Telling struct {
	models     Models
	observable []observability // by source of the models
	deciding   []float64       // by source of the models
}

// NewTelling learns from the profiles that the models were fitted to.
func NewTelling(profiles []profile.Profile, t Training, m Models) Telling {
	return Telling{models: m, observable: observableOf(profiles, t.Sources), deciding: decidingOf(profiles, t.Sources)}
}

// Best are the most informative sources, best first: one after the other that which
// is expected to leave the least variance of all scores (numeric/gauss, Plan), each
// weighted by how often it decides. A run puts pressure on a source once for both of its
// scores, and may give neither. Nil where the models cannot say.
func (t Telling) Best(able []interference.Source, count int) []interference.Source {
	tolerated, ok := t.models.Tolerated.(Planner)
	caused, both := t.models.Caused.(Planner)
	if !ok || !both {
		return nil
	}
	var out []interference.Source
	var known []int
	for range min(count, len(able)) {
		best, least := -1, math.Inf(1)
		for _, s := range able {
			j := slices.Index(t.models.Sources, s)
			if j < 0 || slices.Contains(known, j) {
				continue
			}
			observable := t.observable[j]
			left := t.expected(tolerated, known, j, observable.tolerated) + t.expected(caused, known, j, observable.caused)
			if left < least {
				best, least = j, left
			}
		}
		if best < 0 {
			break
		}
		known, out = append(known, best), append(out, t.models.Sources[best])
	}
	return out
}

// expected is the weighted variance that is left where column j is measured in addition to
// those known, and a score comes of it with a probability; +Inf where the model cannot say.
func (t Telling) expected(m Planner, known []int, j int, observable float64) float64 {
	without := t.leftover(m, known)
	with := t.leftover(m, append(slices.Clone(known), j))
	return observable*with + (1-observable)*without
}

func (t Telling) leftover(m Planner, known []int) float64 {
	each, err := m.Leftovers(known)
	if err != nil {
		return math.Inf(1)
	}
	return floats.Dot(t.deciding, each)
}

// observability is the share of the runs next to a source's kernel that gave its scores.
type observability struct{ tolerated, caused float64 }

func observableOf(profiles []profile.Profile, sources []interference.Source) []observability {
	out := make([]observability, len(sources))
	for j, s := range sources {
		out[j] = observability{
			tolerated: knownShare(profiles, s, func(p profile.Profile) interference.Scores { return p.Sensitivity.Tolerated }),
			caused:    knownShare(profiles, s, func(p profile.Profile) interference.Scores { return p.Sensitivity.Caused }),
		}
	}
	return out
}

// toldWithin is the widest interval, in points, of a score that a run counts as having told
// (that of a profiling run): a wider one informs predictions, and decides nothing by itself.
const toldWithin = 50

// Told reports whether a score is known, and not only within half of the scale.
func Told(e interference.Estimate) bool {
	width, bounded := e.Within().Width()
	return e.Score.Known() && !(bounded && width > toldWithin)
}

// knownShare is over the profiles that name the source, if only with an unknown score; 0
// without any.
func knownShare(profiles []profile.Profile, s interference.Source, scores func(profile.Profile) interference.Scores) float64 {
	profiled, known := 0, 0
	for _, p := range profiles {
		e, ok := scores(p)[s]
		if !ok {
			continue
		}
		profiled++
		if Told(e) {
			known++
		}
	}
	return float64(known) / float64(max(1, profiled))
}

// decidingOf is, by source of the training rows, how often its scores decide which workloads
// may be co-located: the share of pairs of rows of which one causes more than the other
// tolerates. Of a source on which every workload tolerates everything, scores need not be
// known.
func decidingOf(profiles []profile.Profile, sources []interference.Source) []float64 {
	out := make([]float64, len(sources))
	for j, s := range sources {
		var tolerated, caused []float64
		for _, p := range profiles {
			if e := p.Sensitivity.Tolerated[s]; Told(e) {
				tolerated = append(tolerated, e.Score.Or(0))
			}
			if e := p.Sensitivity.Caused[s]; Told(e) {
				caused = append(caused, e.Score.Or(0))
			}
		}
		exceeded := 0
		for _, tolerates := range tolerated {
			for _, causes := range caused {
				if causes > tolerates {
					exceeded++
				}
			}
		}
		out[j] = float64(exceeded) / float64(max(1, len(tolerated)*len(caused)))
	}
	return out
}
