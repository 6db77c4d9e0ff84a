package estimator

import (
	"math"
	"slices"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/classify"
	"github.com/nomad-placer/nomad-placer/placer/sim"
	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

func TestBestMedianWorst(t *testing.T) {
	t.Parallel()
	machines := []truth.Machine{{Cores: 2, GHz: 1, IPC: 1}, {Cores: 8, GHz: 1, IPC: 1}, {Cores: 4, GHz: 1, IPC: 1}, {Cores: 1, GHz: 1, IPC: 1}, {Cores: 3, GHz: 1, IPC: 1}}
	if got := bestMedianWorst(machines); !slices.Equal(got, []int{1, 4, 3}) {
		t.Errorf("%v", got)
	}
	if got := bestMedianWorst(machines[:1]); !slices.Equal(got, []int{0}) {
		t.Errorf("%v", got)
	}
}

// The two sources of the profile are measured, the others predicted from both of
// their scores: nearer to the truth than the average of the training rows is.
func TestJointProfile(t *testing.T) {
	t.Parallel()
	columns := []interference.Source{interference.MemoryBandwidth, interference.LLCCapacity, interference.LLCBandwidth, interference.TLB, interference.Integer, interference.NetworkBandwidth}
	m := truth.NewModel(columns, []truth.Machine{{Name: "a", Cores: 8, GHz: 2, IPC: 1, LLCMB: 8, MemoryMB: 1 << 15}, {Name: "b", Cores: 4, GHz: 2, IPC: 0.8, LLCMB: 8, MemoryMB: 1 << 15}})
	all, err := truth.Population(m, truth.Spec{Classes: []string{"ST", "MT"}, Count: 260}, 1)
	if err != nil {
		t.Fatal(err)
	}
	e, err := NewEstimator(m, Options{Classifier: classify.NewLSH(classify.LSHOptions{}), Training: all[60:], Sources: []interference.Source{interference.MemoryBandwidth, interference.TLB}, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	mean := make([]float64, len(columns))
	for _, a := range all[60:] {
		for k, v := range first(truth.TrueScores(a, 0, 0.05)) {
			mean[k] += v / 200
		}
	}
	var predicted, average float64
	for i, a := range all[:60] {
		got, err := e.Know(&sim.Job{Number: i, App: a}, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		for k, want := range first(truth.TrueScores(a, 0, 0.05)) {
			if columns[k] != interference.MemoryBandwidth && columns[k] != interference.TLB {
				predicted, average = predicted+math.Abs(got.Tolerated[k]-want), average+math.Abs(mean[k]-want)
			}
		}
	}
	if predicted >= average {
		t.Errorf("mean error %.1f points, of the average %.1f", predicted/240, average/240)
	}
}

func first(tolerated, _ []float64) []float64 { return tolerated }
