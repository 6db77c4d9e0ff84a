package provision_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/provision"
)

// §8.4.2: the soft limit falls while the queue grows, and rises after a long quiet spell.
func TestTheSoftLimitFollowsTheQueue(t *testing.T) {
	t.Parallel()
	begun := time.Unix(0, 0)
	s := provision.NewSoftLimit(provision.DefaultLimits(), begun)
	at := begun
	step := func(queue int) float64 {
		at = at.Add(10 * time.Second)
		s.Step(at, queue)
		return s.Value()
	}
	near(t, "the queue stays empty for a short while", step(0), 0.625, 1e-12)
	near(t, "five jobs in ten seconds", step(5), 0.625-0.02*0.5, 1e-12)
	near(t, "it gets no longer", step(5), 0.615, 1e-12)
	near(t, "it is worked off", step(0), 0.615, 1e-12)
	for range 5 {
		step(0)
	}
	near(t, "empty for fifty seconds", s.Value(), 0.615, 1e-12)
	near(t, "for a minute", step(0), 0.6175, 1e-12)
	for range 1000 {
		step(0)
	}
	near(t, "it stays below the hard limit", s.Value(), 0.80, 1e-12)
	queue := 0
	for range 100 {
		queue += 100
		step(queue)
	}
	near(t, "and above the lowest", s.Value(), 0.40, 1e-12)
}

// §8.4.2: "99 of 100 jobs that waited for 4 vCPUs and 15 GB started within 1.4 s" is a wait of
// 1.4 s with probability 0.99.
func TestWaits(t *testing.T) {
	t.Parallel()
	var w provision.Waits
	if _, known := w.Within(0.99, 0); known {
		t.Error("nothing was seen")
	}
	for i := range 5 {
		w.Released(time.Unix(int64(2*i), 0))
	}
	if got, known := w.Within(0.99, 2); !known || got != 6*time.Second {
		t.Errorf("the third in line, one release every two seconds: %s", got)
	}
	for i := range 99 {
		w.Waited(time.Duration(i) * 1400 * time.Millisecond / 98)
	}
	w.Waited(time.Minute)
	if got, _ := w.Within(0.99, 0); got != 1400*time.Millisecond {
		t.Errorf("99 of 100 started within %s", got)
	}
	for range 2000 {
		w.Waited(time.Second)
	}
	if got, _ := w.Within(1, 0); got != time.Second {
		t.Errorf("old waits count: %s", got)
	}
}

// §8.3.2: ten times the spin-up, and well-behaved nodes alone.
func TestRetention(t *testing.T) {
	t.Parallel()
	idle := provision.Idle{Since: time.Unix(100, 0), SpinUp: 15 * time.Second, Behaved: true}
	if got := idle.KeptUntil(provision.RetainedFor); got != time.Unix(250, 0) {
		t.Errorf("kept until %s", got)
	}
	idle.Behaved = false
	if got := idle.KeptUntil(provision.RetainedFor); got != idle.Since {
		t.Errorf("one that was not good enough is kept until %s", got)
	}
}

// Table 8.3.
func TestStrategies(t *testing.T) {
	t.Parallel()
	var types provision.Catalogue
	for _, cores := range []int{1, 2, 4, 8, 16} {
		for _, family := range []string{"standard", "compute"} {
			memory := 3750 * cores
			if family == "compute" {
				memory = 1800 * cores
			}
			types = append(types, provision.Type{Name: family + string(rune('a'+cores)), Family: family, Cores: cores, MemoryMB: memory, PricePerHour: float64(cores)})
		}
	}
	if err := types.Check(); err != nil {
		t.Fatal(err)
	}
	small, large := provision.Size{Cores: 3, MemoryMB: 1000}, provision.Size{Cores: 32, MemoryMB: 1000}
	type answer struct {
		cores  int
		family string // of whole machines the one with most memory, else the preferred one
	}
	full, mixed := answer{16, "standard"}, answer{4, "compute"}
	for s, want := range map[provision.Strategy]answer{provision.OnDemandFull: full, provision.HybridFull: full, provision.OnDemandMixed: mixed, provision.HybridMixed: mixed} {
		got, err := s.TypeFor(types, small, "compute")
		if err != nil || got.Cores != want.cores || got.Family != want.family {
			t.Errorf("%s: %+v, %v", s, got, err)
		}
		if _, err := s.TypeFor(types, large, ""); !errors.Is(err, provision.ErrNoneLarge) {
			t.Errorf("%s: 32 cores: %v", s, err)
		}
	}
	if _, err := provision.StaticReserved.TypeFor(types, small, ""); err == nil {
		t.Error("SR rents")
	}
	memory, _ := types.Smallest(provision.Size{Cores: 4, MemoryMB: 14000}, "compute")
	if memory.Family != "standard" || memory.Cores != 4 {
		t.Errorf("the preferred family has too little memory: %+v", memory)
	}
	near(t, "SR for a peak of 1226 cores", provision.StaticReserved.OwnedCores(210, 1226), 1409.9, 1e-9)
	near(t, "HM", provision.HybridMixed.OwnedCores(210, 1226), 210, 0)
	near(t, "OdM", provision.OnDemandMixed.OwnedCores(210, 1226), 0, 0)
}

func TestCataloguesThatMakeNoSense(t *testing.T) {
	t.Parallel()
	good := provision.Type{Name: "a", Cores: 1, MemoryMB: 1, PricePerHour: 1}
	for name, c := range map[string]provision.Catalogue{
		"empty":              {},
		"no name":            {{Cores: 1, MemoryMB: 1}},
		"twice":              {good, good},
		"no cores":           {{Name: "a", MemoryMB: 1}},
		"negative price":     {{Name: "a", Cores: 1, MemoryMB: 1, PricePerHour: -1}},
		"price is no number": {{Name: "a", Cores: 1, MemoryMB: 1, PricePerHour: math.NaN()}},
	} {
		if c.Check() == nil {
			t.Errorf("%s: nothing is wrong with it", name)
		}
	}
}
