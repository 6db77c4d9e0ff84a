package profiling

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/nomad-placer/nomad-placer/placer/classify"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// chooseSources takes the user's, else the operator's, else those that the operator
// prefers, else the most informative ones, else a seeded draw; only ones for which the
// node has a kernel. An operator may prefer those whose desired error intervals
// are the narrowest (LSH paper, §II.B; "nomad-placer-sim figures -only lsh-2f" lists
// them).
func (k *Estimator) chooseSources(n *cluster.Node, job cluster.Job, w cluster.Workload) []interference.Source {
	if len(w.Spec.Profile.Sources) > 0 {
		return w.Spec.Profile.Sources
	}
	if len(k.cfg.ProfileSources) > 0 {
		return k.cfg.ProfileSources
	}
	var able []interference.Source
	for _, c := range k.Columns() {
		if supports(n, c) {
			able = append(able, c)
		}
	}
	rng := rand.New(rand.NewPCG(Seed(job, w), 1))
	rng.Shuffle(len(able), func(i, j int) { able[i], able[j] = able[j], able[i] })
	order := k.cfg.PreferSources
	if len(order) == 0 {
		order = k.by(w.ID.Namespace).informative(able, k.cfg.SourceCount)
	}
	slices.SortStableFunc(able, func(a, b interference.Source) int { return cmp.Compare(place(order, a), place(order, b)) })
	return able[:min(k.cfg.SourceCount, len(able))]
}

// place in a list; those that are not in it come last.
func place(list []interference.Source, s interference.Source) int {
	if i := slices.Index(list, s); i >= 0 {
		return i
	}
	return len(list)
}

// informative are the most informative sources, best first: one after the other that which
// is expected to leave the least variance of all scores (numeric/gauss, Plan), each
// weighted by how often it decides. A run puts pressure on a source once for both of its
// scores, and may give neither. Nil where the models cannot say.
func (k *learnt) informative(able []interference.Source, count int) []interference.Source {
	tolerated, ok := k.models.Tolerated.(classify.Planner)
	caused, both := k.models.Caused.(classify.Planner)
	if !ok || !both {
		return nil
	}
	var out []interference.Source
	var known []int
	for range min(count, len(able)) {
		best, least := -1, math.Inf(1)
		for _, s := range able {
			j := slices.Index(k.models.Sources, s)
			if j < 0 || slices.Contains(known, j) {
				continue
			}
			observable := k.observable[j]
			left := k.expected(tolerated, known, j, observable.tolerated) + k.expected(caused, known, j, observable.caused)
			if left < least {
				best, least = j, left
			}
		}
		if best < 0 {
			break
		}
		known, out = append(known, best), append(out, k.models.Sources[best])
	}
	return out
}

// expected is the weighted variance that is left where column j is measured in addition to
// those known, and a score comes of it with a probability; +Inf where the model cannot say.
func (k *learnt) expected(m classify.Planner, known []int, j int, observable float64) float64 {
	without := k.leftover(m, known)
	with := k.leftover(m, append(slices.Clone(known), j))
	return observable*with + (1-observable)*without
}

func (k *learnt) leftover(m classify.Planner, known []int) float64 {
	each, err := m.Leftovers(known)
	if err != nil {
		return math.Inf(1)
	}
	return floats.Dot(k.deciding, each)
}

// informativeConfiguration is the one of the able ones whose speed, in addition to that on
// the reference, tells most of the speed elsewhere; "" where the models cannot say.
func (k *learnt) informativeConfiguration(reference string, able []string) string {
	all := k.models.Configurations
	planner, ok := k.models.Speed[reference].(classify.Planner)
	if !ok {
		return ""
	}
	known := []int{slices.Index(all, reference)}
	best, err := planner.Plan(known, 1, func(j int) bool { return slices.Contains(able, all[j]) })
	if err != nil || len(best) == 0 {
		return ""
	}
	return all[best[0]]
}
