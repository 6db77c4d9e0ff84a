package profiling

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/nomad-placer/nomad-placer/placer/classify"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/store"
)

// classifierName is the classifier the engine uses: the best on measured speeds,
// level with the best on measured scores, and one that can say what is worth
// measuring (decision 0009).
const classifierName = "local"

// modelSeed makes fitting repeatable: same rows, same model.
const modelSeed = 1

// Estimator is what was learnt from all workloads so far.
type Estimator struct {
	cfg *Config

	mu             sync.RWMutex
	models         classify.Models
	columns        []interference.Source // that count; nil before the first fit
	observable     []observability       // by source of the models
	deciding       []float64             // by source of the models; see deciding
	configurations []string              // every node configuration seen
	rank           map[string]float64    // mean speed of a configuration relative to the row's best
}

// Refit fits the models to the shipped rows and every stored profile. Only a
// new complete profile calls for it: a row of a new workload is folded in.
func (k *Estimator) Refit(ctx context.Context) error {
	stored, err := store.Profiles{Store: k.cfg.Store}.List(ctx)
	if err != nil {
		return fmt.Errorf("reading profiles: %w", err)
	}
	rows := append(slices.Clone(k.cfg.Training), stored...)
	training := classify.TrainingFrom(rows)
	descriptor, err := classify.Lookup(classifierName)
	if err != nil {
		return err
	}
	models, err := training.Fit(descriptor.New(), modelSeed)
	if err != nil {
		return fmt.Errorf("fitting to %d profiles: %w", len(rows), err)
	}
	snapshot, err := k.cfg.World.Snapshot(ctx)
	if err != nil {
		return fmt.Errorf("reading the cluster: %w", err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.models, k.columns = models, k.columnsFor(training, snapshot)
	k.configurations = configurationsOf(snapshot)
	k.observable, k.deciding = observableOf(rows, training.Sources), deciding(training)
	k.rank = rankOf(training.Speed)
	return nil
}

// Classify combines a workload's own profile, if any, with what others show.
func (k *Estimator) Classify(p *profile.Profile) cluster.Knowledge {
	columns := k.Columns()
	k.mu.RLock()
	defer k.mu.RUnlock()
	return classify.Knowledge(p, k.models, columns, k.configurations)
}

func configurationsOf(s *cluster.Snapshot) []string {
	var out []string
	for _, n := range s.Nodes {
		out = append(out, n.Configuration)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// rankOf is each configuration's mean speed over the rows, each row divided by
// its own best.
func rankOf(m classify.Matrix) map[string]float64 {
	sum, n := make([]float64, len(m.Columns)), make([]float64, len(m.Columns))
	for _, row := range m.Rows {
		best := 0.0
		for _, v := range row {
			if v > best { // false for NaN
				best = v
			}
		}
		for j, v := range row {
			if best > 0 && !math.IsNaN(v) {
				sum[j] += v / best
				n[j]++
			}
		}
	}
	out := make(map[string]float64, len(m.Columns))
	for j, c := range m.Columns {
		if n[j] > 0 {
			out[c] = sum[j] / n[j]
		}
	}
	return out
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
		if e.Score.Known() {
			known++
		}
	}
	return float64(known) / float64(max(1, profiled))
}

// deciding is, by source of the training rows, how often its scores decide which workloads
// may be co-located: the share of pairs of rows of which one causes more than the other
// tolerates. Of a source on which every workload tolerates everything, scores need not be
// known.
func deciding(t classify.Training) []float64 {
	out := make([]float64, len(t.Sources))
	for j := range t.Sources {
		pairs, exceeded := 0, 0
		for _, tolerates := range t.Tolerated.Rows {
			for _, causes := range t.Caused.Rows {
				if math.IsNaN(tolerates[j]) || math.IsNaN(causes[j]) {
					continue
				}
				pairs++
				if causes[j] > tolerates[j] {
					exceeded++
				}
			}
		}
		out[j] = float64(exceeded) / float64(max(1, pairs))
	}
	return out
}
