package fleet

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/provision"
)

func newTestFleet(t *testing.T, seed uint64) *Fleet {
	t.Helper()
	f, err := New(Config{
		Types: provision.Catalogue{{Name: "small", Cores: 1, MemoryMB: 3840, PricePerHour: 1}, {Name: "whole", Cores: 16, MemoryMB: 61440, PricePerHour: 16}},
		Nodes: map[string][]board.Index{"small": {3, 4}, "whole": {5}}, MachineCores: 16, Columns: 3, Configurations: 2,
		SpinUp: DefaultSpinUp(), Outside: DefaultOutside(), Seed: seed,
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
	if cores, nodes := f.Cores(at + 200*time.Second); nodes != 1 || cores*(at+200*time.Second).Seconds() < 1599 || cores*(at+200*time.Second).Seconds() > 1601 {
		t.Errorf("%g cores of %d nodes on average; want 16 for 100 s", cores, nodes)
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
		if len(on) != 1 || on[0].Load < 0.15-1e-9 || on[0].Load > 0.35+1e-9 {
			t.Fatalf("at %s: %+v", now, on)
		}
		seen[on[0].Load] = true
		for k, p := range f.Pressure(n) {
			if want := on[0].Load * on[0].Application.Phases[0].Pressure[k]; p < want-1e-9 || p > want+1e-9 || p > 100*15./16*1.5*0.35 {
				t.Fatalf("a probe sees %g of resource %d, others press %g", p, k, want)
			}
		}
	}
	if len(seen) < 100 {
		t.Errorf("the load took %d values in an hour", len(seen))
	}
}
