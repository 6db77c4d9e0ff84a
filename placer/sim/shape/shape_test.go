package shape_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/sim/shape"
	"github.com/nomad-placer/nomad-placer/placer/sim/trace"
)

const gib = 1 << 30

// TestPublishedTotals: servers, configurations and cores are what the papers
// say; 0 cores where they say none.
func TestPublishedTotals(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct {
		servers, configurations int
		cores                   float64
	}{
		"paragon-local-40":         {40, 10, 178},
		"paragon-ec2-1000":         {1000, 14, 4960},
		"paragon-azure-500":        {500, 8, 0},
		"paragon-gce-100":          {100, 4, 0},
		"lsh-default-50":           {50, 10, 305},
		"lsh-high-end-50":          {50, 10, 0},
		"lsh-low-end-50":           {50, 10, 0},
		"quasar-local-40":          {40, 10, 0},
		"quasar-ec2-200":           {200, 14, 0},
		"tarcil-100":               {100, 1, 800},
		"tarcil-100-heterogeneous": {100, 5, 0},
		"tarcil-400":               {400, 10, 4178},
	} {
		c, err := shape.Lookup(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		cores, err := c.Cores()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if c.Size() != want.servers || len(c.Nodes) != want.configurations || (want.cores > 0 && cores != want.cores) {
			t.Errorf("%s: %d servers, %d configurations, %v cores; want %+v", name, c.Size(), len(c.Nodes), cores, want)
		}
	}
}

func TestTarcil400IsFromFourTo32Cores(t *testing.T) {
	t.Parallel()
	c, err := shape.Lookup("tarcil-400")
	if err != nil {
		t.Fatal(err)
	}
	least, most := math.Inf(1), 0.0
	for _, n := range c.Nodes {
		least, most = min(least, n.Cores.Value), max(most, n.Cores.Value)
	}
	if least != 4 || most != 32 {
		t.Errorf("from %v to %v cores", least, most)
	}
}

func TestEveryShapeIsWhole(t *testing.T) {
	t.Parallel()
	var names []string
	for _, d := range shape.Shapes() {
		names = append(names, d.Name)
		c, err := shape.Lookup(d.Name)
		if err != nil {
			t.Errorf("%s: %v", d.Name, err)
			continue
		}
		if c.Source == "" || c.Summary == "" || len(c.Notes) == 0 {
			t.Errorf("%s: source, summary and what was chosen must be said", d.Name)
		}
		nodes, err := c.ClusterNodes(shape.ClusterOptions{})
		if err != nil || len(nodes) != c.Size() {
			t.Errorf("%s: %d nodes, %v; want %d", d.Name, len(nodes), err, c.Size())
		}
		if !slices.IsSortedFunc(nodes, func(a, b *cluster.Node) int { return strings.Compare(string(a.ID), string(b.ID)) }) {
			t.Errorf("%s: nodes are not sorted by ID", d.Name)
		}
		for _, n := range nodes {
			if n.Total.MemoryMB <= 0 || n.Total.Cores <= 0 || n.Total.CPUMHz != n.Total.Cores*n.CoreMHz || n.Total.DiskMB <= 0 {
				t.Fatalf("%s: %+v", d.Name, n)
			}
		}
	}
	if !slices.IsSorted(names) {
		t.Errorf("names %v must ascend", names)
	}
}

func TestTable33(t *testing.T) {
	t.Parallel()
	c, err := shape.Lookup("paragon-local-40")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range c.Nodes {
		for _, f := range n.Fields() {
			if f.Number.Known() && f.Number.Origin != shape.Stated {
				t.Errorf("%s of %s is %v; all of it is in the table", f.Name, n.Configuration, f.Number)
			}
		}
		if n.DiskBytes.Known() || n.DiskBytes.String() != "unknown" {
			t.Errorf("%s has a disk of %v; the table has none", n.Configuration, n.DiskBytes)
		}
	}
	if n := c.Nodes[2]; n.Configuration != "Xeon X5670" || n.SpeedGHz.Value != 2.93 || n.MemoryBytes.Value != 48*gib || n.LLCBytes.Value != 12<<20 {
		t.Errorf("got %+v", n)
	}
}

func TestHomogeneous(t *testing.T) {
	t.Parallel()
	c, err := shape.Lookup("homogeneous-1000x8x32GiB")
	if err != nil {
		t.Fatal(err)
	}
	if cores, err := c.Cores(); err != nil || c.Size() != 1000 || cores != 8000 || c.Nodes[0].MemoryBytes.Value != 32*gib {
		t.Errorf("%+v, %v", c, err)
	}
	for name, want := range map[string]string{
		"homogeneous-10x8":       "homogeneous-<nodes>x<cores>x<memory>",
		"homogeneous-ax8x1GiB":   "number of nodes",
		"homogeneous-1xax1GiB":   "number of cores",
		"homogeneous-1x8x1":      "size with its unit",
		"homogeneous-1x8xaGiB":   "not a size",
		"homogeneous-0x8x1GiB":   "bad cluster shape",
		"homogeneous-1x0x1GiB":   "0 cores",
		"homogeneous-1xNaNx1GiB": "bad cluster shape",
		"paragon":                "known: lsh-default-50",
	} {
		if _, err := shape.Lookup(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
	}
}

func TestFromTraceCountsWhoIsThere(t *testing.T) {
	t.Parallel()
	read := func(upTo func(trace.NodeEvent) bool) shape.Cluster {
		d, err := trace.Lookup("google-2011")
		if err != nil {
			t.Fatal(err)
		}
		r, err := d.OpenNodes(fstest.MapFS{"m.csv": {Data: []byte("0,5,0,A,0.5,0.25\n0,6,0,A,0.5,0.25\n0,7,0,A,0.5,0.5\n1000000,5,1,A,,\n2000000,6,2,A,1,1\n")}}, trace.Options{})
		if err != nil {
			t.Fatal(err)
		}
		c, err := shape.FromTrace("google-2011", "test", r, upTo)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	start := read(func(e trace.NodeEvent) bool { return e.At == 0 })
	if start.Size() != 3 || len(start.Nodes) != 2 || start.Nodes[0].Count.Value != 2 {
		t.Errorf("at the start: %+v", start.Nodes)
	}
	end := read(nil)
	if end.Size() != 2 || len(end.Nodes) != 2 || end.Nodes[1].Cores.Value != 32 {
		t.Errorf("at the end: %+v", end.Nodes)
	}
}

func TestAlibabaNodes(t *testing.T) {
	t.Parallel()
	folder := fstest.MapFS{
		"a.csv":   {Data: []byte("machine,gpu_type,cap_cpu,cap_mem,cap_gpu\nx,CPU,96,512,0\ny,CPU,96,512,0\nz,V100,96,384,8\nw,V100,64,384,8\n")},
		"b.csv":   {Data: []byte("gpu_model,gpu_capacity_num,cpu_num,node_name\nA10,1,128,0\n")},
		"bad.csv": {Data: []byte("gpu_model,gpu_capacity_num,cpu_num\nA10,1,128\nA10,-1,128\n")},
		"not.csv": {Data: []byte("a,b\n1,2\n")},
	}
	c, err := shape.FromAlibabaNodes(folder, "a.csv")
	if err != nil || c.Size() != 4 || len(c.Nodes) != 3 || c.Nodes[0].Count.Value != 2 || c.Nodes[0].GPUType.Origin != shape.Unknown {
		t.Errorf("%+v, %v", c.Nodes, err)
	}
	if c, err = shape.FromAlibabaNodes(folder, "b.csv"); err != nil || c.Nodes[0].MemoryBytes.Known() {
		t.Errorf("%+v, %v: that trace has no memory", c.Nodes, err)
	}
	if _, err := c.ClusterNodes(shape.ClusterOptions{}); !errors.Is(err, shape.ErrShape) {
		t.Errorf("nodes without memory: %v", err)
	}
	if _, err := shape.FromAlibabaNodes(folder, "bad.csv"); err == nil || !strings.Contains(err.Error(), "bad.csv:3:5: ") {
		t.Errorf("got %v", err)
	}
	if _, err := shape.FromAlibabaNodes(folder, "not.csv"); err == nil || !strings.Contains(err.Error(), "needed: gpu_type") {
		t.Errorf("got %v", err)
	}
}

// TestPublishedMixes counts the machines of the published tables.
func TestPublishedMixes(t *testing.T) {
	t.Parallel()
	const variable = "NOMAD_PLACER_TRACES"
	folder := os.Getenv(variable)
	if folder == "" {
		t.Skipf("%s is not set: the published tables are not in the repository", variable)
	}
	for file, want := range map[string]int{"pai_gpu_2020_machine_spec.csv.gz": 1897, "spot_gpu_2026_nodes.csv.gz": 4278} {
		c, err := shape.FromAlibabaNodes(os.DirFS(filepath.Join(folder, "alibaba-nodes")), file)
		if err != nil || c.Size() != want {
			t.Errorf("%s: %d machines, %v; want %d", file, c.Size(), err, want)
		}
		t.Logf("%s: %d configurations", file, len(c.Nodes))
	}
	r, err := trace.OpenNodes(filepath.Join(folder, "google-2011"), "", trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := shape.FromTrace("google-2011", "Reiss 2011", r, func(e trace.NodeEvent) bool { return e.At < time.Hour })
	if err != nil || c.Size() != 12580 {
		t.Errorf("google-2011: %d machines, %v; want 12580", c.Size(), err)
	}
	if nodes, err := c.ClusterNodes(shape.ClusterOptions{}); err != nil || len(nodes) != 12580 {
		t.Errorf("%d nodes, %v", len(nodes), err)
	}
}
