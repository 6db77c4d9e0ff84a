package classify_test

import (
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/classify"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// What a workload causes is bounded by the CPU time it uses: on a core's units by the
// part of its CPUs, of bandwidths by that of one CPU, of capacities not at all.
func TestCausedIsBoundedByCPUTime(t *testing.T) {
	t.Parallel()
	columns := []interference.Source{interference.Integer, interference.MemoryBandwidth, interference.LLCCapacity, interference.StorageBandwidth, interference.TLB}
	p := profile.Profile{Machine: profile.Machine{CPUs: []int{0, 1}}, Sensitivity: interference.Sensitivity{Caused: interference.Scores{}}}
	for _, s := range columns[:4] {
		p.Sensitivity.Caused[s] = interference.Estimate{
			Score: interference.Percent(80), Low: interference.Percent(10), High: interference.Percent(90), Origin: interference.Measured,
		}
	}
	for used, want := range map[float64][]float64{
		0:   {80, 80, 80, 80}, // not looked at
		0.4: {20, 40, 80, 80},
		1.2: {60, 80, 80, 80},
		2:   {80, 80, 80, 80},
	} {
		p.CPUsIsolated = used
		got := classify.Knowledge(&p, classify.Models{}, columns, nil).Sensitivity.Caused
		for i, s := range columns[:4] {
			if v := percent(t, got, s); v != want[i] {
				t.Errorf("%g CPUs used, %s: %g, want %g", used, s, v, want[i])
			}
			e := got[s]
			low, _ := e.Low.Percent()
			high, _ := e.High.Percent()
			score, _ := e.Score.Percent()
			if low > score || high < score {
				t.Errorf("%g CPUs used, %s: %g outside %g to %g", used, s, score, low, high)
			}
			if bounded := score < 80; bounded != (e.Note != "") {
				t.Errorf("%g CPUs used, %s: note %q", used, s, e.Note)
			}
		}
	}
	if p.Sensitivity.Caused[interference.Integer].Score.Or(0) != 80 {
		t.Error("the profile itself changed")
	}
}

// On a slower node the same work takes a larger part of the CPU time; on a faster one it
// is not believed to take less.
func TestDemandFactorOfSlowerNodes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		shares map[string]float64
		slow   float64 // want; 0: as much
	}{
		"a service":        {map[string]float64{"fast": 0.25, "slow": 0.6}, 2.4},
		"takes all":        {map[string]float64{"fast": 1, "slow": 1}, 0},
		"less":             {map[string]float64{"fast": 0.5, "slow": 0.4}, 0},
		"no reference":     {map[string]float64{"slow": 0.4}, 0},
		"nothing was read": {nil, 0},
	} {
		p := profile.Profile{Machine: profile.Machine{Configuration: "fast"}, CPUShareIsolated: c.shares}
		got := classify.Knowledge(&p, classify.Models{}, nil, nil).Sensitivity.DemandFactor
		if got["slow"] != c.slow || got["fast"] != 0 {
			t.Errorf("%s: %v, want %g on slow", name, got, c.slow)
		}
	}
}

// Who has a tail to keep is not said to work for a part of its time only.
func TestWorks(t *testing.T) {
	t.Parallel()
	tail := performance.Target{Kind: performance.QPS, Latency: &performance.Latency{Percentile: 99, Max: time.Millisecond}}
	for name, c := range map[string]struct {
		cpus   float64
		target performance.Target
		want   float64
	}{
		"rests":              {0.1, performance.Target{Kind: performance.Rate}, 0.1},
		"on two CPUs":        {1.7, performance.Target{Kind: performance.Rate}, 1},
		"has a tail":         {0.1, tail, 0},
		"was not looked at":  {0, performance.Target{Kind: performance.Rate}, 0},
		"a service, no tail": {0.1, performance.Target{Kind: performance.QPS}, 0.1},
	} {
		p := profile.Profile{CPUsIsolated: c.cpus, Target: c.target}
		if got := classify.Knowledge(&p, classify.Models{}, nil, nil).DutyCycle; got != c.want {
			t.Errorf("%s: %g, want %g", name, got, c.want)
		}
	}
}
