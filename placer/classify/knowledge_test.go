package classify_test

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/classify"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/clustertest"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

func speeds(pairs ...any) map[string]profile.Measurement {
	out := map[string]profile.Measurement{}
	for i := 0; i < len(pairs); i += 2 {
		v := pairs[i+1].(float64)
		out[pairs[i].(string)] = profile.Measurement{Value: v, Low: 0.9 * v, High: 1.1 * v, Unit: "requests/s", Windows: 4}
	}
	return out
}

func percent(t *testing.T, s interference.Scores, source interference.Source) float64 {
	t.Helper()
	v, _ := s[source].Score.Percent()
	return v
}

func training(t *testing.T, profiles ...profile.Profile) classify.Models {
	t.Helper()
	m, err := classify.TrainingFrom(profiles).Fit(get(t, classify.Default), 1)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestTrainingFrom(t *testing.T) {
	t.Parallel()
	a := profile.Profile{Isolated: speeds("small", 10.0, "big", 20.0)}
	a.Sensitivity.Tolerated = clustertest.Scores([]interference.Source{"llc_cap"}, 40)
	a.Sensitivity.Tolerated["tlb"] = interference.Estimate{Score: interference.Percent(9), Origin: interference.Predicted}
	b := profile.Profile{Isolated: speeds("big", 5.0)}
	b.Sensitivity.Caused = clustertest.Scores([]interference.Source{"mem_bw", "new_source"}, 70, 1)
	b.Sensitivity.Caused["net_bw"] = interference.Estimate{Note: "lost in noise"}
	a.Provenance, b.Workload = &profile.Provenance{Application: "app"}, "ns/job/group"
	got := classify.TrainingFrom([]profile.Profile{a, b})
	if want := []string{"app", "ns/job/group"}; !slices.Equal(got.Tolerated.Groups, want) || !slices.Equal(got.Speed.Groups, want) {
		t.Errorf("groups %v: rows of one application are held out together", got.Tolerated.Groups)
	}
	if want := []interference.Source{"mem_bw", "llc_cap", "new_source"}; !slices.Equal(got.Sources, want) {
		t.Fatalf("sources %v, want %v: paper's order, unlisted last, predictions and unknowns left out", got.Sources, want)
	}
	if want := []string{"big", "small"}; !slices.Equal(got.Speed.Columns, want) {
		t.Fatalf("configurations %v", got.Speed.Columns)
	}
	for _, c := range []struct {
		name string
		got  []float64
		want []float64
	}{
		{"speed a", got.Speed.Rows[0], []float64{20, 10}},
		{"speed b", got.Speed.Rows[1], []float64{5, nan}},
		{"tolerated a", got.Tolerated.Rows[0], []float64{nan, 40, nan}},
		{"tolerated b", got.Tolerated.Rows[1], []float64{nan, nan, nan}},
		{"caused b", got.Caused.Rows[1], []float64{70, nan, 1}},
	} {
		if !slices.EqualFunc(c.got, c.want, func(x, y float64) bool { return x == y || math.IsNaN(x) && math.IsNaN(y) }) {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
}

// No training and no profile: usable, careful, and it says so.
func TestKnowledgeFromNothing(t *testing.T) {
	t.Parallel()
	columns := clustertest.Columns(3)
	k := classify.Knowledge(nil, classify.Models{}, columns, []string{"big"})
	for _, s := range columns {
		if e := k.Sensitivity.Tolerated[s]; e.Origin != interference.Assumed || percent(t, k.Sensitivity.Tolerated, s) != cluster.AssumedToleratedPercent || e.Low.Known() {
			t.Errorf("tolerated %s: %+v", s, e)
		}
		if percent(t, k.Sensitivity.Caused, s) != cluster.AssumedCausedPercent {
			t.Errorf("caused %s: %+v", s, k.Sensitivity.Caused[s])
		}
	}
	if len(k.Speed) != 0 || k.Confidence != 0 {
		t.Errorf("speed %v, confidence %v", k.Speed, k.Confidence)
	}
	text := strings.Join(k.Warnings, "\n")
	for _, want := range []string{"tolerated", "caused", "no training rows", "big"} {
		if !strings.Contains(text, want) {
			t.Errorf("no warning says %q:\n%s", want, text)
		}
	}
}

// Training without a measured cell: the average, marked as assumed.
func TestKnowledgeFromTrainingOnly(t *testing.T) {
	t.Parallel()
	columns := clustertest.Columns(2)
	var rows []profile.Profile
	for _, v := range []float64{20, 40, 60} {
		rows = append(rows, profile.Profile{Sensitivity: clustertest.Sensitivity(columns, []float64{v, v + 10}, []float64{v, 30})})
	}
	k := classify.Knowledge(nil, training(t, rows...), columns, nil)
	e := k.Sensitivity.Tolerated[columns[0]]
	if got := percent(t, k.Sensitivity.Tolerated, columns[0]); e.Origin != interference.Assumed || math.Abs(got-40) > 2 || !strings.Contains(e.Note, "3 other workloads") {
		t.Errorf("%+v", e)
	}
	if len(k.Warnings) != 2 {
		t.Errorf("warnings %q", k.Warnings)
	}
}

// Measured stays measured with its interval, the rest is predicted.
func TestKnowledgeMixes(t *testing.T) {
	t.Parallel()
	columns := clustertest.Columns(3)
	var rows []profile.Profile
	for _, v := range []float64{20, 30, 40, 50, 60} {
		rows = append(rows, profile.Profile{
			Isolated:    speeds("big", 2*v, "small", v),
			Sensitivity: clustertest.Sensitivity(columns, []float64{v, v, 1.5 * v}, []float64{v, v, v}),
		})
	}
	own := profile.Profile{Isolated: speeds("small", 100.0), Warnings: []string{"the machine was noisy"}}
	own.Sensitivity.Tolerated = interference.Scores{
		columns[0]: {Score: interference.Percent(50), Low: interference.Percent(45), High: interference.Percent(55), Origin: interference.Measured},
		columns[1]: {Note: "lost in noise"},
	}
	k := classify.Knowledge(&own, training(t, rows...), columns, []string{"big", "small", "new"})
	if e := k.Sensitivity.Tolerated[columns[0]]; e != own.Sensitivity.Tolerated[columns[0]] {
		t.Errorf("the measured score became %+v", e)
	}
	for i, want := range []float64{50, 50, 75} {
		e := k.Sensitivity.Tolerated[columns[i]]
		// 4 points: the prior of five rows.
		if got := percent(t, k.Sensitivity.Tolerated, columns[i]); math.Abs(got-want) > 4 || i > 0 && e.Origin != interference.Predicted {
			t.Errorf("%s: %+v, want about %v", columns[i], e, want)
		}
	}
	if note := k.Sensitivity.Tolerated[columns[1]].Note; note != "lost in noise" {
		t.Errorf("the note became %q", note)
	}
	if big := k.Speed["big"]; math.Abs(big.Value-200) > 8 || k.SpeedOrigin["big"] != interference.Predicted || big.Unit != "requests/s" || !(big.Low < big.Value && big.Value < big.High) {
		t.Errorf("big: %+v", big)
	}
	if k.Speed["small"] != own.Isolated["small"] || k.SpeedOrigin["small"] != interference.Measured {
		t.Errorf("small: %+v", k.Speed["small"])
	}
	if _, ok := k.Speed["new"]; ok {
		t.Error("a speed for a configuration nobody ran on")
	}
	if math.Abs(k.Confidence-1.0/6) > 1e-9 {
		t.Errorf("confidence %v, want 1 of 6", k.Confidence)
	}
	if !slices.Contains(k.Warnings, "the machine was noisy") {
		t.Errorf("warnings %q", k.Warnings)
	}
	if _, err := json.Marshal(k); err != nil {
		t.Error(err)
	}
}

// A source that only this workload's node can measure, and one of which nothing is known.
func TestKnowledgeOfForeignSources(t *testing.T) {
	t.Parallel()
	columns := clustertest.Columns(2)
	rows := []profile.Profile{{Sensitivity: clustertest.Sensitivity(columns[:1], []float64{30}, []float64{30})}}
	own := profile.Profile{Sensitivity: clustertest.Sensitivity([]interference.Source{"fp"}, []float64{10}, []float64{20})}
	k := classify.Knowledge(&own, training(t, rows...), []interference.Source{columns[0], columns[1], "fp"}, nil)
	if k.Sensitivity.Tolerated["fp"].Origin != interference.Measured {
		t.Errorf("fp: %+v", k.Sensitivity.Tolerated["fp"])
	}
	if e := k.Sensitivity.Tolerated[columns[1]]; e.Origin != interference.Assumed || percent(t, k.Sensitivity.Tolerated, columns[1]) != cluster.AssumedToleratedPercent {
		t.Errorf("a source nobody measured: %+v", e)
	}
	if e := k.Sensitivity.Tolerated[columns[0]]; e.Origin != interference.Assumed || percent(t, k.Sensitivity.Tolerated, columns[0]) == cluster.AssumedToleratedPercent {
		t.Errorf("a source only others measured: %+v, want their average", e)
	}
}

// Broken speeds are left out, not divided by.
func TestKnowledgeOfBrokenSpeeds(t *testing.T) {
	t.Parallel()
	rows := []profile.Profile{{Isolated: speeds("a", 1.0, "b", 2.0)}, {Isolated: speeds("a", 0.0, "b", 3.0)}, {Isolated: speeds("a", math.NaN(), "b", -1.0)}}
	own := profile.Profile{Isolated: speeds("a", 0.0, "b", math.Inf(1))}
	k := classify.Knowledge(&own, training(t, rows...), nil, []string{"a", "b"})
	if len(k.Speed) != 0 || k.Confidence != 0 {
		t.Errorf("%+v", k.Speed)
	}
}

// Of several measured configurations the one with the most windows is the
// reference. Training relates a to c four times, b to c twice; never a to b.
func TestKnowledgeReference(t *testing.T) {
	t.Parallel()
	var rows []profile.Profile
	for _, v := range []float64{1, 2, 3} {
		rows = append(rows, profile.Profile{Isolated: speeds("a", v, "c", 4*v)}, profile.Profile{Isolated: speeds("b", v, "c", 2*v)})
	}
	models := training(t, rows...)
	for _, c := range []struct {
		a, b int // windows
		want float64
	}{{9, 1, 40}, {1, 9, 60}, {5, 5, 40}} {
		own := profile.Profile{Isolated: map[string]profile.Measurement{"a": {Value: 10, Windows: c.a}, "b": {Value: 30, Windows: c.b}}}
		// 3 %: the regularisation of three rows.
		if got := classify.Knowledge(&own, models, nil, []string{"c"}).Speed["c"]; math.Abs(got.Value-c.want) > 0.03*c.want {
			t.Errorf("%+v: %+v", c, got)
		}
	}
}

// A measurement less certain than what the other scores predict gives way, and its curve
// with it; a sure one stays, and so does the surest of those that are not.
func TestLessCertainScoresArePredicted(t *testing.T) {
	t.Parallel()
	columns := clustertest.Columns(2)
	var rows []profile.Profile
	apart := 6.0 // by which the scores differ: one predicts the other to some 25 points
	for v := 10.0; v < 90; v += 2 {
		rows = append(rows, profile.Profile{Sensitivity: clustertest.Sensitivity(columns, []float64{v, v + apart}, []float64{v, v})})
		apart = -apart
	}
	models := training(t, rows...)
	of := func(score, low, high float64) interference.Estimate {
		return interference.Estimate{Score: interference.Percent(score), Low: interference.Percent(low), High: interference.Percent(high), Origin: interference.Measured}
	}
	const none = -1
	ratio := 0.9
	for name, c := range map[string]struct {
		scores      [2]interference.Estimate
		lessCertain int
		want        float64
	}{
		"the first says little":   {[2]interference.Estimate{of(8, 0, 45), of(40, 35, 45)}, 0, 40},
		"the second says little":  {[2]interference.Estimate{of(40, 35, 45), of(8, 0, 45)}, 1, 40},
		"both are sure":           {[2]interference.Estimate{of(8, 5, 10), of(40, 35, 45)}, none, 0},
		"both say little":         {[2]interference.Estimate{of(20, 0, 45), of(40, 0, 50)}, 1, 20},
		"no interval is no width": {[2]interference.Estimate{{Score: interference.Percent(8), Origin: interference.Measured}, of(40, 35, 45)}, none, 0},
	} {
		var own profile.Profile
		own.Sensitivity.Tolerated = interference.Scores{}
		for i, s := range columns {
			own.Sensitivity.Tolerated[s] = c.scores[i]
			own.Ramp = append(own.Ramp, profile.RampPoint{Source: s, IntensityPercent: 50, WorkloadRatio: &ratio})
		}
		k := classify.Knowledge(&own, models, columns, nil)
		for i, s := range columns {
			e := k.Sensitivity.Tolerated[s]
			curve := slices.ContainsFunc(k.Ramp, func(r profile.RampPoint) bool { return r.Source == s })
			if i != c.lessCertain {
				if e != c.scores[i] || !curve {
					t.Errorf("%s: %s became %+v, its curve stays: %v", name, s, e, curve)
				}
				continue
			}
			if got := percent(t, k.Sensitivity.Tolerated, s); e.Origin != interference.Predicted || math.Abs(got-c.want) > 8 || !strings.Contains(e.Note, "measured between 0 and ") || curve {
				t.Errorf("%s: %s is %+v, its curve stays: %v; want about %g", name, s, e, curve, c.want)
			}
			if own.Sensitivity.Tolerated[s] != c.scores[i] || len(own.Ramp) != len(columns) {
				t.Errorf("%s: the profile itself changed", name)
			}
		}
	}
}
