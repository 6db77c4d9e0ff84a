package dei

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/nomad-placer/nomad-placer/placer/sim"
	"github.com/nomad-placer/nomad-placer/placer/sim/scenario"
)

// Simulated is the quality of a scenario's policy under every seed of it. The policy
// should know the truth but for the error: knowledge = "oracle".
func Simulated(s *scenario.Scenario, policy string) Quality {
	return func(ctx context.Context, score Score, points float64) ([]float64, error) {
		column := slices.Index(s.Columns, score.Source)
		if column < 0 && points != 0 {
			return nil, fmt.Errorf("dei: %s has no column %q", s.Name, score.Source)
		}
		out := make([]float64, len(s.Seeds))
		var group errgroup.Group
		group.SetLimit(runtime.GOMAXPROCS(0))
		for i, seed := range s.Seeds {
			group.Go(func() error {
				var err error
				out[i], err = kept(ctx, s, policy, seed, func(inner sim.Estimator) sim.Estimator {
					return &wrong{inner, column, score.Caused, points}
				})
				return err
			})
		}
		if err := group.Wait(); err != nil {
			return nil, err
		}
		return out, nil
	}
}

// kept is the share of jobs that kept their quality of service in one run.
func kept(ctx context.Context, s *scenario.Scenario, policy string, seed uint64, with func(sim.Estimator) sim.Estimator) (float64, error) {
	r, err := s.Run(ctx, scenario.Options{Policies: []string{policy}, Seeds: []uint64{seed}, Parallel: 1, Estimator: with})
	if err != nil {
		return 0, err
	}
	for _, m := range r.Lines[0].Metrics {
		if m.Name == "qos" {
			return m.Mean, nil
		}
	}
	return 0, fmt.Errorf("dei: %s: the run has no quality of service", s.Name)
}

// wrong is an estimator that errs in one score of every workload.
type wrong struct {
	inner  sim.Estimator
	column int
	caused bool
	points float64
}

// Know implements sim.Estimator.
func (w *wrong) Know(j *sim.Job, phase, again int) (sim.Estimate, error) {
	e, err := w.inner.Know(j, phase, again)
	if err != nil || w.points == 0 {
		return e, err
	}
	of := &e.Tolerated
	if w.caused {
		of = &e.Caused
	}
	*of = slices.Clone(*of)
	(*of)[w.column] = min(100, max(0, (*of)[w.column]+w.points))
	return e, nil
}
