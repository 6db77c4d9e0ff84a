package profiling

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/nomad-placer/nomad-placer/placer/classify"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/predict/production"
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

// Estimator is what was learnt from workloads so far. By default a namespace learns from the
// shipped rows and from its own: what another tenant's workloads did while they were
// measured moves no prediction of its own (decision 0032).
type Estimator struct {
	cfg *Config

	preparing  sync.Mutex
	changing   sync.Mutex // held while rows change
	experience experience
	fits       fits

	mu             sync.RWMutex
	rows           rows
	columns        []interference.Source // that count; nil before the first fit
	configurations []string              // every node configuration seen
	refused        int                   // stored profiles that are not used
}

// learnt is what the shipped rows and those of one scope say of workloads. It is not
// written to once it is there; the zero value knows nothing.
type learnt struct {
	models  classify.Models
	telling classify.Telling
	rows    classify.Training
	rank    map[string]float64 // mean speed of a configuration relative to the row's best
}

// Refit reads every stored profile, and forgets what was learnt from those before. Models
// of a scope are fitted when they are first asked for.
func (k *Estimator) Refit(ctx context.Context) error {
	k.changing.Lock()
	defer k.changing.Unlock()
	if err := k.readProduction(ctx); err != nil {
		return err
	}
	var read rows
	profiled := map[string]bool{}
	refused, err := store.Profiles{Store: k.cfg.Store}.Each(ctx, func(p profile.Profile, _ uint64) error {
		profiled[p.Key] = true
		read.add(k.scopeOf(p), k.rowOf(p))
		return nil
	})
	if err != nil {
		return fmt.Errorf("reading profiles: %w", err)
	}
	for _, p := range k.experience.unprofiled(profiled) {
		read.add(k.scopeOf(p), k.rowOf(p))
	}
	if len(refused) > 0 {
		k.cfg.Log.Warn("stored profiles are not used; delete them with nomad var purge, or their workloads are measured anew", "count", len(refused), "first", refused[0])
	}
	if err := k.Prepare(); err != nil {
		return err
	}
	if err := k.learn(ctx, read, len(refused)); err != nil {
		return err
	}
	k.fits.dropAll()
	return nil
}

// Prepare fits the models of the rows that are shipped, once: seconds of CPU time for which a
// new leader's jobs would wait.
func (k *Estimator) Prepare() error {
	k.preparing.Lock()
	defer k.preparing.Unlock()
	if k.fits.of("") != nil {
		return nil
	}
	shipped, err := fit(k.cfg.Training)
	if err != nil {
		return err
	}
	k.fits.put("", shipped)
	return nil
}

// Learned adds a profile that was stored just now.
func (k *Estimator) Learned(ctx context.Context, p profile.Profile) error {
	k.changing.Lock()
	defer k.changing.Unlock()
	k.mu.RLock()
	now, refused := k.rows.clone(), k.refused
	k.mu.RUnlock()
	now.add(k.scopeOf(p), k.rowOf(p))
	if err := k.learn(ctx, now, refused); err != nil {
		return err
	}
	k.fits.outdate(k.scopeOf(p))
	return nil
}

// learntFrom are the keys of the stored rows.
func (k *Estimator) learntFrom() []string {
	k.mu.RLock()
	defer k.mu.RUnlock()
	var out []string
	for _, list := range k.rows.of {
		for _, p := range list {
			out = append(out, p.Key)
		}
	}
	return out
}

// unlearn takes rows away that are not stored any more.
func (k *Estimator) unlearn(ctx context.Context, gone []string) error {
	if len(gone) == 0 {
		return nil
	}
	k.changing.Lock()
	defer k.changing.Unlock()
	k.mu.RLock()
	now, refused := k.rows.clone(), k.refused
	k.mu.RUnlock()
	scopes := now.without(gone)
	if err := k.learn(ctx, now, refused); err != nil {
		return err
	}
	for _, scope := range scopes {
		k.fits.drop(scope)
	}
	return nil
}

// learn takes the rows as those to learn from. The caller holds k.changing.
func (k *Estimator) learn(ctx context.Context, now rows, refused int) error {
	snapshot, err := k.cfg.World.Snapshot(ctx)
	if err != nil {
		return fmt.Errorf("reading the cluster: %w", err)
	}
	// Which sources count is the same for all nodes and all namespaces, so rows of one
	// among several do not decide it.
	counting := k.cfg.Training
	if of, sole := now.sole(); sole {
		counting = slices.Concat(counting, of)
	}
	columns := k.columnsFor(counting, snapshot)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.rows, k.refused = now, refused
	k.columns, k.configurations = columns, configurationsOf(snapshot)
	return nil
}

func (k *Estimator) scopeOf(p profile.Profile) string { return k.cfg.Sharing.Scope(p.Namespace()) }

// Refused is how many stored profiles are not used.
func (k *Estimator) Refused() int {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.refused
}

func (k *Estimator) noteRefused(count int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.refused = count
}

// by is what a namespace learns from: models of its rows as they are, or, where fitting them
// takes its time, as they were, or what is shipped.
func (k *Estimator) by(namespace string) *learnt {
	scope := k.cfg.Sharing.Scope(namespace)
	shipped := k.fits.of("")
	if shipped == nil {
		return &learnt{}
	}
	if len(k.rowsOf(scope)) == 0 {
		return shipped
	}
	k.fits.renew(k.cfg.Clock, scope, func() *learnt {
		of, err := fit(slices.Concat(k.cfg.Training, k.rowsOf(scope)))
		if err != nil {
			k.cfg.Log.Warn("models could not be fitted to the profiles of a namespace; what is shipped is used alone", "namespace", namespace, "error", err)
			return shipped
		}
		return of
	})
	return cmp.Or(k.fits.of(scope), shipped)
}

func (k *Estimator) rowsOf(scope string) []profile.Profile {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.rows.of[scope]
}

func fit(profiles []profile.Profile) (*learnt, error) {
	training := classify.TrainingFrom(profiles)
	descriptor, err := classify.Lookup(classifierName)
	if err != nil {
		return nil, err
	}
	models, err := training.Fit(descriptor.New(), modelSeed)
	if err != nil {
		return nil, fmt.Errorf("fitting to %d profiles: %w", len(profiles), err)
	}
	return &learnt{
		models: models, rows: training, telling: classify.NewTelling(profiles, training, models), rank: rankOf(training.Speed),
	}, nil
}

// Classify combines a workload's own profile, if any, with what others show whose profiles
// count for its namespace, and with what production says of it.
func (k *Estimator) Classify(namespace, key string, p *profile.Profile) cluster.Knowledge {
	said := k.said(namespace, key, p)
	if said == nil {
		return k.withoutProduction(namespace, p)
	}
	return production.Fold(k.withoutProduction(namespace, p), said.SlowdownMax, said)
}

func (k *Estimator) withoutProduction(namespace string, p *profile.Profile) cluster.Knowledge {
	columns, of := k.Columns(), k.by(namespace)
	k.mu.RLock()
	defer k.mu.RUnlock()
	return classify.Knowledge(p, of.models, columns, k.configurations)
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
