package sim

// kind is what an event does.
type kind uint8

const (
	kindReady    kind = iota // a workload is profiled and classified
	kindProgress             // a workload reaches a phase boundary or its end
	kindReplica              // one task of a workload ends
	kindDecision             // an agent's decision is made
	kindWake                 // the controller asked for it
	kindLoad                 // the offered load of a service changes
	kindResume               // a restarted or moved workload works again
	kindWindow               // running workloads are measured, and adapted
	kindSample               // utilisation is read
	kindNode                 // a node is lost or comes back
	kindDeadline             // a workload must have ended
	kindMigrated             // a task that was moved works again
	kindLearned              // a workload that started without a profile has one
	kindFleet                // something happens to rented nodes
)

// event happens to who, if that still has the generation.
type event struct {
	at         Instant
	sequence   uint64
	generation uint32
	who        int32
	kind       kind
}

func (e *event) before(o *event) bool {
	return e.at < o.at || e.at == o.at && e.sequence < o.sequence
}

// heapArity: four children make the heap half as high as two, and lie on two
// cache lines.
const heapArity = 4

// eventHeap is a 4-ary min-heap by (time, sequence). Push and pop are O(log n)
// and allocate only to grow.
type eventHeap struct {
	events   []event
	sequence uint64
}

func (h *eventHeap) push(at Instant, k kind, who int32, generation uint32) {
	h.sequence++
	e := event{at: at, sequence: h.sequence, kind: k, who: who, generation: generation}
	h.events = append(h.events, e)
	i := len(h.events) - 1
	for i > 0 {
		parent := (i - 1) / heapArity
		if !e.before(&h.events[parent]) {
			break
		}
		h.events[i] = h.events[parent]
		i = parent
	}
	h.events[i] = e
}

// pop takes the earliest event; the heap must not be empty.
func (h *eventHeap) pop() event {
	top := h.events[0]
	last := len(h.events) - 1
	e := h.events[last]
	h.events = h.events[:last]
	if last == 0 {
		return top
	}
	i := 0
	for {
		child := heapArity*i + 1
		if child >= last {
			break
		}
		least := child
		for c := child + 1; c < min(child+heapArity, last); c++ {
			if h.events[c].before(&h.events[least]) {
				least = c
			}
		}
		if !h.events[least].before(&e) {
			break
		}
		h.events[i] = h.events[least]
		i = least
	}
	h.events[i] = e
	return top
}
