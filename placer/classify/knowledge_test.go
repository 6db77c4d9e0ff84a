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
		// 0.2 points: what is believed of any score before counts for so much.
		if !slices.EqualFunc(c.got, c.want, func(x, y float64) bool { return math.Abs(x-y) < 0.2 || math.IsNaN(x) && math.IsNaN(y) }) {
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
	if e := k.Sensitivity.Tolerated[columns[0]]; e.Origin != interference.Measured || math.Abs(e.Score.Or(0)-50) > 1 || e.Low.Or(0) < 44 || e.High.Or(100) > 56 {
		t.Errorf("the measured score became %+v", e)
	}
	for _, s := range columns {
		if before, known := k.Sensitivity.Tolerated[s].Before.Width(); !known || !(before > 20) {
			t.Errorf("%s: it does not say what was known before: %+v", s, k.Sensitivity.Tolerated[s])
		}
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

// A wide measurement is neither thrown away nor believed against everything else: it is put
// together with what the other scores say, and says less than either.
func TestWideScoresAreNarrowed(t *testing.T) {
	t.Parallel()
	columns := clustertest.Columns(2)
	var rows []profile.Profile
	apart := 6.0 // by which the scores differ: one predicts the other to some 25 points
	for v := 10.0; v < 90; v += 2 {
		rows = append(rows, profile.Profile{Sensitivity: clustertest.Sensitivity(columns, []float64{v, v + apart}, []float64{v, v})})
		apart = -apart
	}
	of := func(score, low, high float64) interference.Estimate {
		return interference.Estimate{Score: interference.Percent(score), Low: interference.Percent(low), High: interference.Percent(high), Origin: interference.Measured}
	}
	for _, classifier := range []string{"local", "gauss", "stack", "cf"} {
		models, err := classify.TrainingFrom(rows).Fit(get(t, classifier), 1)
		if err != nil {
			t.Fatal(err)
		}
		for name, c := range map[string]struct {
			scores [2]interference.Estimate
			want   [2]float64 // between what was measured and what the other says
			within [2]float64 // the widest interval
		}{
			"the first says little":  {[2]interference.Estimate{of(20, 0, 45), of(40, 37, 43)}, [2]float64{37, 40}, [2]float64{30, 6.2}},
			"the second says little": {[2]interference.Estimate{of(40, 37, 43), of(20, 0, 45)}, [2]float64{40, 37}, [2]float64{6.2, 30}},
			"both are sure":          {[2]interference.Estimate{of(8, 6, 10), of(40, 37, 43)}, [2]float64{8, 40}, [2]float64{5.8, 6.2}},
			"both say little":        {[2]interference.Estimate{of(20, 0, 45), of(40, 10, 65)}, [2]float64{30, 32}, [2]float64{45, 50}},
		} {
			if classifier == "cf" && name == "both say little" {
				continue // it has no measurement noise, and takes neither as known
			}
			var own profile.Profile
			own.Sensitivity.Tolerated = interference.Scores{}
			for i, s := range columns {
				own.Sensitivity.Tolerated[s] = c.scores[i]
			}
			k := classify.Knowledge(&own, models, columns, nil)
			for i, s := range columns {
				e := k.Sensitivity.Tolerated[s]
				width, known := e.Within().Width()
				if e.Origin != interference.Measured || math.Abs(e.Score.Or(0)-c.want[i]) > 8 || !known || width > c.within[i] {
					t.Errorf("%s, %s: %s is %+v; want about %g, within %g points", classifier, name, s, e, c.want[i], c.within[i])
				}
				if before, known := e.Before.Width(); !known || before < width {
					t.Errorf("%s, %s: %s was %+v before, and is %g wide", classifier, name, s, e.Before, width)
				}
				if own.Sensitivity.Tolerated[s] != c.scores[i] {
					t.Errorf("%s: the profile itself changed", name)
				}
			}
		}
	}
}

// rampOf is what a run leaves of a source: shares kept at full pressure and below it, each
// within so much.
func rampOf(s interference.Source, within float64, at map[float64]float64) (out []profile.RampPoint) {
	for intensity, kept := range at {
		low, high := kept*(1-within), kept*(1+within)
		out = append(out, profile.RampPoint{Source: s, IntensityPercent: intensity, Pairs: 4, WorkloadRatio: &kept, WorkloadLow: &low, WorkloadHigh: &high,
			KernelRatio: &kept, KernelLow: &low, KernelHigh: &high})
	}
	return out
}

// A source that was pressed on counts as measured although the run called its interval no
// score, and informs the others.
func TestARampWithoutAScoreIsEvidence(t *testing.T) {
	t.Parallel()
	columns := clustertest.Columns(3)
	var rows []profile.Profile
	for v := 10.0; v < 95; v += 3 {
		rows = append(rows, profile.Profile{SlowdownMax: 5, Sensitivity: clustertest.Sensitivity(columns, []float64{v, v, v}, []float64{v, v, v})})
	}
	models, err := classify.TrainingFrom(rows).Fit(get(t, "local"), 1)
	if err != nil {
		t.Fatal(err)
	}
	unknown := interference.Scores{columns[0]: {Note: "between 5 and 80 %, too wide to be a score"}}
	of := func(ramp []profile.RampPoint) cluster.Knowledge {
		own := profile.Profile{SlowdownMax: 5, Ramp: ramp, Sensitivity: interference.Sensitivity{Tolerated: unknown, Caused: unknown}}
		return classify.Knowledge(&own, models, columns, nil)
	}
	low := of(rampOf(columns[0], 0.1, map[float64]float64{25: 0.85, 100: 0.4}))
	high := of(rampOf(columns[0], 0.1, map[float64]float64{25: 1, 60: 0.99, 100: 0.97}))
	for name, k := range map[string]cluster.Knowledge{"early": low, "late": high} {
		for i, s := range columns {
			want := interference.Predicted
			if i == 0 {
				want = interference.Measured
			}
			for kind, e := range map[string]interference.Estimate{"tolerated": k.Sensitivity.Tolerated[s], "caused": k.Sensitivity.Caused[s]} {
				width, _ := e.Within().Width()
				if before, known := e.Before.Width(); e.Origin != want || !known || !(width < 0.9*before) {
					t.Errorf("%s: %s %s is %+v, want %s and narrower than before", name, kind, s, e, want)
				}
			}
		}
		if len(k.Ramp) != 20 || k.Ramp[0].Source != columns[0] {
			t.Errorf("%s: the curve has %d points", name, len(k.Ramp))
		}
	}
	for _, s := range columns {
		if a, b := percent(t, low.Sensitivity.Tolerated, s), percent(t, high.Sensitivity.Tolerated, s); !(a+20 < b) {
			t.Errorf("%s: tolerates %v where the loss begins early, %v where it begins late", s, a, b)
		}
		if a, b := percent(t, low.Sensitivity.Caused, s), percent(t, high.Sensitivity.Caused, s); !(a > b+20) {
			t.Errorf("%s: causes %v where the kernel loses early, %v where it loses late", s, a, b)
		}
	}
	// The curve loses the bound where the score says, whatever informed it.
	for _, p := range low.Ramp {
		score := percent(t, low.Sensitivity.Tolerated, columns[0])
		if kept := *p.WorkloadRatio; p.IntensityPercent > score+5 && kept > 0.955 || p.IntensityPercent < score-5 && kept < 0.945 {
			t.Errorf("tolerates %.1f points, and keeps %.3f under %g", score, kept, p.IntensityPercent)
		}
	}
}

// A workload that may lose more tolerates more, of what was measured and of what follows
// from it.
func TestKnowledgeAtOtherBounds(t *testing.T) {
	t.Parallel()
	columns := clustertest.Columns(2)
	var rows []profile.Profile
	for v := 10.0; v < 95; v += 3 {
		rows = append(rows, profile.Profile{SlowdownMax: 5, Sensitivity: clustertest.Sensitivity(columns, []float64{v, v}, []float64{v, v})})
	}
	models, err := classify.TrainingFrom(rows).Fit(get(t, "local"), 1)
	if err != nil {
		t.Fatal(err)
	}
	ramp := rampOf(columns[0], 0.01, map[float64]float64{10: 0.99, 30: 0.95, 50: 0.88, 70: 0.8, 100: 0.6})
	var last *cluster.Knowledge
	for _, bound := range []float64{2, 5, 15} {
		own := profile.Profile{SlowdownMax: bound, Ramp: ramp}
		k := classify.Knowledge(&own, models, columns, nil)
		for _, s := range columns {
			if last == nil {
				continue
			}
			if a, b := percent(t, last.Sensitivity.Tolerated, s), percent(t, k.Sensitivity.Tolerated, s); !(b > a+2) {
				t.Errorf("%s: tolerates %.1f points at %g %%, and %.1f at less", s, b, bound, a)
			}
			if a, b := percent(t, last.Sensitivity.Caused, s), percent(t, k.Sensitivity.Caused, s); !(b < a-2) {
				t.Errorf("%s: causes %.1f points at %g %%, and %.1f at less", s, b, bound, a)
			}
		}
		last = &k
	}
}
