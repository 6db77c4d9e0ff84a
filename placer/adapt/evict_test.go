package adapt_test

import (
	"math"
	"slices"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/adapt"
	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// nextToTwo is a workload that tolerates 30 points of two sources, next to best-effort
// co-runners that cause what is given, and one that is not best effort.
func nextToTwo(caused ...[]float64) *board.Board {
	b := board.New([]interference.Source{"a", "b"}, []string{"x"})
	n := b.Add(board.Node{ID: "n0", CoreMHz: 1000, Total: cluster.Resources{CPUMHz: 20000, Cores: 20, MemoryMB: 10000}})
	b.Place(n, board.Resident{Handle: 1, Size: size(2), Tolerated: []float64{30, 30}, Caused: []float64{0, 0}})
	b.Place(n, board.Resident{Handle: 2, Size: size(2), Tolerated: []float64{100, 100}, Caused: []float64{99, 99}})
	for i, c := range caused {
		b.Place(n, board.Resident{Handle: board.Handle(3 + i), Size: size(1), Tolerated: []float64{100, 100}, Caused: c, BestEffort: true})
	}
	return b
}

func yielding(o *adapt.Options) { o.YieldFirst = true }

// A co-runner on another node of the same machine exerts pressure as well.
func TestACoRunnerOnTheMachineIsEvicted(t *testing.T) {
	t.Parallel()
	b := board.New([]interference.Source{"a", "b"}, []string{"x"})
	total := cluster.Resources{CPUMHz: 20000, Cores: 20, MemoryMB: 10000}
	here, there := b.Add(board.Node{ID: "n0", CoreMHz: 1000, Total: total, Machine: 1}), b.Add(board.Node{ID: "n1", CoreMHz: 1000, Total: total, Machine: 1})
	b.Place(here, board.Resident{Handle: 1, Size: size(2), Tolerated: []float64{30, 30}, Caused: []float64{0, 0}})
	b.Place(there, board.Resident{Handle: 2, Size: size(1), Tolerated: []float64{100, 100}, Caused: []float64{80, 0}, BestEffort: true})
	bad := window(60)
	got := steps(adapter(t, "quasar", yielding), b, bad, bad, bad)
	i := slices.IndexFunc(got, func(a adapt.Action) bool { return a.Kind == adapt.Evict })
	if i < 0 || got[i].Handle != 2 || got[i].Node != there {
		t.Errorf("%+v", got)
	}
}

func TestTheMostHarmfulNeighbourYieldsFirst(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		caused [][]float64
		want   board.Handle // 0: none
	}{
		"the most harmful":      {[][]float64{{20, 0}, {0, 80}, {40, 40}}, 4},
		"of equals the newest":  {[][]float64{{50, 0}, {0, 50}}, 4},
		"the harmless stay":     {[][]float64{{0, 0.5}}, 0},
		"one that presses less": {[][]float64{{0, 0}, {5, 0}}, 4},
		"there is none":         {nil, 0},
	} {
		bad := window(60)
		got := steps(adapter(t, "quasar", yielding), nextToTwo(c.caused...), bad, bad, bad)
		i := slices.IndexFunc(got, func(a adapt.Action) bool { return a.Kind == adapt.Evict })
		switch {
		case c.want == 0 && i >= 0:
			t.Errorf("%s: %+v", name, got[i])
		case c.want != 0 && (i < 0 || got[i].Handle != c.want || got[i].For != 1):
			t.Errorf("%s: %+v, want that %d leaves", name, got, c.want)
		case c.want != 0 && slices.Contains(kinds(got), adapt.Resize):
			t.Errorf("%s: it is resized before it is known whether that helped", name)
		}
	}
	bad := window(60)
	if got := steps(adapter(t, "quasar", nil), nextToTwo([]float64{90, 90}), bad, bad, bad); slices.Contains(kinds(got), adapt.Evict) {
		t.Errorf("without the option: %+v", got)
	}
}

// Unknown windows break the row: only bad ones that follow one another
// count.
func TestAnUnknownWindowBreaksTheRow(t *testing.T) {
	t.Parallel()
	bad := window(60)
	for _, lie := range []float64{math.NaN(), math.Inf(1), -5} {
		got := steps(adapter(t, "quasar", nil), nextToTwo(), bad, bad, window(lie), bad, bad)
		if got != nil {
			t.Errorf("%v between bad windows: %+v", lie, got)
		}
	}
}
