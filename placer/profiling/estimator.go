package profiling

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/nomad-placer/nomad-placer/placer/classify"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/predict"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
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

func (k *Estimator) configurationRank() map[string]float64 {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.rank
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

// fastest is the highest known speed in the unit of a target; 0 where there is none.
func fastest(k *cluster.Knowledge, t performance.Target) float64 {
	best := 0.0
	for _, m := range k.Speed {
		if m.Unit == "" || m.Unit == t.RateUnit() {
			best = max(best, m.Value)
		}
	}
	return best
}

// Tolerance is what a workload tolerates by its own target; see predict.Stands.
func (k *Estimator) Tolerance(known *cluster.Knowledge, slowdownPercent float64, needs *float64) interference.Scores {
	if needs == nil {
		return nil
	}
	if !(slowdownPercent > 0 && slowdownPercent < 100) {
		slowdownPercent = performance.DefaultSlowdownMaxPercent
	}
	return predict.Stands(known, k.Columns(), slowdownPercent, *needs)
}

// MeanTolerance is what a workload tolerates of a source on average, in percent; one
// of which nothing is known tolerates what is assumed.
func (k *Estimator) MeanTolerance(known *Known) float64 {
	spec := known.Workload.Spec
	tolerated := k.Tolerance(&known.Knowledge, spec.SlowdownMaxPercent, spec.RequiredFraction(max(1, known.Workload.Count), fastest(&known.Knowledge, spec.Target)))
	if tolerated == nil {
		tolerated = known.Knowledge.Sensitivity.Tolerated
	}
	columns := k.Columns()
	sum := 0.0
	for _, v := range tolerated.Vector(columns) {
		if math.IsNaN(v) {
			v = cluster.AssumedToleratedPercent
		}
		sum += v
	}
	return sum / float64(max(1, len(columns)))
}
