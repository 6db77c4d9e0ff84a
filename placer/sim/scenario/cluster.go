package scenario

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/sim"
	"github.com/nomad-placer/nomad-placer/placer/sim/shape"
	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// mhzPerCore is how many units of CPU a core has on every node of the simulated
// world; how fast a core is, the truth knows.
const mhzPerCore = 1000

// racks: nodes of one rack are near each other. Forty to a rack is a choice.
const nodesPerRack = 40

// hardware is a cluster before it is a board: boards are made per run.
type hardware struct {
	machines []truth.Machine // by configuration
	nodes    []node
	cores    float64
	changes  []sim.NodeChange // nodes that come and go, in order of time
	skipped  map[string]int   // events of machines that were left out
	mhz      float64          // what 1 is of cpu and memory, of a cluster of kinds
	memoryMB float64
}

type node struct {
	configuration int
	cores         int
	mhz           int
	memoryMB      int
}

// hardware builds the cluster of the scenario.
func (s *Scenario) hardware() (*hardware, error) {
	if s.file.Cluster.Shape != "" {
		c, err := shape.Lookup(s.file.Cluster.Shape)
		if err != nil {
			return nil, err
		}
		return fromShape(c, s.Columns)
	}
	if len(s.file.Cluster.Kinds) > 0 {
		return s.fromKinds()
	}
	return s.fromMachines()
}

func fromShape(c shape.Cluster, columns []interference.Source) (*hardware, error) {
	h := &hardware{}
	for _, n := range c.Nodes {
		if !n.Cores.Known() || !n.MemoryBytes.Known() {
			return nil, fmt.Errorf("%s: %s has unknown cores or memory", c.Name, n.Configuration)
		}
		cores := max(1, math.Floor(n.Cores.Value))
		g := generationOf(n.Configuration)
		m := truth.Machine{
			Name: n.Configuration, Cores: cores, GHz: n.SpeedGHz.Or(g.ghz), IPC: g.ipc, LLCMB: n.LLCBytes.Or(g.llcMB*mib) / mib, StreamGBs: g.stream,
			MemoryMB: n.MemoryBytes.Value / mib, Siblings: g.siblings, Family: g.family, Share: cores * n.Count.Value,
		}
		for range int(n.Count.Value) {
			h.nodes = append(h.nodes, node{len(h.machines), int(cores), int(cores) * mhzPerCore, int(m.MemoryMB)})
		}
		h.machines = append(h.machines, m)
		h.cores += cores * n.Count.Value
	}
	capabilities(h.machines, columns)
	return h, nil
}

const mib = 1 << 20

// capabilities says how well each configuration serves each column, relative to
// the best (the calibration of kernels would measure it: a peak per column).
func capabilities(machines []truth.Machine, columns []interference.Source) {
	for k := range columns {
		top := 0.0
		for i := range machines {
			top = max(top, peak(&machines[i], columns[k]))
		}
		for i := range machines {
			machines[i].Capability = append(machines[i].Capability, 100*peak(&machines[i], columns[k])/max(top, 1e-9))
		}
	}
}

// peak is what a configuration offers of a source, in some unit. What follows
// from no known number is alike everywhere.
func peak(m *truth.Machine, c interference.Source) float64 {
	switch c {
	case interference.MemoryCapacity:
		return math.Sqrt(m.MemoryMB) // twice the memory does not tolerate twice the pressure
	case interference.MemoryBandwidth, interference.Interconnect:
		return m.IPC * math.Sqrt(m.Cores) // generations brought both; sockets bring channels
	case interference.LLCCapacity:
		return math.Sqrt(m.LLCMB)
	case interference.LLCBandwidth, interference.L2Capacity, interference.L2Bandwidth, interference.Integer, interference.FloatingPoint, interference.Vector:
		return math.Sqrt(m.GHz * m.IPC)
	default:
		return 1
	}
}

// board is a fresh board of the cluster.
func (h *hardware) board(columns []interference.Source) *board.Board {
	var configurations []string
	for _, m := range h.machines {
		configurations = append(configurations, m.Name)
	}
	b := board.New(columns, configurations)
	for i, n := range h.nodes {
		b.Add(board.Node{
			ID: cluster.NodeID(fmt.Sprintf("n%05d", i)), Configuration: n.configuration, CoreMHz: mhzPerCore, Rack: 1 + i/nodesPerRack,
			Total:      cluster.Resources{CPUMHz: n.mhz, Cores: n.cores, MemoryMB: n.memoryMB, DiskMB: 1 << 30},
			Capability: h.machines[n.configuration].Capability[:len(columns)], ThreadsPerCore: max(1, int(h.machines[n.configuration].Siblings)),
		})
	}
	return b
}

// lost is which nodes come and go: those of the machine table, and those the
// scenario loses, which are drawn.
func (s *Scenario) lost(h *hardware, seed uint64) []sim.NodeChange {
	random := rand.New(rand.NewPCG(seed, streamLost))
	out := slices.Clone(h.changes)
	for _, l := range s.file.Cluster.Lose {
		at, away := must(l.At), must(l.For)
		for _, n := range random.Perm(len(h.nodes))[:min(l.Nodes, len(h.nodes))] {
			out = append(out, sim.NodeChange{At: at, Node: board.Index(n)})
			if away > 0 {
				out = append(out, sim.NodeChange{At: at + away, Node: board.Index(n), Ready: true})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b sim.NodeChange) int { return cmp.Compare(a.At, b.At) })
	return out
}

// must reads a duration that was checked; empty is 0.
func must(text string) time.Duration {
	d, _ := time.ParseDuration(text) // the checker has refused what is none
	return d
}
