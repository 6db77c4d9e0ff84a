package sim

import (
	"math"
	"testing"
)

// A service that keeps 95 % of its speed has a tail a fifth longer, one that keeps 80 % three
// times as long, and one that cannot serve its load the worst there is.
func TestTail(t *testing.T) {
	t.Parallel()
	for share, want := range map[float64]float64{2: 1, 1: 1, 0.95: 1.2, 0.8: 3, 0.703: 100, 0.7: 100, 0.2: 100, 0: 100} {
		if got := tailOf(share); math.Abs(got-want) > 1e-9*want {
			t.Errorf("with %g of its speed %g times as long, want %g", share, got, want)
		}
	}
}
