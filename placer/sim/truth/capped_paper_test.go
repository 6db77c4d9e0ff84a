package truth_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
)

// PP-RTTE §VI: amplitudes are from 0 to 50 %, rise with the number of neighbours and
// follow a normal value of the task.
func TestCappedInterference(t *testing.T) {
	t.Parallel()
	c := &truth.Capped{Interference: truth.PaperInterference, Seed: 1}
	last := -1.0
	for _, coRunners := range []int{0, 7, 14, 28} {
		sum, none := 0.0, 0
		const tasks = 4000
		for i := range tasks {
			beta := c.Slowdown(truth.NewTask(fmt.Sprint(i), 2, 256), int32(i%3), coRunners)
			if beta < 0 || beta > 0.5 {
				t.Fatalf("slowdown %v", beta)
			}
			if beta == 0 {
				none++
			}
			sum += beta
		}
		if mean := sum / tasks; mean <= last {
			t.Errorf("%d neighbours: mean %v, with fewer %v", coRunners, mean, last)
		} else {
			last = mean
		}
		if coRunners == 0 && math.Abs(float64(none)/tasks-0.5) > 0.03 {
			t.Errorf("alone %d of %d are not slowed down, want half", none, tasks)
		}
	}
}

// A task gets its cap less its slowdown, and no more than it can use.
func TestCappedSpeeds(t *testing.T) {
	t.Parallel()
	quiet := &truth.Capped{}
	a := truth.NewTask("a", 4, 256)
	got := quiet.Speeds(0, []truth.Placed{{Application: a, Cores: 3}, {Application: a, Number: 1, Cores: 6}}, nil)
	if got[0] != (truth.Speed{Value: 3, Isolated: 3}) || got[1].Value != 4 {
		t.Errorf("%+v", got)
	}
	loud := &truth.Capped{Interference: truth.Interference{Mean: 0.25, At: 1, Most: 0.5}}
	got = loud.Speeds(0, []truth.Placed{{Application: a, Cores: 2}, {Application: a, Number: 1, Cores: 5.5}}, nil)
	for i, want := range []float64{1.6, 4} {
		if math.Abs(got[i].Value-want) > 1e-12 || math.Abs(got[i].Isolated/got[i].Value-1.25) > 1e-12 {
			t.Errorf("task %d: %+v, want %v", i, got[i], want)
		}
	}
}
