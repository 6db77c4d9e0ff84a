package engine

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

// knowing is what was learnt from all workloads so far.
type knowing struct {
	mu             sync.RWMutex
	models         classify.Models
	columns        []interference.Source // that count; nil before the first fit
	told           []toldShare           // by source of the models
	deciding       []float64             // by source of the models; see deciding
	configurations []string              // every node configuration seen
	rank           map[string]float64    // mean speed of a configuration relative to the row's best
}

// refit fits the models to the shipped rows and every stored profile. Only a
// new complete profile calls for it: a row of a new workload is folded in.
func (e *Engine) refit(ctx context.Context) error {
	stored, err := store.Profiles{Store: e.cfg.Store}.List(ctx)
	if err != nil {
		return fmt.Errorf("reading profiles: %w", err)
	}
	rows := append(slices.Clone(e.cfg.Training), stored...)
	training := classify.TrainingFrom(rows)
	descriptor, err := classify.Lookup(classifierName)
	if err != nil {
		return err
	}
	models, err := training.Fit(descriptor.New(), modelSeed)
	if err != nil {
		return fmt.Errorf("fitting to %d profiles: %w", len(rows), err)
	}
	snapshot, err := e.cfg.World.Snapshot(ctx)
	if err != nil {
		return fmt.Errorf("reading the cluster: %w", err)
	}
	k := &e.knowing
	k.mu.Lock()
	defer k.mu.Unlock()
	k.models, k.columns = models, e.columnsFor(training, snapshot)
	k.configurations = configurationsOf(snapshot)
	k.told, k.deciding = toldOf(rows, training.Sources), deciding(training)
	k.rank = rankOf(training.Speed)
	return nil
}

// classify combines a workload's own profile, if any, with what others show.
func (e *Engine) classify(p *profile.Profile) cluster.Knowledge {
	columns := e.columns()
	e.knowing.mu.RLock()
	defer e.knowing.mu.RUnlock()
	return classify.Knowledge(p, e.knowing.models, columns, e.knowing.configurations)
}

func (e *Engine) configurationRank() map[string]float64 {
	e.knowing.mu.RLock()
	defer e.knowing.mu.RUnlock()
	return e.knowing.rank
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
