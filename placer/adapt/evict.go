package adapt

import (
	"math"

	"github.com/nomad-placer/nomad-placer/placer/board"
)

// leastPressure is the pressure, in points, below which a co-runner cannot be why a workload is
// slow (chosen by us: the smallest difference that a profile shows).
const leastPressure = 1.0

// evictCoRunners sends away, from each node of a workload and others of its machine, the
// best-effort co-runner that exceeds its tolerance most. One at a time: whether that helps
// is seen before the next one goes.
func evictCoRunners(b *board.Board, w *Observation, reason string, free *room) []Action {
	var out []Action
	done := map[board.Index]bool{}
	for _, u := range w.Replicas {
		if done[u.Node] {
			continue
		}
		done[u.Node] = true
		worst, from, most := board.Handle(0), u.Node, math.Inf(-1)
		for _, n := range append(b.SameMachine(u.Node), u.Node) {
			for _, r := range b.Residents(n) {
				if !r.BestEffort || free.evicted[r.Handle] {
					continue
				}
				// Of equals the newest goes: without it the workload reached its target.
				if h := violationCaused(b, u, r); h >= most {
					worst, from, most = r.Handle, n, h
				}
			}
		}
		if !math.IsInf(most, -1) {
			free.evicted[worst] = true
			out = append(out, Action{Kind: Evict, Handle: worst, Node: from, For: w.Handle, Reason: "a neighbour is " + reason})
		}
	}
	return out
}

// violationCaused is by how many points a co-runner exerts more than the allocation
// tolerates, in the column where that is most; -Inf where it exerts nothing.
func violationCaused(b *board.Board, u Replica, coRunner board.Resident) float64 {
	most, exerts := math.Inf(-1), len(coRunner.Caused) == 0
	for _, self := range b.Residents(u.Node) {
		if self.Handle != u.Handle {
			continue
		}
		for k, caused := range coRunner.Caused {
			most = max(most, caused-self.Tolerated[k])
			exerts = exerts || caused >= leastPressure
		}
	}
	switch {
	case !exerts:
		return math.Inf(-1)
	case math.IsInf(most, -1):
		return 0 // nothing is known of either
	}
	return most
}
