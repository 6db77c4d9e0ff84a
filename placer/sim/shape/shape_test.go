package shape_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/sim/shape"
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
		servers, cores := totals(c)
		if servers != want.servers || len(c.Nodes) != want.configurations || (want.cores > 0 && cores != want.cores) {
			t.Errorf("%s: %d servers, %d configurations, %v cores; want %+v", name, servers, len(c.Nodes), cores, want)
		}
	}
}

// totals are the nodes of a cluster and their cores; NaN where those of one are not known.
func totals(c shape.Cluster) (nodes int, cores float64) {
	for _, n := range c.Nodes {
		if !n.Cores.Known() {
			return 0, math.NaN()
		}
		nodes += int(n.Count.Value)
		cores += n.Cores.Value * n.Count.Value
	}
	return nodes, cores
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
		for _, n := range c.Nodes {
			if !(n.Count.Value >= 1 && n.Cores.Value > 0 && n.MemoryBytes.Value >= 1<<20) {
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
	if servers, cores := totals(c); servers != 1000 || cores != 8000 || c.Nodes[0].MemoryBytes.Value != 32*gib {
		t.Errorf("%+v", c)
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
