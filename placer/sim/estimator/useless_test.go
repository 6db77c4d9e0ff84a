package estimator

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/classify"
	"github.com/nomad-placer/nomad-placer/placer/sim"
	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// What is said of a job is the same for the same seed, and no nearer to the truth than what is
// said of any other job.
func TestUselessKnowsNothing(t *testing.T) {
	t.Parallel()
	columns := []interference.Source{interference.MemoryBandwidth, interference.LLCCapacity, interference.TLB, interference.NetworkBandwidth}
	m := truth.NewModel(columns, []truth.Machine{{Name: "a", Cores: 8, GHz: 2, IPC: 1, LLCMB: 8, MemoryMB: 1 << 15}, {Name: "b", Cores: 4, GHz: 2, IPC: 0.8, LLCMB: 8, MemoryMB: 1 << 15}})
	all, err := truth.Population(m, truth.Spec{Classes: []string{"ST", "MT"}, Count: 200}, 1)
	if err != nil {
		t.Fatal(err)
	}
	d, err := classify.Lookup(plannedForTest)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Classifier: d.New(), Planned: true, Training: all[100:], Seed: 1}
	useless, err := NewUseless(m, o)
	if err != nil {
		t.Fatal(err)
	}
	said := make([]sim.Estimate, 100)
	for i := range said {
		if said[i], err = useless.Know(&sim.Job{Number: i, App: all[i]}, 0, 0); err != nil {
			t.Fatal(err)
		}
	}
	again, err := useless.Know(&sim.Job{Number: 7, App: all[7]}, 0, 0)
	if err != nil || !reflect.DeepEqual(again, said[7]) {
		t.Errorf("asked again it says %+v of job 7, and before %+v (%v)", again, said[7], err)
	}
	var own, others float64
	for i, a := range all[:100] {
		truth := first(truth.TrueScores(a, 0, 0.05))
		for k, want := range truth {
			own += math.Abs(said[i].Tolerated[k]-want) / 400
			others += math.Abs(said[(i+50)%100].Tolerated[k]-want) / 400
		}
	}
	if own < 0.8*others {
		t.Errorf("what is said of a job is %.1f points off, and what is said of another %.1f", own, others)
	}
	o.Training = o.Training[:1]
	if _, err := NewUseless(m, o); !errors.Is(err, ErrTraining) {
		t.Errorf("one application: %v", err)
	}
}

// plannedForTest is a classifier that can say which cells tell most.
const plannedForTest = "gauss"
