package classify_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/classify"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// scaled is a profile whose interference run had one CPU, measured at sizes by an
// Amdahl share that cannot be spread.
func scaled(key string, speed, serial float64, cores ...int) profile.Profile {
	p := profile.Profile{
		Key: key, Machine: profile.Machine{Configuration: "big", CPUs: []int{0}},
		Isolated: map[string]profile.Measurement{"big": {Value: speed, Low: speed, High: speed, Unit: "units/s"}},
	}
	for _, n := range cores {
		v := speed / (serial + (1-serial)/float64(n))
		p.ScaleUp = append(p.ScaleUp, profile.ScalePoint{Cores: n, Speed: profile.Measurement{Value: v, Low: 0.99 * v, High: 1.01 * v}})
	}
	return p
}

func knowledgeOf(t *testing.T, p profile.Profile, training ...profile.Profile) cluster.Knowledge {
	t.Helper()
	d, err := classify.Lookup("local")
	if err != nil {
		t.Fatal(err)
	}
	models, err := classify.TrainingFrom(training).Fit(d.New(), 1)
	if err != nil {
		t.Fatal(err)
	}
	return classify.Knowledge(&p, models, nil, []string{"big"})
}

func TestScaleUpIsWhatWasMeasured(t *testing.T) {
	t.Parallel()
	k := knowledgeOf(t, scaled("new", 100, 0.1, 1, 4))
	if k.ReferenceCores != 1 || len(k.ScaleUp) != 2 {
		t.Fatalf("%+v", k.ScaleUp)
	}
	want := 1 / (0.1 + 0.9/4)
	if s, ok := k.AtCores(4); !ok || math.Abs(s.Relative-want) > 1e-9 || s.Origin != interference.Measured || !(s.Low < s.Relative) {
		t.Errorf("at 4: %+v, want %v", s, want)
	}
	// Between: on the line, below the truth of anything that gains less and less.
	if s, ok := k.AtCores(2); !ok || s.Origin != interference.Assumed || s.Relative >= 1/(0.1+0.9/2) || s.Relative <= 1 {
		t.Errorf("at 2: %+v", s)
	}
	if _, ok := k.AtCores(8); ok {
		t.Error("something is known beyond the last size")
	}
}

// Without a run at another size less is taken to do in proportion, and nothing is
// known of more.
func TestScaleUpOfOneSize(t *testing.T) {
	t.Parallel()
	p := scaled("new", 100, 0.1)
	p.Machine.CPUs = []int{0, 1, 2, 3}
	k := knowledgeOf(t, p)
	if s, ok := k.AtCores(1); !ok || s.Relative != 0.25 || s.Origin != interference.Assumed {
		t.Errorf("at 1: %+v, %v", s, ok)
	}
	if _, ok := k.AtCores(8); ok {
		t.Error("more cores than measured are known")
	}
	if k := knowledgeOf(t, profile.Profile{}); len(k.ScaleUp) != 0 {
		t.Errorf("of nothing %+v", k.ScaleUp)
	}
}

// Workloads that scaled like it tell the sizes that were not measured.
func TestScaleUpIsLearnt(t *testing.T) {
	t.Parallel()
	var rows []profile.Profile
	for i := range 30 {
		rows = append(rows, scaled(fmt.Sprint(i), 10+float64(i), float64(i%10)/20, 1, 2, 4, 8))
	}
	k := knowledgeOf(t, scaled("new", 100, 0.2, 1, 4), rows...)
	for _, n := range []int{2, 8} {
		want := 1 / (0.2 + 0.8/float64(n))
		if s, ok := k.AtCores(n); !ok || s.Origin != interference.Predicted || math.Abs(s.Relative/want-1) > 0.05 {
			t.Errorf("at %d: %+v, want %v", n, s, want)
		}
	}
	if k.AtSize(cluster.ScaleSpeed{Relative: 2, Low: 1.5, High: 3}).Speed["big"].Value != 200 || k.Speed["big"].Value != 100 {
		t.Error("knowledge at another size")
	}
}

func TestBetween(t *testing.T) {
	t.Parallel()
	got := classify.Between([]int{1, 2, 4}, []float64{10, 20, 60})
	if want := []float64{10, 20, 40, 60}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
}
