package stat

import "math"

// Quantile interpolates linearly between the order statistics of sorted, which
// must be ascending: the value at position q·(n−1) (Hyndman and Fan 1996, type
// 7). NaN for no samples; q is clipped to [0, 1]. O(1).
func Quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	at := min(1, max(0, q)) * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	share := at - float64(i)
	return sorted[i]*(1-share) + sorted[i+1]*share
}
