package truth_test

import (
	"math"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
)

// A program of scores tolerates and causes what they say, whatever else is in a record.
func TestProgramsOfScores(t *testing.T) {
	t.Parallel()
	m := model()
	tolerated, caused := make([]float64, len(columns)), make([]float64, len(columns))
	for k := range columns {
		tolerated[k], caused[k] = math.NaN(), math.NaN()
	}
	tolerated[0], caused[0] = 35, 60
	tolerated[1], caused[1] = 250, 1000
	a := truth.FromScores(m, "key", 2, 512, tolerated, caused)
	is, presses := truth.TrueScores(a, 0, 0.05)
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"what it tolerates", is[0], 35}, {"what it causes", presses[0], 60}, {"a score above the scale", is[1], 100},
		{"the same, caused", presses[1], 100}, {"one that is not known", is[2], 80}, {"the same, caused", presses[2], 8},
	} {
		if math.Abs(c.got-c.want) > 0.1 {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
	if len(a.Isolated) != len(m.Machines()) || a.Isolated[0] != 2 {
		t.Errorf("%+v", a.Isolated)
	}
	alone := m.Speeds(0, []truth.Placed{{Application: a, Cores: 2, MemoryMB: 512, Load: 1}}, nil)
	if alone[0].Value != 2 {
		t.Errorf("alone it does %v", alone[0])
	}
}
