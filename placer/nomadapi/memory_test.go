package nomadapi

import (
	"context"
	"runtime"
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/nomadapi/nomadtest"
)

// The size of the cluster of the memory target.
const (
	largeNodes  = 1000
	largeAllocs = 5000
)

// maxLargeHeapMB is what this package may keep of such a cluster: a part of the
// agent's 80 MiB that leaves room for its profiles, models and the runtime.
const maxLargeHeapMB = 32

func heapMB() float64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc) / (1 << 20)
}

// Not parallel: it measures the heap of the process.
func TestLargeClusterFitsInMemory(t *testing.T) {
	server := nomadtest.Large(t, largeNodes, largeAllocs)
	before := heapMB()
	w, err := New(Options{Address: server.URL, Clock: newJumpClock()})
	if err != nil {
		t.Fatal(err)
	}
	s, err := w.Snapshot(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	kept := heapMB() - before
	live := 0
	for _, list := range s.Allocations {
		live += len(list)
	}
	t.Logf("%d nodes and %d allocations keep %.1f MiB", len(s.Nodes), live, kept)
	if len(s.Nodes) != largeNodes || live != largeAllocs || kept > maxLargeHeapMB {
		t.Errorf("%d nodes, %d allocations, %.1f MiB; at most %d MiB", len(s.Nodes), live, kept, maxLargeHeapMB)
	}
	w.API().Close()
	runtime.KeepAlive(s)
}

func BenchmarkSnapshotLarge(b *testing.B) {
	server := nomadtest.Large(b, largeNodes, largeAllocs)
	before := heapMB()
	w, err := New(Options{Address: server.URL, Clock: newJumpClock()})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := w.Snapshot(context.Background()); err != nil {
		b.Fatal(err)
	}
	kept := heapMB() - before
	b.ResetTimer()
	for range b.N {
		if _, err := w.Snapshot(context.Background()); err != nil { // nothing changed
			b.Fatal(err)
		}
	}
	b.StopTimer()
	b.ReportMetric(kept, "heap-MiB")
	w.API().Close()
}

func BenchmarkDecodeAllocationsLarge(b *testing.B) {
	var text strings.Builder
	text.WriteString("[")
	for i := range largeAllocs {
		if i > 0 {
			text.WriteString(",")
		}
		text.WriteString(nomadtest.LargeAlloc(i, largeNodes))
	}
	text.WriteString("]")
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		if _, err := decodeAllocations(strings.NewReader(text.String())); err != nil {
			b.Fatal(err)
		}
	}
}
