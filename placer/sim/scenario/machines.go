package scenario

import (
	"errors"
	"fmt"
	"io"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/sim"
	"github.com/nomad-placer/nomad-placer/placer/sim/trace"
	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
)

// skipUnsized is the reason a machine of a table is left out.
const skipUnsized = "machines: cores or memory not given"

// fromMachines reads the machine table of a trace: its capacities are the
// configurations, its events make nodes come and go.
func (s *Scenario) fromMachines() (*hardware, error) {
	var o trace.Options
	if u := s.file.Cluster.Units; u != nil {
		o.LargestCores, o.LargestMemoryBytes = u.Cores, u.MemoryMB*mib
	}
	if len(s.file.Traces) > 0 {
		o.From, o.To = must(s.file.Traces[0].From), must(s.file.Traces[0].To)
	}
	events, err := trace.OpenNodes(s.path(s.file.Cluster.Nodes), "", o)
	if err != nil {
		return nil, err
	}
	defer func() { _ = events.Close() }() // read only
	t := machineTable{h: &hardware{skipped: map[string]int{}}, index: map[string]int{}, there: map[string]board.Index{}}
	for {
		e, err := events.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		t.take(&e)
	}
	for why, n := range events.Skips() {
		t.h.skipped["machines: "+why] += n
	}
	if len(t.h.nodes) == 0 {
		return nil, fmt.Errorf("%s: no machines", s.file.Cluster.Nodes)
	}
	capabilities(t.h.machines, s.Columns)
	return t.h, nil
}

// machineTable turns events of machines into a cluster.
type machineTable struct {
	h     *hardware
	index map[string]int // of configurations
	there map[string]board.Index
}

// take counts one event. A machine that changes its size leaves, and comes as
// another one.
func (t *machineTable) take(e *trace.NodeEvent) {
	if e.Change != trace.Added {
		if n, ok := t.there[e.Node]; ok {
			t.h.changes = append(t.h.changes, sim.NodeChange{At: e.At, Node: n})
			delete(t.there, e.Node)
		}
	}
	if e.Change == trace.Removed {
		return
	}
	if !(e.Cores > 0) || !(e.MemoryBytes > 0) {
		t.h.skipped[skipUnsized]++
		return
	}
	n := board.Index(len(t.h.nodes))
	t.there[e.Node] = n
	t.add(e)
	if e.At > 0 {
		t.h.changes = append(t.h.changes, sim.NodeChange{Node: n}, sim.NodeChange{At: e.At, Node: n, Ready: true})
	}
}

func (t *machineTable) add(e *trace.NodeEvent) {
	n := node{mhz: int(e.Cores * mhzPerCore), memoryMB: int(e.MemoryBytes / mib)}
	n.cores = n.mhz / mhzPerCore
	cores := float64(n.mhz) / mhzPerCore
	name := fmt.Sprintf("%s%dm-%dMB", e.Configuration, n.mhz, n.memoryMB)
	i, ok := t.index[name]
	if !ok {
		i = len(t.h.machines)
		t.index[name] = i
		t.h.machines = append(t.h.machines, truth.Machine{
			Name: name, Cores: cores, GHz: unknownGHz, IPC: 1, LLCMB: unknownLLCMB, MemoryMB: float64(n.memoryMB), Siblings: unknownSiblings, Family: "unknown",
		})
	}
	n.configuration = i
	t.h.nodes = append(t.h.nodes, n)
	t.h.cores += cores
	t.h.machines[i].Share += cores
}
