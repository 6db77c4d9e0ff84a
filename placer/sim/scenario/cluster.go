package scenario

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/sim"
	"github.com/nomad-placer/nomad-placer/placer/sim/shape"
	"github.com/nomad-placer/nomad-placer/placer/sim/trace"
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
			Name: n.Configuration, Cores: cores, GHz: n.SpeedGHz.Or(g.ghz), IPC: g.ipc, LLCMB: n.LLCBytes.Or(g.llcMB*mib) / mib,
			MemoryMB: n.MemoryBytes.Value / mib,
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
		return math.Sqrt(m.MemoryMB) // twice the memory does not stand twice the pressure
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

// fromMachines reads the machine table of a trace: its capacities are the
// configurations.
func (s *Scenario) fromMachines() (*hardware, error) {
	events, err := trace.OpenNodes(s.path(s.file.Cluster.Nodes), "", trace.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { _ = events.Close() }() // read only
	cores, memory := 1.0, float64(mib)
	if u := s.file.Cluster.Units; u != nil {
		cores, memory = u.Cores, u.MemoryMB*mib
	}
	h, index := &hardware{}, map[string]int{}
	for {
		e, err := events.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if e.Change != trace.Added || !(e.Cores > 0) || !(e.MemoryBytes > 0) {
			continue
		}
		n := node{mhz: int(e.Cores * cores * mhzPerCore), memoryMB: int(e.MemoryBytes * memory / mib)}
		n.cores = n.mhz / mhzPerCore
		name := fmt.Sprintf("%s%dm-%dMB", e.Configuration, n.mhz, n.memoryMB)
		i, ok := index[name]
		if !ok {
			i = len(h.machines)
			index[name] = i
			h.machines = append(h.machines, truth.Machine{
				Name: name, Cores: float64(n.mhz) / mhzPerCore, GHz: unknownGHz, IPC: 1, LLCMB: unknownLLCMB, MemoryMB: float64(n.memoryMB),
			})
		}
		n.configuration = i
		h.nodes = append(h.nodes, n)
		h.cores += float64(n.mhz) / mhzPerCore
	}
	if len(h.nodes) == 0 {
		return nil, fmt.Errorf("%s: no machines", s.file.Cluster.Nodes)
	}
	capabilities(h.machines, s.Columns)
	return h, nil
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
			Capability: h.machines[n.configuration].Capability[:len(columns)],
		})
	}
	return b
}

// lost draws which nodes are lost, and when they come back.
func (s *Scenario) lost(h *hardware, seed uint64) []sim.NodeChange {
	random := rand.New(rand.NewPCG(seed, streamLost))
	var out []sim.NodeChange
	for _, l := range s.file.Cluster.Lose {
		at, away := must(l.At), must(l.For)
		for _, n := range random.Perm(len(h.nodes))[:min(l.Nodes, len(h.nodes))] {
			out = append(out, sim.NodeChange{At: at, Node: board.Index(n)})
			if away > 0 {
				out = append(out, sim.NodeChange{At: at + away, Node: board.Index(n), Ready: true})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b sim.NodeChange) int { return int(min(1, max(-1, a.At-b.At))) })
	return out
}

// must reads a duration that was checked; empty is 0.
func must(text string) time.Duration {
	d, _ := time.ParseDuration(text) // the checker has refused what is none
	return d
}
