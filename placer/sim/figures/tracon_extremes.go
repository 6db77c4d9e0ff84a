package figures

import (
	"context"
	"fmt"
	"math"

	"github.com/nomad-placer/nomad-placer/placer/predict"
	"github.com/nomad-placer/nomad-placer/placer/sim/report"
	"github.com/nomad-placer/nomad-placer/profiler/training/backgrounds"
)

// extremesTable lets NLM choose the best co-runner of each application.
func extremesTable(context.Context, environment) (*Table, error) {
	apps, err := traconApplications(backgrounds.Local, backgrounds.Characteristics.Learnt)
	if err != nil {
		return nil, err
	}
	nlm, err := predict.LookupLearner("nlm")
	if err != nil {
		return nil, err
	}
	t := &Table{Seeds: 1}
	for _, response := range responses {
		sums, n := map[string]float64{}, 0.0
		for _, a := range apps {
			row, ok, err := a.extremes(nlm, response)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", a.name, err)
			}
			if !ok {
				continue
			}
			figures := map[string]report.Figure{}
			for name, v := range row {
				figures[name] = report.Figure{Name: name, Mean: v}
				sums[name] += v
			}
			n++
			t.Rows = append(t.Rows, TableRow{response + ": " + a.name, figures})
		}
		all := map[string]report.Figure{}
		for name, sum := range sums {
			all[name] = report.Figure{Name: name, Mean: sum / n}
		}
		t.Rows = append(t.Rows, TableRow{response + ": all", all})
	}
	return t, nil
}

// extremes are relative to the best co-runner as measured; ok is false where the
// application makes no requests.
func (a *learnt) extremes(l predict.Learner, response string) (row map[string]float64, ok bool, err error) {
	sign := 1.0 // of what is to be small
	if response == "iops" {
		sign = -1
	}
	all, err := a.observations(response)
	if err != nil {
		return nil, false, err
	}
	measured := map[string][]float64{}
	for _, p := range a.set.Pairs {
		if y := measuredResponse(p, response); p.Application == a.name && y > 0 {
			measured[p.CoRunner] = append(measured[p.CoRunner], y)
		}
	}
	if len(measured) < len(a.coRunners) {
		return nil, false, nil
	}
	r, err := l.Learn(all)
	if err != nil {
		return nil, false, err
	}
	best, worst, mean, predicted, chosen := math.Inf(1), math.Inf(-1), 0.0, math.Inf(1), 0.0
	for _, b := range a.set.Applications() {
		y := medianOf(measured[b])
		best, worst, mean = min(best, sign*y), max(worst, sign*y), mean+y/float64(len(measured))
		if v := sign * bounded(r, all).Predict(a.own, a.coRunners[b]); v < predicted {
			predicted, chosen = v, y
		}
	}
	within := 0.0
	if sign*chosen <= sign*mean {
		within = 100
	}
	best, worst, predicted = sign*best, sign*worst, sign*predicted
	return map[string]float64{
		"predicted": 100 * predicted / best, "chosen": 100 * chosen / best, "mean": 100 * mean / best, "worst": 100 * worst / best, "within": within,
	}, true, nil
}
