package truth_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/training"
)

// row is a measured row: it stands a last-level cache kernel badly, and presses
// on memory bandwidth.
func row(key string) profile.Profile {
	ratio := func(v float64) *float64 { return &v }
	return profile.Profile{
		Key: key, Workload: "training/" + key,
		Machine:  profile.Machine{Configuration: "solo", CPUs: []int{0, 1}},
		Isolated: map[string]profile.Measurement{"solo": {Value: 120, Unit: "records/s"}},
		Ramp: []profile.RampPoint{
			{Source: interference.LLCCapacity, IntensityPercent: 100, WorkloadRatio: ratio(0.4)},
			{Source: interference.LLCCapacity, IntensityPercent: 50, WorkloadRatio: ratio(0.8)},
			{Source: interference.LLCCapacity, IntensityPercent: 0, WorkloadRatio: ratio(1)},
			{Source: interference.NetworkBandwidth, IntensityPercent: 50},
		},
		Sensitivity: interference.Sensitivity{
			Tolerated: interference.Scores{interference.NetworkBandwidth: {Score: interference.Percent(40)}},
			Caused:    interference.Scores{interference.MemoryBandwidth: {Score: interference.Percent(35)}},
		},
		ScaleUp: []profile.ScalePoint{
			{Cores: 2, MemoryMB: 3000, Speed: profile.Measurement{Value: 180}},
			{Cores: 1, MemoryMB: 3000, Speed: profile.Measurement{Value: 100}},
			{Cores: 1, MemoryMB: 500, Speed: profile.Measurement{Value: 60}},
		},
	}
}

func TestRowsBecomeApplications(t *testing.T) {
	t.Parallel()
	m := model()
	mute := row("mute")
	mute.Isolated = nil
	apps, err := truth.FromProfiles(m, []profile.Profile{row("a"), mute, row("b")}, truth.Spec{Count: 4, Platforms: truth.Published}, 1)
	if err != nil || len(apps) != 4 {
		t.Fatalf("%d applications, %v", len(apps), err)
	}
	a := apps[0]
	if a.Class != truth.MeasuredClass || a.Cores != 1 || a.MemoryMB != 3000 || a.Unit != "records/s" || a.Origin != "training row a" {
		t.Errorf("%+v", a)
	}
	if got := a.ScaleUp; len(got) != 2 || got[0].Relative != 1 || math.Abs(got[1].Relative-1.8) > 1e-9 {
		t.Errorf("scale-up %+v", got)
	}
	p := a.Phases[0]
	at := func(c interference.Source) int { return slices.Index(columns, c) }
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"the ramp at 50 %", p.Response[at(interference.LLCCapacity)].At(50), 0.8},
		{"the ramp at 100 %", p.Response[at(interference.LLCCapacity)].At(100), 0.4},
		{"the score without a ramp", p.Response[at(interference.NetworkBandwidth)].Tolerated(0.05), 40},
		{"a source nobody measured", p.Response[at(interference.StorageBandwidth)].Tolerated(0.05), 80},
		{"the pressure measured", p.Pressure[at(interference.MemoryBandwidth)], 35},
		{"the pressure nobody measured", p.Pressure[at(interference.StorageBandwidth)], 8},
	} {
		if math.Abs(c.got-c.want) > 0.01 {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
	if apps[0].Name == apps[2].Name || apps[0].Isolated[1] == apps[2].Isolated[1] {
		t.Error("the second application of a row has the name or the speeds of the first")
	}
	for _, p := range []truth.Platforms{truth.Hardware, truth.Published} {
		again, err := truth.FromProfiles(m, []profile.Profile{row("a")}, truth.Spec{Count: 1, Platforms: p}, 1)
		if err != nil || len(again[0].Isolated) != len(m.Machines()) || !(slices.Min(again[0].Isolated) > 0) {
			t.Errorf("%s: %+v, %v", p, again, err)
		}
	}
	if _, err := truth.FromProfiles(m, []profile.Profile{mute}, truth.Spec{Count: 1}, 1); !errors.Is(err, truth.ErrRows) {
		t.Errorf("rows without a speed: %v", err)
	}
}

// side of a pair, of a row by its key.
func side(key string, ratio float64) profile.PairSide {
	return profile.PairSide{Key: key, Ratio: ratio}
}

// With the residuals of measured pairs the model says what was measured, whatever
// it said before; a pair measured twice counts with its mean.
func TestMeasuredPairsAreMet(t *testing.T) {
	t.Parallel()
	m := model()
	apps, err := truth.FromProfiles(m, []profile.Profile{row("a"), row("b")}, truth.Spec{Count: 2}, 1)
	if err != nil {
		t.Fatal(err)
	}
	pairs := []profile.Pair{
		{Placement: "beside", A: side("a", 0.90), B: side("b", 0.70)},
		{Placement: "beside", A: side("b", 0.70), B: side("a", 0.90)},
		{Placement: "same", A: side("a", 0.5), B: side("b", 0.5)},
		{Placement: "beside", A: side("a", 0.1), B: side("unknown", 0.1)},
	}
	if n := m.FromPairs(pairs, apps); n != 2 {
		t.Errorf("%d pairs are of known applications, want 2", n)
	}
	s := m.Speeds(strongest(m), []truth.Placed{isolated(apps[0]), isolated(apps[1])}, nil)
	if a, b := s[0].Value/s[0].Isolated, s[1].Value/s[1].Isolated; math.Abs(a-0.9) > 0.001 || math.Abs(b-0.7) > 0.001 {
		t.Errorf("kept %v and %v, measured 0.9 and 0.7", a, b)
	}
}

func isolated(a *truth.Application) truth.Placed {
	return truth.Placed{Application: a, Cores: a.Cores, MemoryMB: a.MemoryMB, Load: 1}
}

// strongest: the machines of the test model state no capabilities, so any is.
func strongest(*truth.Model) int { return 0 }

// The two facts that the model takes from pairs of real applications: on one CPU
// each keeps half and hardly loses more, on neighbouring CPUs nearly everything.
func TestMeasuredPairsSayWhatTheModelTakesFromThem(t *testing.T) {
	t.Parallel()
	pairs, err := training.LoadPairs()
	if err != nil {
		t.Fatal(err)
	}
	ratios := map[string][]float64{}
	for _, p := range pairs {
		ratios[p.Placement] = append(ratios[p.Placement], p.A.Ratio, p.B.Ratio)
	}
	for placement, want := range map[string][2]float64{"same": {0.46, 0.51}, "beside": {0.93, 0.98}} {
		all := ratios[placement]
		if len(all) < 100 {
			t.Errorf("%s: only %d ratios were measured", placement, len(all))
			continue
		}
		slices.Sort(all)
		if median := all[len(all)/2]; median < want[0] || median > want[1] {
			t.Errorf("%s: each keeps %v, want %v", placement, median, want)
		}
	}
}

// Allocations have cores of their own: what is private to a core is felt only
// through a sibling thread, and only where that is somebody else's.
func TestCorePrivateSourcesNeedAsharedCore(t *testing.T) {
	t.Parallel()
	private := []interference.Source{interference.L1Instruction}
	for _, c := range []struct {
		name     string
		siblings float64
		cores    float64
		loses    bool
	}{
		{"whole cores", 1, 1, false},
		{"an odd hardware thread", 2, 1, true},
		{"a core of two threads", 2, 2, false},
	} {
		m := truth.NewModel(private, []truth.Machine{{Name: "a", Cores: 4, GHz: 2, IPC: 1, LLCMB: 8, MemoryMB: 8192, Siblings: c.siblings}})
		app := &truth.Application{
			Name: c.name, Cores: c.cores, MemoryMB: 100, Isolated: []float64{1},
			Phases: []truth.Phase{{Share: 1, MemoryMB: 100, Intensity: 1, Pressure: []float64{80}, Response: []truth.Curve{truth.Planted(10, 0.3)}}},
		}
		s := m.Speeds(0, []truth.Placed{isolated(app), isolated(app)}, nil)
		if loses := s[0].Value < 0.97*s[0].Isolated; loses != c.loses {
			t.Errorf("%s: keeps %v", c.name, s[0].Value/s[0].Isolated)
		}
	}
}

// Where more cores are wanted than there are, each gets its share of the time.
func TestOvercommittedCoresAreShared(t *testing.T) {
	t.Parallel()
	m := truth.NewModel(columns, []truth.Machine{{Name: "a", Cores: 1, GHz: 2, IPC: 1, LLCMB: 8, MemoryMB: 8192}})
	quiet := &truth.Application{Name: "quiet", Cores: 1, MemoryMB: 100, Isolated: []float64{1}}
	p := truth.Phase{Share: 1, MemoryMB: 100, Intensity: 1}
	for range columns {
		p.Pressure, p.Response = append(p.Pressure, 5), append(p.Response, truth.Planted(80, 0.8))
	}
	quiet.Phases = []truth.Phase{p}
	s := m.Speeds(0, []truth.Placed{isolated(quiet), isolated(quiet)}, nil)
	if kept := s[0].Value / s[0].Isolated; kept < 0.46 || kept > 0.51 {
		t.Errorf("two on one core keep %v each, measured 0.485", kept)
	}
}

// A machine is the best one for as many programs as it can hold.
func TestBestConfigurationsAreSpreadAsCores(t *testing.T) {
	t.Parallel()
	var machines []truth.Machine
	shares := []float64{0.4, 0.25, 0.15, 0.1, 0.07, 0.03}
	for i, share := range shares {
		machines = append(machines, truth.Machine{Name: string(rune('a' + i)), Cores: 16, GHz: 2, IPC: 1, LLCMB: 8, MemoryMB: 65536, Share: 1000 * share})
	}
	m := truth.NewModel(columns, machines)
	pop, err := truth.Population(m, truth.Spec{Classes: []string{"ST", "MT", "MP", "IO"}, Count: 2000, Platforms: truth.Published}, 3)
	if err != nil {
		t.Fatal(err)
	}
	got, total := make([]float64, len(machines)), 0.0
	for _, a := range pop {
		best, _ := a.Best(func(int) bool { return true })
		got[best] += a.Cores
		total += a.Cores
	}
	for i := range got {
		if off := math.Abs(got[i]/total - shares[i]); off > 0.05 {
			t.Errorf("machine %d has %.2f of the cores and is the best for %.2f", i, shares[i], got[i]/total)
		}
	}
}
