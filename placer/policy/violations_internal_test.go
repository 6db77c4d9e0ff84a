package policy

import (
	"math"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/clustertest"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

func TestNewViolations(t *testing.T) {
	t.Parallel()
	one := func(tolerated, caused, needs float64) board.Resident {
		return board.Resident{Tolerated: []float64{tolerated}, Caused: []float64{caused}, RequiredFraction: &needs}
	}
	service, heavy, bestEffort := one(10, 20, 1), one(100, 95, 0.3), one(100, 95, 0)
	of := func(r ...board.Resident) []board.Resident { return r }
	for name, c := range map[string]struct {
		residents []board.Resident
		newcomer  board.Resident
		want      int
	}{
		"an empty place":                        {nil, service, 0},
		"a resident":                            {of(service), heavy, 1},
		"a resident and the newcomer":           {of(service), one(10, 95, 0.3), 2},
		"nobody but who is hurt already":        {of(service, heavy), heavy, 0},
		"the newcomer, who stands less":         {of(service, heavy), one(90, 95, 0.3), 1},
		"two, where each spares the other":      {of(one(30, 5, 1), one(30, 5, 1)), one(100, 40, 0.3), 2},
		"three share a source":                  {of(heavy, heavy), heavy, 0},
		"a fourth leaves all four too little":   {of(heavy, heavy, heavy), heavy, 4},
		"best effort takes as much as others":   {of(heavy, heavy, heavy), bestEffort, 3},
		"who wants little of it has its share":  {of(heavy, heavy, one(100, 5, 1)), heavy, 0},
		"who needs less than others has enough": {of(bestEffort, bestEffort, bestEffort), one(100, 95, 0.2), 0},
		"what is needed is not known":           {of(board.Resident{Tolerated: []float64{100}, Caused: []float64{95}}), bestEffort, 0},
	} {
		if got := Live().newViolations(nil, c.residents, c.newcomer); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

func TestViolations(t *testing.T) {
	t.Parallel()
	columns := []interference.Source{interference.Integer}
	s := clustertest.Snapshot(clustertest.Node("n1", "one"), clustertest.Node("n2", "one"), clustertest.Node("n3", "one"))
	s.Nodes[1].Machine, s.Nodes[2].Machine = "m", "m"
	run := func(name, node string, tolerated, caused float64) {
		w := clustertest.Workload(name)
		clustertest.Run(s, w, node)
		s.Known[w.ID] = clustertest.Sensitivity(columns, []float64{tolerated}, []float64{caused})
	}
	run("a", "n1", 10, 5)
	run("b", "n1", 50, 30)
	run("c", "n2", 60, 50)
	run("d", "n3", 45, 60)
	for name, c := range map[string]struct {
		nodes []cluster.NodeID
		want  Violations
	}{
		"nowhere":                    {nil, Violations{}},
		"one of two on a node":       {[]cluster.NodeID{"n1"}, Violations{1, 0.5}},
		"two nodes of one machine":   {[]cluster.NodeID{"n3"}, Violations{1, 0.125}},
		"a machine counts once":      {[]cluster.NodeID{"n2", "n3"}, Violations{1, 0.125}},
		"a node that is named twice": {[]cluster.NodeID{"n1", "n2", "n1"}, Violations{2, 0.625}},
	} {
		if got := ViolationsOn(s, c.nodes, columns); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	for name, c := range map[string]struct {
		h, o Violations
		want bool
	}{
		"two pressed a little, and one far too much": {Violations{2, 0.3}, Violations{1, 1}, true},
		"one and two, as far":                        {Violations{1, 1}, Violations{2, 2}, true},
		"as much on fewer":                           {Violations{1, 0.5}, Violations{2, 0.5}, true},
		"more on fewer":                              {Violations{1, 0.55}, Violations{2, 0.5}, false},
		"hardly less":                                {Violations{1, 0.45}, Violations{1, 0.5}, false},
		"less":                                       {Violations{1, 0.25}, Violations{1, 0.5}, true},
	} {
		if got := c.h.Less(c.o); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// What co-runners take of a CPU from a workload that would use all of it: what they want
// while there is enough, and no more than their shares by weight where there is not.
func TestTaken(t *testing.T) {
	t.Parallel()
	columns := []interference.Source{interference.Integer, interference.MemoryBandwidth}
	one := func(caused float64, mhz int) board.Resident {
		return board.Resident{Size: cluster.Resources{CPUMHz: mhz}, Tolerated: []float64{100, 100}, Caused: []float64{caused, caused}}
	}
	for name, c := range map[string]struct {
		others []board.Resident
		want   float64
	}{
		"nobody":                         {nil, 0},
		"one who wants little":           {[]board.Resident{one(20, 500)}, 20},
		"one who would take all":         {[]board.Resident{one(95, 500)}, 50},
		"three of them":                  {[]board.Resident{one(95, 500), one(95, 500), one(95, 500)}, 75},
		"one with three times the part":  {[]board.Resident{one(95, 1500)}, 75},
		"one with a part it cannot use":  {[]board.Resident{one(30, 5000)}, 30},
		"one with a small part":          {[]board.Resident{one(95, 125)}, 20},
		"little and all":                 {[]board.Resident{one(20, 500), one(95, 500)}, 60},
		"more little than there is room": {[]board.Resident{one(30, 500), one(30, 500), one(30, 500), one(30, 500)}, 80},
	} {
		set := Live().coRunnersOf(columns, c.others)
		if got := set.mutualPressureOf(one(95, 500)).onNewcomer[0]; math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %g, want %g", name, got, c.want)
		}
	}
	// Bandwidth is no time of a CPU: pressures add up.
	if got := Live().coRunnersOf(columns, []board.Resident{one(40, 500), one(40, 500)}).mutualPressureOf(one(95, 500)).onNewcomer[1]; got != 80 {
		t.Errorf("of memory bandwidth: %g, want 80", got)
	}
	// A service of much weight experiences a part of it only, and a light one more.
	for mhz, want := range map[int]float64{4500: 10, 500: 50} {
		b := Live().coRunnersOf(columns, []board.Resident{one(20, mhz)}).mutualPressureOf(one(95, 500))
		if b.byNewcomer[0] != want || b.byNewcomer[1] != 95 {
			t.Errorf("beside %d MHz it presses with %v, want %g and 95", mhz, b.byNewcomer, want)
		}
	}
}

// A slow node is busier with the same work: that counts among those on it, and not for
// those on another node of the machine.
func TestTakenOnASlowNode(t *testing.T) {
	t.Parallel()
	columns := []interference.Source{interference.Integer, interference.MemoryBandwidth}
	on := func(n cluster.NodeID, caused float64) board.Resident {
		return board.Resident{Node: n, DemandFactor: 2.5, Tolerated: []float64{50, 100}, Caused: []float64{caused, caused}}
	}
	service := Live().coRunnersOf(columns, []board.Resident{on("slow", 20)})
	for node, want := range map[cluster.NodeID]float64{"slow": 50, "beside": 20} {
		got := service.mutualPressureOf(on(node, 10))
		if got.onNewcomer[0] != want || got.byNewcomer[0] != 25 || got.onNewcomer[1] != 20 {
			t.Errorf("on %s: %v and %v", node, got.onNewcomer, got.byNewcomer)
		}
	}
	// What it needs is more there as well: 25 of the CPU time are left to it, 36 needed.
	needs := 0.9
	newcomer, others := on("slow", 16), on("slow", 30)
	newcomer.RequiredFraction = &needs
	newcomer.Tolerated = []float64{100, 100}
	newcomer.Size.CPUMHz, others.Size.CPUMHz = 100, 900
	if c := Live().coRunnersOf(columns, []board.Resident{newcomer, others}); math.Abs(c.excess(0)-(0.9*40-25)) > 1e-9 {
		t.Errorf("%g points short, want 11", c.excess(0))
	}
}
