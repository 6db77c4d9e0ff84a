package truth_test

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
)

// sized are machines of one microarchitecture that differ in their cores.
func sized(p truth.Parameters, cores ...float64) *truth.Model {
	var machines []truth.Machine
	for i, n := range cores {
		machines = append(machines, truth.Machine{Name: string(rune('a' + i)), Family: "one", Cores: n, GHz: 2.5, IPC: 1, LLCMB: 12, MemoryMB: 32768})
	}
	return truth.NewModelWith(columns, machines, p)
}

func drawnIn(t *testing.T, m *truth.Model, spec truth.Spec) []*truth.Application {
	t.Helper()
	pop, err := truth.Population(m, spec, 3)
	if err != nil {
		t.Fatal(err)
	}
	return pop
}

// The world that no fit has moved is a value of the parameters.
func TestDefaultParametersAreTheDefault(t *testing.T) {
	t.Parallel()
	spec := truth.Spec{Classes: drawn(), Count: 40, Platforms: truth.Published}
	m := model()
	again := truth.NewModelWith(columns, m.Machines(), truth.DefaultParameters())
	if a, b := drawnIn(t, m, spec), drawnIn(t, again, spec); !reflect.DeepEqual(a, b) {
		t.Error("populations differ")
	}
}

// What cores share is the larger the more there are; what is private to a core is not.
func TestPressureFallsWithTheSizeOfTheMachine(t *testing.T) {
	t.Parallel()
	p := truth.DefaultParameters()
	p.SizeExponent = 1
	m := sized(p, 2, 4, 8, 16)
	a := truth.Fixtures(m)[0]
	for k := range columns {
		a.Phases[0].Pressure[k] = 4 // on the machine of 16 cores
	}
	for i, machine := range m.Machines() {
		_, caused := m.ScoresOn(a, 0, i, 0.05)
		for k, column := range columns {
			want := 4 * 16 / machine.Cores
			if column == "l1i" {
				want = 4
			}
			if math.Abs(caused[k]-want) > 1e-9 {
				t.Errorf("%s presses %v on %s of %v cores, want %v", a.Name, caused[k], column, machine.Cores, want)
			}
		}
	}
}

// PressurePerCore is of a machine of ReferenceCores, whichever the strongest of the cluster is: one
// program exerts the same on machines of the same size in clusters of any.
func TestPressureIsOfTheReferenceSize(t *testing.T) {
	t.Parallel()
	p := truth.DefaultParameters()
	p.SizeExponent, p.PressurePerCore = 1, 40
	large, small := sized(p, 2, 4, 8, 16), sized(p, 2, 4, 4, 4)
	spec := truth.Spec{Classes: []string{"ST"}, Count: 60, PeakShare: -1}
	a, b := drawnIn(t, large, spec), drawnIn(t, small, spec)
	seen := false
	for i := range a {
		_, inLarge := large.ScoresOn(a[i], 0, 1, 0.05)
		_, inSmall := small.ScoresOn(b[i], 0, 1, 0.05)
		for k := range columns {
			if math.Abs(inLarge[k]-inSmall[k]) > 1e-9 {
				t.Errorf("%s presses %v and %v on %s of 4 cores", a[i].Name, inLarge[k], inSmall[k], columns[k])
			}
			seen = seen || inLarge[k] > 0
		}
	}
	if !seen {
		t.Error("nothing presses")
	}
}

// With tastes of their own, machines of one family suit different programs, and the first factor is
// how strong they are.
func TestTastes(t *testing.T) {
	t.Parallel()
	spread := func(tastes truth.Tastes) float64 {
		p := truth.DefaultParameters()
		p.Platforms, p.Tastes = truth.Published, tastes
		pop := drawnIn(t, sized(p, 2, 4, 8, 16), truth.Spec{Classes: []string{"ST"}, Count: 200})
		var squares float64
		for _, a := range pop {
			ln := math.Log(a.Isolated[3] / a.Isolated[0])
			squares += ln * ln / float64(len(pop))
		}
		return math.Sqrt(squares)
	}
	if family := spread(truth.FamilyTastes); family > 0.1 {
		t.Errorf("the weakest and the strongest of one family differ by %v", family)
	}
	// Three steps of √3/2 between the middles of four equal parts: 0.3·2.6.
	if own := spread(truth.OwnTastes); own < 0.5 || own > 1.1 {
		t.Errorf("with tastes of their own by %v", own)
	}
}

// The share that is common to the sources of the memory hierarchy makes their scores alike.
func TestMemoryShareMakesScoresAlike(t *testing.T) {
	t.Parallel()
	apart := func(share float64) float64 {
		p := truth.DefaultParameters()
		p.MemoryShare, p.ScoreResidual = share, 0.01
		sum := 0.0
		for _, a := range drawnIn(t, sized(p, 16, 16), truth.Spec{Classes: []string{"ST"}, Count: 200, PeakShare: -1}) {
			tolerated, _ := truth.TrueScores(a, 0, 0.05)
			sum += math.Abs(tolerated[0] - tolerated[1]) // last-level cache and memory bandwidth
		}
		return sum / 200
	}
	if own, common := apart(0), apart(0.9); common > own/2 {
		t.Errorf("scores differ by %.1f points, with a common share of 0.9 by %.1f", own, common)
	}
}

func TestLookupWorld(t *testing.T) {
	t.Parallel()
	if w, err := truth.LookupWorld(truth.PublishedWorld); err != nil || w.Parameters.Tastes != truth.OwnTastes || w.Parameters.Platforms != truth.Published {
		t.Errorf("%+v, %v", w, err)
	}
	if _, err := truth.LookupWorld("publish"); !errors.Is(err, truth.ErrWorld) {
		t.Errorf("another name: %v", err)
	}
}
