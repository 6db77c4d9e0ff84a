package placement

import (
	"slices"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/profiling"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// one is a workload with one score, and a speed of 100 everywhere.
func one(name string, target performance.Target, toleratedPercent float64) profiling.Known {
	score := interference.Estimate{Score: interference.Percent(toleratedPercent), Origin: interference.Measured}
	return profiling.Known{
		Workload: cluster.Workload{ID: cluster.WorkloadID{Job: name}, Count: 1, Spec: performance.Spec{Target: target}},
		Knowledge: cluster.Knowledge{
			Sensitivity: interference.Sensitivity{Tolerated: interference.Scores{interference.Integer: score}},
			Speed:       map[string]profile.Measurement{"fast": {Value: 100}},
		},
	}
}

func rate(perSec float64) performance.Target {
	return performance.Target{Kind: performance.Rate, Rate: perSec}
}

func TestWhoHasMostToLoseIsDecidedOnFirst(t *testing.T) {
	t.Parallel()
	_, estimator := profiling.New(profiling.Config{Columns: []interference.Source{interference.Integer}})
	e := New(Config{Estimator: estimator})
	var batch []*placement
	for _, k := range []profiling.Known{
		one("best effort", performance.Target{Kind: performance.BestEffort}, 5),
		one("slack", rate(60), 5),
		one("robust", rate(98), 60),
		one("sensitive", rate(98), 20),
		one("as sensitive", rate(98), 20),
		one("tail", performance.Target{Kind: performance.QPS, QPS: 98, Latency: &performance.Latency{Percentile: 95}}, 60),
		one("stands all", rate(1), 100),
	} {
		batch = append(batch, &placement{known: []profiling.Known{k}})
	}
	var got []string
	for _, p := range e.mostToLoseFirst(batch) {
		got = append(got, p.known[0].Workload.ID.Job)
	}
	if want := []string{"tail", "sensitive", "as sensitive", "robust", "slack", "stands all", "best effort"}; !slices.Equal(got, want) {
		t.Errorf("decided on in the order %q, want %q", got, want)
	}
}
