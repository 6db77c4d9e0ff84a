package model_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/nomad-placer/nomad-placer/profiler/workload/storage"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/model"
)

// random draws a trace of several threads and volumes.
func random(t *rapid.T) *built {
	device := rapid.Int64Range(1<<20, 1<<40).Draw(t, "device")
	b := newTrace(device)
	n := rapid.IntRange(2, 300).Draw(t, "ios")
	threads := rapid.Uint32Range(1, 4).Draw(t, "threads")
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	last := int64(0)
	for range n {
		size := 512 * (1 + rng.Int64N(64))
		offset := last
		if rng.IntN(3) > 0 {
			offset = rng.Int64N(device - size)
		}
		if offset+size > device {
			offset = 0
		}
		b.add(rng.Float64()*60_000, storage.Op(rng.IntN(storage.Ops)), offset, size)
		b.records[len(b.records)-1].Thread = uint32(rng.IntN(int(threads)))
		last = offset + size
	}
	b.records[len(b.records)-1].At += time.Second // not all at once
	return b
}

// Whatever the trace: the model can be walked, its weights add up to 1, and reading what
// was written gives the same bytes.
func TestModelsAreConsistent(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		b := random(rt)
		o := model.Options{Levels: rapid.IntRange(1, 6).Draw(rt, "levels")}
		if rapid.Bool().Draw(rt, "flat") {
			o.Form, o.Levels = model.Flat, min(o.Levels, 4)
		}
		m := fit(t, b, o)
		sum, weights := int64(0), 0.0
		for i := range m.Types {
			weights += m.Types[i].Weight
			out := int64(0)
			for _, x := range m.Types[i].Transitions {
				sum += x.IOs
			}
			for s, n := range m.OutOf(&m.Types[i]) {
				if s.Level == m.Levels {
					out += n
				}
			}
			if out != m.Types[i].IOs {
				rt.Fatalf("%d I/Os leave states, of %d", out, m.Types[i].IOs)
			}
		}
		if sum != int64(len(b.records)) || math.Abs(weights-1) > 1e-9 {
			rt.Fatalf("%d transitions of %d I/Os, weights add up to %g", sum, len(b.records), weights)
		}
		var first, second bytes.Buffer
		if err := m.Write(&first); err != nil {
			rt.Fatal(err)
		}
		again, err := model.Read("m", bytes.NewReader(first.Bytes()))
		if err != nil {
			rt.Fatal(err)
		}
		if err := again.Write(&second); err != nil || !bytes.Equal(first.Bytes(), second.Bytes()) {
			rt.Fatalf("written twice, %v:\n%s\n%s", err, first.Bytes(), second.Bytes())
		}
	})
}

// A depth that is summed from a deeper count is what would have been counted.
func TestDepthsAreSumsOfDeeperOnes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		b := random(rt)
		deepest := counted(t, b, model.Options{Levels: 5})
		for levels := 1; levels <= 5; levels++ {
			summed, err := deepest.Model(levels)
			if err != nil {
				rt.Fatal(err)
			}
			if direct := fit(t, b, model.Options{Levels: levels}); text(t, summed) != text(t, direct) {
				rt.Fatalf("%d levels: summed\n%s\ncounted\n%s", levels, text(t, summed), text(t, direct))
			}
		}
	})
}

func text(t testing.TB, m *model.Model) string {
	t.Helper()
	var b bytes.Buffer
	if err := m.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A state's parent is its number over 4, at every level, and a state holds its first byte
// and the last one before the next.
func TestStates(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		d := model.Device{Bytes: rapid.Int64Range(1<<16, 1<<50).Draw(rt, "bytes")}
		offset := rapid.Int64Range(0, d.Bytes-1).Draw(rt, "offset")
		for level := 1; level <= model.MaxLevels; level++ {
			s := d.State(offset, level)
			if s/model.Branching != d.State(offset, level-1) {
				rt.Fatalf("level %d: state %d of byte %d is not in state %d", level, s, offset, d.State(offset, level-1))
			}
			begin, end := d.Begin(s, level), d.Begin(s+1, level)
			if offset < begin || offset >= end || d.State(begin, level) != s || d.State(end-1, level) != s {
				rt.Fatalf("level %d: state %d from %d to %d, byte %d", level, s, begin, end, offset)
			}
		}
		if d.State(d.Bytes+1, 3) != 63 || d.Begin(64, 3) != d.Bytes {
			rt.Fatal("what is behind the range is in the last state")
		}
	})
}

// A trace of two volumes is one range, each volume where the one before ends.
func TestVolumesAreLaidBehindEachOther(t *testing.T) {
	t.Parallel()
	var e model.Extent
	for _, r := range []storage.Record{
		{Volume: 0, Offset: 100, Bytes: 50}, {Volume: 1, Offset: 3 << 20, Bytes: 1}, {Volume: 0, Offset: 0, Bytes: 1},
	} {
		e.Add(&r)
	}
	l := e.Layout(0)
	r := storage.Record{Volume: 1, Offset: 5, Bytes: 1}
	l.Place(&r)
	if l.Bytes() != 1<<20+4<<20 || r.Offset != 1<<20+5 || r.Volume != 0 {
		t.Errorf("%d bytes, byte 5 of the second volume at %d", l.Bytes(), r.Offset)
	}
	var one model.Extent
	one.Add(&storage.Record{Offset: 0, Bytes: 4096})
	if got := one.Layout(1 << 30).Bytes(); got != 1<<30 {
		t.Errorf("a device of 1 GiB has %d bytes", got)
	}
}

func TestThreadsAreClassified(t *testing.T) {
	t.Parallel()
	b := newTrace(1 << 40)
	at := func(second int, thread uint32, op storage.Op, offset int64) {
		b.records = append(b.records, storage.Record{At: time.Duration(second) * time.Second, Thread: thread, Op: op, Offset: offset, Bytes: 4096})
	}
	appended := int64(1 << 30)
	for second := range 3600 {
		at(second, 0, storage.Read, int64(second*7919%5000)<<20) // steady and busy
		if second/600%2 == 0 {
			for range 2 {
				at(second, 1, storage.Read, int64(second*104729%5000)<<20) // busy now and then
			}
		}
		if second%2 == 0 {
			at(second, 2, storage.Write, appended) // a log by what it does
			appended += 4096
		}
		if second%30 == 0 {
			at(second, 3, storage.Write, int64(second*31%5000)<<20) // a log by its name
		}
		if second%60 == 0 {
			at(second, 4, storage.Read, int64(second*13%5000)<<20) // steady and quiet
		}
		if second < 40 {
			at(second, 5, storage.Read, int64(second*17%5000)<<20) // quiet, and then silent
		}
	}
	m := fit(t, b, model.Options{Levels: 1, Names: []string{"db", "scan", "12 writer", "/var/lib/pg_wal/0001", "cron", "catalog"}})
	got := map[string]int64{}
	for _, of := range m.Types {
		got[of.Name] = of.IOs
	}
	want := map[string]int64{"data-1": 3600, "data-0": 3600, "log-4": 1800, "log-5": 120, "data-3": 60, "data-2": 40}
	for name, n := range want {
		if got[name] != n {
			t.Errorf("%s has %d I/Os, want %d", name, got[name], n)
		}
	}
	if len(got) != len(want) {
		t.Errorf("types %v", got)
	}
}

// Gaps of every family are found again, by their mean, variation and family.
func TestFamiliesAreFound(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 7))
	const n, mean = 20_000, 8.0 // ms
	for family, draw := range map[model.Family]func() float64{
		model.Exponential: func() float64 { return mean * rng.ExpFloat64() },
		model.Normal:      func() float64 { return max(0, mean+2*rng.NormFloat64()) },
		model.Static:      func() float64 { return mean },
		model.Gamma: func() float64 {
			return mean / 4 * (rng.ExpFloat64() + rng.ExpFloat64() + rng.ExpFloat64() + rng.ExpFloat64())
		},
	} {
		b := newTrace(1 << 30)
		for range n {
			b.add(draw(), storage.Read, 4096, 4096)
		}
		g := fit(t, b, model.Options{Levels: model.NoLevels}).Types[0].Gap
		if g.Family != family {
			t.Errorf("%s is taken for %+v", family, g)
		}
		if math.Abs(g.MeanMicroseconds/(mean*1e3)-1) > 0.03 { // 4 standard errors of the exponential
			t.Errorf("%s: mean %g µs, want %g", family, g.MeanMicroseconds, mean*1e3)
		}
	}
}

// Distribution functions rise from 0 to 1, and half of a symmetric one is below its mean.
func TestDistributionsRise(t *testing.T) {
	t.Parallel()
	for _, family := range model.Families() {
		g := model.Gap{Family: family, MeanMicroseconds: 50_000, Variation: 0.3}
		last := 0.0
		for us := 1.0; us < 1e7; us *= 1.3 {
			p := g.CDF(us)
			if p < last || p > 1 {
				t.Fatalf("%s: %g after %g at %g µs", family, p, last, us)
			}
			last = p
		}
		if last < 0.999 || g.CDF(0) > 1e-6 {
			t.Errorf("%s goes from %g to %g", family, g.CDF(0), last)
		}
	}
	if p := (model.Gap{Family: model.Normal, MeanMicroseconds: 100, Variation: 0.1}).CDF(100); math.Abs(p-0.5) > 1e-9 {
		t.Errorf("%g of a normal distribution is below its mean", p)
	}
	if _, err := model.FamilyOf("weibull"); err == nil || !strings.Contains(err.Error(), "known: exponential, gamma") {
		t.Errorf("got %v", err)
	}
}

// Sizes that are rare take the nearest of their direction and kind, and the file says how
// many did.
func TestRareSizesAreMerged(t *testing.T) {
	t.Parallel()
	b := newTrace(1 << 40)
	const n = 100_000
	for i := range int64(n) {
		size := int64(8192)
		if i%1000 == 0 {
			size = 4096 + 512*(i/1000%8) // 100 I/Os of 8 rare sizes
		}
		b.add(1, storage.Read, i*7919%100_000<<20, size)
	}
	m := fit(t, b, model.Options{Levels: 1})
	if len(m.Categories) != 1 || m.Categories[0].Bytes != 8192 {
		t.Errorf("categories %+v", m.Categories)
	}
	if math.Abs(m.MergedShare-100.0/n) > 1e-9 {
		t.Errorf("%g were merged, want %g", m.MergedShare, 100.0/n)
	}
}

// The file of a busy day stays below 1 MB, whatever the trace, and is still a model.
func TestFilesAreBounded(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	b := newTrace(1 << 40)
	for range 200_000 { // uniform: every pair of states and every size there can be
		b.add(432, storage.Op(rng.IntN(2)), rng.Int64N(1<<28)*4096, 4096*(1+rng.Int64N(64)))
	}
	fitted := counted(t, b, model.Options{Levels: 5})
	m, err := fitted.Model(5)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Check(); err != nil {
		t.Fatal(err)
	}
	if n := len(text(t, m)); n > model.MaxFileBytes {
		t.Errorf("%d bytes", n)
	}
	if m.Capture.Span() < 23*time.Hour || m.MergedShare <= 0 || m.MergedShare >= 1 {
		t.Errorf("%s, merged %g", m.Capture.Span(), m.MergedShare)
	}
}

// A model of a uniform trace has uniform states.
func TestUniformTracesHaveUniformStates(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 3))
	b := newTrace(1 << 36)
	const n = 64_000
	for range n {
		b.add(1, storage.Read, rng.Int64N(1<<24)*4096, 4096)
	}
	for i, share := range fit(t, b, model.Options{Levels: 3}).Visits(3) {
		// 1000 I/Os each: six standard deviations are 190.
		if math.Abs(share*n-1000) > 190 {
			t.Errorf("state %d has %.0f I/Os of %d", i, share*n, n)
		}
	}
}

// Chi-square: the probabilities of a known chain are found again.
func TestKnownChainIsRecovered(t *testing.T) {
	t.Parallel()
	chain := [4][4]float64{{.7, .1, .1, .1}, {.2, .5, .2, .1}, {.05, .05, .8, .1}, {.25, .25, .25, .25}}
	rng := rand.New(rand.NewPCG(5, 5))
	b := newTrace(4 << 30)
	state := 0
	for range 50_000 {
		u, next := rng.Float64(), 0
		for u > chain[state][next] {
			u -= chain[state][next]
			next++
		}
		state = next
		b.add(1, storage.Read, int64(state)<<30+rng.Int64N(1000)*65536+4096, 4096)
	}
	m := fit(t, b, model.Options{Levels: 1})
	out := m.OutOf(&m.Types[0])
	observed := map[[2]int]int64{}
	for _, x := range m.Types[0].Transitions {
		observed[[2]int{x.From, x.To}] += x.IOs
	}
	chi := 0.0
	for a := range 4 {
		for c := range 4 {
			expected := chain[a][c] * float64(out[model.StateOf{Level: 1, State: a}])
			d := float64(observed[[2]int{a, c}]) - expected
			chi += d * d / expected
		}
	}
	// 12 degrees of freedom: 32.9 is exceeded once in a thousand.
	if chi > 32.9 {
		t.Errorf("chi-square %.1f", chi)
	}
}

func TestWhatCannotBeFitted(t *testing.T) {
	t.Parallel()
	one := newTrace(1 << 30)
	one.add(0, storage.Read, 0, 4096)
	atOnce := newTrace(1 << 30)
	atOnce.add(0, storage.Read, 0, 4096)
	atOnce.add(0, storage.Read, 4096, 4096)
	good := newTrace(1 << 30)
	good.add(0, storage.Read, 0, 4096)
	good.add(1, storage.Read, 4096, 4096)
	for name, c := range map[string]struct {
		trace *built
		o     model.Options
		want  string
	}{
		"one I/O":      {one, model.Options{}, "1 I/Os have no transition"},
		"no times":     {atOnce, model.Options{}, "all I/Os are at one time"},
		"levels":       {good, model.Options{Levels: 9}, "a hierarchical diagram has 1 to 8"},
		"flat levels":  {good, model.Options{Levels: 5, Form: model.Flat}, "a flat diagram has 1 to 4"},
		"form":         {good, model.Options{Form: "round"}, `no form "round"`},
		"tiny":         {&built{device: 0, records: []storage.Record{{Bytes: 1}, {Bytes: 1, At: 1}}}, model.Options{Levels: 1}, "cannot be divided into 4 states"},
		"no rate":      {good, model.Options{Interval: time.Microsecond}, "rates of 1µs; of 1ms or longer"},
		"many rates":   {&built{device: 1 << 30, records: []storage.Record{{Bytes: 1}, {Bytes: 1, At: 24 * time.Hour}}}, model.Options{Interval: time.Second}, "86401 rates of 1s; 8640 at most"},
		"other depths": {good, model.Options{Levels: -2}, "-2 levels"},
	} {
		survey := model.NewSurvey()
		for i := range c.trace.records {
			survey.Add(&c.trace.records[i])
		}
		if _, err := model.NewFitter(survey, survey.Layout(c.trace.device), c.o); !errors.Is(err, model.ErrFit) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	survey := model.NewSurvey()
	for i := range good.records {
		survey.Add(&good.records[i])
	}
	f, err := model.NewFitter(survey, survey.Layout(0), model.Options{Levels: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Add(&storage.Record{At: time.Hour, Bytes: 1}); err == nil {
		t.Error("an I/O that was not surveyed was counted")
	}
	if _, err := f.Finish(); err == nil {
		t.Error("half of a trace was fitted")
	}
}

// small is a file that can be read.
func small(t *testing.T) map[string]any {
	t.Helper()
	b := newTrace(1 << 30)
	for i := range int64(50) {
		b.add(1, storage.Read, i*37%50<<24, 4096)
	}
	var m map[string]any
	if err := json.Unmarshal([]byte(text(t, fit(t, b, model.Options{Levels: 2}))), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestBadFilesAreRefused(t *testing.T) {
	t.Parallel()
	types := func(m map[string]any) map[string]any { return m["thread_types"].([]any)[0].(map[string]any) }
	row := func(m map[string]any) []any { return types(m)["transitions"].([]any)[0].([]any) }
	for name, c := range map[string]struct {
		change func(m map[string]any)
		want   string
	}{
		"newer":        {func(m map[string]any) { m["version"] = 3 }, "version 3, and this program reads up to 2; use a newer nomad-placer"},
		"no loop":      {func(m map[string]any) { m["loop"] = map[string]any{"reads": 1} }, "1 reads and 0 writes are outstanding; 1 to 65536 can be"},
		"no version":   {func(m map[string]any) { delete(m, "version") }, "it has no version"},
		"unknown":      {func(m map[string]any) { m["path"] = "/data" }, `unknown field "path"`},
		"levels":       {func(m map[string]any) { m["levels"] = 12 }, "12 levels"},
		"device":       {func(m map[string]any) { m["device"].(map[string]any)["bytes"] = 3 }, "a device of 3 bytes"},
		"categories":   {func(m map[string]any) { m["categories"] = []any{} }, "0 categories"},
		"op":           {func(m map[string]any) { m["categories"].([]any)[0].(map[string]any)["op"] = "trim" }, "not read or write"},
		"type":         {func(m map[string]any) { types(m)["intensity"] = "high" }, "none of the types"},
		"state":        {func(m map[string]any) { row(m)[1] = 77 }, "from state 77"},
		"category":     {func(m map[string]any) { row(m)[3] = 99 }, "category 99"},
		"unbalanced":   {func(m map[string]any) { row(m)[4] = row(m)[4].(float64) + 1 }, "more"},
		"family":       {func(m map[string]any) { row(m)[5] = "weibull" }, "no family"},
		"row":          {func(m map[string]any) { types(m)["transitions"].([]any)[0] = []any{1, 2} }, "a transition of 2 columns"},
		"no intervals": {func(m map[string]any) { types(m)["intervals"] = []any{} }, "no interval"},
		"text":         {func(m map[string]any) { m["levels"] = "two" }, "line 1"},
	} {
		m := small(t)
		c.change(m)
		data, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		_, err = model.Read("app.twin", bytes.NewReader(data))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "app.twin: ") {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
		if newer := errors.Is(err, model.ErrNewer); newer != (name == "newer") || newer == errors.Is(err, model.ErrFile) {
			t.Errorf("%s: %v is of the wrong kind", name, err)
		}
	}
	for _, data := range []string{"", "{", "[]", "null", "fio version 3 iolog\n"} {
		if _, err := model.Read("x", strings.NewReader(data)); !errors.Is(err, model.ErrFile) {
			t.Errorf("%q: %v", data, err)
		}
	}
}

// Nothing of the trace but counts is in a file: no names, and no addresses.
func TestFilesHoldNoData(t *testing.T) {
	t.Parallel()
	b := newTrace(1 << 40)
	addresses := []int64{123456789 << 9, 987654321 << 9, 555555555 << 9}
	for i := range 60 {
		b.add(1, storage.Write, addresses[i%3], 4096)
	}
	file := text(t, fit(t, b, model.Options{Levels: 3, Names: []string{"/home/alice/secret.db"}}))
	for _, secret := range []string{"alice", "secret", "123456789", "987654321", "555555555", fmt.Sprint(addresses[0]), fmt.Sprint(addresses[1])} {
		if strings.Contains(file, secret) {
			t.Errorf("the file has %q", secret)
		}
	}
}

// FuzzRead feeds any bytes: what is read can be walked and written again.
func FuzzRead(f *testing.F) {
	b := newTrace(1 << 30)
	for i := range int64(40) {
		b.add(1, storage.Op(i%2), i*37%50<<24, 4096)
	}
	for _, o := range []model.Options{{Levels: 2}, {Levels: 2, Form: model.Flat}, {Levels: model.NoLevels}} {
		f.Add([]byte(text(f, fit(f, b, o))))
	}
	f.Add([]byte(`{"version":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := model.Read("f", bytes.NewReader(data))
		if err != nil {
			return
		}
		if err := m.Check(); err != nil {
			t.Fatal(err)
		}
		again, err := model.Read("f", strings.NewReader(text(t, m)))
		if err != nil || text(t, again) != text(t, m) {
			t.Fatalf("written and read: %v", err)
		}
	})
}

func TestCategoriesAreSorted(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		m := fit(t, random(rt), model.Options{Levels: 2})
		sorted := slices.IsSortedFunc(m.Categories, func(a, b model.Category) int {
			return int(a.Op)*1000000 + int(a.Kind)*100000 + int(a.Bytes) - int(b.Op)*1000000 - int(b.Kind)*100000 - int(b.Bytes)
		})
		if !sorted {
			rt.Fatalf("%+v", m.Categories)
		}
	})
}

// The bandwidth of the intervals is that of the trace: two threads, one of which has twice as
// many I/Os in the second half of an hour.
func TestBandwidthByInterval(t *testing.T) {
	t.Parallel()
	b := newTrace(1 << 40)
	for second := range 3600 {
		at := time.Duration(second) * time.Second
		b.records = append(b.records, storage.Record{At: at, Op: storage.Read, Offset: int64(second*7919%5000) << 20, Bytes: 1 << 18})
		for i := range 1 + second/1800 {
			b.records = append(b.records, storage.Record{At: at, Thread: 1, Op: storage.Write, Offset: int64((second*3+i)*104729%5000) << 20, Bytes: 1 << 18})
		}
	}
	got := fit(t, b, model.Options{Levels: 2}).Bandwidth()
	want := []float64{2 << 18, 3 << 18}
	if len(got) != len(want) {
		t.Fatalf("%v", got)
	}
	for i := range want {
		if math.Abs(got[i]/want[i]-1) > 0.01 { // the last interval ends with the last I/O, a second early
			t.Errorf("interval %d: %g, want %g bytes/s", i, got[i], want[i])
		}
	}
}

// Intervals below a second are joined to seconds, and a rest to the last: a burst is no demand.
func TestBandwidthOfBursts(t *testing.T) {
	t.Parallel()
	b := newTrace(1 << 30)
	for second := range 3 {
		for i := range 100 { // in 10 ms, and nothing for the rest of the second
			b.records = append(b.records, storage.Record{At: time.Duration(second)*time.Second + time.Duration(i)*100*time.Microsecond, Offset: int64(i) << 20, Bytes: 1 << 16})
		}
	}
	got := fit(t, b, model.Options{Levels: 1, Interval: 5 * time.Millisecond}).Bandwidth()
	// 2.0099 s: the third burst is in the rest.
	want := []float64{100 << 16, 200 << 16 / 1.0099}
	if len(got) != len(want) || math.Abs(got[0]/want[0]-1) > 1e-9 || math.Abs(got[1]/want[1]-1) > 1e-9 {
		t.Errorf("%v and not %v", got, want)
	}
}

// A trace that ends shortly behind an interval: whatever the intervals, their bytes are those
// of the trace where every I/O has one size.
func TestBandwidthAddsUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		b := random(rt)
		for i := range b.records {
			b.records[i].Bytes = 4096
			b.records[i].Offset = min(b.records[i].Offset, b.device-4096)
		}
		m := fit(t, b, model.Options{Levels: 2})
		sum := 0.0
		for i, v := range m.Bandwidth() {
			sum += v * m.Types[0].Intervals[i].Seconds
		}
		if want := 4096 * float64(len(b.records)); math.Abs(sum/want-1) > 1e-9 {
			rt.Fatalf("%g bytes, want %g", sum, want)
		}
	})
}

// BenchmarkFit counts a trace twice, as fitting does.
func BenchmarkFit(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	trace := newTrace(1 << 40)
	const n = 100_000
	for range n {
		trace.add(rng.ExpFloat64(), storage.Op(rng.IntN(2)), rng.Int64N(1<<18)<<20, 4096<<rng.IntN(5))
	}
	b.ReportAllocs()
	for b.Loop() {
		counted(b, trace, model.Options{Levels: 5})
	}
	b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds(), "ios/s")
}
