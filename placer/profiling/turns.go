package profiling

import "slices"

// turns say who of those that wait for a node is next: namespaces take turns, and within a
// namespace the first to come is the first. Whoever submits a hundred jobs keeps others
// waiting for one profile, not for a hundred. The lab's lock guards it.
type turns struct {
	waiting []*waiter // in the order of their coming
	under   map[string]int
	served  map[string]uint64 // which turn a namespace had last
	turn    uint64
}

// waiter is a workload that waits to be profiled.
type waiter struct {
	namespace string
	stuck     bool // no node could take it when it looked last
}

// servedAtMost bounds the namespaces whose last turn is remembered.
const servedAtMost = 1000

func (t *turns) join(namespace string) *waiter {
	w := &waiter{namespace: namespace}
	t.waiting = append(t.waiting, w)
	return w
}

func (t *turns) leave(w *waiter) {
	t.waiting = slices.DeleteFunc(t.waiting, func(o *waiter) bool { return o == w })
}

// next reports whether nobody who could be profiled now comes before w.
func (t *turns) next(w *waiter) bool {
	for _, o := range t.waiting {
		switch {
		case o == w:
			return !slices.ContainsFunc(t.waiting, func(o *waiter) bool { return !o.stuck && t.ahead(o, w) })
		case !o.stuck && o.namespace == w.namespace:
			return false // it came first
		}
	}
	return true
}

// ahead reports whether the namespace of o has had less than that of w.
func (t *turns) ahead(o, w *waiter) bool {
	if t.under[o.namespace] != t.under[w.namespace] {
		return t.under[o.namespace] < t.under[w.namespace]
	}
	return t.served[o.namespace] < t.served[w.namespace]
}

// take gives a namespace its turn, and returns how it ends.
func (t *turns) take(namespace string) (end func()) {
	if t.under == nil || len(t.served) >= servedAtMost {
		t.served = map[string]uint64{}
	}
	if t.under == nil {
		t.under = map[string]int{}
	}
	t.turn++
	t.served[namespace] = t.turn
	t.under[namespace]++
	return func() {
		if t.under[namespace]--; t.under[namespace] == 0 {
			delete(t.under, namespace)
		}
	}
}
