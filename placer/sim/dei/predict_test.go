package dei_test

import (
	"math"
	"slices"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/classify"
	"github.com/nomad-placer/nomad-placer/placer/sim/dei"
	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

func lab(t *testing.T) *dei.Lab {
	t.Helper()
	columns := []interference.Source{interference.MemoryBandwidth, interference.TLB, interference.LLCCapacity, interference.Integer}
	m := truth.NewModel(columns, []truth.Machine{
		{Name: "weak", Cores: 1, GHz: 2, IPC: 0.8, LLCMB: 1, MemoryMB: 1 << 14},
		{Name: "strong", Cores: 8, GHz: 2, IPC: 1, LLCMB: 12, MemoryMB: 1 << 15},
		{Name: "middle", Cores: 4, GHz: 2, IPC: 1, LLCMB: 8, MemoryMB: 1 << 15},
		{Name: "other", Cores: 3, GHz: 2, IPC: 0.9, LLCMB: 8, MemoryMB: 1 << 15},
	})
	l, err := dei.NewLab(m, truth.Spec{Classes: []string{"ST", "MT"}}, 80, 30, 7)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// What a predictor that knows the cells gets right, and one that knows nothing.
func TestCount(t *testing.T) {
	t.Parallel()
	l := lab(t)
	if p := l.Profiled(); p[0] != 1 || p[1] != 3 || p[2] != 0 {
		t.Errorf("profiled on %v", p)
	}
	rows, err := l.Taught(5, 40)
	if err != nil || len(rows) != 40 {
		t.Fatal(len(rows), err)
	}
	intervals := make([]dei.Interval, 0, 8)
	for _, s := range dei.Scores(l.Sources) {
		intervals = append(intervals, dei.Interval{Score: s, Low: -15, High: 15})
	}
	hashed, err := l.Hashed(rows, classify.LSHOptions{})
	if err != nil {
		t.Fatal(err)
	}
	cf, err := classify.Lookup("cf")
	if err != nil {
		t.Fatal(err)
	}
	factorised, err := l.Factorised(rows, cf.New())
	if err != nil {
		t.Fatal(err)
	}
	nothing := func(row []float64) ([]float64, error) { return make([]float64, len(row)), nil }
	same := dei.Same([]interference.Source{interference.MemoryBandwidth, interference.TLB})
	shares := map[string]float64{}
	for name, p := range map[string]dei.Predictor{"hashed": hashed, "factorised": factorised, "nothing": nothing} {
		c, err := l.Count(p, same, intervals)
		if err != nil {
			t.Fatal(err)
		}
		// Four scores of two sources on four configurations of 30 applications.
		if c.Predicted != 4*4*30 || c.ByConfiguration[2].Predicted != 4*30 || c.ByScore[0].Predicted != 0 || c.ByScore[4].Predicted != 30 {
			t.Fatalf("%s: %+v", name, c)
		}
		if !math.IsNaN(c.ByScore[0].Of()) {
			t.Errorf("%s: a measured score was predicted", name)
		}
		shares[name] = c.Correct / c.Predicted
	}
	if shares["hashed"] <= shares["nothing"] {
		t.Errorf("%v", shares)
	}
	row := append([]float64{40, 50}, slices.Repeat([]float64{math.NaN()}, 30)...)
	for name, p := range map[string]dei.Predictor{"hashed": hashed, "factorised": factorised} {
		got, err := p(row)
		if err != nil || len(got) != 32 || got[0] != 40 || got[1] != 50 || slices.ContainsFunc(got, math.IsNaN) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	c, err := l.Count(hashed, l.AtRandom(2), intervals)
	if err != nil || c.Predicted != 4*4*30 {
		t.Errorf("%+v, %v", c, err)
	}
}
