package predict_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/predict"
)

// A service of which 1 % is late under a kernel that runs for 4 of 10 ms has a slack of 3.9 ms.
func TestDelayPressure(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		taken float64
		runs  time.Duration
		want  float64
	}{
		"much time in short runs":           {60, 300 * time.Microsecond, 3},
		"the kernel itself":                 {60, 6 * time.Millisecond, 60},
		"the kernel at the share":           {40, 4 * time.Millisecond, 40},
		"runs as long as the slack":         {15, 3900 * time.Microsecond, 39},
		"little time in runs beyond it":     {10, 7800 * time.Microsecond, 44},
		"hardly ever, but for long":         {0.5, 7800 * time.Microsecond, 39.25},
		"nobody takes anything, at no time": {0, 0, 0},
	} {
		if got := predict.DelayPressure(c.taken, c.runs, 40, 0.01); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %g, want %g", name, got, c.want)
		}
	}
}

// The pressure is a percentage, grows with the time taken and with the length of the runs, and is
// above what is tolerated exactly if more are late than may be.
func TestDelayPressureIsMonotone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		taken := rapid.Float64Range(0, 100).Draw(t, "taken")
		runs := time.Duration(rapid.Int64Range(0, 2e7).Draw(t, "runs"))
		tolerated := rapid.Float64Range(0, 100).Draw(t, "tolerated")
		late := rapid.Float64Range(0.001, 0.5).Draw(t, "late")
		got := predict.DelayPressure(taken, runs, tolerated, late)
		if !(got >= 0 && got <= 100) {
			t.Fatalf("%g", got)
		}
		const hair = 1e-9
		if more := predict.DelayPressure(min(100, taken+1), runs, tolerated, late); more < got-hair {
			t.Fatalf("takes more: %g after %g", more, got)
		}
		if longer := predict.DelayPressure(taken, runs+time.Millisecond, tolerated, late); longer < got-hair {
			t.Fatalf("runs for longer: %g after %g", longer, got)
		}
	})
}

// Runs of co-runners follow each other; one of unknown length, and a target without a bound on the
// latency, leave the part of the time.
func TestTimePressure(t *testing.T) {
	t.Parallel()
	service := board.Resident{Tolerated: []float64{40}, LateShare: 0.01}
	short := predict.TimeDemand{Amount: 30, Weight: 1, Run: 200 * time.Microsecond}
	for name, c := range map[string]struct {
		on        board.Resident
		coRunners []predict.TimeDemand
		want      float64
	}{
		"one":                    {service, []predict.TimeDemand{short}, 2},
		"three":                  {service, []predict.TimeDemand{short, short, short}, 6},
		"one never pauses":       {service, []predict.TimeDemand{{Amount: 100, Weight: 1, Run: time.Hour}}, 39 + 50*(1-0.975)},
		"one is not known":       {service, []predict.TimeDemand{short, {Amount: 30, Weight: 1}}, 50},
		"counts its throughput":  {board.Resident{Tolerated: []float64{40}}, []predict.TimeDemand{short}, 50},
		"nothing of it is known": {board.Resident{LateShare: 0.01}, []predict.TimeDemand{short}, 50},
	} {
		if got := predict.TimePressure(50, c.coRunners, &c.on, 0); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %g, want %g", name, got, c.want)
		}
	}
}
