package stat

// NonIncreasing returns the sequence closest to y, in weighted least squares,
// that never rises (pool adjacent violators; Robertson et al. 1988, §1.2).
// Weights must be positive and as many as y, or nil for equal ones. O(n).
func NonIncreasing(y, weights []float64) []float64 {
	if weights != nil && len(weights) != len(y) {
		panic("stat: weights and values have different lengths")
	}
	type pool struct {
		mean, weight float64
		size         int
	}
	var pools []pool
	for i, v := range y {
		w := 1.0
		if weights != nil {
			w = weights[i]
		}
		pools = append(pools, pool{v, w, 1})
		for n := len(pools); n > 1 && pools[n-1].mean > pools[n-2].mean; n = len(pools) {
			a, b := pools[n-2], pools[n-1]
			sum := a.weight + b.weight
			pools[n-2] = pool{(a.mean*a.weight + b.mean*b.weight) / sum, sum, a.size + b.size}
			pools = pools[:n-1]
		}
	}
	out := make([]float64, 0, len(y))
	for _, p := range pools {
		for range p.size {
			out = append(out, p.mean)
		}
	}
	return out
}
