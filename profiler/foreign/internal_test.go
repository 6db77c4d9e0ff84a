package foreign

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// The critical values of Mann and Whitney's U, two-sided 5 % (Conover, table A7).
func TestShiftCutAgainstTheTable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ m, n, want int }{
		{1, 1, -1}, {1, 30, -1}, {3, 3, -1}, {3, 4, -1}, {4, 4, 0}, {3, 5, 0}, {5, 5, 2}, {5, 3, 0}, {6, 6, 5}, {8, 8, 13}, {7, 10, 14}, {10, 10, 23},
	} {
		cut, ok := shiftCut(c.m, c.n)
		if cut != c.want || ok != (c.want >= 0) {
			t.Errorf("%d and %d: cut %d, %t; want %d", c.m, c.n, cut, ok, c.want)
		}
	}
}

// The fast count against enumeration of all orders.
func TestRankSumWays(t *testing.T) {
	t.Parallel()
	for m := 1; m <= 4; m++ {
		for n := 1; n <= 4; n++ {
			want := make([]float64, m*n+1)
			for set := range 1 << (m + n) {
				if u, size := exceedings(set, m+n); size == m {
					want[u]++
				}
			}
			for u, ways := range rankSumWays(m, n) {
				if ways != want[u] {
					t.Errorf("%d and %d, U = %d: %v ways, want %v", m, n, u, ways, want[u])
				}
			}
		}
	}
}

// exceedings counts, over the ones of a set of positions, the zeros below them.
func exceedings(set, positions int) (u, size int) {
	zeros := 0
	for i := range positions {
		if set&(1<<i) == 0 {
			zeros++
			continue
		}
		size++
		u += zeros
	}
	return u, size
}

// 95 % intervals of seeded samples cover the true ratio. 2,000 draws have a
// standard error of 0.5 %, so 93.5 % is three of them below.
func TestIntervalsCover(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 7))
	const draws, truth = 2000, 0.8
	covered := 0
	for range draws {
		on, off := make([]float64, 5), make([]float64, 6)
		for i := range on {
			on[i] = truth * math.Exp(0.1*random.NormFloat64())
		}
		for i := range off {
			off[i] = math.Exp(0.1 * random.NormFloat64())
		}
		if c := compare(on, off); c.low != nil && *c.low <= truth && truth <= *c.high {
			covered++
		}
	}
	if share := float64(covered) / draws; share < 0.935 {
		t.Errorf("covered %v", share)
	}
}

func TestCompareJudges(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		on, off     []float64
		loss, clean bool
	}{
		"equal, three each":      {[]float64{10, 10, 10}, []float64{10, 10, 10}, false, true},
		"equal, two each":        {[]float64{10, 10}, []float64{10, 10}, false, false},
		"half, once":             {[]float64{5}, []float64{10}, true, false},
		"10 % below, once":       {[]float64{9}, []float64{10}, false, false},
		"10 % below, three each": {[]float64{9, 9, 9}, []float64{10, 10, 10}, true, false},
		"noise across the bound": {[]float64{9, 10, 9.6}, []float64{10, 10, 10}, false, false},
	} {
		if got := compare(c.on, c.off); got.loss != c.loss || got.clean != c.clean {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestCapacity(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		steps []step
		qps   float64
		side  capacitySide
	}{
		"crosses between":      {[]step{{10, 10, 900}, {20, 20, 1100}}, 15, capacityKnown},
		"on the bound":         {[]step{{10, 10, 900}, {20, 20, 1000}}, 20, capacityKnown},
		"out of order":         {[]step{{20, 20, 1100}, {10, 10, 900}}, 15, capacityKnown},
		"the first crossing":   {[]step{{10, 10, 500}, {20, 20, 1500}, {30, 30, 500}}, 15, capacityKnown},
		"at the lowest load":   {[]step{{10, 9, 1000}, {20, 20, 500}}, 9, capacityBelow},
		"never":                {[]step{{10, 10, 500}, {20, 19, 999}}, 19, capacityAbove},
		"slower than demanded": {[]step{{10, 10, 500}, {20, 12, 1500}}, 11, capacityKnown},
	} {
		if qps, side := capacity(c.steps); qps != c.qps || side != c.side {
			t.Errorf("%s: %v, %v", name, qps, side)
		}
	}
}

func TestPods(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct {
		source    interference.Source
		count     int
		mixed, ok bool
	}{
		"Baseline0":           {"", 0, false, true},
		"BaselineB0":          {"", 0, false, true},
		"1_iBench_CPU_pod":    {interference.Integer, 1, false, true},
		"4_stress-ng_l3_pods": {interference.LLCCapacity, 4, false, true},
		"3_iBench_memBW_pods": {interference.MemoryBandwidth, 3, false, true},
		"1_CPU_2_L3_1_MemBW":  {"", 0, true, true},
		"5_iBench_CPU_pods":   {},
		"1_iBench_GPU_pod":    {},
		"1_iBench_CPU":        {},
		"1_CPU_2":             {},
		"1_CPU_L3_2":          {},
		"CPU":                 {},
		"":                    {},
	} {
		source, count, mixed, ok := pods(name)
		if source != want.source || count != want.count || mixed != want.mixed && want.ok || ok != want.ok {
			t.Errorf("%q: %v %v %v %v", name, source, count, mixed, ok)
		}
	}
}

func TestVCPUs(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]int{"e2-standard-8": 8, "n2-highcpu-32": 32, "e2-medium": 0, "": 0, "x--4": 4} {
		if n, ok := vcpus(name); ok != (want > 0) || ok && n != want {
			t.Errorf("%q: %d, %t", name, n, ok)
		}
	}
}

func TestKeysAreReadableAndApart(t *testing.T) {
	t.Parallel()
	if a, b := key("set/A B"), key("set/A-B"); a == b || a[:7] != "set-a-b" || b[:7] != "set-a-b" {
		t.Errorf("%s, %s", a, b)
	}
	long := make([]byte, 500)
	for i := range long {
		long[i] = 'x'
	}
	if k := key(string(long)); len(k) != maxNameBytes+9 {
		t.Errorf("%d bytes", len(k))
	}
}
