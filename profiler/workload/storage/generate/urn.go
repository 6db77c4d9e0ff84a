package generate

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// urnDraws is how many draws an urn is filled for. Fewer hold shares closer, more leave
// the order freer; with 256 a share is off by a few draws at any time (chosen by us).
const urnDraws = 256

// urn draws items in proportion to their weights, without replacement.
type urn struct {
	items   []int32
	weights []float64 // parts of 1, descending: a draw looks at the heavy ones first
	carried []float64 // what did not divide
	left    []int32
	inside  int32
}

// share is an item with its weight.
type share struct {
	item int32
	n    int64
}

func newUrn(shares []share) *urn {
	slices.SortStableFunc(shares, func(a, b share) int { return cmp.Compare(b.n, a.n) })
	total := 0.0
	for _, s := range shares {
		total += float64(s.n)
	}
	u := &urn{
		items: make([]int32, len(shares)), weights: make([]float64, len(shares)),
		carried: make([]float64, len(shares)), left: make([]int32, len(shares)),
	}
	for i, s := range shares {
		u.items[i], u.weights[i] = s.item, float64(s.n)/total
	}
	return u
}

// scatter gives what is carried at the start a random part, so that items of one weight
// do not all come in the same filling.
func (u *urn) scatter(rng *rand.Rand) {
	for i := range u.carried {
		u.carried[i] = rng.Float64()
	}
}

func (u *urn) draw(rng *rand.Rand) int32 {
	if len(u.items) == 1 {
		return u.items[0]
	}
	for u.inside == 0 {
		u.fill()
	}
	at := rng.Int32N(u.inside)
	for i, n := range u.left {
		if at < n {
			u.left[i]--
			u.inside--
			return u.items[i]
		}
		at -= n
	}
	panic("an urn holds less than it counted")
}

func (u *urn) fill() {
	for i, w := range u.weights {
		u.carried[i] += w * urnDraws
		whole := int32(u.carried[i])
		u.carried[i] -= float64(whole)
		u.left[i] = whole
		u.inside += whole
	}
}
