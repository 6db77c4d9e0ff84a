package engine

import (
	"slices"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// one is a workload with one score, and a speed of 100 everywhere.
func one(name string, target performance.Target, toleratedPercent float64) knownWorkload {
	score := interference.Estimate{Score: interference.Percent(toleratedPercent), Origin: interference.Measured}
	return knownWorkload{
		workload: cluster.Workload{ID: cluster.WorkloadID{Job: name}, Count: 1, Spec: performance.Spec{Target: target}},
		knowledge: cluster.Knowledge{
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
	e := &Engine{}
	e.knowing.columns = []interference.Source{interference.Integer}
	var batch []*placement
	for _, k := range []knownWorkload{
		one("best effort", performance.Target{Kind: performance.BestEffort}, 5),
		one("slack", rate(60), 5),
		one("robust", rate(98), 60),
		one("sensitive", rate(98), 20),
		one("as sensitive", rate(98), 20),
		one("tail", performance.Target{Kind: performance.QPS, QPS: 98, Latency: &performance.Latency{}}, 60),
		one("stands all", rate(1), 100),
	} {
		batch = append(batch, &placement{known: []knownWorkload{k}})
	}
	var got []string
	for _, p := range e.mostToLoseFirst(batch) {
		got = append(got, p.known[0].workload.ID.Job)
	}
	if want := []string{"tail", "sensitive", "as sensitive", "robust", "slack", "stands all", "best effort"}; !slices.Equal(got, want) {
		t.Errorf("decided on in the order %q, want %q", got, want)
	}
}

func TestNeedsShare(t *testing.T) {
	t.Parallel()
	speeds := map[string]float64{"slow": 40, "fast": 100}
	for name, c := range map[string]struct {
		target performance.Target
		count  int
		want   float64 // −1: not known
	}{
		"where it is fastest":    {rate(20), 1, 0.2},
		"of each allocation":     {rate(20), 2, 0.1},
		"more than any can":      {rate(200), 1, 1},
		"best effort":            {performance.Target{Kind: performance.BestEffort}, 1, 0},
		"an unknown work amount": {performance.Target{Kind: performance.FinishWithin, FinishWithin: 1}, 1, -1},
	} {
		got := needsShare(performance.Spec{Target: c.target}, c.count, speeds)
		if (got == nil) != (c.want < 0) || got != nil && *got != c.want {
			t.Errorf("%s: %v, want %g", name, got, c.want)
		}
	}
}
