package sim

import (
	"container/heap"
	"math/rand/v2"
	"testing"
	"time"
)

func TestHeapPopsByTimeThenOrder(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{0, 1, 2, 3, 4, 5, 17, 1000} {
		var h eventHeap
		for range n {
			h.push(time.Duration(random.IntN(20)), kindReplica, 0, 0)
			if random.IntN(4) == 0 {
				h.pop()
				h.push(time.Duration(random.IntN(20)), kindReplica, 0, 0)
			}
		}
		last := event{at: -1}
		for range n {
			e := h.pop()
			if e.before(&last) {
				t.Fatalf("of %d: %v came after %v", n, e, last)
			}
			last = e
		}
		if len(h.events) != 0 {
			t.Fatalf("%d events are left", len(h.events))
		}
	}
}

// standard is the heap of the standard library, for comparison.
type standard []event

func (h standard) Len() int           { return len(h) }
func (h standard) Less(i, j int) bool { return h[i].before(&h[j]) }
func (h standard) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *standard) Push(x any)        { *h = append(*h, x.(event)) }
func (h *standard) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}

// heldEvents is how many events a run with 1,000 busy nodes holds.
const heldEvents = 8000

func BenchmarkHeap(b *testing.B) {
	b.Run("ours", func(b *testing.B) {
		random := rand.New(rand.NewPCG(1, 1))
		var h eventHeap
		for range heldEvents {
			h.push(time.Duration(random.Int64N(1e9)), kindReplica, 0, 0)
		}
		b.ReportAllocs()
		for b.Loop() {
			e := h.pop()
			h.push(e.at+time.Duration(random.Int64N(1e9)), kindReplica, 0, 0)
		}
	})
	b.Run("container", func(b *testing.B) {
		random := rand.New(rand.NewPCG(1, 1))
		var h standard
		for i := range heldEvents {
			heap.Push(&h, event{at: time.Duration(random.Int64N(1e9)), sequence: uint64(i)})
		}
		b.ReportAllocs()
		for b.Loop() {
			e := heap.Pop(&h).(event)
			e.at += time.Duration(random.Int64N(1e9))
			heap.Push(&h, e)
		}
	})
}
