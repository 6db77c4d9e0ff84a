package nomadapi

import (
	"context"
	"fmt"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/nomadapi/nomadtest"
)

// BenchmarkSnapshotAfterChange is a snapshot after one allocation came, on 5,000
// nodes with 5,000 allocations: by reading the list of allocations again, and by
// folding in the event.
func BenchmarkSnapshotAfterChange(b *testing.B) {
	const nodes, allocs = 5000, 5000
	server := nomadtest.Large(b, nodes, allocs)
	ctx := context.Background()
	w, err := New(Options{Address: server.URL, Clock: newJumpClock()})
	if err != nil {
		b.Fatal(err)
	}
	defer w.API().Close()
	if _, err := w.Snapshot(ctx); err != nil {
		b.Fatal(err)
	}
	b.Run("list", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			w.allocs.mu.Lock()
			w.allocs.index = 0 // the table has moved
			w.allocs.mu.Unlock()
			if _, err := w.Snapshot(ctx); err != nil {
				b.Fatal(err)
			}
		}
	})
	if err := w.relist(ctx); err != nil {
		b.Fatal(err)
	}
	b.Run("event", func(b *testing.B) {
		b.ReportAllocs()
		for i := range b.N {
			line := fmt.Sprintf(`{"Index":%d,"Events":[{"Topic":"Allocation","Type":"PlanResult","Payload":{"Allocation":%s}}]}`,
				w.folded+1000, nomadtest.LargeAlloc(allocs+i, nodes))
			if err := w.fold([]byte(line)); err != nil {
				b.Fatal(err)
			}
			if _, err := w.Snapshot(ctx); err != nil {
				b.Fatal(err)
			}
		}
	})
}
