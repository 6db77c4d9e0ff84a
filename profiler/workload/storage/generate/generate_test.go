package generate_test

import (
	"bytes"
	"cmp"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/nomad-placer/nomad-placer/profiler/workload/storage"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/generate"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/model"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/trace"
)

// mixed is a trace with runs, hot ranges, two threads, and two rates.
func mixed(ios int, seed uint64) []storage.Record {
	rng := rand.New(rand.NewPCG(seed, 0))
	var out []storage.Record
	var ends [2]int64
	at := time.Duration(0)
	for i := range ios {
		thread := uint32(0)
		if rng.IntN(4) == 0 {
			thread = 1
		}
		r := storage.Record{Thread: thread, Bytes: 4096 << rng.IntN(3)}
		if rng.IntN(3) == 0 {
			r.Op = storage.Write
		}
		switch {
		case rng.IntN(2) == 0 && ends[thread] > 0:
			r.Offset = ends[thread]
		case rng.IntN(4) > 0:
			r.Offset = 5<<30 + rng.Int64N(1<<16)*4096
		default:
			r.Offset = rng.Int64N(1<<21) * 4096
		}
		ends[thread] = r.End()
		gap := 5 * time.Millisecond
		if i > ios/2 {
			gap = 20 * time.Millisecond
		}
		at += time.Duration(rng.ExpFloat64() * float64(gap))
		r.At = at
		out = append(out, r)
	}
	out[0].At = 0
	return out
}

func fit(t testing.TB, records []storage.Record, o model.Options) *model.Model {
	t.Helper()
	survey := model.NewSurvey()
	for i := range records {
		survey.Add(&records[i])
	}
	f, err := model.NewFitter(survey, survey.Layout(16<<30), o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range records {
		if err := f.Add(&records[i]); err != nil {
			t.Fatal(err)
		}
	}
	fitted, err := f.Finish()
	if err != nil {
		t.Fatal(err)
	}
	m, err := fitted.Model(fitted.Levels())
	if err != nil {
		t.Fatal(err)
	}
	m.Seed = 1
	return m
}

// readers are the streams of a model.
var readers = map[string]func(*model.Model, generate.Options) (storage.Reader, error){
	"walk":    func(m *model.Model, o generate.Options) (storage.Reader, error) { return generate.NewWalk(m, o) },
	"jobs":    func(m *model.Model, o generate.Options) (storage.Reader, error) { return generate.NewJobs(m, o) },
	"uniform": func(m *model.Model, o generate.Options) (storage.Reader, error) { return generate.NewUniform(m, o) },
}

func all(t testing.TB, r storage.Reader, err error) []storage.Record {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	var out []storage.Record
	if err := model.Each(r, -1, func(r *storage.Record) error { out = append(out, *r); return nil }); err != nil {
		t.Fatal(err)
	}
	return out
}

// Whatever the model: I/Os are in order of time, on the device, on sectors, of known
// categories, and the same seed gives the same.
func TestStreamsAreSane(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		records := mixed(rapid.IntRange(50, 400).Draw(rt, "ios"), rapid.Uint64().Draw(rt, "trace"))
		form := rapid.SampledFrom([]model.Form{model.Hierarchical, model.Flat}).Draw(rt, "form")
		m := fit(t, records, model.Options{Levels: rapid.SampledFrom([]int{model.NoLevels, 1, 2, 3, 4}).Draw(rt, "levels"), Form: form})
		o := generate.Options{
			Seed: rapid.Uint64().Draw(rt, "seed"), IOs: rapid.Int64Range(0, 500).Draw(rt, "wanted"),
			Intensity: rapid.Float64Range(0.1, 10).Draw(rt, "intensity"), Compression: rapid.Float64Range(0.5, 50).Draw(rt, "compression"),
			Family:  rapid.SampledFrom(append(model.Families(), model.UnknownFamily)).Draw(rt, "family"),
			OneRate: rapid.Bool().Draw(rt, "one rate"),
		}
		for name, open := range readers {
			r, err := open(m, o)
			got := all(t, r, err)
			if o.IOs > 0 && int64(len(got)) != o.IOs {
				rt.Fatalf("%s: %d I/Os, want %d", name, len(got), o.IOs)
			}
			var last time.Duration
			for i, r := range got {
				if r.At < last || r.Offset < 0 || r.End() > m.Device.Bytes || r.Offset%m.Device.SectorBytes != 0 || r.Bytes <= 0 {
					rt.Fatalf("%s: I/O %d after %s: %+v on %+v", name, i, last, r, m.Device)
				}
				last = r.At
			}
			r, err = open(m, o)
			for i, again := range all(t, r, err) {
				if again != got[i] {
					rt.Fatalf("%s: I/O %d is %+v, then %+v", name, i, got[i], again)
				}
			}
		}
	})
}

// Weights of transitions are within 0.05 % at 10^6 I/Os (Delimitrou 2015, §A.3.4).
func TestPaperWeightsAreHeld(t *testing.T) {
	t.Parallel()
	const ios, limit = 1_000_000, 0.0005
	for _, o := range []model.Options{{Levels: 2}, {Levels: 5}, {Levels: 2, Form: model.Flat}} {
		m := fit(t, mixed(50_000, 3), o)
		w, err := generate.NewWalk(m, generate.Options{Seed: 11, IOs: ios})
		if err != nil {
			t.Fatal(err)
		}
		again := m.NewRecount(w.TypeOf)
		if err := model.Each(w, -1, func(r *storage.Record) error { again.Add(r); return nil }); err != nil {
			t.Fatal(err)
		}
		if d := again.LargestDifference(); !(d <= limit) {
			t.Errorf("%s, %d levels: a weight differs by %.4f %%", m.Form, m.Levels, 100*d)
		}
	}
}

// A walk visits states as often as the trace did.
func TestVisitsAreThoseOfTheTrace(t *testing.T) {
	t.Parallel()
	m := fit(t, mixed(40_000, 5), model.Options{Levels: 4})
	want := m.Visits(3)
	got := make([]float64, len(want))
	w, err := generate.NewWalk(m, generate.Options{Seed: 2, IOs: 200_000})
	for _, r := range all(t, w, err) {
		got[m.Device.State(r.Offset, 3)] += 1. / 200_000
	}
	apart := 0.0
	for i := range want {
		apart += math.Abs(got[i]-want[i]) / 2
	}
	if apart > 0.005 { // a tenth of what the comparison allows
		t.Errorf("%.2f %% of the I/Os are elsewhere", 100*apart)
	}
}

// Every interval gets its I/Os: the rate is that of the trace, to a rounding, however long
// intervals are.
func TestIntervalsHaveTheirRates(t *testing.T) {
	t.Parallel()
	records := mixed(400_000, 8)
	for _, length := range []time.Duration{0, model.IntervalLength, 10 * time.Second} {
		m := fit(t, records, model.Options{Levels: 2, Interval: length})
		count := func(records []storage.Record) map[int]int {
			out := map[int]int{}
			for _, r := range records {
				out[int(r.At/cmp.Or(length, model.IntervalLength))]++
			}
			return out
		}
		w, err := generate.NewWalk(m, generate.Options{Seed: 4})
		want, got := count(records), count(all(t, w, err))
		for i, n := range want {
			if d := got[i] - n; d < -len(m.Types) || d > len(m.Types) {
				t.Errorf("%s: interval %d has %d I/Os, the trace %d", length, i, got[i], n)
			}
		}
		if len(want) < 2 {
			t.Fatal("the trace has one interval only")
		}
	}
}

// The knobs: gaps twice as long halve the I/Os, and compressed time has as many fewer in as
// much less time.
func TestKnobs(t *testing.T) {
	t.Parallel()
	m := fit(t, mixed(40_000, 1), model.Options{Levels: 2})
	span := m.Capture.Span()
	for name, c := range map[string]struct {
		o    generate.Options
		ios  float64
		time time.Duration
	}{
		"as it is":     {generate.Options{}, 40_000, span},
		"half":         {generate.Options{Intensity: 2}, 20_000, span},
		"twice":        {generate.Options{Intensity: 0.5}, 80_000, span},
		"compressed":   {generate.Options{Compression: 96}, 40_000. / 96, span / 96},
		"both":         {generate.Options{Compression: 10, Intensity: 0.5}, 8_000, span / 10},
		"begins again": {generate.Options{IOs: 100_000}, 100_000, span * 5 / 2},
		"one rate":     {generate.Options{OneRate: true}, 40_000, span},
		"static":       {generate.Options{Family: model.Static}, 40_000, span},
		"whole ms":     {generate.Options{Family: model.Poisson}, 40_000, span},
	} {
		w, err := generate.NewWalk(m, c.o)
		got := all(t, w, err)
		last := got[len(got)-1].At
		if math.Abs(float64(len(got))/c.ios-1) > 0.01 || math.Abs(float64(last)/float64(c.time)-1) > 0.03 {
			t.Errorf("%s: %d I/Os in %s, want %.0f in %s", name, len(got), last, c.ios, c.time)
		}
		if math.Abs(w.Expected()/c.ios-1) > 0.01 || w.Last() != last {
			t.Errorf("%s: %g are expected, the last is at %s", name, w.Expected(), w.Last())
		}
	}
}

func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	m := fit(t, mixed(100, 1), model.Options{Levels: 1})
	for name, o := range map[string]generate.Options{
		"number": {IOs: -1}, "intensity": {Intensity: -1}, "nan": {Compression: math.NaN()}, "compression": {Compression: 1e9}, "family": {Family: "weibull"},
	} {
		for of, open := range readers {
			if _, err := open(m, o); !errors.Is(err, generate.ErrOptions) {
				t.Errorf("%s, %s: %v", of, name, err)
			}
		}
	}
}

// What is written as a log of fio is read as the same I/Os.
func TestLogsAreReadAgain(t *testing.T) {
	t.Parallel()
	m := fit(t, mixed(5_000, 6), model.Options{Levels: 3})
	var file bytes.Buffer
	w, err := generate.NewWalk(m, generate.Options{Seed: 9})
	if err != nil {
		t.Fatal(err)
	}
	n, err := generate.WriteLog(&file, w, generate.LogOptions{Data: "/data", IsLog: w.IsLog})
	if err != nil {
		t.Fatal(err)
	}
	tr, err := trace.New("log", "", bytes.NewReader(file.Bytes()))
	read := all(t, tr, err)
	again, err := generate.NewWalk(m, generate.Options{Seed: 9})
	want := all(t, again, err)
	if int64(len(read)) != n || len(read) != len(want) {
		t.Fatalf("%d written, %d read, %d generated", n, len(read), len(want))
	}
	for i := range want {
		at := want[i].At.Truncate(time.Microsecond) - want[0].At.Truncate(time.Microsecond)
		if read[i].Offset != want[i].Offset || read[i].Bytes != want[i].Bytes || read[i].Op != want[i].Op || read[i].At != at {
			t.Fatalf("I/O %d: read %+v, generated %+v", i, read[i], want[i])
		}
	}
}

// Threads that are logs have a file of their own, if it is named.
func TestLogsHaveTheirFile(t *testing.T) {
	t.Parallel()
	records := mixed(4_000, 6)
	for i := range records {
		if records[i].Thread == 1 {
			records[i].Op, records[i].Offset = storage.Write, 1<<30+int64(i)*65536
		}
	}
	survey := model.NewSurvey()
	for i := range records {
		survey.Add(&records[i])
	}
	f, err := model.NewFitter(survey, survey.Layout(0), model.Options{Levels: 1, Names: []string{"db", "wal"}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range records {
		if err := f.Add(&records[i]); err != nil {
			t.Fatal(err)
		}
	}
	fitted, err := f.Finish()
	if err != nil {
		t.Fatal(err)
	}
	m, err := fitted.Model(1)
	if err != nil {
		t.Fatal(err)
	}
	w, err := generate.NewWalk(m, generate.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if _, err := generate.WriteLog(&file, w, generate.LogOptions{Data: "/data", Logs: "/log", IsLog: w.IsLog}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"fio version 3 iolog\n0 /data add\n0 /log add\n0 /data open\n0 /log open\n", " /log write ", " /data read ", " /log close\n"} {
		if !strings.Contains(file.String(), want) {
			t.Errorf("the log has no %q", want)
		}
	}
	if strings.Contains(file.String(), " /log read ") {
		t.Error("a log is read")
	}
	stop := errors.New("enough")
	long, err := generate.NewWalk(m, generate.Options{IOs: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	n, err := generate.WriteLog(&bytes.Buffer{}, long, generate.LogOptions{Data: "x", IsLog: w.IsLog, Wrote: func(int64, time.Duration) error { return stop }})
	if !errors.Is(err, stop) || n == 1<<20 {
		t.Errorf("%d I/Os, %v", n, err)
	}
}

// BenchmarkWalk draws I/Os: at least a million a second are wanted of one core.
func BenchmarkWalk(b *testing.B) {
	for name, o := range map[string]model.Options{"1 level": {Levels: 1}, "3 levels": {Levels: 3}, "7 levels": {Levels: 7}} {
		b.Run(name, func(b *testing.B) {
			m := fit(b, mixed(100_000, 1), o)
			w, err := generate.NewWalk(m, generate.Options{IOs: math.MaxInt64})
			if err != nil {
				b.Fatal(err)
			}
			var r storage.Record
			b.ReportAllocs()
			for b.Loop() {
				if err := w.Next(&r); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "ios/s")
		})
	}
}

// BenchmarkLog writes them for fio, too.
func BenchmarkLog(b *testing.B) {
	m := fit(b, mixed(100_000, 1), model.Options{Levels: 3})
	const ios = 100_000
	for b.Loop() {
		w, err := generate.NewWalk(m, generate.Options{IOs: ios})
		if err != nil {
			b.Fatal(err)
		}
		var file bytes.Buffer
		if _, err := generate.WriteLog(&file, w, generate.LogOptions{Data: "/data", IsLog: w.IsLog}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(ios*float64(b.N)/b.Elapsed().Seconds(), "ios/s")
}
