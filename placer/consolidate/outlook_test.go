package consolidate_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/consolidate"
	"github.com/nomad-placer/nomad-placer/placer/disk"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// live is a cluster of nodes with disks of 100 MB/s.
func live(nodes int) *consolidate.Cluster {
	s := &cluster.Snapshot{Allocations: map[cluster.NodeID][]cluster.Allocation{}, Disk: map[cluster.WorkloadID]performance.DiskSpec{}}
	for i := range nodes {
		s.Nodes = append(s.Nodes, &cluster.Node{
			ID: cluster.NodeID(fmt.Sprintf("n%d", i)), Name: fmt.Sprintf("node-%d", i), Pool: "default", Ready: true, CoreMHz: 1000,
			Total: cluster.Resources{CPUMHz: 8000, Cores: 8, MemoryMB: 8000, DiskMB: 100_000}, Meta: map[string]string{disk.RatedKey: "100"},
		})
	}
	return &consolidate.Cluster{Snapshot: s, Expected: map[cluster.WorkloadID]float64{}}
}

// run puts a job of one allocation onto a node: what it was promised in MB/s, with up to so many
// percent of the disk in use, and the size of its ephemeral disk. It may move.
func run(c *consolidate.Cluster, name string, node int, mbPerSec, most float64, dataMB int) *cluster.Workload {
	id := cluster.WorkloadID{Namespace: "default", Job: name, Group: "main"}
	ask := cluster.Resources{CPUMHz: 1000, MemoryMB: 1000, DiskMB: dataMB}
	spec := performance.Spec{Move: true, Disk: &performance.DiskSpec{BandwidthMBPerSec: mbPerSec, MostPercent: most}}
	c.Jobs = append(c.Jobs, cluster.Job{
		ID: id.JobID(), RunPool: "default", Workloads: []cluster.Workload{{ID: id, Spec: spec, Count: 1, Ask: ask}},
	})
	n := c.Snapshot.Nodes[node].ID
	c.Snapshot.Allocations[n] = append(c.Snapshot.Allocations[n], cluster.Allocation{ID: "alloc-" + name, Workload: id, Node: n, Resources: ask})
	c.Snapshot.Disk[id] = *spec.Disk
	return &c.Jobs[len(c.Jobs)-1].Workloads[0]
}

func names(of []consolidate.Leaver) string {
	var out []string
	for _, l := range of {
		text := l.Workload.Job
		if l.ToName != "" {
			text += ">" + l.ToName
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

// Promises fit, and what is expected does not: the least data goes, and no more than has to.
func TestShortNodes(t *testing.T) {
	t.Parallel()
	c := live(2)
	mail := run(c, "mail", 0, 40, 80, 500)
	search := run(c, "search", 0, 20, 80, 300)
	run(c, "log", 0, 5, 100, 100)
	look := func() consolidate.Outlook { return c.Look(consolidate.PaperRules())[0] }
	if o := look(); o.Short || o.ExpectedMBPerSec != 65 || o.MostMBPerSec != 80 || len(o.Leave) != 0 {
		t.Errorf("by promises: %+v", o)
	}
	c.Expected[mail.ID] = 60
	if o := look(); !o.Short || o.ExpectedMBPerSec != 85 || names(o.Leave) != "log" {
		t.Errorf("60 MB/s of mail: %+v", o)
	}
	c.Expected[search.ID] = 30
	if o := look(); o.ExpectedMBPerSec != 95 || names(o.Leave) != "log search" {
		t.Errorf("30 MB/s of search besides: %+v", o)
	}
	search.Spec.Move = false
	if o := look(); names(o.Leave) != "log mail" {
		t.Errorf("search may not move: %+v", o)
	}
	// Where what tolerates least leaves, the others have more.
	c = live(1)
	run(c, "strict", 0, 10, 30, 100)
	run(c, "batch", 0, 60, 100, 500)
	if o := look(); !o.Short || o.MostMBPerSec != 30 || names(o.Leave) != "strict" {
		t.Errorf("a strict one beside a batch job: %+v", o)
	}
	// One that is alone on its disk is nowhere better.
	c = live(1)
	run(c, "alone", 0, 90, 50, 100)
	if o := look(); !o.Short || len(o.Leave) != 0 {
		t.Errorf("alone: %+v", o)
	}
}

// Unknown is not 0: the sum is a lower bound, and a node of unknown use takes nothing.
func TestUnknownUse(t *testing.T) {
	t.Parallel()
	c := live(3)
	silent := run(c, "silent", 0, 1, 100, 100)
	delete(c.Snapshot.Disk, silent.ID)
	run(c, "small", 1, 5, 100, 50)
	c.Snapshot.Nodes[2].Meta = nil
	run(c, "elsewhere", 2, 5, 100, 500)
	got := c.Look(consolidate.PaperRules())
	if got[0].Unknown != 1 || got[0].Short || !strings.Contains(got[0].Stays, "what silent / main uses of a disk is not known") {
		t.Errorf("%+v", got[0])
	}
	if got[1].Free != nil || got[1].Stays != "no other node in use has room for small / main" {
		t.Errorf("%+v", got[1])
	}
	if !strings.Contains(got[2].Problem, disk.RatedKey) || names(got[2].Free) != "elsewhere>node-1" {
		t.Errorf("%+v", got[2])
	}
}

func TestNodesThatCanBeEmptied(t *testing.T) {
	t.Parallel()
	rules := consolidate.PaperRules()
	build := func() (*consolidate.Cluster, *cluster.Workload) {
		c := live(3)
		run(c, "large", 0, 30, 100, 2000)
		return c, run(c, "small", 1, 20, 100, 1000)
	}
	c, _ := build()
	got := c.Look(rules)
	if names(got[1].Free) != "small>node-0" || got[0].Stays != "it takes what other nodes have" || !got[2].Empty {
		t.Errorf("%+v", got)
	}
	for name, change := range map[string]struct {
		do   func(c *consolidate.Cluster, small *cluster.Workload)
		want string
	}{
		"no opt-in":    {func(_ *consolidate.Cluster, w *cluster.Workload) { w.Spec.Move = false }, "small / main does not say move = true in its performance block"},
		"host volume":  {func(_ *consolidate.Cluster, w *cluster.Workload) { w.Pinned = "pg-1" }, "small / main has its data in the host volume pg-1 of this node"},
		"no memory":    {func(c *consolidate.Cluster, _ *cluster.Workload) { c.Snapshot.Nodes[0].Total.MemoryMB = 1500 }, "no other node in use has room for small / main"},
		"promises":     {func(c *consolidate.Cluster, _ *cluster.Workload) { c.Snapshot.Nodes[0].Meta[disk.RatedKey] = "50" }, "no other node in use has room for small / main"},
		"expectation":  {func(c *consolidate.Cluster, w *cluster.Workload) { c.Expected[w.ID] = 70 }, "no other node in use has room for small / main"},
		"own replica":  {func(c *consolidate.Cluster, w *cluster.Workload) { replica(c, w.ID, 0) }, "no other node in use has room for small / main"},
		"not ready":    {func(c *consolidate.Cluster, _ *cluster.Workload) { c.Snapshot.Nodes[1].Ready = false }, "it is down, draining, or not eligible"},
		"stock rules":  {func(c *consolidate.Cluster, _ *cluster.Workload) { c.Jobs = c.Jobs[:1] }, "small / main has no performance block"},
		"being placed": {reserve, "a placement on it is under way"},
		"much data": { // 1000 MB by 2 MB/s are 8 min; 5000 are 42
			func(c *consolidate.Cluster, w *cluster.Workload) {
				w.Migrates = true
				c.Snapshot.Allocations["n1"][0].Resources.DiskMB = 5000
				c.Snapshot.Allocations["n0"][0].Resources.DiskMB = 9000
			}, "copying 5000 MB with 2 % of its bandwidth takes 42 min, and there are 30",
		},
	} {
		c, small := build()
		change.do(c, small)
		if o := c.Look(rules)[1]; o.Free != nil || o.Stays != change.want {
			t.Errorf("%s: %+v", name, o)
		}
	}
	c, small := build()
	small.Migrates = true
	if o := c.Look(rules)[1]; len(o.Free) != 1 || o.Free[0].CopiedMB != 1000 {
		t.Errorf("its ephemeral disk is copied: %+v", o)
	}
	system(c)
	if o := c.Look(rules)[1]; len(o.Free) != 1 {
		t.Errorf("a system job holds no node: %+v", o)
	}
}

func replica(c *consolidate.Cluster, w cluster.WorkloadID, node int) {
	n := c.Snapshot.Nodes[node].ID
	c.Snapshot.Allocations[n] = append(c.Snapshot.Allocations[n], cluster.Allocation{ID: "second", Workload: w, Node: n})
}

func reserve(c *consolidate.Cluster, small *cluster.Workload) {
	c.Snapshot.Reserved = map[cluster.NodeID][]cluster.Allocation{"n1": {{Workload: small.ID, Node: "n1"}}}
}

func system(c *consolidate.Cluster) {
	c.Snapshot.Allocations["n1"] = append(c.Snapshot.Allocations["n1"], cluster.Allocation{ID: "agent", Workload: cluster.WorkloadID{Job: "agent"}, Node: "n1", System: true})
}

// On many clusters: nodes that are emptied together leave the others within every limit, and
// nothing is written into what was given.
func TestEmptiedNodesFitElsewhere(t *testing.T) {
	t.Parallel()
	emptied := 0
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 0))
		c := live(6)
		for i := range 10 {
			w := run(c, fmt.Sprintf("j%d", i), rng.IntN(6), 1+20*rng.Float64(), 50+50*rng.Float64(), 10+rng.IntN(500))
			c.Expected[w.ID] = 1 + 25*rng.Float64()
		}
		before := fmt.Sprint(c.Snapshot.Allocations)
		got := c.Look(consolidate.PaperRules())
		if again := fmt.Sprint(c.Snapshot.Allocations); again != before {
			t.Fatalf("seed %d: it wrote into the snapshot", seed)
		}
		goes := map[string]cluster.NodeID{}
		for _, o := range got {
			for _, l := range o.Free {
				goes[l.Allocation] = l.To
			}
			if len(o.Free) > 0 {
				emptied++
			}
		}
		use := map[cluster.NodeID]*disk.Account{}
		for _, n := range c.Snapshot.Nodes {
			for _, a := range c.Snapshot.Allocations[n.ID] {
				to := n.ID
				if v, ok := goes[a.ID]; ok {
					to = v
				}
				if use[to] == nil {
					account := disk.NewAccount(100)
					use[to] = &account
				}
				use[to].Add(performance.DiskSpec{BandwidthMBPerSec: c.Expected[a.Workload], MostPercent: c.Snapshot.Disk[a.Workload].MostPercent})
			}
		}
		for i, o := range got {
			a := use[o.Node]
			switch {
			case len(o.Free) > 0 && a != nil:
				t.Errorf("seed %d: %s is not empty", seed, o.Name)
			case a != nil && !o.Short && a.PromisedMBPerSec > a.MostShare*100:
				t.Errorf("seed %d: node %d has %g of %g MB/s", seed, i, a.PromisedMBPerSec, a.MostShare*100)
			}
		}
	}
	if emptied < 10 {
		t.Errorf("%d nodes were emptied", emptied)
	}
}

// What a node is expected to do with one more workload is what it is without, and that one.
func TestWithOneMore(t *testing.T) {
	t.Parallel()
	c := live(1)
	run(c, "mail", 0, 40, 80, 500)
	run(c, "log", 0, 5, 0, 100)
	c.Expected[cluster.WorkloadID{Namespace: "default", Job: "mail", Group: "main"}] = 50
	now := c.Look(consolidate.PaperRules())[0]
	id := cluster.WorkloadID{Namespace: "default", Job: "web", Group: "main"}
	f, err := c.With(c.Snapshot.Nodes[0], id, performance.DiskSpec{BandwidthMBPerSec: 10, MostPercent: 60}, 2)
	if err != nil || f.ExpectedMBPerSec != now.ExpectedMBPerSec+20 || f.MostMBPerSec != 60 || f.Short() != (f.ExpectedMBPerSec > 60) || f.Unknown != 0 {
		t.Errorf("%+v, %v; without it %+v", f, err, now)
	}
	// What is there already is replaced by what was decided anew.
	run(c, "web", 0, 30, 60, 0)
	if again, err := c.With(c.Snapshot.Nodes[0], id, performance.DiskSpec{BandwidthMBPerSec: 10, MostPercent: 60}, 2); err != nil || again != f {
		t.Errorf("%+v instead of %+v, %v", again, f, err)
	}
	c.Snapshot.Nodes[0].Meta = nil
	if _, err := c.With(c.Snapshot.Nodes[0], id, performance.DiskSpec{}, 1); err == nil {
		t.Error("a disk of which nothing is said")
	}
}
