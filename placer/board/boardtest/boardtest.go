// Package boardtest builds boards and asks for tests, from a seed. Only tests
// import it.
package boardtest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// CoreMHz is the clock of every built node.
const CoreMHz = 2500

// Columns are the first n sources in the paper's order.
func Columns(n int) []interference.Source {
	var out []interference.Source
	for _, info := range interference.Sources()[:n] {
		out = append(out, info.Source)
	}
	return out
}

// Node builds a node of that many cores with 2 GiB each, on configuration 0.
func Node(id string, cores int, edits ...func(*board.Node)) board.Node {
	n := board.Node{
		ID:      cluster.NodeID(id),
		Total:   cluster.Resources{CPUMHz: cores * CoreMHz, Cores: cores, MemoryMB: cores * 2048, DiskMB: 100_000},
		CoreMHz: CoreMHz,
	}
	for _, edit := range edits {
		edit(&n)
	}
	return n
}

// Configuration sets a node's configuration.
func Configuration(c int) func(*board.Node) { return func(n *board.Node) { n.Configuration = c } }

// Rack sets a node's rack.
func Rack(r int) func(*board.Node) { return func(n *board.Node) { n.Rack = r } }

// Cores is a size of that many cores with 2 GiB each.
func Cores(n int) cluster.Resources {
	return cluster.Resources{CPUMHz: n * CoreMHz, MemoryMB: n * 2048, DiskMB: 100}
}

// Same is a row of equal scores.
func Same(columns int, percent float64) []float64 {
	out := make([]float64, columns)
	for k := range out {
		out[k] = percent
	}
	return out
}

// Shape of a random board.
type Shape struct {
	Nodes          int
	Cores          int // of the largest node; half of the nodes have half of it
	Configurations int
	Columns        int
	Load           float64 // share of a node's cores in use, on average
	Caused         float64 // the most a one-core resident causes on a source, percent
}

// Random builds a board of that shape, its residents one to four cores each.
func Random(rng *rand.Rand, s Shape) *board.Board {
	var names []string
	for c := range s.Configurations {
		names = append(names, fmt.Sprintf("c%02d", c))
	}
	b := board.New(Columns(s.Columns), names)
	handle := board.Handle(0)
	for i := range s.Nodes {
		cores := s.Cores
		if i%2 == 1 {
			cores = max(1, cores/2)
		}
		n := b.Add(Node(fmt.Sprintf("node-%06d", i), cores, Configuration(rng.IntN(s.Configurations)), Rack(i/20)))
		want := int(math.Round(2 * s.Load * rng.Float64() * float64(cores)))
		for used := 0; used < min(want, cores); {
			size := min(1+rng.IntN(4), min(want, cores)-used)
			handle++
			b.Place(n, Resident(rng, handle, size, s))
			used += size
		}
	}
	return b
}

// Resident draws a resident of that many cores.
func Resident(rng *rand.Rand, handle board.Handle, cores int, s Shape) board.Resident {
	r := board.Resident{Handle: handle, Size: Cores(cores), Tolerated: make([]float64, s.Columns), Caused: make([]float64, s.Columns)}
	for k := range s.Columns {
		r.Tolerated[k] = 40 + 60*rng.Float64()
		r.Caused[k] = s.Caused * rng.Float64()
	}
	return r
}

// Ask draws a request of one core for a board of that shape, faster on configurations
// of higher number.
func Ask(rng *rand.Rand, s Shape) board.Request {
	r := Resident(rng, 0, 1, s)
	a := board.Request{
		Handle: board.Handle(rng.Int64N(1<<40) + 1<<40), Size: r.Size, Count: 1, Tolerated: r.Tolerated, Caused: r.Caused,
		Speed: make([]float64, s.Configurations), Expected: time.Minute,
	}
	for c := range a.Speed {
		a.Speed[c] = 100 + 20*float64(c)
	}
	return a
}

// Scan is the plainest selection, to compare with: a look at every node, the
// least loaded with room wins.
func Scan(b *board.Board, a *board.Request) board.Index {
	best := board.None
	for i := range b.Len() {
		n := board.Index(i)
		if !b.Fits(n, a.Size) || a.Allowed != nil && !a.Allowed(n) {
			continue
		}
		if best == board.None || b.Load(n) < b.Load(best) || b.Load(n) == b.Load(best) && b.MemoryLoad(n) < b.MemoryLoad(best) {
			best = n
		}
	}
	return best
}
