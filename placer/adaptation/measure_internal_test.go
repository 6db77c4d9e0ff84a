package adaptation

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// Of many workloads those in trouble are measured each time, and none is forgotten.
func TestEveryWorkloadIsMeasuredInTime(t *testing.T) {
	t.Parallel()
	for _, troubled := range []int{0, 10, 40, 300} {
		a := &term{watched: map[cluster.WorkloadID]*watched{}}
		running := map[cluster.WorkloadID]subject{}
		for i := range 300 {
			id := cluster.WorkloadID{Namespace: "default", Job: fmt.Sprintf("j%03d", i), Group: "g"}
			running[id] = subject{workload: cluster.Workload{ID: id, Spec: performance.Spec{Probe: &performance.ProbeSpec{}}}}
			if a.watch(id).share = 1; i < troubled {
				a.watch(id).share = 0.5
			}
		}
		seen := map[cluster.WorkloadID]int{}
		now := time.Unix(1000, 0)
		for range 20 {
			now = now.Add(DefaultEvery)
			list := a.due(running, now)
			if len(list) != mostAtOnce {
				t.Fatalf("%d at once", len(list))
			}
			for _, id := range list {
				seen[id]++
			}
		}
		least := 20
		for id := range running {
			least = min(least, seen[id])
			if troubled > 0 && troubled <= mostAtOnce/2 && a.watch(id).share < 1 && seen[id] != 20 {
				t.Errorf("%d in trouble: %s was measured %d times of 20", troubled, id, seen[id])
			}
		}
		if least < 2 {
			t.Errorf("%d in trouble: somebody was measured %d times of 20", troubled, least)
		}
	}
}

// What a workload uses is known where each of its allocations says so.
func TestUseOfAWorkload(t *testing.T) {
	t.Parallel()
	id := cluster.WorkloadID{Job: "web"}
	uses := func(mhz float64) cluster.Observation { return cluster.Observation{Use: &cluster.Use{CPUMHz: mhz}} }
	for name, c := range map[string]struct {
		count    int
		readings []cluster.Observation
		want     float64 // negative: not known
	}{
		"all say it":           {2, []cluster.Observation{uses(300), uses(200)}, 500},
		"one does not":         {2, []cluster.Observation{uses(300), {}}, -1},
		"one was not measured": {2, []cluster.Observation{uses(300)}, -1},
		"idle":                 {1, []cluster.Observation{uses(0)}, 0},
		"of how many, unknown": {0, []cluster.Observation{{}}, -1},
	} {
		a := &term{stats: cluster.AdaptationStats{UsedMHz: map[cluster.WorkloadID]float64{id: 7}}}
		a.countUse(id, c.count, c.readings)
		if got, known := a.stats.UsedMHz[id]; known != (c.want >= 0) || known && got != c.want {
			t.Errorf("%s: %v, %v; want %v", name, got, known, c.want)
		}
	}
}

func TestCountsOfAList(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		allowed        []int
		n, next, least int
	}{
		{[]int{1, 2, 4}, 3, 4, 2}, {[]int{4, 1, 2}, 2, 2, 1}, {[]int{1, 2, 4}, 9, 4, 4}, {nil, 2, 0, 0}, {[]int{3}, 1, 3, 0},
	} {
		if next, before := nextCount(c.allowed, c.n), previousCount(c.allowed, c.n); next != c.next || before != c.least {
			t.Errorf("%v at %d: next %d, previous %d; want %d and %d", c.allowed, c.n, next, before, c.next, c.least)
		}
	}
}

func TestBucket(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	b := newBucket(2, 10*time.Second, now)
	var got []bool
	for _, d := range []int{0, 0, 0, 9, 1, -5, 5, 100} {
		now = now.Add(time.Duration(d) * time.Second)
		got = append(got, b.take(now))
	}
	if want := []bool{true, true, false, false, true, false, false, true}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// A service is judged by its latency: few requests are not the fault of its nodes.
func TestReached(t *testing.T) {
	t.Parallel()
	window := func(goodput float64, tail time.Duration) cluster.Observation {
		return cluster.Observation{Measure: performance.Measure{RatePerSec: goodput, Goodput: goodput, LatencyTail: tail}}
	}
	bound := performance.Target{Kind: performance.QPS, QPS: 100, Latency: &performance.Latency{Percentile: 99, Max: 10 * time.Millisecond}}
	finish := performance.Spec{Target: performance.Target{Kind: performance.FinishWithin, FinishWithin: 100 * time.Second}, Probe: &performance.ProbeSpec{Work: 5000}}
	nan := math.NaN()
	for name, c := range map[string]struct {
		spec     performance.Spec
		readings []cluster.Observation
		served   float64
		want     float64
	}{
		"rate":                       {performance.Spec{Target: performance.Target{Kind: performance.Rate, Rate: 90}}, []cluster.Observation{window(40, 0), window(30, 0)}, 0, 70},
		"finish":                     {finish, []cluster.Observation{window(25, 0)}, 0, 25},
		"no requests, fast":          {performance.Spec{Target: bound}, []cluster.Observation{window(3, time.Millisecond)}, 0, 100},
		"too slow":                   {performance.Spec{Target: bound}, []cluster.Observation{window(99, 20*time.Millisecond)}, 0, 50},
		"too slow at many":           {performance.Spec{Target: bound}, []cluster.Observation{window(500, 20*time.Millisecond)}, 0, 50},
		"served more before":         {performance.Spec{Target: bound}, []cluster.Observation{window(20, time.Millisecond), window(20, time.Millisecond)}, 80, 400},
		"the slowest counts":         {performance.Spec{Target: bound}, []cluster.Observation{window(50, time.Millisecond), window(50, 40*time.Millisecond)}, 0, 25},
		"latency not measured":       {performance.Spec{Target: bound}, []cluster.Observation{window(50, 0)}, 0, nan},
		"no latency, few requests":   {performance.Spec{Target: performance.Target{Kind: performance.QPS, QPS: 100}}, []cluster.Observation{window(50, 0)}, 0, nan},
		"one cannot be told":         {performance.Spec{Target: bound}, []cluster.Observation{window(50, time.Millisecond), {Unavailable: "timeout"}}, 0, nan},
		"nothing":                    {performance.Spec{Target: bound}, nil, 0, nan},
		"finish time without amount": {performance.Spec{Target: performance.Target{Kind: performance.FinishWithin, FinishWithin: time.Minute}}, []cluster.Observation{window(5, 0)}, 0, nan},
	} {
		got := reached(c.spec, c.readings, c.served)
		if math.IsNaN(got) != math.IsNaN(c.want) || math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
