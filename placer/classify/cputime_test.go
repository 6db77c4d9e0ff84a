package classify_test

import (
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/classify"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
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
		p.CPUsAlone = used
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
