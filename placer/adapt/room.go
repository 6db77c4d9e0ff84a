package adapt

import (
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// room counts what the actions of one step already took.
type room struct {
	board   *board.Board
	taken   map[board.Index]cluster.Resources
	evicted map[board.Handle]bool
}

func newRoom(b *board.Board) *room {
	return &room{board: b, taken: map[board.Index]cluster.Resources{}, evicted: map[board.Handle]bool{}}
}

// take grows an allocation on a node from one size to another, and lists the
// best-effort residents that must leave for it, lowest priority first.
func (r *room) take(n board.Index, from, to cluster.Resources) ([]board.Handle, bool) {
	need := minus(r.taken[n].Add(to), from)
	var out []board.Handle
	if !r.board.Fits(n, need) {
		residents := slices.Clone(r.board.Residents(n))
		slices.SortStableFunc(residents, func(a, b board.Resident) int { return a.Priority - b.Priority })
		ok := false
		for _, v := range residents {
			if !v.BestEffort || r.evicted[v.Handle] {
				continue
			}
			out, need = append(out, v.Handle), minus(need, v.Size)
			if ok = r.board.Fits(n, need); ok {
				break
			}
		}
		if !ok {
			return nil, false
		}
	}
	for _, handle := range out {
		r.evicted[handle] = true
	}
	r.taken[n] = need
	return out, true
}

// resize is how an allocation of a workload gets another size on its node: best-effort residents
// that are in the way leave first. Nothing where there is no room.
func (r *room) resize(workload board.Handle, u Replica, to cluster.Resources, reason string) []Action {
	evictions, ok := r.take(u.Node, u.Size, to)
	if !ok {
		return nil
	}
	var out []Action
	for _, v := range evictions {
		out = append(out, Action{Kind: Evict, Handle: v, Node: u.Node, For: workload, Reason: "room for a workload with a target"})
	}
	return append(out, Action{Kind: Resize, Handle: u.Handle, Node: u.Node, Size: to, Reason: reason})
}

func minus(a, b cluster.Resources) cluster.Resources {
	return cluster.Resources{CPUMHz: a.CPUMHz - b.CPUMHz, Cores: a.Cores - b.Cores, MemoryMB: a.MemoryMB - b.MemoryMB, DiskMB: a.DiskMB - b.DiskMB}
}
