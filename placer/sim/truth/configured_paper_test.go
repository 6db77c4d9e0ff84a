package truth

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// LSH paper, §II: a program that loses 5 % at x = 0.8 has t = 0.8, and a kernel that
// loses 5 % at x = 0.7 has found c = 0.3. On a configuration where the program is
// slower than its bound alone t = 0; where it loses 2 % there, less is left.
func TestScoresOnConfigurations(t *testing.T) {
	t.Parallel()
	m := NewModel([]interference.Source{interference.Integer}, []Machine{{Name: "best", Cores: 4}, {Name: "near", Cores: 4}, {Name: "slow", Cores: 4}})
	a := &Application{Name: "a", Cores: 1, Isolated: []float64{100, 98, 90}, Phases: []Phase{{Share: 1, Response: []Curve{Planted(80, 0.5)}, Pressure: []float64{30}}}}
	for c, want := range []float64{80, 80 * math.Sqrt((1-0.95/0.98)/0.05), 0} {
		tolerated, caused := m.ScoresOn(a, 0, c, 0.05)
		if math.Abs(tolerated[0]-want) > 0.5 || caused[0] != 30 { // points of 5 % are joined by lines
			t.Errorf("configuration %d: t = %v, c = %v; want %v and 30", c, tolerated[0], caused[0], want)
		}
	}
	random := rand.New(rand.NewPCG(1, 1))
	sum, n := 0.0, 0.0
	for range 400 {
		seen, _ := m.MeasureScoresOn(a, 0, 0, 0, 60, random)
		sum, n = sum+seen, n+1
	}
	// A ramp stops at the first step that seems too slow: it sees less, never more.
	if mean := sum / n; mean < 40 || mean > 80 {
		t.Errorf("measured %v on average, true 80", mean)
	}
	if seen, _ := m.MeasureScoresOn(a, 0, 2, 0, 60, random); seen != 0 {
		t.Errorf("measured %v where the program is too slow alone", seen)
	}
}
