package probe_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/probe"
	"github.com/nomad-placer/nomad-placer/profiler/probe/probetest"
)

var (
	rows    = performance.Target{Kind: performance.Rate, Rate: 100, Unit: "rows"}
	finish  = performance.Target{Kind: performance.FinishWithin, FinishWithin: time.Minute}
	service = performance.Target{
		Kind: performance.QPS, QPS: 100,
		Latency: &performance.Latency{Percentile: 99, Max: 5 * time.Millisecond},
	}
)

func serve(r *probetest.Reach, body string) {
	r.HTTP = func(context.Context, string, string) ([]byte, error) { return []byte(body), nil }
}

// fixtures has one entry per listed probe.
var fixtures = map[string]probetest.Fixture{
	"prometheus": {
		Spec:   performance.ProbeSpec{Type: "prometheus", Port: "metrics", Rate: "work_total"},
		Target: rows,
		Show: func(r *probetest.Reach, work float64) {
			serve(r, fmt.Sprintf("# TYPE work_total counter\nwork_total %v\n", number(work)))
		},
	},
	"log": {
		Spec:   performance.ProbeSpec{Type: "log", Pattern: `rows=(\S+)`},
		Target: rows,
		Show: func(r *probetest.Reach, work float64) {
			r.Log = append(r.Log, fmt.Sprintf("rows=%v\n", number(work))...)
		},
	},
	"exec": {
		Spec:   performance.ProbeSpec{Type: "exec", Command: []string{"count"}},
		Target: rows,
		Show:   func(r *probetest.Reach, work float64) { r.Output = fmt.Appendf(nil, " %v\n", number(work)) },
	},
	"instructions": {
		Spec:   performance.ProbeSpec{Type: "instructions"},
		Target: performance.Target{Kind: performance.Rate, Rate: 2e9, Unit: "instructions"},
		Show: func(r *probetest.Reach, work float64) {
			r.Count = func() (float64, error) { return work, nil }
		},
	},
	"completion": {
		Spec:   performance.ProbeSpec{Type: "completion"},
		Target: finish,
		Finish: func(r *probetest.Reach) {
			start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			r.State = probe.Status{StartedAt: start, FinishedAt: start.Add(time.Minute)}
		},
	},
}

// number prints as Prometheus does.
func number(v float64) string {
	switch {
	case math.IsInf(v, 1):
		return "+Inf"
	case math.IsInf(v, -1):
		return "-Inf"
	}
	return fmt.Sprintf("%v", v)
}

func TestConformance(t *testing.T) {
	t.Parallel()
	list := probe.Probes()
	if !slices.IsSortedFunc(list, func(a, b probe.Descriptor) int { return strings.Compare(a.Name, b.Name) }) {
		t.Errorf("not sorted: %s", probe.Names())
	}
	for i, d := range list {
		f, ok := fixtures[d.Name]
		if !ok {
			t.Errorf("probe %s is listed without a fixture", d.Name)
			continue
		}
		if i > 0 && list[i-1].Name == d.Name {
			t.Errorf("%s is listed twice", d.Name)
		}
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			probetest.Run(t, d, f)
		})
	}
	if _, ok := probe.Lookup("psychic"); ok {
		t.Error("looked up a probe that is not there")
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	type spec = performance.ProbeSpec
	tests := []struct {
		name      string
		spec      spec
		target    performance.Target
		attribute string // at fault; "" for a valid spec
		detail    string
	}{
		{"prometheus", spec{Type: "prometheus", Port: "m", Rate: `a{b="c", d="e\"f"}`, Latency: "l"}, service, "", ""},
		{"no port", spec{Type: "prometheus", Rate: "a"}, rows, "port", "missing"},
		{"no rate", spec{Type: "prometheus", Port: "m"}, rows, "rate", "missing"},
		{"latency wanted", spec{Type: "prometheus", Port: "m", Rate: "a"}, service, "latency", "histogram"},
		{"foreign", spec{Type: "prometheus", Port: "m", Rate: "a", Pattern: "x"}, rows, "pattern", "not an attribute"},
		{"foreign command", spec{Type: "log", Pattern: "(x)", Command: []string{"a"}}, rows, "command", "log"},
		{"metric name", spec{Type: "prometheus", Port: "m", Rate: "9a"}, rows, "rate", "not a metric name"},
		{"matcher", spec{Type: "prometheus", Port: "m", Rate: `a{b=~"c"}`}, rows, "rate", "only ="},
		{"open brace", spec{Type: "prometheus", Port: "m", Rate: `a{b="c"`}, rows, "rate", "not closed"},
		{"path", spec{Type: "prometheus", Port: "m", Rate: "a", Path: "x"}, rows, "path", "start with /"},
		{"log", spec{Type: "log", Pattern: `n=(\d+)`, Stream: "stderr", Mode: "rate", Task: "t"}, rows, "", ""},
		{"no pattern", spec{Type: "log"}, rows, "pattern", "missing"},
		{"bad pattern", spec{Type: "log", Pattern: `ab[c(d)`}, rows, "pattern", "character 3"},
		{"two groups", spec{Type: "log", Pattern: `(a)(b)`}, rows, "pattern", "2 groups"},
		{"stamp", spec{Type: "log", Pattern: `(?P<at>\S+) n=(\d+)`}, rows, "", ""},
		{"stamp after a named number", spec{Type: "log", Pattern: `n=(?P<n>\d+) (?P<at>\S+)`}, rows, "", ""},
		{"stamp only", spec{Type: "log", Pattern: `(?P<at>\S+)`}, rows, "pattern", "0 groups"},
		{"stamp and two groups", spec{Type: "log", Pattern: `(?P<at>\S+) (a)(b)`}, rows, "pattern", "2 groups"},
		{"no group", spec{Type: "log", Pattern: `a`}, rows, "pattern", "0 groups"},
		{"huge pattern", spec{Type: "log", Pattern: strings.Repeat("a", 1<<20)}, rows, "pattern", "at most"},
		{"stream", spec{Type: "log", Pattern: `(a)`, Stream: "both"}, rows, "stream", "stdout"},
		{"mode", spec{Type: "log", Pattern: `(a)`, Mode: "sum"}, rows, "mode", "total"},
		{"log and latency", spec{Type: "log", Pattern: `(a)`}, service, "latency", "prometheus"},
		{"work without finish", spec{Type: "log", Pattern: `(a)`, Work: 5}, rows, "work", "finish_within"},
		{"work with finish", spec{Type: "log", Pattern: `(a)`, Work: 5}, finish, "", ""},
		{"negative work", spec{Type: "completion", Work: -5}, finish, "work", "not an amount"},
		{"exec", spec{Type: "exec", Command: []string{"count"}}, rows, "", ""},
		{"no command", spec{Type: "exec"}, rows, "command", "missing"},
		{"empty command", spec{Type: "exec", Command: []string{""}}, rows, "command", "empty"},
		{"negative time-out", spec{Type: "exec", Command: []string{"c"}, Timeout: -1}, rows, "timeout", "negative"},
		{"instructions", spec{Type: "instructions", Task: "t"}, performance.Target{Kind: performance.Rate, Rate: 1e9, Unit: "instructions"}, "", ""},
		{"instructions of best effort", spec{Type: "instructions"}, performance.Target{Kind: performance.BestEffort}, "", ""},
		{"instructions for rows", spec{Type: "instructions"}, rows, "type", `in rows/s: write unit = "instructions"`},
		{"instructions for a rate without unit", spec{Type: "instructions"}, performance.Target{Kind: performance.Rate, Rate: 1e9}, "type", "in units/s"},
		{"instructions for requests", spec{Type: "instructions"}, performance.Target{Kind: performance.QPS, QPS: 100}, "type", "best_effort"},
		{"instructions until an end", spec{Type: "instructions"}, finish, "type", "the end of a job"},
		{"instructions elsewhere", spec{Type: "instructions", Path: "/sys/fs/cgroup/other"}, performance.Target{Kind: performance.BestEffort}, "path", "not an attribute"},
		{"completion", spec{Type: "completion", Task: "t", Work: 3}, finish, "", ""},
		{"completion for requests", spec{Type: "completion"}, service, "type", "progress"},
		{"completion for a rate", spec{Type: "completion"}, rows, "work", "missing"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d, _ := probe.Lookup(tt.spec.Type)
			err := d.Validate(tt.spec, tt.target)
			if tt.attribute == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			var at *probe.AttributeError
			if !errors.As(err, &at) || at.Attribute != tt.attribute || !strings.Contains(err.Error(), tt.detail) {
				t.Errorf("error %v, want one on %s with %q", err, tt.attribute, tt.detail)
			}
		})
	}
}

func read(t *testing.T, spec performance.ProbeSpec, r *probetest.Reach) (performance.Reading, error) {
	t.Helper()
	d, _ := probe.Lookup(spec.Type)
	p, err := d.New(spec, r, "main")
	if err != nil {
		t.Fatal(err)
	}
	return p.Read(t.Context())
}

const metrics = `# TYPE requests_total counter
requests_total{code="200",path="/a"} 5
requests_total{code="200",path="/b"} 7
requests_total{code="500",path="/a"} 1
# TYPE seconds histogram
seconds_bucket{path="/a",le="0.001"} 3
seconds_bucket{path="/a",le="0.01"} 5
seconds_bucket{path="/a",le="+Inf"} 6
seconds_sum{path="/a"} 1
seconds_count{path="/a"} 6
seconds_bucket{path="/b",le="0.001"} 1
seconds_bucket{path="/b",le="0.01"} 7
seconds_bucket{path="/b",le="+Inf"} 7
seconds_sum{path="/b"} 1
seconds_count{path="/b"} 7
# TYPE odd histogram
odd_bucket{path="/a",le="1"} 1
odd_bucket{path="/a",le="+Inf"} 1
odd_bucket{path="/b",le="2"} 1
odd_bucket{path="/b",le="+Inf"} 1
# TYPE old summary
old{quantile="0.99"} 0.2
old_sum 4
old_count 9
# TYPE busy gauge
busy 3
plain 4
`

func TestPrometheusSelectsAndAdds(t *testing.T) {
	t.Parallel()
	tests := []struct {
		rate, latency string
		work          float64
		buckets       []float64
		want          error
		detail        string
	}{
		{"requests_total", "", 13, nil, nil, ""},
		{`requests_total{code="200"}`, "", 12, nil, nil, ""},
		{`requests_total{code="200",path="/b"}`, "seconds", 7, []float64{4, 12, 13}, nil, ""},
		{"requests_total", `seconds_bucket{path="/b"}`, 13, []float64{1, 7, 7}, nil, ""},
		{"seconds_count", "", 13, nil, nil, ""},
		{"old_count", "", 9, nil, nil, ""},
		{"plain", "", 4, nil, nil, ""},
		{"absent_total", "", 0, nil, probe.ErrNoSuchData, "no metric absent_total"},
		{`requests_total{code="404"}`, "", 0, nil, probe.ErrNoSuchData, "labels"},
		{"busy", "", 0, nil, probe.ErrNoSuchData, "is a gauge"},
		{"plain", "old", 0, nil, probe.ErrNoSuchData, "summary"},
		{"plain", "busy", 0, nil, probe.ErrNoSuchData, "not a histogram"},
		{"plain", "odd", 0, nil, probe.ErrNoSuchData, "different buckets"},
	}
	for _, tt := range tests {
		r := &probetest.Reach{}
		serve(r, metrics)
		got, err := read(t, performance.ProbeSpec{Type: "prometheus", Port: "m", Rate: tt.rate, Latency: tt.latency}, r)
		if !errors.Is(err, tt.want) || (err != nil && !strings.Contains(err.Error(), tt.detail)) {
			t.Errorf("%s %s: %v, want %v", tt.rate, tt.latency, err, tt.want)
			continue
		}
		if err != nil {
			continue
		}
		var buckets []float64
		for _, b := range got.Latency {
			buckets = append(buckets, b.Count)
		}
		if got.Work != tt.work || !slices.Equal(buckets, tt.buckets) {
			t.Errorf("%s %s: %v %v, want %v %v", tt.rate, tt.latency, got.Work, buckets, tt.work, tt.buckets)
		}
	}
}

// Lines come in pieces, some are endless; only whole, sane lines count.
func TestLogFollows(t *testing.T) {
	t.Parallel()
	d, _ := probe.Lookup("log")
	r := &probetest.Reach{}
	p, err := d.New(performance.ProbeSpec{Type: "log", Pattern: `rows=(\d+)`}, r, "main")
	if err != nil {
		t.Fatal(err)
	}
	steps := []struct {
		add  string
		want float64 // NaN: no number yet
	}{
		{"starting\nrow", math.NaN()},
		{"s=1", math.NaN()},
		{"2\n", 12},
		{"noise\n", 12},
		{"rows=13\nrows=14\nrows=9", 14},
		{"9\n", 99},
		{strings.Repeat("x", 1<<20) + " rows=666", 99},
		{strings.Repeat("y", 1<<20) + " rows=777\n", 99},
		{"rows=100\n", 100},
	}
	for i, s := range steps {
		r.Log = append(r.Log, s.add...)
		got, err := p.Read(t.Context())
		switch {
		case math.IsNaN(s.want) && !errors.Is(err, probe.ErrNoSuchData):
			t.Errorf("step %d: %v, %v", i, got, err)
		case !math.IsNaN(s.want) && (err != nil || got.Work != s.want):
			t.Errorf("step %d: %v, %v, want %v", i, got.Work, err, s.want)
		}
	}
}

// A backlog is worked off before a number is given: an old one would pass for
// the present.
func TestLogBacklog(t *testing.T) {
	t.Parallel()
	d, _ := probe.Lookup("log")
	r := &probetest.Reach{Log: append([]byte("rows=1\n"), strings.Repeat("-\n", probe.MaxBodyBytes)...)}
	r.Log = append(r.Log, "rows=2\n"...)
	p, err := d.New(performance.ProbeSpec{Type: "log", Pattern: `rows=(\d+)`}, r, "main")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Read(t.Context()); !errors.Is(err, probe.ErrNotReady) {
		t.Errorf("first reading: %v", err)
	}
	for range 3 {
		if got, err := p.Read(t.Context()); err == nil {
			if got.Work != 2 {
				t.Errorf("work %v", got.Work)
			}
			return
		}
	}
	t.Error("the backlog is never worked off")
}

func TestModeRate(t *testing.T) {
	t.Parallel()
	got, err := read(t, performance.ProbeSpec{Type: "exec", Command: []string{"r"}, Mode: performance.ModeRate}, &probetest.Reach{Output: []byte("3.5\n")})
	if err != nil || got.RateNow != 3.5 || !math.IsNaN(got.Work) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	end := start.Add(30 * time.Second)
	spec := performance.ProbeSpec{Type: "completion", Work: 600}
	done, err := read(t, spec, &probetest.Reach{State: probe.Status{StartedAt: start, FinishedAt: end}})
	if err != nil || !done.Done || done.Work != 600 || done.At != end || done.Started != start {
		t.Errorf("done: %+v, %v", done, err)
	}
	running, err := read(t, spec, &probetest.Reach{State: probe.Status{Running: true, StartedAt: start}})
	if err != nil || running.Done || !math.IsNaN(running.Work) {
		t.Errorf("running: %+v, %v", running, err)
	}
	if _, err := read(t, spec, &probetest.Reach{}); !errors.Is(err, probe.ErrNotReady) {
		t.Errorf("not started: %v", err)
	}
	failed := probe.Status{StartedAt: start, FinishedAt: end, ExitCode: 137}
	if _, err := read(t, spec, &probetest.Reach{State: failed}); !errors.Is(err, probe.ErrFailed) || !strings.Contains(err.Error(), "137") {
		t.Errorf("failed: %v", err)
	}
}

// A time stamp of the workload's own makes the reading exact, unless it cannot be
// right: then the reading is of the moment it was taken, as without one.
func TestStamps(t *testing.T) {
	t.Parallel()
	now := time.Now()
	ago := now.Add(-1500 * time.Millisecond).Truncate(time.Microsecond)
	unix := func(at time.Time) string { return fmt.Sprintf("%d.%06d", at.Unix(), at.Nanosecond()/1000) }
	log := func(stamp string) (performance.Reading, error) {
		r := &probetest.Reach{Log: []byte("0 rows=1\n" + stamp + " rows=2\n")}
		return read(t, performance.ProbeSpec{Type: "log", Pattern: `^(?P<at>\S+) rows=(\d+)`}, r)
	}
	millis := func(stamps ...int64) (performance.Reading, error) {
		text := "# TYPE w counter\n"
		for i, s := range stamps {
			text += fmt.Sprintf("w{i=\"%d\"} 1", i)
			if s != 0 {
				text += fmt.Sprintf(" %d", s)
			}
			text += "\n"
		}
		r := &probetest.Reach{}
		serve(r, text)
		return read(t, performance.ProbeSpec{Type: "prometheus", Port: "m", Rate: "w"}, r)
	}
	ms := ago.UnixMilli()
	tests := []struct {
		name string
		read func() (performance.Reading, error)
		want time.Time // zero: not exact
	}{
		{"log, EPOCHREALTIME", func() (performance.Reading, error) { return log(unix(ago)) }, ago},
		{"log, with a comma", func() (performance.Reading, error) { return log(strings.Replace(unix(ago), ".", ",", 1)) }, ago},
		{"log, whole seconds", func() (performance.Reading, error) { return log(fmt.Sprint(ago.Unix())) }, time.Unix(ago.Unix(), 0)},
		{"log, RFC 3339", func() (performance.Reading, error) {
			return log(ago.In(time.FixedZone("", 3*3600)).Format(time.RFC3339Nano))
		}, ago},
		{"log, of last year", func() (performance.Reading, error) { return log(unix(now.AddDate(-1, 0, 0))) }, time.Time{}},
		{"log, of the future", func() (performance.Reading, error) { return log(unix(now.Add(time.Hour))) }, time.Time{}},
		{"log, no time", func() (performance.Reading, error) { return log("INFO") }, time.Time{}},
		{"log, negative", func() (performance.Reading, error) { return log("-5") }, time.Time{}},
		{"prometheus", func() (performance.Reading, error) { return millis(ms) }, time.UnixMilli(ms)},
		{"prometheus, two of one moment", func() (performance.Reading, error) { return millis(ms, ms) }, time.UnixMilli(ms)},
		{"prometheus, two moments", func() (performance.Reading, error) { return millis(ms, ms-1) }, time.Time{}},
		{"prometheus, one without", func() (performance.Reading, error) { return millis(ms, 0) }, time.Time{}},
		{"prometheus, without", func() (performance.Reading, error) { return millis(0) }, time.Time{}},
		{"prometheus, stale", func() (performance.Reading, error) { return millis(ms - 3600e3) }, time.Time{}},
	}
	for _, tt := range tests {
		got, err := tt.read()
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if got.Exact != !tt.want.IsZero() || got.Exact && !got.At.Equal(tt.want) || !got.Exact && got.At.Before(now) {
			t.Errorf("%s: at %v, exact %v, want %v", tt.name, got.At, got.Exact, tt.want)
		}
	}
	rate, err := read(t, performance.ProbeSpec{Type: "log", Mode: performance.ModeRate, Pattern: `^(?P<at>\S+) r=(\d+)`},
		&probetest.Reach{Log: []byte(unix(ago) + " r=2\n")})
	if err != nil || rate.Exact {
		t.Errorf("a present rate counts nothing: %+v, %v", rate, err)
	}
}

func BenchmarkPrometheus(b *testing.B) {
	r := &probetest.Reach{}
	serve(r, metrics)
	d, _ := probe.Lookup("prometheus")
	p, err := d.New(performance.ProbeSpec{Type: "prometheus", Port: "m", Rate: "requests_total", Latency: "seconds"}, r, "main")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := p.Read(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLogMiBPerRead(b *testing.B) {
	line := "2026-01-01 00:00:00 INFO batch done rows=12345 in 3 ms\n"
	r := &probetest.Reach{Log: []byte(strings.Repeat(line, (1<<20)/len(line)))}
	d, _ := probe.Lookup("log")
	b.SetBytes(int64(len(r.Log)))
	for b.Loop() {
		p, err := d.New(performance.ProbeSpec{Type: "log", Pattern: `rows=(\d+)`}, r, "main")
		if err != nil {
			b.Fatal(err)
		}
		if _, err := p.Read(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// What no later reading will mend says so, and is not taken for silence.
func TestInstructionsThatCannotBeCounted(t *testing.T) {
	t.Parallel()
	r := &probetest.Reach{Count: func() (float64, error) {
		return 0, fmt.Errorf("%w: no counters", probe.ErrUnsupported)
	}}
	_, err := read(t, performance.ProbeSpec{Type: "instructions", Task: "t"}, r)
	if !errors.Is(err, probe.ErrUnsupported) || errors.Is(err, probe.ErrNotReady) || !strings.Contains(err.Error(), "task t: ") {
		t.Errorf("error %v", err)
	}
}

// The moment of a reading is that of its count, so that windows may be short.
func TestInstructionsAreExact(t *testing.T) {
	t.Parallel()
	r := &probetest.Reach{Count: func() (float64, error) { return 7, nil }}
	got, err := read(t, performance.ProbeSpec{Type: "instructions"}, r)
	if err != nil || !got.Exact || got.Work != 7 {
		t.Errorf("%+v, %v", got, err)
	}
}
