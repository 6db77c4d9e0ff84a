package tracker

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/provision"
)

// State is what a successor needs to know. What waits is not in it: who places jobs asks again.
// What was seen of the quality of nodes is not either: it counts for an hour at most.
type State struct {
	Slots   []SlotState                  `json:"slots,omitempty"`
	SpinUps map[string]provision.SpinUps `json:"spin_ups,omitempty"`
	Backoff map[string]BackoffState      `json:"backoff,omitempty"`
	Made    int                          `json:"made"`
	SpentAt time.Time                    `json:"spent_at"`
	Today   float64                      `json:"today"`
	Days    []provision.DaySpend         `json:"days,omitempty"` // the oldest first; that of SpentAt is today

	Kernels map[string][]provision.KernelSpeeds `json:"kernels,omitempty"` // that nodes of a type were seen to do
}

// SlotState is a node, or an order.
type SlotState struct {
	Key     string         `json:"key"`
	Type    string         `json:"type"`
	Node    cluster.NodeID `json:"node,omitempty"`
	Name    string         `json:"name,omitempty"`
	Ordered time.Time      `json:"ordered"`
	Ready   bool           `json:"ready,omitempty"`
	SpinUp  time.Duration  `json:"spin_up,omitempty"`
	Idle    time.Time      `json:"idle,omitzero"`
	Behaved bool           `json:"behaved,omitempty"`
	Busy    bool           `json:"busy,omitempty"` // it has jobs: Idle is not since when it has none
}

// BackoffState is a type that could not be had.
type BackoffState struct {
	Failures  int       `json:"failures"`
	NotBefore time.Time `json:"not_before"`
	Why       string    `json:"why"`
}

// State is the account as it is.
func (t *Tracker) State() State {
	out := State{
		SpinUps: t.desk.Measured(), Backoff: map[string]BackoffState{}, Made: t.made,
		SpentAt: t.spent.at, Today: t.spent.today(t.spent.at), Days: slices.Clone(t.spent.days),
	}
	for _, s := range t.sorted() {
		one := SlotState{Key: s.key, Type: s.typ, Node: s.node, Name: s.name, Ordered: s.ordered, Ready: s.ready, Busy: s.ready && len(s.jobs) > 0}
		if was, ok := t.desk.Seen(s.key); ok {
			one.SpinUp, one.Idle, one.Behaved = was.SpinUp, was.Idle, was.Behaved
		}
		out.Slots = append(out.Slots, one)
	}
	for name, r := range t.references {
		if nodes := r.Nodes(); len(nodes) > 0 {
			out.Kernels = withNodes(out.Kernels, name, nodes)
		}
	}
	for name, k := range t.kinds {
		if k.failures > 0 {
			out.Backoff[name] = BackoffState{k.failures, k.notBefore, k.why}
		}
	}
	return out
}

func withNodes(m map[string][]provision.KernelSpeeds, typ string, nodes []provision.KernelSpeeds) map[string][]provision.KernelSpeeds {
	if m == nil {
		m = map[string][]provision.KernelSpeeds{}
	}
	m[typ] = nodes
	return m
}

// longestSpinUp that a record is believed.
const longestSpinUp = time.Hour

// Resume takes over from a predecessor, before anything is observed. A job that was to get a node
// which is on its way asks for one again, and gets that one. A time later than now is of a clock
// that was ahead, and counts as now. Others may have written the record: it has no orders taken over
// that would not be made, and no node kept for longer than one of the slowest is.
func (t *Tracker) Resume(now time.Time, s State) {
	earlier := func(at time.Time) time.Time {
		if at.After(now) {
			return now
		}
		return at
	}
	t.spent = ledgerOf(earlier(s.SpentAt), s)
	t.made = s.Made
	for typ, measured := range s.SpinUps {
		if measured.Mean >= 0 && measured.Mean <= longestSpinUp {
			t.desk.Remember(typ, measured)
		}
	}
	for typ, nodes := range s.Kernels {
		if t.kinds[typ] != nil {
			t.references[typ] = provision.NewReference(nodes)
		}
	}
	for typ, b := range s.Backoff {
		if k := t.kinds[typ]; k != nil && b.Failures > 0 {
			k.failures, k.why = b.Failures, b.Why
			if k.notBefore = b.NotBefore; b.NotBefore.Sub(now) > backoffMost {
				k.notBefore = now.Add(backoffMost)
			}
		}
	}
	for _, one := range s.Slots {
		if t.kinds[one.Type] == nil || t.slots[one.Key] != nil || !strings.HasPrefix(one.Key, one.Type+"/") {
			continue // the type is not in the configuration any more
		}
		if !one.Ready && t.beyond(one.Type) != "" {
			continue
		}
		t.made = max(t.made, numberOf(one.Key))
		slot := &slot{key: one.Key, typ: one.Type, node: one.Node, name: one.Name, ordered: earlier(one.Ordered), sent: true, ready: one.Ready, jobs: map[cluster.WorkloadID]*tenant{}}
		t.insert(slot)
		if !one.Ready {
			t.desk.Asked(slot.ordered, slot.key, slot.typ)
			continue
		}
		idle := earlier(one.Idle)
		if one.Busy {
			idle = now // its jobs ended at some time since, if they did
		}
		t.desk.Found(slot.key, provision.Rented{Type: one.Type, SpinUp: min(one.SpinUp, longestSpinUp), Idle: idle, Behaved: one.Behaved})
	}
}

// numberOf a key is what makes it another's.
func numberOf(key string) int {
	n, err := strconv.Atoi(key[strings.LastIndex(key, "/")+1:])
	if err != nil {
		return 0
	}
	return n
}

// Settled reports whether two states differ in nothing but what time makes of them.
func (s State) Settled(before State) bool {
	return s.Made == before.Made && slices.Equal(s.Slots, before.Slots) && fmt.Sprint(s.Backoff) == fmt.Sprint(before.Backoff)
}
