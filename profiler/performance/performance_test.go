package performance_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func reading(seconds, work float64, counts ...float64) performance.Reading {
	r := performance.Reading{At: start.Add(time.Duration(seconds * float64(time.Second))), Work: work, RateNow: math.NaN()}
	bounds := []float64{0.001, 0.002, 0.004, math.Inf(1)}
	for i, c := range counts {
		r.Latency = append(r.Latency, performance.Bucket{UpperSeconds: bounds[i], Count: c})
	}
	return r
}

var underTwoMilliseconds = performance.Target{Kind: performance.QPS, QPS: 100, Latency: &performance.Latency{Percentile: 50, Max: 2 * time.Millisecond}}

func TestBetweenCountsGoodput(t *testing.T) {
	t.Parallel()
	a, b := reading(0, 10, 0, 0, 0, 0), reading(2, 210, 50, 150, 190, 200)
	m, err := performance.Between(a, b, underTwoMilliseconds)
	if err != nil {
		t.Fatal(err)
	}
	if m.RatePerSec != 100 || m.Goodput != 75 {
		t.Errorf("rate %v, goodput %v; want 100 and the 150 of 200 under 2 ms", m.RatePerSec, m.Goodput)
	}
	// The median, the 100th of 200, lies halfway into the bucket (1 ms, 2 ms].
	if m.LatencyTail != 1500*time.Microsecond {
		t.Errorf("median %s, want 1.5 ms", m.LatencyTail)
	}
}

func TestTheOpenBucketIsALowerBound(t *testing.T) {
	t.Parallel()
	target := underTwoMilliseconds
	target.Latency = &performance.Latency{Percentile: 99, Max: 8 * time.Millisecond}
	m, err := performance.Between(reading(0, 0, 0, 0, 0, 0), reading(1, 100, 10, 20, 30, 100), target)
	if err != nil {
		t.Fatal(err)
	}
	if m.LatencyTail != 4*time.Millisecond || m.Goodput != 30 {
		t.Errorf("tail %s, goodput %v: requests beyond the last bound must not count as good", m.LatencyTail, m.Goodput)
	}
}

func TestBetweenRefusesWhatIsNoMeasurement(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		a, b performance.Reading
		want error
	}{
		"counter went back":      {reading(0, 10), reading(1, 5), performance.ErrCounterReset},
		"no time passed":         {reading(1, 10), reading(1, 20), performance.ErrNoWork},
		"time ran backwards":     {reading(2, 10), reading(1, 20), performance.ErrNoWork},
		"negative":               {reading(0, -1), reading(1, 5), performance.ErrBadReading},
		"infinite":               {reading(0, 1), reading(1, math.Inf(1)), performance.ErrBadReading},
		"nothing given":          {reading(0, math.NaN()), reading(1, math.NaN()), performance.ErrBadReading},
		"no request in between":  {reading(0, 1, 1, 1, 1, 1), reading(1, 2, 1, 1, 1, 1), performance.ErrNoWork},
		"bucket went back":       {reading(0, 1, 5, 5, 5, 5), reading(1, 2, 1, 9, 9, 9), performance.ErrCounterReset},
		"another set of buckets": {reading(0, 1, 5, 5), reading(1, 2, 1, 9, 9, 9), performance.ErrCounterReset},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := performance.Between(c.a, c.b, underTwoMilliseconds); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

func TestRatesAreAveraged(t *testing.T) {
	t.Parallel()
	a, b := reading(0, math.NaN()), reading(1, math.NaN())
	a.RateNow, b.RateNow = 10, 30
	if m, err := performance.Between(a, b, performance.Target{Kind: performance.Rate}); err != nil || m.RatePerSec != 20 {
		t.Errorf("got %v, %v", m.RatePerSec, err)
	}
}

func TestTargetsRead(t *testing.T) {
	t.Parallel()
	for want, target := range map[string]performance.Target{
		"20000 requests/s with p99.9 ≤ 5ms": {Kind: performance.QPS, QPS: 20000, Latency: &performance.Latency{Percentile: 99.9, Max: 5 * time.Millisecond}},
		"finish within 1m30s":               {Kind: performance.FinishWithin, FinishWithin: 90 * time.Second},
		"2.5 frames/s":                      {Kind: performance.Rate, Rate: 2.5, Unit: "frames"},
		"3 units/s":                         {Kind: performance.Rate, Rate: 3},
		"best effort":                       {Kind: performance.BestEffort},
	} {
		if got := target.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if _, _, ok := (performance.Target{Kind: performance.BestEffort}).Value(); ok {
		t.Error("best effort has a number")
	}
}
