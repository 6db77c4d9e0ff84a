package foreign_test

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/profiler/foreign"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/store"
)

// publicData is where the public data sets lie beside the repository, where
// they do.
var publicData = filepath.Join("..", "..", "..", "shared", "data")

// folders are the places a format is read from: always its synthetic tables,
// and the public data where they are there.
func folders(t *testing.T, format string) []string {
	t.Helper()
	out := []string{filepath.Join("testdata", format)}
	if real := filepath.Join(publicData, format); exists(real) {
		out = append(out, real)
	} else {
		t.Logf("%s does not lie beside the repository: synthetic tables only", format)
	}
	return out
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func read(t *testing.T, path, format string) foreign.Result {
	t.Helper()
	r, err := foreign.Read(t.Context(), path, foreign.Options{Format: format})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestFormatsAreListedOnce(t *testing.T) {
	t.Parallel()
	var names []string
	for _, f := range foreign.Formats() {
		names = append(names, f.Name)
		if f.Title == "" || f.License == "" || len(f.Takes) == 0 || len(f.Leaves) == 0 || len(f.Tables()) == 0 {
			t.Errorf("%s is not described", f.Name)
		}
	}
	if !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Errorf("not sorted, or named twice: %v", names)
	}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	for _, f := range foreign.Formats() {
		for _, folder := range folders(t, f.Name) {
			t.Run(f.Name, func(t *testing.T) {
				t.Parallel()
				r := read(t, folder, "") // found by its columns
				if r.Format != f.Name {
					t.Fatalf("taken for %s", r.Format)
				}
				if len(r.Profiles) == 0 {
					t.Fatal("no profiles")
				}
				for _, p := range r.Profiles {
					checkProfile(t, f, p)
				}
				checkPairs(t, r)
				checkCounts(t, r)
				checkBytes(t, r, read(t, folder, f.Name))
			})
		}
	}
}

// checkProfile holds a profile against what readers of profiles rely on.
func checkProfile(t *testing.T, f foreign.Format, p profile.Profile) {
	t.Helper()
	fail := func(format string, args ...any) { t.Helper(); t.Errorf(p.Workload+": "+format, args...) }
	if err := store.CheckPath("profile/" + p.Key); err != nil {
		fail("key: %v", err)
	}
	data, err := json.Marshal(p)
	if err != nil || len(data) > store.MaxDocumentBytes {
		fail("%d bytes, %v", len(data), err)
	}
	if _, err := store.DecodeProfile(data); err != nil {
		fail("%v", err)
	}
	set := p.Provenance.DataSet
	if set == nil || set.Name != f.Name || set.Repository == "" || set.Commit == "" || set.License == "" || p.Provenance.Application == "" {
		fail("provenance %+v", p.Provenance)
	}
	if p.Machine.Configuration == "" || p.SlowdownMax != 5 || !p.Complete || len(p.Warnings) == 0 {
		fail("machine %+v, bound %v, warnings %v", p.Machine, p.SlowdownMax, p.Warnings)
	}
	if !p.Taken.IsZero() || p.Machine.KernelRelease != "" || p.Machine.NodeID != "" || len(p.Sensitivity.Caused) > 0 {
		fail("claims to know what no data set says")
	}
	if len(p.Isolated)+len(p.Ramp)+len(p.ScaleUp) == 0 {
		fail("says nothing")
	}
	for c, m := range p.Isolated {
		checkMeasurement(t, p.Workload+" on "+c, m)
	}
	for _, s := range p.ScaleUp {
		checkMeasurement(t, p.Workload, s.Speed)
	}
	checkRamp(t, p)
	for source, e := range p.Sensitivity.Tolerated {
		checkEstimate(t, p.Workload, source, e)
	}
}

func checkMeasurement(t *testing.T, what string, m profile.Measurement) {
	t.Helper()
	if !(m.Value > 0) || math.IsInf(m.Value, 0) || m.Low > m.Value || m.High < m.Value || m.Unit == "" || m.Windows < 1 {
		t.Errorf("%s: %+v", what, m)
	}
	if m.Windows == 1 && m.Low == m.High {
		t.Errorf("%s: a single run claims to be exact", what)
	}
}

func checkRamp(t *testing.T, p profile.Profile) {
	t.Helper()
	seen := map[interference.Source]float64{}
	for _, r := range p.Ramp {
		if _, err := interference.ParseSource(string(r.Source)); err != nil {
			t.Errorf("%s: %v", p.Workload, err)
		}
		if r.IntensityPercent <= seen[r.Source] || r.IntensityPercent > 100 {
			t.Errorf("%s: %s at %v after %v", p.Workload, r.Source, r.IntensityPercent, seen[r.Source])
		}
		seen[r.Source] = r.IntensityPercent
		switch {
		case r.WorkloadRatio == nil || !(*r.WorkloadRatio > 0) || r.Pairs < 1 || r.KernelRatio != nil:
			t.Errorf("%s: %+v", p.Workload, r)
		case (r.WorkloadLow == nil) != (r.WorkloadHigh == nil):
			t.Errorf("%s: half an interval", p.Workload)
		case r.WorkloadLow != nil && (*r.WorkloadLow > *r.WorkloadRatio || *r.WorkloadHigh < *r.WorkloadRatio):
			t.Errorf("%s: %v is not in %v to %v", p.Workload, *r.WorkloadRatio, *r.WorkloadLow, *r.WorkloadHigh)
		case r.WorkloadLow != nil && r.Pairs < 3:
			t.Errorf("%s: %d pairs carry no interval", p.Workload, r.Pairs)
		}
	}
}

func checkEstimate(t *testing.T, what string, source interference.Source, e interference.Estimate) {
	t.Helper()
	if e.Note == "" {
		t.Errorf("%s: %s has no note", what, source)
	}
	v, known := e.Score.Percent()
	if known && (e.Origin != interference.Measured || v < e.Low.Or(101) || v > e.High.Or(-1)) {
		t.Errorf("%s: %s %+v", what, source, e)
	}
}

func checkPairs(t *testing.T, r foreign.Result) {
	t.Helper()
	known := map[string]bool{}
	for _, p := range r.Profiles {
		known[p.Key] = true
	}
	for _, p := range r.Pairs {
		if p.Format != profile.PairFormat || p.DataSet == nil || p.Placement != "same" || p.Machine.Configuration == "" {
			t.Errorf("%+v", p)
		}
		for _, s := range []profile.PairSide{p.A, p.B} {
			if !known[s.Key] {
				t.Errorf("%s has no profile", s.Key)
			}
			if !(s.Ratio > 0) || s.Low > s.Ratio || s.High < s.Ratio || s.Low == s.High {
				t.Errorf("%s: %+v", s.Key, s)
			}
		}
	}
}

// checkCounts: every measurement is taken or left out for a reason.
func checkCounts(t *testing.T, r foreign.Result) {
	t.Helper()
	left := map[string]int{}
	for _, s := range r.LeftOut {
		if s.Reason == "" || s.Measurements < 1 {
			t.Errorf("%+v", s)
		}
		left[s.File] += s.Measurements
	}
	for _, c := range r.Files {
		if c.Taken+left[c.File] != c.Measurements || c.Taken < 0 {
			t.Errorf("%s: %d read, %d taken, %d left out", c.File, c.Measurements, c.Taken, left[c.File])
		}
	}
}

func checkBytes(t *testing.T, first, second foreign.Result) {
	t.Helper()
	var a, b bytes.Buffer
	if _, err := first.WriteTo(&a); err != nil {
		t.Fatal(err)
	}
	if _, err := second.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Error("two readings differ")
	}
	if n := strings.Count(a.String(), "\n"); n != len(first.Profiles)+len(first.Pairs) {
		t.Errorf("%d lines for %d profiles and %d pairs", n, len(first.Profiles), len(first.Pairs))
	}
}
