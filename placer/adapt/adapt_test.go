package adapt_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/adapt"
	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// What the pages and the evaluation call missed is changed, and nothing else.
func TestWhatIsMissedIsAdapted(t *testing.T) {
	t.Parallel()
	target := performance.Target{Kind: performance.Rate, Rate: 100}
	for _, rate := range []float64{94, 96, 97.9, 98, 100} {
		b := twoNodes()
		b.Place(0, board.Resident{Handle: 1, Size: size(2)})
		seen := window(rate)
		acts := len(steps(adapter(t, "quasar", nil), b, seen, seen, seen)) > 0
		if met := target.Met(rate, 0); acts == met {
			t.Errorf("at %g of 100: met %v, acted on %v", rate, met, acts)
		}
	}
}

func size(cores int) cluster.Resources { return cluster.Resources{Cores: cores, MemoryMB: 100} }

func twoNodes() *board.Board {
	b := board.New(nil, []string{"a"})
	for _, id := range []cluster.NodeID{"n0", "n1"} {
		b.Add(board.Node{ID: id, CoreMHz: 1000, Total: cluster.Resources{CPUMHz: 8000, Cores: 8, MemoryMB: 1000}})
	}
	return b
}

// window is one workload on node 0 with 2 of 8 cores, which may have 1 to 8.
func window(rate float64) adapt.Observation {
	return adapt.Observation{
		Handle: 1, Performance: rate, Target: 100,
		Replicas: []adapt.Replica{{Handle: 1, Node: 0, Size: size(2), Performance: rate}},
		Sizes:    []board.SizeOption{{Size: size(1), Speed: 0.5}, {Size: size(2), Speed: 1}, {Size: size(4), Speed: 1.9}, {Size: size(8), Speed: 3.5}},
	}
}

func adapter(t *testing.T, name string, change func(*adapt.Options)) adapt.Adapter {
	t.Helper()
	d, err := adapt.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	o := adapt.Defaults()
	o.ProbeEvery = 0
	if change != nil {
		change(&o)
	}
	return d.New(o)
}

func kinds(actions []adapt.Action) []adapt.Kind {
	var out []adapt.Kind
	for _, a := range actions {
		out = append(out, a.Kind)
	}
	return out
}

// steps gives windows to an adapter and returns the actions of the last one.
func steps(a adapt.Adapter, b *board.Board, windows ...adapt.Observation) []adapt.Action {
	var out []adapt.Action
	for i, w := range windows {
		out = a.Step(time.Duration(i+1)*10*time.Second, b, []adapt.Observation{w}, rand.New(rand.NewPCG(1, 1)))
	}
	return out
}

// Delimitrou 2015, §4.3.4: three windows below the target first classify anew, then
// grow on the node it holds, by the least that closes the gap.
func TestBelowTargetThreeTimes(t *testing.T) {
	t.Parallel()
	b := twoNodes()
	b.Place(0, board.Resident{Handle: 1, Size: size(2)})
	bad := window(60)
	if got := steps(adapter(t, "quasar", nil), b, bad, bad); got != nil {
		t.Errorf("after two windows: %v", got)
	}
	if got := steps(adapter(t, "quasar", nil), b, bad, window(99), bad, bad); got != nil {
		t.Errorf("after a good window: %v", got)
	}
	got := steps(adapter(t, "quasar", nil), b, bad, bad, bad)
	if !slices.Equal(kinds(got), []adapt.Kind{adapt.Reclassify, adapt.Resize}) || got[1].Size != size(4) {
		t.Errorf("after three: %+v", got)
	}
}

// Where there is no room, best-effort work leaves, and nothing else does.
func TestBestEffortLeavesFirst(t *testing.T) {
	t.Parallel()
	b := twoNodes()
	b.Place(0, board.Resident{Handle: 1, Size: size(2)})
	b.Place(0, board.Resident{Handle: 2, Size: size(3)})
	b.Place(0, board.Resident{Handle: 3, Size: size(3), BestEffort: true})
	bad := window(60)
	got := steps(adapter(t, "quasar", nil), b, bad, bad, bad)
	if !slices.Equal(kinds(got), []adapt.Kind{adapt.Reclassify, adapt.Evict, adapt.Resize}) || got[1].Handle != 3 {
		t.Errorf("%+v", got)
	}
}

func TestNoRoomMeansMoreNodes(t *testing.T) {
	t.Parallel()
	b := twoNodes()
	b.Place(0, board.Resident{Handle: 1, Size: size(2)})
	b.Place(0, board.Resident{Handle: 2, Size: size(6)})
	bad := window(40)
	if got := steps(adapter(t, "quasar", nil), b, bad, bad, bad); !slices.Equal(kinds(got), []adapt.Kind{adapt.Reclassify}) {
		t.Errorf("what does not scale: %v", got)
	}
	bad.Scales = true
	got := steps(adapter(t, "quasar", nil), b, bad, bad, bad)
	if !slices.Equal(kinds(got), []adapt.Kind{adapt.Reclassify, adapt.Grow}) || got[1].Count != 1 {
		t.Errorf("what scales: %+v", got)
	}
	capped := adapter(t, "quasar", func(o *adapt.Options) { o.MaxCores = 2 })
	if got := steps(capped, b, bad, bad, bad); !slices.Equal(kinds(got), []adapt.Kind{adapt.Reclassify}) {
		t.Errorf("at the cost cap: %v", got)
	}
	bad.Scales = false
	moving := adapter(t, "quasar", func(o *adapt.Options) { o.Moves = true })
	if got := steps(moving, b, bad, bad, bad); !slices.Equal(kinds(got), []adapt.Kind{adapt.Reclassify, adapt.Move}) {
		t.Errorf("what may move: %v", got)
	}
}

func TestWhatIsTooMuchIsGivenBack(t *testing.T) {
	t.Parallel()
	b := twoNodes()
	rich := window(250)
	windows := slices.Repeat([]adapt.Observation{rich}, 10)
	if got := steps(adapter(t, "quasar", nil), b, windows[:9]...); got != nil {
		t.Errorf("after nine windows: %v", got)
	}
	got := steps(adapter(t, "quasar", nil), b, windows...)
	if len(got) != 1 || got[0].Kind != adapt.Resize || got[0].Size != size(1) {
		t.Errorf("%+v", got)
	}
}

func TestStragglersStartElsewhere(t *testing.T) {
	t.Parallel()
	w := window(100)
	w.Replicas = nil
	for i, p := range []float64{30, 30, 30, 15} {
		w.Replicas = append(w.Replicas, adapt.Replica{Handle: board.Handle(10 + i), Node: 1, Size: size(1), Performance: p})
	}
	got := steps(adapter(t, "quasar", nil), twoNodes(), w)
	if len(got) != 1 || got[0].Kind != adapt.Relaunch || got[0].Handle != 13 {
		t.Errorf("%+v", got)
	}
}

func TestAFifthIsProbed(t *testing.T) {
	t.Parallel()
	a := adapter(t, "quasar", func(o *adapt.Options) { o.ProbeEvery = 10 * time.Minute })
	var windows []adapt.Observation
	for i := range 500 {
		w := window(100)
		w.Handle = board.Handle(i)
		windows = append(windows, w)
	}
	got := a.Step(10*time.Minute, twoNodes(), windows, rand.New(rand.NewPCG(1, 1)))
	if len(got) < 70 || len(got) > 130 {
		t.Errorf("%d of 500 were probed", len(got))
	}
	if again := a.Step(11*time.Minute, twoNodes(), windows, rand.New(rand.NewPCG(1, 1))); again != nil {
		t.Errorf("a minute later again: %d", len(again))
	}
}

func TestANodeIsClosedUntilItRecovers(t *testing.T) {
	t.Parallel()
	a, b := adapter(t, "close", nil), twoNodes()
	got := steps(a, b, window(60), window(60), window(60))
	if len(got) != 1 || got[0].Kind != adapt.Close || got[0].Node != 0 {
		t.Fatalf("%+v", got)
	}
	if got = steps(a, b, window(60)); got != nil {
		t.Errorf("it is closed again: %+v", got)
	}
	if got = steps(a, b, window(98)); len(got) != 1 || got[0].Kind != adapt.Open {
		t.Errorf("%+v", got)
	}
}

// Every listed adapter leaves a workload at its target alone, is deterministic
// and takes an empty cluster.
func TestConformance(t *testing.T) {
	t.Parallel()
	for _, d := range adapt.Adapters() {
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			a := adapter(t, d.Name, nil)
			if got := a.Step(0, twoNodes(), nil, rand.New(rand.NewPCG(1, 1))); got != nil {
				t.Errorf("nothing runs: %v", got)
			}
			good := slices.Repeat([]adapt.Observation{window(100)}, 30)
			if got := steps(a, twoNodes(), good...); got != nil {
				t.Errorf("at its target: %v", got)
			}
			bad := slices.Repeat([]adapt.Observation{window(50)}, 3)
			one, two := steps(adapter(t, d.Name, nil), twoNodes(), bad...), steps(adapter(t, d.Name, nil), twoNodes(), bad...)
			if !slices.Equal(one, two) {
				t.Errorf("%v and then %v", one, two)
			}
			a.Forget(1)
		})
	}
	if _, err := adapt.Lookup("quux"); err == nil {
		t.Error("an unknown adapter was found")
	}
}

// A size that is no longer in the list, because the workload was classified anew,
// counts as the largest that takes no more cores: it can still be changed.
func TestSizesOfAnEarlierClassification(t *testing.T) {
	t.Parallel()
	old := window(50)
	old.Replicas[0].Size.MemoryMB = 90
	got := steps(adapter(t, "quasar", nil), twoNodes(), old, old, old)
	if !slices.Contains(kinds(got), adapt.Resize) || got[len(got)-1].Size != size(8) {
		t.Errorf("%+v", got)
	}
}

// Delimitrou 2015, §8.3.3: what falls short gets a larger allocation where it is, by as much as it
// falls short, up to twice what it had; and nothing where its node has no room.
func TestEnlarge(t *testing.T) {
	t.Parallel()
	for rate, want := range map[float64]int{80: 3, 10: 4} { // of 2 cores: 2 / 0.8, and twice
		b := twoNodes()
		b.Place(0, board.Resident{Handle: 1, Size: size(2)})
		bad := window(rate)
		if got := steps(adapter(t, "enlarge", nil), b, bad, bad); got != nil {
			t.Errorf("after two windows: %v", got)
		}
		got := steps(adapter(t, "enlarge", nil), b, bad, bad, bad)
		if !slices.Equal(kinds(got), []adapt.Kind{adapt.Resize}) || got[0].Size != size(want) {
			t.Errorf("at %g of 100: %+v, want %d cores", rate, got, want)
		}
		b.Place(0, board.Resident{Handle: 2, Size: size(6)})
		if got := steps(adapter(t, "enlarge", nil), b, bad, bad, bad); got != nil {
			t.Errorf("without room: %v", got)
		}
	}
	// Once it has twice as much, it gets no more.
	a, b, bad := adapter(t, "enlarge", func(o *adapt.Options) { o.Quiet = 0 }), twoNodes(), window(10)
	b.Place(0, board.Resident{Handle: 1, Size: size(2)})
	steps(a, b, bad, bad, bad)
	large := window(10)
	large.Replicas[0].Size = size(4)
	if got := steps(a, b, large, large, large); got != nil {
		t.Errorf("at twice its size: %v", got)
	}
}
