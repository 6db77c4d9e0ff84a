package predict

import "slices"

// exchangeGain is the least gain of an exchange: sums of rounded numbers differ by less.
const exchangeGain = 1e-9

// Paired orders an even number of things so that each two that follow are a pair, and no exchange
// of partners between two pairs costs less in sum: a local optimum of the perfect matching of
// least weight, from the order that is given. The order of those that come in is kept where it
// does not matter. O(n²) a round, of which there are a few.
func Paired[T any](things []T, cost func(a, b T) float64) []T {
	t := slices.Clone(things)
	n := len(t) &^ 1 // an odd last one stays
	for changed := true; changed; {
		changed = false
		for i := 0; i < n; i += 2 {
			for j := i + 2; j < n; j += 2 {
				for _, k := range []int{j, j + 1} {
					before := cost(t[i], t[i+1]) + cost(t[j], t[j+1])
					t[i+1], t[k] = t[k], t[i+1]
					if after := cost(t[i], t[i+1]) + cost(t[j], t[j+1]); after < before-exchangeGain {
						changed = true
					} else {
						t[i+1], t[k] = t[k], t[i+1]
					}
				}
			}
		}
	}
	return t
}
