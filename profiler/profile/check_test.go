package profile_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

func good() profile.Profile {
	ratio, low, high := 0.9, 0.8, 1.0
	scores := func() interference.Scores {
		return interference.Scores{
			interference.MemoryBandwidth: {Score: interference.Percent(40), Low: interference.Percent(30), High: interference.Percent(50), Origin: interference.Measured},
			interference.LLCCapacity:     {Note: "not measured in the time"},
		}
	}
	return profile.Profile{
		Format: profile.Format, Key: "k", Machine: profile.Machine{NodeID: "n1", Configuration: "fast", CPUs: []int{0}},
		SlowdownMax: 5, Isolated: map[string]profile.Measurement{"fast": {Value: 100, Low: -1, High: 110, Unit: "requests", Windows: 8}},
		CPUsIsolated: 1.5, CPUShareIsolated: map[string]float64{"fast": 0.75}, Duration: time.Minute, Complete: true,
		Sensitivity: interference.Sensitivity{Tolerated: scores(), Caused: scores()},
		Ramp: []profile.RampPoint{{
			Source: interference.MemoryBandwidth, IntensityPercent: 40, Pairs: 3, Placement: "beside", AchievedPercent: 101,
			WorkloadRatio: &ratio, WorkloadLow: &low, WorkloadHigh: &high,
		}},
		ScaleUp: []profile.ScalePoint{{Cores: 2, Speed: profile.Measurement{Value: 3, Low: 2, High: 4}}},
	}
}

// What no run can have measured is named, and a usual profile is taken.
func TestCheck(t *testing.T) {
	t.Parallel()
	if err := good().Check(); err != nil {
		t.Error(err)
	}
	if err := (profile.Profile{}).Check(); err != nil { // of a run that measured nothing
		t.Error(err)
	}
	huge := strings.Repeat("x", 1<<20)
	for want, change := range map[string]func(*profile.Profile){
		"alone.value":        func(p *profile.Profile) { p.Isolated["fast"] = profile.Measurement{Value: -1} },
		"not from 0 to":      func(p *profile.Profile) { p.Isolated["fast"] = profile.Measurement{Value: math.NaN()} },
		"alone.high":         func(p *profile.Profile) { p.Isolated["fast"] = profile.Measurement{High: math.Inf(1)} },
		"upside down":        func(p *profile.Profile) { p.Isolated["fast"] = profile.Measurement{Low: 2, High: 1} },
		"alone.windows":      func(p *profile.Profile) { p.Isolated["fast"] = profile.Measurement{Windows: -1} },
		"cpu_share_alone":    func(p *profile.Profile) { p.CPUShareIsolated["fast"] = 1.5 },
		"cpus_alone":         func(p *profile.Profile) { p.CPUsIsolated = 1e9 },
		"year of taken":      func(p *profile.Profile) { p.Taken = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC) },
		"slowdown_max":       func(p *profile.Profile) { p.SlowdownMax = 1e300 },
		"duration":           func(p *profile.Profile) { p.Duration = -1 },
		"memory_peak_mb":     func(p *profile.Profile) { p.MemoryPeakMB = 1e30 },
		"length of the warn": func(p *profile.Profile) { p.Warnings = []string{huge} },
		"warnings: 10":       func(p *profile.Profile) { p.Warnings = make([]string, 1000) },
		"length of the key":  func(p *profile.Profile) { p.Key = huge },
		"ramp: 10":           func(p *profile.Profile) { p.Ramp = make([]profile.RampPoint, 10000) },
		"ramp.intensity":     func(p *profile.Profile) { p.Ramp[0].IntensityPercent = 130 },
		"ramp.pairs":         func(p *profile.Profile) { p.Ramp[0].Pairs = -3 },
		"ramp.workload_rat":  func(p *profile.Profile) { v := -0.5; p.Ramp[0].WorkloadRatio = &v },
		"ramp: ":             func(p *profile.Profile) { p.Ramp[0].Source = "cold" },
		"tolerated: the int": func(p *profile.Profile) {
			p.Sensitivity.Tolerated[interference.LLCCapacity] = interference.Estimate{Low: interference.Percent(9), High: interference.Percent(1)}
		},
		"a run measures": func(p *profile.Profile) {
			p.Sensitivity.Caused[interference.LLCCapacity] = interference.Estimate{Score: interference.Percent(0), Origin: interference.Predicted}
		},
		"sensitivity.busier": func(p *profile.Profile) { p.Sensitivity.DemandFactor = map[string]float64{"slow": -2} },
		"scale_up.cores":     func(p *profile.Profile) { p.ScaleUp[0].Cores = -1 },
	} {
		p := good()
		change(&p)
		if err := p.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// FuzzCheck: whatever is read, what passes can be written and read again.
func FuzzCheck(f *testing.F) {
	seed, err := json.Marshal(good())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Add([]byte(`{"alone":{"x":{"value":1e308,"low":-1e308}},"ramp":[{"source":"mem_bw","workload_ratio":-0}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var p profile.Profile
		if json.Unmarshal(data, &p) != nil || p.Check() != nil {
			return
		}
		again, err := json.Marshal(p)
		if err != nil {
			t.Fatalf("a profile that was taken cannot be written: %v", err)
		}
		var q profile.Profile
		if err := json.Unmarshal(again, &q); err != nil || q.Check() != nil {
			t.Fatalf("a profile that was written is not taken: %v, %v", err, q.Check())
		}
	})
}
