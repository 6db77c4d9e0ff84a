package board

import (
	"encoding/binary"
	"iter"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// Alike keeps the nodes of a board in groups within which no prediction can tell one
// from another: same configuration, same room, same residents, on them and on the rest
// of their machines. With few kinds of workloads there are few groups, however many
// nodes. A change costs O(residents + nodes of a group), the latter a move of memory.
type Alike struct {
	board  *Board
	of     []int32 // group by node
	groups []group
	unused []int32
	byKey  map[string]int32
	kinds  map[kind]int32
	ids    []int32
	key    []byte
}

type group struct {
	key   string
	nodes []Index // ascending
}

// kind is a workload as predictions see it: its response and its scores, by identity.
type kind struct {
	response          Response
	tolerated, caused *float64
	size              cluster.Resources
}

// noGroup is that of a node not looked at yet.
const noGroup = int32(-1)

// NewAlike groups the nodes of a board and follows its changes.
func NewAlike(b *Board) *Alike {
	a := &Alike{board: b, byKey: map[string]int32{}, kinds: map[kind]int32{}}
	for i := range b.Len() {
		a.NodeChanged(Index(i))
	}
	b.Listen(a)
	return a
}

// Groups are the nodes of every group, ascending; the slices are Alike's own. The order of groups
// says nothing.
func (a *Alike) Groups() iter.Seq[[]Index] {
	return func(yield func([]Index) bool) {
		for i := range a.groups {
			if nodes := a.groups[i].nodes; len(nodes) > 0 && !yield(nodes) {
				return
			}
		}
	}
}

// NodeChanged implements Listener.
func (a *Alike) NodeChanged(n Index) {
	for int(n) >= len(a.of) {
		a.of = append(a.of, noGroup)
	}
	a.describe(n)
	before := a.of[n]
	if before != noGroup && a.groups[before].key == string(a.key) {
		return
	}
	if before != noGroup {
		a.leave(before, n)
	}
	a.enter(n)
}

// describe writes what a node is like into the key.
func (a *Alike) describe(n Index) {
	a.ids = a.kindsOn(a.ids[:0], n)
	if caused := a.board.SameMachine(n); len(caused) > 0 {
		own := len(a.ids)
		a.ids = append(a.ids, 0)
		for _, o := range caused {
			a.ids = a.kindsOn(a.ids, o)
		}
		slices.Sort(a.ids[own+1:])
	}
	node := &a.board.nodes[n]
	ready := int64(0)
	if a.board.ready[n] {
		ready = 1
	}
	a.key = a.key[:0]
	for _, v := range []int64{
		ready, int64(node.Configuration), int64(node.CoreMHz), int64(node.Total.CPUMHz), int64(node.Total.Cores), int64(node.Total.MemoryMB), int64(node.Total.DiskMB),
	} {
		a.key = binary.AppendVarint(a.key, v)
	}
	for _, id := range a.ids {
		a.key = binary.AppendVarint(a.key, int64(id))
	}
}

// kindsOn appends the kinds of a node's residents, in order.
func (a *Alike) kindsOn(ids []int32, n Index) []int32 {
	from := len(ids)
	for i := range a.board.residents[n] {
		ids = append(ids, a.kindOf(&a.board.residents[n][i]))
	}
	slices.Sort(ids[from:])
	return ids
}

func (a *Alike) kindOf(r *Resident) int32 {
	k := kind{response: r.Response, size: r.Size}
	if len(r.Caused) > 0 {
		k.tolerated, k.caused = &r.Tolerated[0], &r.Caused[0]
	}
	id, ok := a.kinds[k]
	if !ok {
		id = int32(len(a.kinds)) + 1 // 0 is none
		a.kinds[k] = id
	}
	return id
}

func (a *Alike) leave(g int32, n Index) {
	nodes := a.groups[g].nodes
	at, _ := slices.BinarySearch(nodes, n)
	a.groups[g].nodes = slices.Delete(nodes, at, at+1)
	if len(a.groups[g].nodes) == 0 {
		delete(a.byKey, a.groups[g].key)
		a.groups[g].key = ""
		a.unused = append(a.unused, g)
	}
}

func (a *Alike) enter(n Index) {
	g, ok := a.byKey[string(a.key)]
	if !ok {
		if k := len(a.unused); k > 0 {
			g, a.unused = a.unused[k-1], a.unused[:k-1]
		} else {
			g, a.groups = int32(len(a.groups)), append(a.groups, group{})
		}
		a.groups[g].key = string(a.key)
		a.byKey[a.groups[g].key] = g
	}
	at, _ := slices.BinarySearch(a.groups[g].nodes, n)
	a.groups[g].nodes = slices.Insert(a.groups[g].nodes, at, n)
	a.of[n] = g
}
