package provision

import (
	"math/rand/v2"
	"testing"
	"time"
)

var catalogue = Catalogue{
	{Name: "small", Cores: 2, MemoryMB: 7680, PricePerHour: 2, SpinUp: 15 * time.Second},
	{Name: "whole", Cores: 16, MemoryMB: 61440, PricePerHour: 16, SpinUp: 12 * time.Second},
}

func newTestProvisioner(t *testing.T, change func(*Settings)) *Provisioner[string] {
	t.Helper()
	s := DefaultSettings()
	if change != nil {
		change(&s)
	}
	p, err := New[string](s, catalogue, start)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var start = time.Unix(1_000_000, 0).UTC()

// A node is kept for ten times its own spin-up, and less if it was not good enough (§8.3.2).
func TestNodesAreKeptByTheirSpinUp(t *testing.T) {
	t.Parallel()
	p := newTestProvisioner(t, nil)
	demanding := Digits{90, 10}
	for _, n := range []string{"good", "bad"} {
		p.Asked(start, n, "small")
		p.Began(n, demanding)
		p.Came(start.Add(20*time.Second), n)
	}
	p.Looked(start.Add(20*time.Second), "good", Digits{5, 5})
	p.Looked(start.Add(20*time.Second), "bad", Digits{30, 5}) // 10 are tolerated
	ended := start.Add(time.Minute)
	for _, n := range []string{"good", "bad"} {
		p.Left(ended, n, demanding)
	}
	if got := p.Leaving(ended); len(got) != 1 || got[0] != "bad" {
		t.Errorf("%v leave at once, want the bad one", got)
	}
	p.Went("bad")
	if got := p.Leaving(ended.Add(199 * time.Second)); len(got) != 0 {
		t.Errorf("%v leave before ten times 20 s", got)
	}
	if next, ok := p.NextLeaves(); !ok || !next.Equal(ended.Add(200*time.Second)) {
		t.Errorf("the next leaves at %v, %v", next, ok)
	}
	if got := p.SpinUp("small"); got != 20*time.Second {
		t.Errorf("a small one takes %s, want the mean of what was measured", got)
	}
	if got := p.SpinUp("whole"); got != 12*time.Second {
		t.Errorf("a whole one takes %s, want what is expected", got)
	}
}

func TestAnIdleNodeIsUsedBeforeAnotherIsRented(t *testing.T) {
	t.Parallel()
	p := newTestProvisioner(t, nil)
	job := Digits{50, 10}
	anywhere := func(string) bool { return true }
	if n, ok := p.Reuse("small", job, anywhere); ok {
		t.Errorf("%s is there before anything was rented", n)
	}
	for i, n := range []string{"first", "last", "noisy"} {
		p.Asked(start, n, "small")
		p.Came(start.Add(time.Duration(i+1)*time.Second), n)
		p.Looked(start, n, Digits{5, 5})
	}
	p.Looked(start, "noisy", Digits{60, 5})
	if n, ok := p.Reuse("small", job, anywhere); !ok || n != "last" {
		t.Errorf("%s is used, want the one that is idle for the shortest time and quiet", n)
	}
	if n, ok := p.Reuse("small", job, func(n string) bool { return n == "first" }); !ok || n != "first" {
		t.Errorf("%s is used, want the one with room", n)
	}
	p.Asked(start, "big", "whole")
	if n, ok := p.Reuse("whole", job, anywhere); !ok || n != "big" {
		t.Errorf("%s is used, want the one of the type", n)
	}
	if n, ok := p.Reuse("small", job, func(n string) bool { return n == "big" }); !ok || n != "big" {
		t.Errorf("%s is used, want the larger one, which has room", n)
	}
	if n, ok := p.Reuse("small", Digits{50, 10}, func(n string) bool { return n == "noisy" }); ok {
		t.Errorf("%s is used, where more presses than the job tolerates", n)
	}
}

// The strategies differ in the nodes that there are (table 8.3).
func TestStrategiesSendJobsWhereThereAreNodes(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 1))
	for s, want := range map[Strategy]Destination{
		StaticReserved: {Side: ToBase}, OnDemandFull: {Side: ToRent, Type: "whole"}, OnDemandMixed: {Side: ToRent, Type: "small"},
		HybridFull: {Side: ToRent, Type: "whole"}, HybridMixed: {Side: ToRent, Type: "small"},
	} {
		p := newTestProvisioner(t, func(settings *Settings) { settings.Strategy = s })
		d := p.Decide(start, Arrival{Digits: Digits{40, 10}, Size: Size{Cores: 2, MemoryMB: 1024}, Fits: true, Used: 0.7}, random)
		if d.Side != want.Side || d.Type != want.Type || d.Why == "" {
			t.Errorf("%s: %+v, want %+v", s, d, want)
		}
	}
}

func TestSettingsThatMakeNoSense(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Settings){
		"strategy": func(s *Settings) { s.Strategy = "none" }, "mapping": func(s *Settings) { s.Mapping = Mapping{} },
		"share": func(s *Settings) { s.Share = 0 }, "retention": func(s *Settings) { s.Retention = -1 }, "limits": func(s *Settings) { s.Limits.Soft = 0.9 },
	} {
		s := DefaultSettings()
		change(&s)
		if _, err := New[string](s, catalogue, start); err == nil {
			t.Errorf("%s: it is taken", name)
		}
	}
	if _, err := New[string](DefaultSettings(), nil, start); err == nil {
		t.Error("nothing can be rented, and it is taken")
	}
}
