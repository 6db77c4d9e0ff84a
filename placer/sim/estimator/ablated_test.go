package estimator

import (
	"reflect"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/classify"
	"github.com/nomad-placer/nomad-placer/placer/sim"
	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// Each part is replaced alone: by the truth, or by what says nothing of the job.
func TestAblated(t *testing.T) {
	t.Parallel()
	columns := []interference.Source{interference.MemoryBandwidth, interference.LLCCapacity, interference.TLB}
	m := truth.NewModel(columns, []truth.Machine{{Name: "a", Cores: 8, GHz: 2, IPC: 1, LLCMB: 8, MemoryMB: 1 << 15}, {Name: "b", Cores: 4, GHz: 2, IPC: 0.8, LLCMB: 8, MemoryMB: 1 << 15}})
	all, err := truth.Population(m, truth.Spec{Classes: []string{"hadoop"}, Count: 40}, 1)
	if err != nil {
		t.Fatal(err)
	}
	d, err := classify.Lookup(classify.Default)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Classifier: d.New(), Training: all[10:], Cores: []int{1, 2, 4}, MemoryMB: []int{1 << 12, 1 << 16}, Nodes: []int{1, 2, 4, 8}, Seed: 1}
	inner, err := NewEstimator(m, o)
	if err != nil {
		t.Fatal(err)
	}
	oracle := NewOracle(m, o)
	job := &sim.Job{Number: 3, App: all[3], Sized: true}
	know := func(e sim.Estimator) sim.Estimate {
		t.Helper()
		out, err := e.Know(job, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	before, real := know(inner), know(oracle)
	parts := func(e sim.Estimate) map[Part]any {
		return map[Part]any{PartSpeeds: e.Speed, PartScores: [2][]float64{e.Tolerated, e.Caused}, PartScaleUp: e.Sizes, PartScaleOut: e.ScaleOut}
	}
	for _, name := range PartNames() {
		part := Part(name)
		told, not := parts(know(NewAblated(inner, oracle, []Part{part}, nil))), parts(know(NewAblated(inner, oracle, nil, []Part{part})))
		for other, was := range parts(before) {
			want := was
			if other == part {
				want = parts(real)[part]
				if reflect.DeepEqual(want, was) || reflect.DeepEqual(not[part], was) {
					t.Errorf("%s: the estimate is the truth, or was not looked at before: %v", part, was)
				}
			} else if !reflect.DeepEqual(not[other], was) {
				t.Errorf("without %s, %s is %v, not %v", part, other, not[other], was)
			}
			if !reflect.DeepEqual(told[other], want) {
				t.Errorf("with the truth of %s, %s is %v, not %v", part, other, told[other], want)
			}
		}
	}
	nothing := know(NewAblated(inner, oracle, nil, []Part{PartSpeeds, PartScores, PartScaleUp, PartScaleOut}))
	speed := before.Speed[m.Reference()]
	if !reflect.DeepEqual(nothing.Speed, []float64{speed, speed}) || !reflect.DeepEqual(nothing.Tolerated, []float64{100, 100, 100}) || !reflect.DeepEqual(nothing.Caused, []float64{0, 0, 0}) {
		t.Errorf("nothing is known: %+v", nothing)
	}
	if n := len(nothing.ScaleOut); n != 8 || nothing.ScaleOut[7] != 8 {
		t.Errorf("on n nodes it is %v times as fast", nothing.ScaleOut)
	}
	perCore := nothing.Sizes[0].Speed / float64(nothing.Sizes[0].Size.Cores)
	for _, s := range nothing.Sizes {
		if s.Speed != perCore*float64(s.Size.Cores) {
			t.Errorf("%+v is not %g a core", s, perCore)
		}
	}
	if !reflect.DeepEqual(know(inner), before) {
		t.Error("the estimate that others share is another one now")
	}
}
