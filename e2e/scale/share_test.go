package main

import (
	"math"
	"testing"

	"github.com/hashicorp/nomad/api"
)

func result(rates map[side][]float64) Result {
	var r Result
	for _, s := range []side{stock, placed} { // in every round the first of them went first
		for n, rate := range rates[s] {
			r.Rounds = append(r.Rounds, Round{Side: s, Number: n, JobsPerSecond: rate})
		}
	}
	return r
}

func TestHalfOfTheJobsAreBatch(t *testing.T) {
	t.Parallel()
	ids := []string{"a", "b", "c", "d", "e", "f"}
	workloads := []workload{{cpuMHz: 100}, {cpuMHz: 200}}
	count := map[string]map[int]int{}
	for i, q := range requestsOf(ids, workloads) {
		if q.id != ids[i] || *q.job("", "").Type != q.jobType {
			t.Errorf("request %d is %s, a %s job", i, q.id, *q.job("", "").Type)
		}
		if count[q.jobType] == nil {
			count[q.jobType] = map[int]int{}
		}
		count[q.jobType][q.workload.cpuMHz]++
	}
	for _, jobType := range []string{api.JobTypeService, api.JobTypeBatch} {
		if got := count[jobType]; got[100] != 2 || got[200] != 1 {
			t.Errorf("%s jobs by their workload: %v", jobType, got)
		}
	}
}

func TestResidentsAreAsManyAsAsked(t *testing.T) {
	t.Parallel()
	workloads := make([]workload, 7)
	for _, allocations := range []int{0, 1, 13, 14, 5000} {
		sum := 0
		for _, q := range residents(allocations, workloads) {
			sum += *q.job("", "").TaskGroups[0].Count
		}
		if sum != allocations {
			t.Errorf("%d allocations, want %d", sum, allocations)
		}
	}
}

func TestSharesAreOfTheSameRound(t *testing.T) {
	t.Parallel()
	// A machine that gets slower slows both sides; the last round has had one turn only.
	r := result(map[side][]float64{stock: {100, 80, 40}, placed: {90, 72}})
	got := r.shares()
	if len(got) != 2 || got[0] != (share{0, 90}) || got[1] != (share{1, 90}) {
		t.Errorf("%v", got)
	}
	if rows := result(map[side][]float64{stock: {100}}).shareRows(targetsOf(1)); rows != nil {
		t.Errorf("of no shares: %v", rows)
	}
}

func TestDecayHoldsHalvesAgainstEachOther(t *testing.T) {
	t.Parallel()
	of := func(percents ...float64) []share {
		out := make([]share, len(percents))
		for i, p := range percents {
			out[i] = share{i, p}
		}
		return out
	}
	for name, c := range map[string]struct {
		shares []share
		points float64
	}{
		"even":      {of(90, 80, 88, 78), -2},
		"odd":       {of(90, 80, 1000, 88, 78), -2},
		"no change": {of(90, 90, 90, 90), 0},
	} {
		points, half := decay(c.shares)
		if points != c.points || half != 0 {
			t.Errorf("%s: %g ± %g, want %g ± 0", name, points, half, c.points)
		}
	}
	if points, half := decay(of(90, 85)); points != -5 || !math.IsNaN(half) {
		t.Errorf("of two rounds: %g ± %g", points, half)
	}
}
