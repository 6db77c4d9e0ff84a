package fleet

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/provision"
	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
)

func newTestFleet(t *testing.T, seed uint64) *Fleet {
	t.Helper()
	f, err := New(Config{
		Types: provision.Catalogue{{Name: "small", Cores: 1, MemoryMB: 3840, PricePerHour: 1}, {Name: "whole", Cores: 16, MemoryMB: 61440, PricePerHour: 16}},
		Nodes: map[string][]board.Index{"small": {3, 4}, "whole": {5}}, MachineCores: 16, Columns: 3,
		SpinUp: DefaultSpinUp(), Outside: DefaultOutside(), Seed: seed, Others: []*truth.Application{
			{Name: "storage", Cores: 1, Phases: []truth.Phase{{Share: 1, Pressure: []float64{40, 0, 10}}}},
			{Name: "network", Cores: 1, Phases: []truth.Phase{{Share: 1, Pressure: []float64{0, 30, 10}}}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Typically 12 to 19 s, one of twenty up to two minutes (§8.3.2).
func TestSpinUpIsAsPublished(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for cores, want := range map[int]time.Duration{1: 19 * time.Second, 16: 12 * time.Second} {
		var all []time.Duration
		for range 4000 {
			all = append(all, DefaultSpinUp().draw(cores, 1, 16, random))
		}
		slices.Sort(all)
		if median := all[2000]; (median - want).Abs() > 1500*time.Millisecond {
			t.Errorf("%d cores: the median is %s, want about %s", cores, median, want)
		}
		if p := all[3800]; p < 90*time.Second || p > 140*time.Second {
			t.Errorf("%d cores: the 95th percentile is %s, want about two minutes", cores, p)
		}
	}
}

func TestMeanOfSpinUps(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	for _, times := range []float64{0, 1, 3} {
		s := DefaultSpinUp().Times(times)
		sum := time.Duration(0)
		const draws = 20000
		for range draws {
			sum += s.draw(16, 1, 16, random)
		}
		if got, want := sum/draws, s.Mean(); (got - want).Abs() > time.Second {
			t.Errorf("%g times: the mean is %s, want %s", times, got, want)
		}
	}
}

func TestANodeComesIsBilledAndGoes(t *testing.T) {
	t.Parallel()
	f := newTestFleet(t, 1)
	n, ok := f.Rent(time.Second, "whole")
	if !ok || n != 5 || f.Ready(n) {
		t.Fatalf("node %d, %v, ready %v", n, ok, f.Ready(n))
	}
	if _, more := f.Rent(time.Second, "whole"); more {
		t.Error("there is one whole machine, and a second was rented")
	}
	at, ok := f.Next()
	if !ok || at <= time.Second {
		t.Fatalf("it is ready at %s, %v", at, ok)
	}
	if got := f.Advance(at); len(got) != 1 || !got[0].Ready || !f.Ready(n) {
		t.Errorf("at %s: %+v", at, got)
	}
	if f.Outside(n) != nil {
		t.Error("others are on a whole machine")
	}
	f.Return(at+100*time.Second, n)
	end := at + 200*time.Second
	for minimum, seconds := range map[time.Duration]float64{0: 100, time.Minute: 100, 10 * time.Minute: 600} {
		if got := MeanCores(f.History(), end, minimum) * end.Seconds(); math.Abs(got-16*seconds) > 1e-6 {
			t.Errorf("with a minimum of %s %g core seconds are billed; want 16 cores for %g s", minimum, got, seconds)
		}
		if got := Spent(f.History(), end, minimum); math.Abs(got-16*seconds/3600) > 1e-9 {
			t.Errorf("with a minimum of %s %g is paid; want 16 per hour for %g s", minimum, got, seconds)
		}
	}
	if got := MeanNodes(f.History(), end) * end.Seconds(); math.Abs(got-100) > 1e-6 {
		t.Errorf("nodes are there for %g s, want 100", got)
	}
}

// Two nodes, one for the whole time and one for half of it, make one that is used all month and
// one that is for half a month, whichever they are.
func TestNodesOfATypeAreDiscountedTogether(t *testing.T) {
	t.Parallel()
	steps := []provision.Discount{{Beyond: 0.25, Price: 0.8}, {Beyond: 0.5, Price: 0.6}, {Beyond: 0.75, Price: 0.4}}
	node := func(ready, returned time.Duration) Rented {
		return Rented{Type: "whole", Cores: 16, Ready: ready, Returned: returned}
	}
	want := 16 * (1*0.7 + 0.5*0.9)
	for name, rented := range map[string][]Rented{
		"one after the other": {node(0, 60*time.Second), node(30*time.Second, 90*time.Second), node(60*time.Second, Never)},
		"side by side":        {node(0, Never), node(30*time.Second, 60*time.Second), node(60*time.Second, 90*time.Second)},
	} {
		if got := SustainedCores(rented, 2*time.Minute, steps); math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: %g cores at the full price, want %g", name, got, want)
		}
	}
	if got := SustainedCores([]Rented{node(0, Never)}, 2*time.Minute, nil); math.Abs(got-16) > 1e-9 {
		t.Errorf("without a discount %g cores, want 16", got)
	}
}

// The load of others stays within its bounds, changes, and presses in proportion.
func TestOthersPressOnSharedMachines(t *testing.T) {
	t.Parallel()
	f := newTestFleet(t, 3)
	n, _ := f.Rent(0, "small")
	seen := map[float64]bool{}
	for now := 10 * time.Second; now < time.Hour; now += 10 * time.Second {
		f.Advance(now)
		on := f.Outside(n)
		busy := 0.0
		for _, p := range on {
			busy += p.Load
		}
		if len(on) != 4 || busy < 15*0.15-1e-9 || busy > 15*0.35+1e-9 { // a quarter of 15 cores is 3.75
			t.Fatalf("at %s %d programs keep %g of 15 cores busy", now, len(on), busy)
		}
		seen[busy] = true
		most := 10 * busy // what all of them press on the third resource, if they never met
		if p := f.Pressure(n)[2]; p >= most || p < most*(1-most/100) {
			t.Fatalf("a probe sees %g, others press %g in sum", p, most)
		}
	}
	if whole, _ := f.Rent(time.Hour, "whole"); slices.Max(f.Pressure(whole)) > 0 {
		t.Errorf("others press %v on a whole machine", f.Pressure(whole))
	}
	if len(seen) < 100 {
		t.Errorf("the load took %d values in an hour", len(seen))
	}
}
