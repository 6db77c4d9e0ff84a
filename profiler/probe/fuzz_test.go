package probe_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/probe"
	"github.com/nomad-placer/nomad-placer/profiler/probe/probetest"
)

// fuzzed are specs that reach every parser.
var fuzzed = []performance.ProbeSpec{
	{Type: "prometheus", Port: "m", Rate: "work_total"},
	{Type: "prometheus", Port: "m", Rate: `took_seconds_count{kind="a"}`, Latency: `took_seconds{kind="a"}`},
	{Type: "log", Pattern: `rows=(\S+)`},
	{Type: "log", Pattern: `at=(?P<at>\S+) rows=(\S+)`, Mode: performance.ModeTotal},
	{Type: "log", Pattern: `rate=(.*)`, Mode: performance.ModeRate, Stream: "stderr"},
	{Type: "exec", Command: []string{"count"}},
	{Type: "exec", Command: []string{"count"}, Mode: performance.ModeRate},
}

// FuzzRead: whatever a workload answers, twice, there is a usable reading or an error
// with a name, and what follows from two readings is a number or an error as well.
func FuzzRead(f *testing.F) {
	for which := range fuzzed {
		f.Add(uint8(which), []byte(""), []byte("\x00\xff\xfe"))
	}
	f.Add(uint8(0), []byte("# TYPE work_total counter\nwork_total 1\n"), []byte("# TYPE work_total counter\nwork_total 7 1700000000000\n"))
	f.Add(uint8(1), []byte("# TYPE took_seconds histogram\ntook_seconds_bucket{kind=\"a\",le=\"0.1\"} 3\ntook_seconds_bucket{kind=\"a\",le=\"+Inf\"} 4\ntook_seconds_sum{kind=\"a\"} 1\ntook_seconds_count{kind=\"a\"} 4\n"),
		[]byte("# TYPE took_seconds histogram\ntook_seconds_bucket{kind=\"a\",le=\"NaN\"} 3\ntook_seconds_bucket{kind=\"a\",le=\"0.1\"} 1e400\n"))
	f.Add(uint8(2), []byte("rows=1\nrows=0x1p-2\n"), []byte("rows=1\nrows=0x1p-2\nrows=1e309\n"))
	f.Add(uint8(3), []byte("at=1700000000,5 rows=1\n"), []byte("at=9999999999999999999 rows=2\nat=2026-01-01T00:00:00Z rows=3\n"))
	f.Add(uint8(4), []byte("rate= -0 \n"), []byte("rate=_1_\n"))
	f.Add(uint8(5), []byte(" 12\n"), []byte("12 13"))
	f.Fuzz(func(t *testing.T, which uint8, first, second []byte) {
		spec := fuzzed[int(which)%len(fuzzed)]
		reach := &probetest.Reach{}
		p, err := probe.New(spec, reach, "main")
		if err != nil {
			t.Fatal(err)
		}
		var readings []performance.Reading
		for _, answer := range [][]byte{first, second} {
			reach.HTTP = func(context.Context, string, string) ([]byte, error) { return answer, nil }
			reach.Output = answer
			reach.Log = append(reach.Log, answer...)
			r, err := p.Read(t.Context())
			if err == nil {
				checkReading(t, r)
				readings = append(readings, r)
			} else if !probetest.Named(err) {
				t.Fatalf("an error that no caller knows: %v", err)
			}
		}
		if len(readings) == 2 {
			checkBetween(t, readings[0], readings[1])
		}
	})
}

func checkReading(t *testing.T, r performance.Reading) {
	t.Helper()
	if math.IsNaN(r.Work) == math.IsNaN(r.RateNow) {
		t.Fatalf("both or none of a count and a rate: %+v", r)
	}
	if r.Work < 0 || r.RateNow < 0 || math.IsInf(r.Work, 0) || math.IsInf(r.RateNow, 0) {
		t.Fatalf("an amount that nothing can have done: %+v", r)
	}
	if age := time.Since(r.At); age > 2*time.Minute || age < -time.Minute {
		t.Fatalf("of another time: %s", r.At)
	}
	for i, b := range r.Latency {
		if math.IsNaN(b.UpperSeconds) || math.IsInf(b.Count, 0) || b.Count < 0 ||
			i > 0 && (b.UpperSeconds <= r.Latency[i-1].UpperSeconds || b.Count < r.Latency[i-1].Count) {
			t.Fatalf("no cumulative histogram: %+v", r.Latency)
		}
	}
}

func checkBetween(t *testing.T, a, b performance.Reading) {
	t.Helper()
	b.At = a.At.Add(time.Second)
	m, err := performance.Between(a, b, service)
	if err != nil {
		return
	}
	for _, v := range []float64{m.RatePerSec, m.Goodput, m.LatencyTail.Seconds()} {
		if v < 0 || math.IsNaN(v) || math.IsInf(v, 0) {
			t.Fatalf("from %+v to %+v: %+v", a, b, m)
		}
	}
}
