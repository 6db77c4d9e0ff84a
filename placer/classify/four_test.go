package classify_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/classify"
)

func four(t *testing.T) *classify.Four {
	t.Helper()
	f, err := classify.NewFour(get(t, "gauss"), 1, map[classify.Kind]classify.Scheme{
		classify.ScaleOut:  {Columns: []string{"1", "2", "4", "8"}, Reference: "1"},
		classify.Tolerated: {Columns: []string{"llc", "memory", "disk"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// record writes rows of a kind, workload w0 first; NaN is not measured.
func record(t *testing.T, f *classify.Four, kind classify.Kind, typ string, rows ...[]float64) {
	t.Helper()
	for i, row := range rows {
		for j, v := range row {
			if math.IsNaN(v) {
				continue
			}
			at := classify.CellName{Kind: kind, Type: typ, Workload: fmt.Sprint("w", i), Column: f.Columns(kind)[j]}
			if err := f.Record(at, v); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Delimitrou 2015, §4.3.2: each type of workload has its own matrices, and a row
// is compared with others relative to its reference: rates of different units do
// not disturb each other.
func TestFourKeepsTypesAndUnitsApart(t *testing.T) {
	t.Parallel()
	f := four(t)
	record(t, f, classify.ScaleOut, "batch", []float64{1, 2, 4, 8}, []float64{1000, 2000, 4000, 8000}, []float64{5, 10, 20, 40}, []float64{7, 14, nan, nan})
	record(t, f, classify.ScaleOut, "service", []float64{1, 1.5, 1.8, 2}, []float64{10, 15, 18, 20}, []float64{3, 4.5, nan, nan})
	if err := f.Fit(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		typ, workload string
		want          float64
	}{{"batch", "w3", 56}, {"service", "w2", 6}} {
		cells, err := f.Estimate(classify.ScaleOut, c.typ, c.workload)
		if err != nil {
			t.Fatal(err)
		}
		// 10 %: the prior of three rows.
		if got := cells[3]; !got.Known || got.Measured || math.Abs(got.Value-c.want) > 0.1*c.want {
			t.Errorf("%s %s on 8 nodes: %+v, want about %v", c.typ, c.workload, got, c.want)
		}
	}
}

// §4.3.2: a measurement that departs from the estimate overwrites it, at once.
func TestFourFeedback(t *testing.T) {
	t.Parallel()
	f := four(t)
	record(t, f, classify.ScaleOut, "batch", []float64{1, 2, 4, 8}, []float64{1, 2, 4, 8}, []float64{10, 20, nan, nan})
	if err := f.Fit(); err != nil {
		t.Fatal(err)
	}
	at := classify.CellName{Kind: classify.ScaleOut, Type: "batch", Workload: "w2", Column: "8"}
	if kept, err := f.Feedback(at, 81, 0.1); kept || err != nil {
		t.Errorf("as estimated: kept %v, %v", kept, err)
	}
	if kept, err := f.Feedback(at, 30, 0.1); !kept || err != nil {
		t.Errorf("far off: kept %v, %v", kept, err)
	}
	cells, err := f.Estimate(classify.ScaleOut, "batch", "w2")
	if err != nil {
		t.Fatal(err)
	}
	if !cells[3].Measured || cells[3].Value != 30 {
		t.Errorf("%+v, want the measurement", cells[3])
	}
	at.Workload = "new"
	if kept, err := f.Feedback(at, 30, 0.1); !kept || err != nil {
		t.Errorf("never seen: kept %v, %v", kept, err)
	}
}

func TestFourSaysWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	f := four(t)
	record(t, f, classify.ScaleOut, "batch", []float64{nan, 2, nan, nan})
	record(t, f, classify.Tolerated, "batch", []float64{40, nan, nan})
	if cells, err := f.Estimate(classify.Tolerated, "batch", "w0"); err != nil || !cells[0].Measured || cells[1].Known {
		t.Errorf("before the fit: %+v, %v", cells, err)
	}
	if err := f.Fit(); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Estimate(classify.ScaleOut, "batch", "w0"); !errors.Is(err, classify.ErrNoReference) {
		t.Errorf("no reference: %v", err)
	}
	for _, c := range []struct {
		kind          classify.Kind
		typ, workload string
	}{{classify.Caused, "batch", "w0"}, {classify.Tolerated, "service", "w0"}, {classify.Tolerated, "batch", "w9"}} {
		if _, err := f.Estimate(c.kind, c.typ, c.workload); !errors.Is(err, classify.ErrUnknown) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	for value, at := range map[float64]classify.CellName{
		0:           {Kind: classify.ScaleOut, Workload: "w", Column: "1"},
		math.Inf(1): {Kind: classify.Tolerated, Workload: "w", Column: "llc"},
	} {
		if err := f.Record(at, value); !errors.Is(err, classify.ErrValue) {
			t.Errorf("%v: %v", value, err)
		}
	}
	if err := f.Record(classify.CellName{Kind: classify.Tolerated, Column: "x"}, 1); !errors.Is(err, classify.ErrUnknown) {
		t.Errorf("column x: %v", err)
	}
	for _, bad := range []classify.Scheme{{}, {Columns: []string{"a", "a"}}, {Columns: []string{"a"}, Reference: "b"}} {
		if _, err := classify.NewFour(get(t, "mean"), 1, map[classify.Kind]classify.Scheme{classify.ScaleUp: bad}); !errors.Is(err, classify.ErrUnknown) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}
