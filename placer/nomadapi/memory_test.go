package nomadapi

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
)

// The size of the cluster of the memory target.
const (
	largeNodes  = 1000
	largeAllocs = 5000
)

// maxLargeHeapMB is what this package may keep of such a cluster: a part of the
// agent's 80 MiB that leaves room for its profiles, models and the runtime.
const maxLargeHeapMB = 32

// largeCluster answers like a Nomad of that size, without keeping its answers.
func largeCluster(tb testing.TB) *httptest.Server {
	tb.Helper()
	mux := http.NewServeMux()
	index := func(w http.ResponseWriter) { w.Header().Set("X-Nomad-Index", "7") }
	mux.HandleFunc("GET /v1/nodes", func(w http.ResponseWriter, r *http.Request) {
		index(w)
		writeRows(w, rows(r, largeNodes), func(i int) string {
			return fmt.Sprintf(`{"ID":%q,"ModifyIndex":%d}`, nodeName(i), i)
		})
	})
	mux.HandleFunc("GET /v1/node/{id}", func(w http.ResponseWriter, r *http.Request) {
		index(w)
		fmt.Fprintf(w, `{"ID":%q,"Name":%q,"Status":"ready","SchedulingEligibility":"eligible","NodePool":"prod","NodeClass":"c",
			"NodeResources":{"Cpu":{"CpuShares":8000},"Memory":{"MemoryMB":16000}},"Attributes":{`, r.PathValue("id"), r.PathValue("id"))
		for i := range 70 { // a real client sends about as many
			fmt.Fprintf(w, `"platform.group%d.attribute.name%d":"a value of usual length %d",`, i%7, i, i)
		}
		fmt.Fprintf(w, `"unique.hostname":%q}}`, r.PathValue("id"))
	})
	mux.HandleFunc("GET /v1/allocations", func(w http.ResponseWriter, r *http.Request) {
		index(w)
		writeRows(w, rows(r, largeAllocs), largeAlloc)
	})
	server := httptest.NewServer(mux)
	tb.Cleanup(server.Close)
	return server
}

func rows(r *http.Request, all int) int {
	if r.URL.Query().Has("per_page") {
		return 1
	}
	return all
}

func nodeName(i int) string { return fmt.Sprintf("00000000-0000-0000-0000-%012d", i) }

func largeAlloc(i int) string {
	return fmt.Sprintf(`{"ID":"a0000000-0000-0000-0000-%012d","EvalID":"00000000-0000-0000-0000-000000000000","Name":"job-%d.group[0]",
		"Namespace":"default","NodeID":%q,"NodeName":"node","JobID":"job-%d","JobType":"service","JobVersion":3,"TaskGroup":"group",
		"AllocatedResources":{"Tasks":{"main":{"Cpu":{"CpuShares":500,"ReservedCores":null},"Memory":{"MemoryMB":256,"MemoryMaxMB":0},"Networks":null,"Devices":null},
		"sidecar":{"Cpu":{"CpuShares":50},"Memory":{"MemoryMB":32}}},"TaskLifecycles":{"main":null,"sidecar":{"Hook":"prestart","Sidecar":true}},
		"Shared":{"DiskMB":300,"Ports":[{"Label":"http","Value":22000,"To":8080,"HostIP":"10.0.0.1"}]}},
		"DesiredStatus":"run","ClientStatus":"running","DesiredDescription":"","FollowupEvalID":"","CreateIndex":1,"ModifyIndex":2,"CreateTime":1,"ModifyTime":2}`,
		i, i/5, nodeName(i%largeNodes), i/5)
}

func writeRows(w http.ResponseWriter, n int, row func(i int) string) {
	fmt.Fprint(w, "[")
	for i := range n {
		if i > 0 {
			fmt.Fprint(w, ",")
		}
		fmt.Fprint(w, row(i))
	}
	fmt.Fprint(w, "]")
}

func heapMB() float64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc) / (1 << 20)
}

// Not parallel: it measures the heap of the process.
func TestLargeClusterFitsInMemory(t *testing.T) {
	server := largeCluster(t)
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
	server := largeCluster(b)
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
		text.WriteString(largeAlloc(i))
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
