package main

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/sim/dataset"
	"github.com/nomad-placer/nomad-placer/placer/sim/evaluate"
	"github.com/nomad-placer/nomad-placer/profiler/training"
)

func toySet(name string) dataset.Set {
	set := dataset.Set{Name: name, Kind: dataset.Interference, Columns: []string{"a", "b", "c"}}
	for i := range 6 {
		row := dataset.Row{Name: fmt.Sprint("r", i), Group: fmt.Sprint("g", i/2)}
		for j := range set.Columns {
			row.Cells = append(row.Cells, []float64{float64(10*i + j*j)})
		}
		set.Rows = append(set.Rows, row)
	}
	return set
}

// What is kept is not made again; another program that predicts otherwise makes it anew,
// and where nothing is to be made the page says what is missing.
func TestStudyResumes(t *testing.T) {
	t.Parallel()
	s := study{work: t.TempDir(), mark: "one"}
	o := evaluate.Defaults()
	u := unit{partRows, toySet("toy"), o, []string{"average"}}
	first, err := s.evaluated(t.Context(), u)
	if err != nil {
		t.Fatal(err)
	}
	s.kept = true
	again, err := s.evaluated(t.Context(), u)
	if err != nil || fmt.Sprint(again.Lines[0].BySeed) != fmt.Sprint(first.Lines[0].BySeed) {
		t.Errorf("%v: %v, then %v", err, first.Lines[0].BySeed, again.Lines[0].BySeed)
	}
	s.mark = "two"
	if _, err := s.evaluated(t.Context(), u); !errors.Is(err, errNotMade) {
		t.Errorf("%v", err)
	}
}

func reportOf(set string, figures map[string][]float64) evaluate.Report {
	r := evaluate.Report{Set: set, Leave: evaluate.LeaveRow, Entries: shown}
	for _, name := range append(append([]string{}, compared...), "extra-trees") {
		each, ok := figures[name]
		if !ok {
			continue
		}
		mean := 0.0
		for _, v := range each {
			mean += v / float64(len(each))
		}
		r.Lines = append(r.Lines, evaluate.Line{
			Classifier: name, BySeed: each, Figures: map[string]evaluate.Figure{evaluate.MeanError: {Mean: mean}, evaluate.Holds50: {Mean: 50}, evaluate.Holds80: {Mean: 80}, evaluate.Covered: {Mean: 85}},
		})
	}
	return r
}

// A target is met by the numbers alone: a difference inside the spread of the draws is none.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	o := outcome{
		Rows: []judged{
			{partRows, reportOf("tolerated scores", map[string][]float64{"average": {6, 6.1, 6.2}, theDefault: {5, 5.1, 5.2}, "ridge": {4.9, 5.2, 5.2}})},
			{partRows, reportOf("other", map[string][]float64{"average": {6, 6, 6}, theDefault: {5, 5.1, 5.2}, "ridge": {4, 4.1, 4.2}})},
		},
		Repeats: []training.Agreement{{Scores: 4, Known: 4, Median: 3, P90: 16, Covered: 0.95}},
		Left:    []string{"a set: why"},
	}
	var text bytes.Buffer
	if err := write(&text, o, made{Command: "make predictions", Seeds: []uint64{1, 2, 3}}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| tolerated scores, two cells shown: mean error | ≤ 5.3 points | 5.1 | met |",
		"| -1.0 ±0.0 | met |",
		"in 1 of 2: other (workloads left out): +1.0 ±0.0 | **missed** |",
		"| intervals of 95 %, set by set | hold 90 to 98 % of the cells | in 0 of 2 | **missed** |",
		"| intervals of 80 %, set by set | hold 74 to 86 % of the cells | in 2 of 2 | met |",
		"| ≤ 5, ≤ 15 points | 3.0, 16.0 | **missed** |",
		"- a set: why",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q missing in\n%s", want, text.String())
		}
	}
}

// Whole programs, other clusters and other numbers of cells are evaluated where a set has them.
func TestUnits(t *testing.T) {
	t.Parallel()
	s := study{seeds: []uint64{1}}
	alone := toySet("alone")
	for i := range alone.Rows {
		alone.Rows[i].Group = alone.Rows[i].Name
	}
	count := map[string]int{}
	for _, u := range s.units([]dataset.Set{toySet("parsec beside kernels"), alone, toySet("lumos alibaba, 1 s"), toySet("lumos alibaba, 5 s")}) {
		count[u.Part]++
	}
	if got := fmt.Sprint(count); got != "map[clusters:2 programs:3 rows:4 shown:2]" {
		t.Errorf("units %s", got)
	}
}
