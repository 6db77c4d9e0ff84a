package placement

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

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

// wallClock is real time, which synctest makes deterministic.
type wallClock struct{}

func (wallClock) Now() time.Time                         { return time.Now() }
func (wallClock) After(d time.Duration) <-chan time.Time { return time.After(d) }

// gathered starts so many jobs, one after the other, and says how long each gathered.
func gathered(t *testing.T, jobs int, apart time.Duration) []time.Duration {
	t.Helper()
	took := make([]time.Duration, jobs)
	synctest.Test(t, func(t *testing.T) {
		pl := New(Config{Clock: wallClock{}})
		var all sync.WaitGroup
		for i := range jobs {
			all.Go(func() {
				begun := time.Now()
				pl.gather(t.Context(), &placement{})
				took[i] = time.Since(begun)
			})
			time.Sleep(apart)
		}
		all.Wait()
	})
	return took
}

func TestTheFirstGathersForAll(t *testing.T) {
	t.Parallel()
	if took := gathered(t, 1, 0); took[0] != gatherQuiet {
		t.Errorf("a job that is by itself waited %s, not %s", took[0], gatherQuiet)
	}
	// Three jobs 30 ms apart: the first sees them within its first look, and none in the next.
	for i, took := range gathered(t, 3, 30*time.Millisecond) {
		if want := 2*gatherQuiet - time.Duration(i)*30*time.Millisecond; took != want {
			t.Errorf("job %d waited %s, not %s: all end when the first does", i, took, want)
		}
	}
}

func TestAFullBatchWaitsForNobody(t *testing.T) {
	t.Parallel()
	for i, took := range gathered(t, AtOnce, time.Millisecond) {
		if want := time.Duration(AtOnce-1-i) * time.Millisecond; took != want {
			t.Errorf("job %d waited %s, not %s: the last makes the batch full", i, took, want)
		}
	}
	// Where jobs never stop coming, none waits longer than the first may.
	for i, took := range gathered(t, 3*AtOnce, 60*time.Millisecond) {
		if took > gatherAtMost {
			t.Errorf("job %d waited %s, longer than %s", i, took, gatherAtMost)
		}
	}
}
