package tracker

import (
	"fmt"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// Wanted is how many nodes of a type there should be now.
func (t *Tracker) Wanted(typ string) int {
	n := 0
	for _, s := range t.slots {
		if s.typ == typ && s.leaving == "" {
			n++
		}
	}
	return n
}

// Present is how many of a type Nomad knows as ready.
func (t *Tracker) Present(typ string) int {
	n := 0
	for _, s := range t.slots {
		if s.typ == typ && s.ready && s.lost.IsZero() {
			n++
		}
	}
	return n
}

// Leaving are the nodes of a type that are to be returned.
func (t *Tracker) Leaving(typ string) []cluster.NodeID {
	var out []cluster.NodeID
	for _, s := range t.sorted() {
		if s.typ == typ && s.leaving != "" {
			out = append(out, s.node)
		}
	}
	return out
}

// Sent tells that the orders of a type went out.
func (t *Tracker) Sent(typ string) {
	for _, s := range t.slots {
		if s.typ == typ {
			s.sent = true
		}
	}
}

// Refused tells that a type could not be ordered: what was ordered since it could be last is void.
func (t *Tracker) Refused(now time.Time, typ string, why error) {
	for _, s := range t.sorted() {
		if s.typ == typ && !s.sent && s.node == "" {
			t.fail(now, typ, fmt.Sprintf("nodes of type %s could not be ordered: %s", typ, why))
			t.drop(s)
		}
	}
}

// Counted tells how many nodes of a type the provider says that there are, or are coming.
func (t *Tracker) Counted(typ string, n int) { t.kinds[typ].counted = n }

// committed is how many nodes of a type are paid for or may be soon.
func (t *Tracker) committed(k *kind) int {
	n := 0
	for _, s := range t.slots {
		if s.typ == k.Name {
			n++
		}
	}
	return max(n, k.counted)
}

// committedPerHour is what they cost.
func (t *Tracker) committedPerHour() float64 {
	sum := 0.0
	for _, typ := range t.cfg.Types { // in order: the sum of floats depends on it
		sum += float64(t.committed(t.kinds[typ.Name])) * typ.PricePerHour
	}
	return sum
}

// presentPerHour is what is paid for nodes that Nomad has seen ready.
func (t *Tracker) presentPerHour() float64 {
	sum := 0.0
	for _, typ := range t.cfg.Types {
		n := 0
		for _, s := range t.slots {
			if s.typ == typ.Name && s.ready {
				n++
			}
		}
		sum += float64(n) * typ.PricePerHour
	}
	return sum
}
