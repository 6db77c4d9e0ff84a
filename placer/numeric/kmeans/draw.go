package kmeans

import (
	"math/rand/v2"
	"slices"
)

// Draw takes n points, as evenly from the groups as they allow: n/k uniformly
// without replacement from each, all of a group that is smaller, and the shortfall
// uniformly from the rest. It returns indices, ascending; all points where n is
// not less than their number.
func (c *Clustering) Draw(n int, rng *rand.Rand) []int {
	members := make([][]int, len(c.Centres))
	for i, k := range c.Assigned {
		members[k] = append(members[k], i)
	}
	n = max(0, min(n, len(c.Assigned)))
	share := n / max(1, len(c.Centres))
	var drawn, rest []int
	for _, group := range members {
		shuffle(group, rng)
		take := min(share, len(group))
		drawn, rest = append(drawn, group[:take]...), append(rest, group[take:]...)
	}
	slices.Sort(rest)
	shuffle(rest, rng)
	drawn = append(drawn, rest[:n-len(drawn)]...)
	slices.Sort(drawn)
	return drawn
}

func shuffle(of []int, rng *rand.Rand) {
	rng.Shuffle(len(of), func(a, b int) { of[a], of[b] = of[b], of[a] })
}
