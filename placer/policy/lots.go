package policy

import "math/rand/v2"

// lots draws distinct numbers 0..n−1 uniformly, each in O(1): a shuffle done
// only as far as it is drawn from, and undone afterwards, so that one draw does
// not depend on those before.
type lots struct {
	order []int32
	swaps []int32
	n, at int
}

// begin starts a drawing of n.
func (l *lots) begin(n int) {
	for i := len(l.swaps) - 1; i >= 0; i-- {
		j := l.swaps[i]
		l.order[i], l.order[j] = l.order[j], l.order[i]
	}
	l.swaps, l.at, l.n = l.swaps[:0], 0, n
	for len(l.order) < n {
		l.order = append(l.order, int32(len(l.order)))
	}
}

// next draws one, or reports that all are out.
func (l *lots) next(random *rand.Rand) (int, bool) {
	if l.at == l.n {
		return 0, false
	}
	j := l.at + random.IntN(l.n-l.at)
	l.order[l.at], l.order[j] = l.order[j], l.order[l.at]
	l.swaps = append(l.swaps, int32(j))
	l.at++
	return int(l.order[l.at-1]), true
}

// again returns what was drawn in the i-th draw.
func (l *lots) again(i int) int { return int(l.order[i]) }
