package figures

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/predict"
	"github.com/nomad-placer/nomad-placer/placer/sim/report"
	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
	"github.com/nomad-placer/nomad-placer/profiler/training/backgrounds"
)

const (
	optimumMachines = 64
	optimumSeeds    = 10
)

// optimumTable pairs the tasks of the static scenarios as well as can be.
func optimumTable(context.Context, environment) (*Table, error) {
	set, err := backgrounds.Load(backgrounds.Simulated)
	if err != nil {
		return nil, err
	}
	w, err := truth.NewColocated(set)
	if err != nil {
		return nil, err
	}
	t := &Table{Seeds: optimumSeeds}
	for _, mix := range []struct {
		name string
		mean float64
	}{{"light", 2.5}, {"medium", 4}, {"heavy", 5.5}} {
		runtime, iops := make([]float64, optimumSeeds), make([]float64, optimumSeeds)
		for seed := range runtime {
			runtime[seed], iops[seed] = optimum(w, mix.mean, uint64(seed))
		}
		t.Rows = append(t.Rows, TableRow{mix.name, map[string]report.Figure{"runtime": report.Interval("runtime", runtime), "iops": report.Interval("iops", iops)}})
	}
	return t, nil
}

// optimum is the gain of the best pairing over that by arrival.
func optimum(w *truth.Colocated, mean float64, seed uint64) (runtime, iops float64) {
	random := rand.New(rand.NewPCG(seed, 11))
	apps := w.Applications()
	tasks := make([]*truth.Application, 2*optimumMachines)
	for i := range tasks {
		rank := math.Round(mean + 1.5*random.NormFloat64())
		tasks[i] = apps[int(min(float64(len(apps)), max(1, rank)))-1]
	}
	slow := func(a, b *truth.Application) float64 { return slowdownNextTo(w, a, b) + slowdownNextTo(w, b, a) }
	requests := func(a, b *truth.Application) float64 {
		_, x := w.NextTo(a, b)
		_, y := w.NextTo(b, a)
		return -x - y
	}
	gain := func(a, b float64) float64 { return 100 * (a/b - 1) }
	return gain(pairedSum(tasks, slow), pairedSum(predict.Paired(tasks, slow), slow)), gain(pairedSum(predict.Paired(tasks, requests), requests), pairedSum(tasks, requests))
}

// slowdownNextTo is how many times longer a takes next to b than in isolation.
func slowdownNextTo(w *truth.Colocated, a, b *truth.Application) float64 {
	isolated, _ := w.Isolated(a)
	colocated, _ := w.NextTo(a, b)
	return isolated / colocated
}

func pairedSum(tasks []*truth.Application, cost func(a, b *truth.Application) float64) float64 {
	sum := 0.0
	for pair := range slices.Chunk(tasks, 2) {
		sum += cost(pair[0], pair[len(pair)-1])
	}
	return sum
}
