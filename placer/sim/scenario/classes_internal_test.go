package scenario

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Needs vary around the mean of a class and are never below 0 or above the largest machine; with
// one draw, by the same factor for both resources.
func TestNeedsOfAJob(t *testing.T) {
	t.Parallel()
	h := &hardware{mhz: 1e6, memoryMB: 1e6}
	c := &jobClass{need: [2]float64{0.025, 0.4}}
	for name, oneDraw := range map[string]bool{"each": false, "one draw": true} {
		j := &jobClassesBlock{Spread: 0.5, OneDraw: oneDraw}
		random := rand.New(rand.NewPCG(1, 0))
		var sum, squares, apart float64
		const jobs = 20_000
		for range jobs {
			size := j.size(c, h, random)
			cpu, memory := float64(size.CPUMHz)/h.mhz, float64(size.MemoryMB)/h.memoryMB
			if cpu < 0 || cpu > 1 || memory < 0 || memory > 1 {
				t.Fatalf("%s: %v", name, size)
			}
			sum += cpu / c.need[0]
			squares += cpu * cpu / c.need[0] / c.need[0]
			apart = max(apart, math.Abs(cpu/c.need[0]-memory/c.need[1]))
		}
		// A Gaussian of deviation 0.5 cut off at 0 has a mean of 1.028 (phi(2)/Phi(2)/2 more), and less deviation.
		mean := sum / jobs
		if deviation := math.Sqrt(squares/jobs - mean*mean); math.Abs(mean-1.028) > 0.02 || math.Abs(deviation-0.47) > 0.02 {
			t.Errorf("%s: mean %.3f, deviation %.3f", name, mean, deviation)
		}
		if together := apart < 0.01; together != oneDraw {
			t.Errorf("%s: both needs are at most %.2f apart", name, apart)
		}
	}
}
