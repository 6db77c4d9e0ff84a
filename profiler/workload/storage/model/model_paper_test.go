package model_test

import (
	"math"
	"testing"

	"github.com/nomad-placer/nomad-placer/profiler/workload/storage"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/model"
)

// §A.3.2, Table A.1: how many states and transitions there are. The last number of the flat
// column is printed with one digit too few; 16^10 is meant.
func TestPaperCounts(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		levels             int
		states             int
		hierarchical, flat int64
	}{
		{1, 4, 16, 16},
		{2, 16, 76, 256},
		{3, 64, 316, 4096},
		{4, 256, 1276, 65536},
		{5, 1024, 5116, 1048576},
		{10, 1048576, 5242876, 1099511627776},
	} {
		if got := model.States(row.levels); got != row.states {
			t.Errorf("level %d: %d states, want %d", row.levels, got, row.states)
		}
		if got := model.HierarchicalPairs(row.levels); got != row.hierarchical || got != 20*int64(model.States(row.levels-1))-4 {
			t.Errorf("level %d: %d pairs of a hierarchical diagram, want %d", row.levels, got, row.hierarchical)
		}
		if got := model.FlatPairs(row.levels); got != row.flat {
			t.Errorf("level %d: %d pairs of a flat diagram, want %d", row.levels, got, row.flat)
		}
	}
}

// §A.3.2: "level-two (fine-grained) transitions only exist within the large states but not
// across them". Every pair of the smallest states is at one level, and the pairs of states
// at their levels are as many as Table A.1 says.
func TestPaperFineTransitionsStayInside(t *testing.T) {
	t.Parallel()
	type pair struct{ level, from, to int }
	for levels := 1; levels <= 4; levels++ {
		pairs := map[pair]bool{}
		for a := range model.States(levels) {
			for b := range model.States(levels) {
				level := model.Divergence(a, b, levels)
				from, to := model.Ancestor(a, levels, level), model.Ancestor(b, levels, level)
				if from/model.Branching != to/model.Branching || (from == to && level != levels) {
					t.Fatalf("%d levels: from %d to %d is kept at level %d from %d to %d", levels, a, b, level, from, to)
				}
				pairs[pair{level, from, to}] = true
			}
		}
		if want := model.HierarchicalPairs(levels); int64(len(pairs)) != want {
			t.Errorf("%d levels: %d pairs, want %d", levels, len(pairs), want)
		}
	}
}

// §A.3.1, Fig. A.1: four states are 25 % of the addresses each, and "if an I/O corresponds
// to State 1, there is an 11.8 % probability that the next I/O will be a 4K read, random
// access with an inter-arrival time of 3 ms that corresponds to State 2". Of 1000 I/Os out
// of state 1 (here 0) 118 go there.
func TestPaperExample(t *testing.T) {
	t.Parallel()
	const device, out, toTwo = 4 << 30, 1000, 118
	trace := newTrace(device)
	place := func(state int) int64 { return int64(state)<<30 + 1<<20*(trace.n%7) }
	trace.add(0, storage.Write, place(0), 8192)
	for i := range out {
		// Those to state 2 are spread evenly, and come back from there.
		if (i+1)*toTwo/out > i*toTwo/out {
			trace.add(3, storage.Read, place(1), 4096)
			trace.add(5, storage.Write, place(0), 8192)
		} else {
			trace.add(5, storage.Write, place(0), 8192)
		}
	}
	m := fit(t, trace, model.Options{Levels: 1})
	of := &m.Types[0]
	found := false
	for _, x := range of.Transitions {
		c := m.Categories[x.Category]
		if x.From == 0 && x.To == 1 {
			found = true
			if c.Op != storage.Read || c.Kind != storage.Random || c.Bytes != 4096 {
				t.Errorf("it is a %s %s of %d bytes", c.Kind, c.Op, c.Bytes)
			}
			// One more I/O leaves state 0 than the 1000: the trace is closed to a circle.
			if p := x.Probability(m.OutOf(of)); math.Abs(p-0.118) > 0.001 {
				t.Errorf("probability %.4f, want 0.118", p)
			}
			if x.Gap.MeanMicroseconds != 3000 {
				t.Errorf("gap %g µs, want 3 ms", x.Gap.MeanMicroseconds)
			}
		}
	}
	if !found {
		t.Error("no transition from state 0 to 1")
	}
	if begin := m.Device.Begin(1, 1); begin != device/4 {
		t.Errorf("state 1 begins at %d, want a quarter of %d", begin, int64(device))
	}
}

// §A.3.4: the six types of threads, in the order of the text's numbers.
func TestPaperThreadTypes(t *testing.T) {
	t.Parallel()
	want := []model.Class{
		{Name: "data-0", Function: "data", Intensity: "high", Fluctuation: "high"},
		{Name: "data-1", Function: "data", Intensity: "high", Fluctuation: "low"},
		{Name: "data-2", Function: "data", Intensity: "low", Fluctuation: "high"},
		{Name: "data-3", Function: "data", Intensity: "low", Fluctuation: "low"},
		{Name: "log-4", Function: "log", Intensity: "high", Fluctuation: "low"},
		{Name: "log-5", Function: "log", Intensity: "low", Fluctuation: "high"},
	}
	got := model.Classes()
	if len(got) != len(want) {
		t.Fatalf("%d types", len(got))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("type %d: %+v, want %+v", i, got[i], want[i])
		}
	}
}

// §A.3.3: rates are kept by 30 minutes; tables of transitions are common to all.
func TestPaperIntervals(t *testing.T) {
	t.Parallel()
	trace := newTrace(1 << 30)
	const minute = 60_000
	for range 30 { // 30 minutes, 1 I/O a minute
		trace.add(minute, storage.Read, 4096*(trace.n*17%1000), 4096)
	}
	trace.add(minute, storage.Read, 0, 4096)
	for range 119 { // 30 minutes, 4 a minute
		trace.add(minute/4, storage.Read, 4096*(trace.n*17%1000), 4096)
	}
	m := fit(t, trace, model.Options{Levels: 1})
	v := m.Types[0].Intervals
	if len(v) != 2 || v[0].Seconds != 1800 || v[0].IOs != 30 || v[1].IOs != 120 {
		t.Fatalf("intervals %+v, want 30 and 120 I/Os in 30 minutes each", v)
	}
	if a, b := *v[0].GapScale, *v[1].GapScale; math.Abs(a/b-4*v[0].Seconds/v[1].Seconds) > 1e-3 {
		t.Errorf("gaps are scaled by %g and %g, want 4 to 1", a, b)
	}
}

// §A.3.1: the weights of all pairs of states are all I/Os, whatever level they are kept at. A
// thread that goes round three quarters of the device, once each, and stays in the last.
func TestPaperWeightsBetweenStates(t *testing.T) {
	t.Parallel()
	const quarter = 1 << 20
	b := newTrace(4 * quarter)
	for i := range 400 {
		at := []int64{0, 1, 3, 3}[i%4]
		b.add(float64(i), storage.Read, at*quarter+int64(i%7)*8192, 4096)
	}
	for levels := 1; levels <= 3; levels++ {
		between := fit(t, b, model.Options{Levels: levels}).Between(1)
		for from, row := range between {
			for to, got := range row {
				want := 0.0
				if next := map[[2]int]bool{{0, 1}: true, {1, 3}: true, {3, 3}: true, {3, 0}: true}; next[[2]int{from, to}] {
					want = 0.25
				}
				if math.Abs(got-want) > 1e-9 {
					t.Errorf("%d levels, %d to %d: %g instead of %g", levels, from, to, got, want)
				}
			}
		}
	}
}
