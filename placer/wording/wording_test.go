package wording

import (
	"math"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

func TestNumber(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]string{
		0: "0", 0.714: "0.714", 0.9996: "1", 0.00204: "0.00204", 0.0000204: "2.04e-05", 1e-12: "0", 5: "5", 12.34: "12.3", 99.96: "100", 999.4: "999", 999.6: "1,000",
		20000: "20,000", 1234567.8: "1,234,568", -3.5: "−3.5", math.Inf(1): "unlimited",
	} {
		if got := Number(v); got != want {
			t.Errorf("Number(%v) = %q, want %q", v, got, want)
		}
	}
	if got := Number(math.NaN()); got != Unknown {
		t.Errorf("NaN prints %q", got)
	}
}

func TestDuration(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "0 s", 900 * time.Microsecond: "900 µs", 14 * time.Millisecond: "14 ms", 12300 * time.Millisecond: "12.3 s",
		245 * time.Second: "4m 05s", 130 * time.Minute: "2h 10m", 72 * time.Hour: "3 days", -time.Second: "−1 s",
	} {
		if got := Duration(d); got != want {
			t.Errorf("Duration(%v) = %q, want %q", int64(d), got, want)
		}
	}
}

func TestAgo(t *testing.T) {
	t.Parallel()
	now := time.Unix(1e9, 0)
	for d, want := range map[time.Duration]string{
		0: "now", -40 * time.Second: "40 s ago", -12 * time.Minute: "12 min ago", -3 * time.Hour: "3 h ago", 4 * time.Minute: "in 4 min", -80 * time.Hour: "3 days ago",
	} {
		if got := Ago(now, now.Add(d)); got != want {
			t.Errorf("Ago(%v) = %q, want %q", d, got, want)
		}
	}
	if got := Ago(now, time.Time{}); got != Unknown {
		t.Errorf("the zero time prints %q", got)
	}
}

func TestExpectTurnsRunsIntoSeconds(t *testing.T) {
	t.Parallel()
	target := performance.Target{Kind: performance.FinishWithin, FinishWithin: 10 * time.Minute}
	e := Expect(cluster.Prediction{Known: true, RatePerSec: 1.0 / 500, Low: 1.0 / 600, High: 1.0 / 400, Unit: UnitRuns}, target)
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-6 }
	if !e.Comparable || e.Unit != "s" || !near(e.Value, 500) || !near(e.Low, 400) || !near(e.High, 600) {
		t.Errorf("got %+v", e)
	}
	if got := Expect(cluster.Prediction{}, target); got.String() != Unknown || got.Comparable {
		t.Errorf("an unknown prediction prints %q", got)
	}
}

func observation(alloc string, at int, rate float64, tail time.Duration) cluster.Observation {
	return cluster.Observation{Allocation: alloc, At: time.Unix(int64(at), 0), Window: 5 * time.Second,
		Measure: performance.Measure{RatePerSec: rate, Goodput: rate, LatencyTail: tail}}
}

func TestMeasure(t *testing.T) {
	t.Parallel()
	qps := performance.Target{Kind: performance.QPS, QPS: 100, Latency: &performance.Latency{Percentile: 99, Max: 5 * time.Millisecond}}
	finish := performance.Target{Kind: performance.FinishWithin, FinishWithin: time.Minute}
	gone := cluster.Observation{Allocation: "b", At: time.Unix(100, 0), Window: 5 * time.Second, Unavailable: "no answer"}
	cases := []struct {
		name    string
		target  performance.Target
		seen    []cluster.Observation
		known   bool
		value   float64
		verdict Verdict
	}{
		{"nothing", qps, nil, false, 0, NoVerdict},
		{"sum of the newest", qps, []cluster.Observation{observation("a", 90, 10, 0), observation("a", 100, 60, time.Millisecond), observation("b", 99, 50, 0)}, true, 110, Met},
		{"tail not measured", qps, []cluster.Observation{observation("a", 100, 110, 0)}, true, 110, NoVerdict},
		{"edges of a window", qps, []cluster.Observation{observation("a", 100, 98.5, time.Millisecond)}, true, 98.5, Met},
		{"at 96 %, as everywhere", qps, []cluster.Observation{observation("a", 100, 96, time.Millisecond)}, true, 96, Missed},
		{"too slow", qps, []cluster.Observation{observation("a", 100, 80, 0)}, true, 80, Missed},
		{"too late", qps, []cluster.Observation{observation("a", 100, 200, 6*time.Millisecond)}, true, 200, Missed},
		{"a part is missing", qps, []cluster.Observation{observation("a", 100, 80, 0), gone}, true, 80, NoVerdict},
		{"only failures", qps, []cluster.Observation{gone}, false, 0, NoVerdict},
		{"an allocation of the past", qps, []cluster.Observation{observation("old", 10, 500, 0), observation("a", 100, 50, 0)}, true, 50, Missed},
		{"finished", finish, []cluster.Observation{{Allocation: "a", At: time.Unix(1, 0), FinishedIn: 50 * time.Second}}, true, 50, Met},
		{"finished late", finish, []cluster.Observation{{Allocation: "a", At: time.Unix(1, 0), FinishedIn: 70 * time.Second}}, true, 70, Missed},
		{"not finished", finish, []cluster.Observation{{Allocation: "a", At: time.Unix(1, 0)}}, false, 0, NoVerdict},
		{"best effort", performance.Target{Kind: performance.BestEffort}, []cluster.Observation{observation("a", 1, 7, 0)}, true, 7, NoVerdict},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := Measure(c.target, c.seen)
			if m.Known != c.known || m.Value != c.value || m.Verdict != c.verdict {
				t.Errorf("got %+v, want known %v, %v, %q", m, c.known, c.value, c.verdict)
			}
			if !m.Known && (m.Why == "" || m.String() != Unknown) {
				t.Errorf("an unknown measurement says %q, why %q", m, m.Why)
			}
		})
	}
}

func TestRejection(t *testing.T) {
	t.Parallel()
	for want, r := range map[string]cluster.Rejection{
		"memory exhausted: 3 MiB free": {Reason: cluster.RejectMemory, Detail: "3 MiB free"},
		"not ready":                    {Reason: cluster.RejectNotReady},
		"last-level cache capacity: residents would lose more than their QoS bound, 1 point short": {Reason: cluster.RejectInterference, Source: interference.LLCCapacity, Direction: cluster.D1, ByPoints: 1},
	} {
		if got := Rejection(r); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestResources(t *testing.T) {
	t.Parallel()
	for want, r := range map[string]cluster.Resources{
		"1 core, 256 MiB memory": {Cores: 1, MemoryMB: 256}, "2 cores, 1,500 MHz": {Cores: 2, CPUMHz: 1500}, "nothing reserved": {},
	} {
		if got := Resources(r); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// What an estimate was narrowed from is said where there is something to compare, and it was.
func TestNarrowed(t *testing.T) {
	t.Parallel()
	within := func(low, high float64) interference.Range {
		return interference.Range{Low: interference.Percent(low), High: interference.Percent(high)}
	}
	for _, c := range []struct {
		before, after interference.Range
		origin        interference.Origin
		want, short   string
	}{
		{within(22, 95), within(41, 63), interference.Measured, "narrowed from 22–95 to 41–63 points", "measured, was 22–95"},
		{within(22, 95), within(41, 63), interference.Predicted, "narrowed from 22–95 to 41–63 points", "predicted, was 22–95"},
		{within(40, 60), within(20, 70), interference.Measured, "says no more than what other workloads do", "measured"},
		{interference.Range{}, within(20, 70), interference.Measured, "", "measured"},
		{within(22, 95), interference.Range{}, interference.Measured, "", "measured"},
		{within(22, 95), within(30, 40), interference.Assumed, "", "assumed"},
	} {
		e := interference.Estimate{Score: interference.Percent(50), Low: c.after.Low, High: c.after.High, Before: c.before, Origin: c.origin}
		if got, short := Narrowed(e), Origin(e); got != c.want || short != c.short {
			t.Errorf("%+v: %q, %q", e, got, short)
		}
	}
}
