package cluster_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/clustertest"
	"github.com/nomad-placer/nomad-placer/placer/disk"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

func TestFeasibleReasons(t *testing.T) {
	t.Parallel()
	resident := clustertest.Workload("resident", clustertest.Ask(cluster.Resources{CPUMHz: 4000, Cores: 2, MemoryMB: 4096, DiskMB: 1000}))
	for _, c := range []struct {
		name     string
		node     func(*cluster.Node)
		workload func(*cluster.Workload)
		want     cluster.RejectReason
		detail   string
	}{
		{name: "fits"},
		{name: "not ready", node: func(n *cluster.Node) { n.Ready = false }, want: cluster.RejectNotReady},
		{name: "pool", node: func(n *cluster.Node) { n.Pool = "gpu" }, want: cluster.RejectPool, detail: `"gpu"`},
		{name: "datacenter", workload: func(w *cluster.Workload) { w.Datacenters = []string{"eu-*", "dc2"} }, want: cluster.RejectDatacenter, detail: "eu-*"},
		{name: "driver absent", workload: func(w *cluster.Workload) { w.Drivers = []string{"exec", "docker"} }, want: cluster.RejectDriver, detail: "docker"},
		{name: "driver off", node: func(n *cluster.Node) { n.Attributes = n.Attributes.With("driver.exec", "0") }, want: cluster.RejectDriver, detail: "exec"},
		{name: "driver true", node: func(n *cluster.Node) { n.Attributes = n.Attributes.With("driver.exec", "true") }},
		{name: "constraint", workload: clustertest.Constrain("${node.class}", "=", "small"), want: cluster.RejectConstraint, detail: `"big"`},
		{name: "unreadable constraint", workload: clustertest.Constrain("${node.class}", "regexp", "("), want: cluster.RejectConstraint, detail: "regexp"},
		{name: "cpu", workload: clustertest.Ask(cluster.Resources{CPUMHz: 1001}), want: cluster.RejectCPU, detail: "1000 free"},
		{name: "cpu exactly", workload: clustertest.Ask(cluster.Resources{CPUMHz: 1000})},
		{name: "core takes its MHz", workload: clustertest.Ask(cluster.Resources{Cores: 1}), want: cluster.RejectCPU, detail: "asks 2500 MHz"},
		{name: "cores", node: func(n *cluster.Node) { n.CoreMHz = 0 }, workload: clustertest.Ask(cluster.Resources{Cores: 3}), want: cluster.RejectCores, detail: "2 free"},
		{name: "memory", workload: clustertest.Ask(cluster.Resources{MemoryMB: 4097}), want: cluster.RejectMemory, detail: "4096 free"},
		{name: "disk", workload: clustertest.Ask(cluster.Resources{DiskMB: 51200}), want: cluster.RejectDisk, detail: "50200 free"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			n := clustertest.Node("n1", "big")
			if c.node != nil {
				c.node(n)
			}
			w := clustertest.Workload("newcomer", clustertest.Ask(cluster.Resources{}))
			if c.workload != nil {
				c.workload(w)
			}
			s := clustertest.Snapshot(n)
			clustertest.Run(s, resident, "n1")
			fit, rejected, counts := cluster.Feasible(s, w, clustertest.Pool)
			if c.want == "" {
				if len(fit) != 1 || len(rejected) != 0 || len(counts) != 0 {
					t.Fatalf("fit %v, rejected %v", fit, rejected)
				}
				return
			}
			if len(fit) != 0 || len(rejected) != 1 || counts[c.want] != 1 || rejected[0].Reason != c.want {
				t.Fatalf("rejected %+v, counts %v", rejected, counts)
			}
			if !strings.Contains(rejected[0].Detail, c.detail) {
				t.Errorf("detail %q lacks %q", rejected[0].Detail, c.detail)
			}
		})
	}
}

// Disk bandwidth counts where the workload asks for some and the node says what its disk
// does; what an update has already counts once, and a reservation as an allocation.
func TestFeasibleCountsDiskBandwidth(t *testing.T) {
	t.Parallel()
	rated := func(text string) func(*cluster.Node) {
		return func(n *cluster.Node) { n.Meta[disk.RatedKey] = text }
	}
	for _, c := range []struct {
		name       string
		node       func(*cluster.Node)
		resident   float64
		asks, most float64
		reserved   bool
		refused    string // in the detail; "": it fits
	}{
		{name: "enough is left", node: rated("100"), resident: 30, asks: 60},
		{name: "too little is left", node: rated("100"), resident: 60, asks: 60, refused: "98 may be promised, and 60 are: 60 more do not fit"},
		{name: "it is decided and not seen yet", node: rated("100"), resident: 60, asks: 60, reserved: true, refused: "60 are"},
		{name: "the newcomer tolerates less", node: rated("100"), resident: 20, asks: 10, most: 30, refused: "30 % may be in use"},
		{name: "nothing is promised", node: rated("100"), asks: 500},
		{name: "nothing is asked for", node: rated("100"), resident: 98},
		{name: "the node does not say", node: func(*cluster.Node) {}, resident: 60, asks: 60},
		{name: "what it says is no rate", node: rated("fast"), resident: 60, asks: 60},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := clustertest.Snapshot(clustertest.Node("n1", "big", c.node))
			resident, w := clustertest.Workload("resident"), clustertest.Workload("newcomer")
			if c.resident > 0 {
				clustertest.Run(s, resident, "n1")
				s.Disk[resident.ID] = performance.DiskSpec{BandwidthMBPerSec: c.resident}
			}
			if c.reserved {
				s.Reserved, s.Allocations = s.Allocations, nil
			}
			if c.asks > 0 {
				w.Spec.Disk = &performance.DiskSpec{BandwidthMBPerSec: c.asks, MostPercent: c.most}
			}
			fit, rejected, counts := cluster.Feasible(s, w, clustertest.Pool)
			if c.refused == "" {
				if len(fit) != 1 {
					t.Fatalf("rejected %+v", rejected)
				}
				return
			}
			if len(fit) != 0 || counts[cluster.RejectBandwidth] != 1 || !strings.Contains(rejected[0].Detail, c.refused) {
				t.Errorf("rejected %+v, counts %v", rejected, counts)
			}
			if fit, _, _ := cluster.Feasible(s, &cluster.Workload{ID: resident.ID, Spec: w.Spec}, clustertest.Pool); len(fit) != 1 {
				t.Error("an update of the resident does not fit where it runs")
			}
		})
	}
}

// Room is counted by disk bandwidth as well, for a group that shares nodes.
func TestDiskRoom(t *testing.T) {
	t.Parallel()
	s := clustertest.Snapshot(clustertest.Node("n1", "big", func(n *cluster.Node) { n.Meta[disk.RatedKey] = "100" }), clustertest.Node("n2", "big"))
	w := clustertest.Workload("w", func(w *cluster.Workload) { w.Spec.Disk = &performance.DiskSpec{BandwidthMBPerSec: 30} })
	if got := s.DiskRoom(s.Nodes[0], w, 5); got != 3 {
		t.Errorf("room for %d of 30 MB/s in 98, want 3", got)
	}
	if got := s.DiskRoom(s.Nodes[1], w, 5); got != 5 {
		t.Errorf("room for %d where nothing is counted", got)
	}
}

func TestFeasibleLeavesOutOwnAllocations(t *testing.T) {
	t.Parallel()
	w := clustertest.Workload("self", clustertest.Ask(cluster.Resources{CPUMHz: 6000}))
	s := clustertest.Snapshot(clustertest.Node("n1", "big"))
	clustertest.Run(s, w, "n1")
	if fit, _, _ := cluster.Feasible(s, w, clustertest.Pool); len(fit) != 1 {
		t.Error("an update does not fit where it runs")
	}
	other := clustertest.Workload("other", clustertest.Ask(cluster.Resources{CPUMHz: 6000}))
	if fit, _, _ := cluster.Feasible(s, other, clustertest.Pool); len(fit) != 0 {
		t.Error("another workload fits beside it")
	}
	s.Reserved["n1"], s.Allocations["n1"] = s.Allocations["n1"], nil
	if fit, _, _ := cluster.Feasible(s, other, clustertest.Pool); len(fit) != 0 {
		t.Error("a reservation does not count")
	}
}

func TestFeasiblePools(t *testing.T) {
	t.Parallel()
	s := clustertest.Snapshot(clustertest.Node("n1", "big"), clustertest.Node("n2", "big", func(n *cluster.Node) { n.Pool = "gpu" }))
	w := clustertest.Workload("w")
	for pool, want := range map[string]int{"": 2, cluster.PoolAll: 2, "prod": 1, "gpu": 1, "none": 0} {
		if fit, _, _ := cluster.Feasible(s, w, pool); len(fit) != want {
			t.Errorf("pool %q: %d nodes, want %d", pool, len(fit), want)
		}
	}
}

func TestFeasibleListStaysBounded(t *testing.T) {
	t.Parallel()
	var nodes []*cluster.Node
	for i := range 3 * cluster.MaxRejections {
		nodes = append(nodes, clustertest.Node(fmt.Sprintf("n%04d", i), "big", func(n *cluster.Node) { n.Ready = false }))
	}
	_, rejected, counts := cluster.Feasible(clustertest.Snapshot(nodes...), clustertest.Workload("w"), "")
	if len(rejected) != cluster.MaxRejections || counts[cluster.RejectNotReady] != len(nodes) {
		t.Errorf("%d listed, %v counted", len(rejected), counts)
	}
}

func TestRoom(t *testing.T) {
	t.Parallel()
	s := clustertest.Snapshot(clustertest.Node("n1", "big"))
	w := clustertest.Workload("w", clustertest.Ask(cluster.Resources{CPUMHz: 3000, MemoryMB: 100}))
	if got := clustertest.Room(s, w, s.Nodes[0], 10); got != 3 {
		t.Errorf("room for %d of 3000 MHz in 10000, want 3", got)
	}
	if got := clustertest.Room(s, w, s.Nodes[0], 2); got != 2 {
		t.Errorf("room %d beyond the limit", got)
	}
}

func TestInDatacenters(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		globs string
		want  bool
	}{
		{"", true}, {"*", true}, {"eu-west-1", true}, {"eu-*", true}, {"*-west-*", true}, {"e*w*1", true},
		{"*-1", true}, {"eu", false}, {"us-*", false}, {"*west", false}, {"eu-west-1*1", false}, {"dc1 eu-*", true},
	} {
		if got := cluster.InDatacenters("eu-west-1", strings.Fields(c.globs)); got != c.want {
			t.Errorf("%q: %v", c.globs, got)
		}
	}
}

func BenchmarkFeasible1000(b *testing.B) {
	s := clustertest.Random(rand.New(rand.NewPCG(1, 1)), 1000, 5, []string{"a", "b"}, clustertest.Columns(15))
	w := clustertest.Workload("w", clustertest.Constrain("${attr.cpu.arch}", "regexp", "^amd"), clustertest.Constrain("${node.class}", "set_contains_any", "a,b,c"))
	b.ReportAllocs()
	for b.Loop() {
		cluster.Feasible(s, w, clustertest.Pool)
	}
}
