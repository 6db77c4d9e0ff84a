package student_test

import (
	"math"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/numeric/student"
)

// With 2 and 9 degrees of freedom t is 4.303 and 2.262 (Student 1908, as tabled).
func TestMean(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		values     []float64
		mean, half float64
	}{
		"three": {[]float64{1, 2, 3}, 2, 4.3027 / math.Sqrt(3)},
		"ten":   {[]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 5.5, 2.2622 * math.Sqrt(82.5/9/10)},
		"equal": {[]float64{7, 7}, 7, 0},
		"one":   {[]float64{7}, 7, math.NaN()},
		"none":  {nil, math.NaN(), math.NaN()},
	} {
		mean, half := student.Mean(c.values)
		if !near(mean, c.mean) || !near(half, c.half) {
			t.Errorf("%s: %v ± %v, want %v ± %v", name, mean, half, c.mean, c.half)
		}
	}
}

// near is true of two NaN, too.
func near(a, b float64) bool {
	return math.Abs(a-b) < 1e-4 || math.IsNaN(a) && math.IsNaN(b)
}
