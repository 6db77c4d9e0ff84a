package figures

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/predict"
	"github.com/nomad-placer/nomad-placer/placer/sim/report"
	"github.com/nomad-placer/nomad-placer/profiler/training/backgrounds"
)

// traconDrifting is the application that was measured in both environments.
const traconDrifting = "nucleotide"

// The length of the published run, and of the parts by which errors are reported.
const (
	driftFirst = 500
	driftAfter = 640
	driftPart  = 160
)

// driftTable plays 500 points of one environment and then 640 of the other, drawn by
// ten seeds from what was measured.
func driftTable(context.Context, environment) (*Table, error) {
	before, err := backgrounds.Load(backgrounds.Local)
	if err != nil {
		return nil, err
	}
	after, err := backgrounds.Load(backgrounds.Remote)
	if err != nil {
		return nil, err
	}
	after.Idle = before.Idle // a co-runner is described by what it does in isolation on the old disk
	const seeds = 10
	t := &Table{Seeds: seeds}
	for _, response := range responses {
		for _, described := range []struct {
			suffix   string
			settings bool
		}{{"", false}, {bySettings, true}} {
			first, err := driftingOf(before, response, described.settings)
			if err != nil {
				return nil, err
			}
			second, err := driftingOf(after, response, described.settings)
			if err != nil {
				return nil, err
			}
			for i := range second {
				second[i].Own = first[0].Own // the application, too, is described as on the old disk
			}
			for _, run := range []struct {
				label string
				then  []predict.Observation
				every int
			}{{"the disk changes", second, 0}, {"the disk changes, no rebuild", second, 1 << 30}, {"the disk stays", first, 0}} {
				columns := map[string][]float64{}
				for seed := range uint64(seeds) {
					if err := driftRun(columns, first, run.then, run.every, seed); err != nil {
						return nil, fmt.Errorf("%s, %s: %w", response, run.label, err)
					}
				}
				figures := map[string]report.Figure{}
				for name, v := range columns {
					figures[name] = report.Interval(name, v)
				}
				t.Rows = append(t.Rows, TableRow{response + ", " + run.label + described.suffix, figures})
			}
		}
	}
	return t, nil
}

// driftingOf are the observations of a response on one disk.
func driftingOf(set *backgrounds.Set, response string, settings bool) ([]predict.Observation, error) {
	a := &learnt{name: traconDrifting, of: backgrounds.Characteristics.Learnt, set: set, settings: settings}
	return a.observations(response)
}

func driftRun(columns map[string][]float64, first, then []predict.Observation, every int, seed uint64) error {
	random := rand.New(rand.NewPCG(seed, 7))
	draw := func(all []predict.Observation) predict.Observation { return all[random.IntN(len(all))] }
	var start []predict.Observation
	for range driftFirst {
		start = append(start, draw(first))
	}
	r, err := predict.NewRelearning(start, predict.RelearnOptions{Every: every, Bound: func(r predict.Regression) predict.Regression {
		return predict.Bounded{Regression: r, Low: 0, High: 1e12}
	}})
	if err != nil {
		return err
	}
	parts, seen, floors, repeated := make([][]float64, driftAfter/driftPart), -1.0, []float64(nil), true
	var before []float64
	for range driftPart {
		o := draw(first)
		before = append(before, 100*predict.RelativeError(r.Predict(o.Own, o.CoRunners), o.Response))
	}
	for i := range driftAfter {
		o := draw(then)
		parts[i/driftPart] = append(parts[i/driftPart], 100*predict.RelativeError(r.Predict(o.Own, o.CoRunners), o.Response))
		others, ok := meanOfOthers(then, o)
		floors, repeated = append(floors, 100*predict.RelativeError(others, o.Response)), repeated && ok
		if r.Add(o) == predict.Drift && seen < 0 {
			seen = float64(i + 1)
		}
	}
	columns["before"] = append(columns["before"], medianOf(before))
	for i, part := range parts {
		name := fmt.Sprintf("part%d", i)
		columns[name] = append(columns[name], medianOf(part))
	}
	columns["seen"] = append(columns["seen"], seen)
	if repeated {
		columns["floor"] = append(columns["floor"], medianOf(floors))
	}
	return r.Err()
}

// meanOfOthers is the mean over the other repeats next to the same background; ok is false where
// there is none.
func meanOfOthers(all []predict.Observation, o predict.Observation) (mean float64, ok bool) {
	sum, n := -o.Response, -1.0
	for _, other := range all {
		if slices.Equal(other.CoRunners, o.CoRunners) {
			sum, n = sum+other.Response, n+1
		}
	}
	return sum / n, n > 0
}
