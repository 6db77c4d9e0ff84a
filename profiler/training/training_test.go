package training_test

import (
	"encoding/json"
	"errors"
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
	if _, err := training.Load(); err != nil {
		t.Error(err)
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
		"format":  {func(p *profile.Profile) { p.Format = 9 }, store.ErrFormat},
		"machine": {func(p *profile.Profile) { p.Machine.CPUModel = "" }, training.ErrNoProvenance},
		"time":    {func(p *profile.Profile) { p.Taken = time.Time{} }, training.ErrNoProvenance},
		"bound":   {func(p *profile.Profile) { p.SlowdownMax = 0 }, training.ErrNoProvenance},
		"partial": {func(p *profile.Profile) { p.Complete = false }, training.ErrNotMeasured},
		"twice":   {func(p *profile.Profile) { p.Key = "a" }, training.ErrTwice},
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
