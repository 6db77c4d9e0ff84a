package training_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/store"
	"github.com/nomad-placer/nomad-placer/profiler/training"
)

func row(key string) profile.Profile {
	return profile.Profile{
		Format: profile.Format, Key: key, Workload: "app", Taken: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Machine:     profile.Machine{Configuration: "large", CPUModel: "cpu", KernelRelease: "6.1"},
		SlowdownMax: 5, Complete: true,
		Sensitivity: interference.Sensitivity{Tolerated: interference.Scores{
			interference.LLCCapacity: {Score: interference.Percent(30), Origin: interference.Measured},
			interference.Integer:     {Note: "not told from noise"},
		}},
		ScaleUp: []profile.ScalePoint{
			{Cores: 1, Speed: profile.Measurement{Value: 10, Unit: "runs/s"}}, {Cores: 2, Speed: profile.Measurement{Value: 15, Unit: "runs/s"}},
		},
		Provenance: &profile.Provenance{
			Application: "app", Command: "app -x", Kernels: "0.1.0", FileSystem: "ext4", Repetitions: 2, Versions: map[string]string{"app": "1"},
		},
	}
}

func folder(t *testing.T, rows map[string]profile.Profile) fstest.MapFS {
	t.Helper()
	files := fstest.MapFS{"README.md": {Data: []byte("not a row")}}
	for name, r := range rows {
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = &fstest.MapFile{Data: data}
	}
	return files
}

func TestShippedRowsAreGood(t *testing.T) {
	t.Parallel()
	rows, err := training.Load()
	if err != nil {
		t.Error(err)
	}
	all, err := training.LoadAll()
	if err != nil {
		t.Error(err)
	}
	seen := map[string]bool{}
	paced := 0
	for _, r := range all {
		if seen[r.Key] {
			t.Errorf("%s is there twice", r.Workload)
		}
		seen[r.Key] = true
		if strings.Contains(r.Provenance.Command, " -pause ") {
			paced++
		}
	}
	if paced == 0 || len(all) != len(rows)+paced {
		t.Errorf("%d rows, %d with those that rest, of which %d do", len(rows), len(all), paced)
	}
	for _, r := range rows {
		if strings.Contains(r.Provenance.Command, " -pause ") {
			t.Errorf("%s rests", r.Workload)
		}
	}
}

func TestLoadFrom(t *testing.T) {
	t.Parallel()
	rows, err := training.LoadFrom(folder(t, map[string]profile.Profile{"1.json": row("b"), "2.json": row("a")}))
	if err != nil || len(rows) != 2 || rows[0].Key != "a" {
		t.Errorf("%d rows, %v", len(rows), err)
	}
	if rows, err := training.LoadFrom(folder(t, nil)); err != nil || len(rows) != 0 {
		t.Errorf("empty: %d rows, %v", len(rows), err)
	}
}

func TestBadRows(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		spoil func(*profile.Profile)
		want  error
	}{
		"format":        {func(p *profile.Profile) { p.Format = 9 }, store.ErrFormat},
		"machine":       {func(p *profile.Profile) { p.Machine.CPUModel = "" }, training.ErrNoProvenance},
		"time":          {func(p *profile.Profile) { p.Taken = time.Time{} }, training.ErrNoProvenance},
		"bound":         {func(p *profile.Profile) { p.SlowdownMax = 0 }, training.ErrNoProvenance},
		"partial":       {func(p *profile.Profile) { p.Complete = false }, training.ErrNotMeasured},
		"twice":         {func(p *profile.Profile) { p.Key = "a" }, training.ErrTwice},
		"no provenance": {func(p *profile.Profile) { p.Provenance = nil }, training.ErrNoProvenance},
		"no command":    {func(p *profile.Profile) { p.Provenance.Command = "" }, training.ErrNoProvenance},
		"no versions":   {func(p *profile.Profile) { p.Provenance.Versions = nil }, training.ErrNoProvenance},
		"no disk":       {func(p *profile.Profile) { p.Provenance.FileSystem = "" }, training.ErrNoProvenance},
		"one core":      {func(p *profile.Profile) { p.ScaleUp = p.ScaleUp[:1] }, training.ErrNotMeasured},
		"no speed":      {func(p *profile.Profile) { p.ScaleUp[1].Speed.Value = 0 }, training.ErrNotMeasured},
		"large":         {func(p *profile.Profile) { p.Workload = strings.Repeat("x", training.MaxRowBytes) }, training.ErrTooLarge},
		"predicted": {func(p *profile.Profile) {
			p.Sensitivity.Caused = interference.Scores{interference.TLB: {Score: interference.Percent(1), Origin: interference.Predicted}}
		}, training.ErrNotMeasured},
	}
	for name, tt := range tests {
		bad := row("b")
		tt.spoil(&bad)
		_, err := training.LoadFrom(folder(t, map[string]profile.Profile{"1.json": row("a"), "2.json": bad}))
		if !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
	}
}

// A repeat needs no scale-up; a row of others needs only its data set.
func TestWhatIsNotAskedFor(t *testing.T) {
	t.Parallel()
	repeat := row("a")
	repeat.ScaleUp = nil
	if _, err := training.LoadRepeats(folder(t, map[string]profile.Profile{"1.json": repeat})); err != nil {
		t.Error(err)
	}
	foreign := row("b")
	foreign.ScaleUp, foreign.Provenance = nil, &profile.Provenance{DataSet: &profile.DataSet{Name: "set", Repository: "owner/name", License: "none stated"}}
	if _, err := training.LoadFrom(folder(t, map[string]profile.Profile{"1.json": foreign})); err != nil {
		t.Error(err)
	}
}

func TestRound(t *testing.T) {
	t.Parallel()
	ratio := 0.98765432
	r := row("a")
	r.Ramp = []profile.RampPoint{{WorkloadRatio: &ratio, AchievedPercent: 99.98765}}
	r.ScaleUp[0].Speed.Value = 1234567.8
	r.Sensitivity.Tolerated[interference.LLCCapacity] = interference.Estimate{Score: interference.Percent(33.33333), Origin: interference.Measured}
	training.Round(&r)
	score, _ := r.Sensitivity.Tolerated[interference.LLCCapacity].Score.Percent()
	if *r.Ramp[0].WorkloadRatio != 0.9877 || r.Ramp[0].AchievedPercent != 99.99 || r.ScaleUp[0].Speed.Value != 1234570 || score != 33.33 {
		t.Errorf("%v %v %v %v", *r.Ramp[0].WorkloadRatio, r.Ramp[0].AchievedPercent, r.ScaleUp[0].Speed.Value, score)
	}
	if ratio != 0.98765432 || r.Ramp[0].KernelRatio != nil || r.Sensitivity.Tolerated[interference.Integer].Score.Known() {
		t.Error("rounding changed what was not its own, or made something of nothing")
	}
}

func pair() profile.Pair {
	side := func(name string) profile.PairSide {
		return profile.PairSide{Key: name, Application: name, Isolated: profile.Measurement{Value: 2}, Ratio: 0.9, Low: 0.8, High: 1}
	}
	return profile.Pair{
		Format: profile.PairFormat, Placement: "same", Taken: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Machine: profile.Machine{CPUModel: "cpu"}, A: side("a"), B: side("b"),
	}
}

func TestPairs(t *testing.T) {
	t.Parallel()
	if _, err := training.LoadPairs(); err != nil {
		t.Errorf("shipped: %v", err)
	}
	if got, err := training.LoadPairsFrom(t.TempDir() + "/none"); err != nil || len(got) != 0 {
		t.Errorf("no table: %v, %v", got, err)
	}
	line := func(p profile.Pair) string {
		data, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		return string(data) + "\n"
	}
	if got, err := training.ReadPairs(strings.NewReader(line(pair()) + "\n" + line(pair()))); err != nil || len(got) != 2 {
		t.Errorf("%d pairs, %v", len(got), err)
	}
	tests := map[string]func(*profile.Pair){
		"format":    func(p *profile.Pair) { p.Format = 2 },
		"placement": func(p *profile.Pair) { p.Placement = "near" },
		"machine":   func(p *profile.Pair) { p.Machine.CPUModel = "" },
		"key":       func(p *profile.Pair) { p.B.Key = "" },
		"alone":     func(p *profile.Pair) { p.A.Isolated.Value = 0 },
		"interval":  func(p *profile.Pair) { p.A.Low = 0.95 },
	}
	for name, spoil := range tests {
		p := pair()
		spoil(&p)
		if _, err := training.ReadPairs(strings.NewReader(line(pair()) + line(p))); !errors.Is(err, training.ErrPair) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := training.ReadPairs(strings.NewReader("{")); !errors.Is(err, training.ErrPair) {
		t.Errorf("half a line: %v", err)
	}
}

func TestRepeatability(t *testing.T) {
	t.Parallel()
	with := func(key string, scores interference.Scores) profile.Profile {
		r := row(key)
		r.Sensitivity = interference.Sensitivity{Tolerated: scores}
		return r
	}
	known := func(v, low, high float64) interference.Estimate {
		return interference.Estimate{Score: interference.Percent(v), Low: interference.Percent(low), High: interference.Percent(high)}
	}
	rows := []profile.Profile{
		with("a", interference.Scores{interference.TLB: known(50, 40, 60), interference.Integer: known(10, 5, 15)}),
		with("b", interference.Scores{interference.TLB: known(20, 10, 30), interference.Integer: {Note: "noise"}}),
		with("c", interference.Scores{interference.TLB: known(1, 0, 2)}), // not repeated
	}
	repeats := []profile.Profile{
		with("a", interference.Scores{interference.TLB: known(52, 51, 53), interference.Integer: known(10, 5, 15)}),
		with("b", interference.Scores{interference.TLB: known(30, 20, 40), interference.Integer: known(3, 1, 4)}),
	}
	got := training.Repeatability(rows, repeats)
	if len(got) != 3 {
		t.Fatalf("%d lines: %+v", len(got), got)
	}
	for _, a := range got {
		switch a.Source {
		case interference.TLB: // gaps 2 and 10; of 50, 52, 20, 30 the 50 is outside [51, 53]
			if a.Scores != 2 || a.Known != 2 || a.Median != 6 || a.Covered != 0.75 {
				t.Errorf("%+v", a)
			}
		case interference.Integer:
			if a.Scores != 2 || a.Known != 1 || a.KnownOnce != 1 || a.Median != 0 || a.Covered != 1 {
				t.Errorf("%+v", a)
			}
		case "":
			if a.Known != 3 || a.Median != 2 || math.Abs(a.P90-8.4) > 1e-9 {
				t.Errorf("%+v", a)
			}
		}
	}
	if got[2].Source != "" {
		t.Error("the last line is not that of all sources")
	}
	if none := training.Repeatability(rows, nil); len(none) != 1 || !math.IsNaN(none[0].Median) || !math.IsNaN(none[0].Covered) {
		t.Errorf("nothing repeated: %+v", none)
	}
}
