package cluster

import (
	"iter"
	"math"
	"reflect"
	"slices"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// The scores of a workload of which nothing is known: it tolerates half of the highest
// intensity of a source, and causes half. Two such workloads may just be co-located, a
// third may not: careful, and still placeable (chosen by us). They are an assumption,
// always marked as one.
const (
	AssumedToleratedPercent = 50.0
	AssumedCausedPercent    = 50.0
)

// PressureTable computes ServerPressure for many nodes of one snapshot: each
// resident's scores are turned into vectors once, or, with a cache in the
// snapshot, once for all snapshots. Not for concurrent use.
type PressureTable struct {
	snapshot *Snapshot
	columns  []interference.Source
	machines map[string][]*Node
	cache    *Cache
	unknown  ScoreVectors
	number   int64 // of this table
}

// Cache keeps residents' scores as vectors, from one snapshot to the next: on a
// large cluster they hardly change, and reading them out of their maps is half of a
// decision. A vector is made anew where a snapshot has other maps for the workload than
// before; a map of scores is never written to once it is known. It keeps the hosts as
// well, until an allocation comes or leaves. One snapshot at a time may use it.
type Cache struct {
	columns []interference.Source
	vectors map[WorkloadID]cachedVectors
	hosts   map[NodeID]*Host
	numbers int64
	nodes   int // of the largest snapshot so far: others may be parts of it
	assumed map[assumption]ScoreVectors
	slab    []float64 // storage of further vectors: of the cache, which keeps them, since each keeps all of it
	// Board is room for what another package makes of all nodes: what the decision before had
	// no more use for.
	Board any
}

// assumption is the scores of workloads of which nothing is known, in percent.
type assumption struct{ tolerated, caused float64 }

// mostAssumed bounds those: there are as many as sizes on kinds of nodes.
const mostAssumed = 1 << 12

type cachedVectors struct {
	ScoreVectors
	of interference.Sensitivity // the maps they were read from
}

// WithCache is the snapshot, with a cache of its own where it has none.
func (s *Snapshot) WithCache() *Snapshot {
	if s.Cache != nil {
		return s
	}
	next := *s
	next.Cache = &Cache{}
	return &next
}

// ready empties the cache where it was made for other columns, or has mostly
// workloads that are gone.
func (m *Cache) ready(columns []interference.Source, known int) {
	const spare = 1024
	if !slices.Equal(m.columns, columns) {
		m.columns, m.vectors, m.hosts, m.assumed = slices.Clone(columns), nil, nil, nil
	}
	if m.vectors == nil || len(m.vectors) > 2*known+spare {
		m.vectors = map[WorkloadID]cachedVectors{}
	}
}

// sameMaps reports whether two scores are the very same maps.
func sameMaps(a, b interference.Sensitivity) bool {
	return sameMap(a.Tolerated, b.Tolerated) && sameMap(a.Caused, b.Caused)
}

func sameMap[M ~map[K]V, K comparable, V any](x, y M) bool {
	return reflect.ValueOf(x).UnsafePointer() == reflect.ValueOf(y).UnsafePointer()
}

// slabVectors is how many residents' vectors are allocated together.
const slabVectors = 64

// ScoreVectors are a workload's scores in column order; NaN is unknown.
type ScoreVectors struct {
	Tolerated, Caused []float64
	Complete          bool // all are known
}

// NewPressureTable prepares a table for the columns.
func NewPressureTable(s *Snapshot, columns []interference.Source) *PressureTable {
	unknown := make([]float64, len(columns))
	for k := range unknown {
		unknown[k] = math.NaN()
	}
	s = s.WithCache()
	s.Cache.ready(columns, len(s.Known))
	p := &PressureTable{snapshot: s, columns: columns, machines: Machines(s.Nodes), cache: s.Cache, unknown: ScoreVectors{Tolerated: unknown, Caused: unknown, Complete: len(columns) == 0}}
	p.number = p.NextNumber()
	return p
}

// Columns is how many there are.
func (p *PressureTable) Columns() int { return len(p.columns) }

// NextNumber is one that nobody got before from a table with the same cache.
func (p *PressureTable) NextNumber() int64 {
	p.cache.numbers++
	return p.cache.numbers
}

// Fill writes the node's pressure into tolerated and caused, both len(columns).
func (p *PressureTable) Fill(n *Node, except WorkloadID, tolerated, caused []float64) {
	if p.Unshared(n) {
		if h := p.Host(n); !h.Has(except) {
			copy(tolerated, h.pressure.tolerated)
			copy(caused, h.pressure.caused)
			return
		}
	}
	NoPressure(tolerated, caused)
	for of := range p.Machine(n) {
		p.fold(of, except, tolerated, caused)
	}
}

// ServerPressure is what the residents of a node, without the workload except, tolerate
// and cause together (Delimitrou 2015, §3.3.4), per column, in points:
//
//	tolerated[k] = min over residents of their tolerated score   (empty: 100)
//	caused[k]    = sum over residents of their caused scores     (empty: 0)
//
// Residents of other nodes of the same machine count as its own. The sum is not capped.
// A resident's unknown score is never taken as no pressure: it is assumed to take the
// same share of every resource as of the node's cpu, so it causes 100·share and
// tolerates 100·(1−share). A system job adds nothing: it is on every node, also on those
// where the others were profiled, so their profiles include it. Profiling copies are gone
// within the minute and are left out.
func (p *PressureTable) ServerPressure(n *Node, except WorkloadID) (tolerated, caused []float64) {
	tolerated, caused = make([]float64, len(p.columns)), make([]float64, len(p.columns))
	p.Fill(n, except, tolerated, caused)
	return tolerated, caused
}

// NodePressure is a node's state with all its residents, as Scores for people:
// the sum is clipped to 100.
func (p *PressureTable) NodePressure(n *Node) Pressure {
	t, c := p.ServerPressure(n, WorkloadID{})
	out := Pressure{Tolerated: make(interference.Scores, len(t)), Caused: make(interference.Scores, len(t))}
	for k, source := range p.columns {
		out.Tolerated[source] = interference.Estimate{Score: interference.Percent(t[k])}
		out.Caused[source] = interference.Estimate{Score: interference.Percent(c[k])}
	}
	return out
}

// NoPressure writes the pressure of a node without residents.
func NoPressure(tolerated, caused []float64) {
	for k := range tolerated {
		tolerated[k], caused[k] = 100, 0
	}
}

// Unshared reports whether no other node is of a node's machine.
func (p *PressureTable) Unshared(n *Node) bool { return len(p.machines[n.Machine]) == 0 }

// Machine are the nodes of a node's machine, itself first.
func (p *PressureTable) Machine(n *Node) iter.Seq[*Node] {
	return func(yield func(*Node) bool) {
		if !yield(n) {
			return
		}
		for _, of := range p.machines[n.Machine] {
			if of.ID != n.ID && !yield(of) {
				return
			}
		}
	}
}

// fold adds the residents of one node.
func (p *PressureTable) fold(n *Node, except WorkloadID, tolerated, caused []float64) {
	for _, list := range [2][]Allocation{p.snapshot.Allocations[n.ID], p.snapshot.Reserved[n.ID]} {
		for i := range list {
			if list[i].Workload == except || list[i].Profiling {
				continue
			}
			v, _ := p.ScoresOn(n, &list[i])
			AddPressure(tolerated, caused, v.Tolerated, v.Caused)
		}
	}
}

// AddPressure adds a resident's scores to the pressure of its node: the least that is
// tolerated, the sum of what is caused.
func AddPressure(tolerated, caused []float64, residentTolerated, residentCaused []float64) {
	for k := range tolerated {
		tolerated[k] = min(tolerated[k], residentTolerated[k])
		caused[k] += residentCaused[k]
	}
}

// ScoresOn are a resident's scores on its node, the unknown ones assumed; see
// ServerPressure. They are shared and not written to.
func (p *PressureTable) ScoresOn(n *Node, a *Allocation) (v ScoreVectors, assumed bool) {
	v = p.ScoresOf(a.Workload)
	if v.Complete {
		return v, false
	}
	tolerated, caused := assumedOf(n, a)
	if _, any := p.snapshot.Known[a.Workload]; !any {
		return p.cache.assume(assumption{tolerated, caused}), true
	}
	v.Tolerated, v.Caused = slices.Clone(v.Tolerated), slices.Clone(v.Caused)
	for k := range v.Tolerated {
		v.Tolerated[k], v.Caused[k] = known(v.Tolerated[k], tolerated), known(v.Caused[k], caused)
	}
	return v, true
}

// assume are the scores of a workload of which nothing is known. All of one size have them on
// all nodes of a kind.
func (m *Cache) assume(a assumption) ScoreVectors {
	if v, ok := m.assumed[a]; ok {
		return v
	}
	if m.assumed == nil || len(m.assumed) >= mostAssumed {
		m.assumed = map[assumption]ScoreVectors{}
	}
	n := len(m.columns)
	v := ScoreVectors{Tolerated: slices.Repeat([]float64{a.tolerated}, n), Caused: slices.Repeat([]float64{a.caused}, n)}
	m.assumed[a] = v
	return v
}

// ScoresOf are a workload's scores. They are shared and not written to.
func (p *PressureTable) ScoresOf(w WorkloadID) ScoreVectors {
	scores, ok := p.snapshot.Known[w]
	if !ok {
		return p.unknown
	}
	if v, ok := p.cache.vectors[w]; ok && sameMaps(v.of, scores) {
		return v.ScoreVectors
	}
	v := ScoreVectors{Tolerated: p.vector(scores.Tolerated), Caused: p.vector(scores.Caused)}
	v.Complete = !slices.ContainsFunc(v.Tolerated, math.IsNaN) && !slices.ContainsFunc(v.Caused, math.IsNaN)
	p.cache.vectors[w] = cachedVectors{v, scores}
	return v
}

// vector is scores.Vector(p.columns) in the cache's slab.
func (p *PressureTable) vector(scores interference.Scores) []float64 {
	n := len(p.columns)
	if len(p.cache.slab) < n {
		p.cache.slab = make([]float64, 2*slabVectors*n)
	}
	out := p.cache.slab[:n:n]
	p.cache.slab = p.cache.slab[n:]
	for k, source := range p.columns {
		out[k], _ = scores[source].Score.Percent()
	}
	return out
}

func known(v, fallback float64) float64 {
	if math.IsNaN(v) {
		return fallback
	}
	return v
}

// assumedOf are the scores that are assumed of a resident, in percent; see
// ServerPressure.
func assumedOf(n *Node, a *Allocation) (tolerated, caused float64) {
	if a.System {
		return 100, 0
	}
	share := shareOfCPU(n, a.Resources)
	return 100 * (1 - share), 100 * share
}

// shareOfCPU is the share of the node's cpu that r asks for, in 0..1; half where
// the node's cpu is unknown.
func shareOfCPU(n *Node, r Resources) float64 {
	if n.Total.CPUMHz <= 0 {
		return 0.5
	}
	return min(1, max(0, float64(r.Megahertz(n.CoreMHz))/float64(n.Total.CPUMHz)))
}
