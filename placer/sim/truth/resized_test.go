package truth

import (
	"math"
	"testing"
)

// A program of four times the cores does four times as much, takes twice the memory, and presses
// less than four times as hard; from four times other numbers of cores it gains what it did.
func TestResized(t *testing.T) {
	t.Parallel()
	a := &Application{Cores: 2, MemoryMB: 1000, Isolated: []float64{10}, ScaleUp: []ScalePoint{{1, 0.6}, {2, 1}, {4, 1.9}}, Phases: []Phase{{Share: 1, Pressure: []float64{20, 0, 60}, MemoryMB: 800}}}
	b := a.Resized(8)
	if b.Cores != 8 || b.MemoryMB != 2000 || b.Phases[0].MemoryMB != 1600 || b.Isolated[0] != 40 {
		t.Errorf("%+v", b)
	}
	for k, want := range []float64{20 * math.Pow(4, 0.7), 0, maxPressurePercent} {
		if got := b.Phases[0].Pressure[k]; math.Abs(got-want) > 1e-9 {
			t.Errorf("it presses %g on resource %d, want %g", got, k, want)
		}
	}
	if got, want := a.Resized(0.25).Phases[0].Pressure[0], 20*math.Pow(0.5, 0.7)/4; math.Abs(got-want) > 1e-9 {
		t.Errorf("a quarter of a core presses %g, want a quarter of what a core does: %g", got, want)
	}
	if a.Phases[0].Pressure[0] != 20 || a.Isolated[0] != 10 {
		t.Error("the other size has changed")
	}
	for cores, want := range map[float64]float64{4: 0.6, 8: 1, 16: 1.9, 32: 1.9} {
		if got := b.Size(0, cores, math.Inf(1)); got != want {
			t.Errorf("with %g cores it does %g of what it should, want %g", cores, got, want)
		}
	}
}
