package profiling

import (
	"cmp"
	"math/rand/v2"
	"slices"

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
		order = k.by(w.ID.Namespace).telling.Best(able, k.cfg.SourceCount)
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
