package sim

import (
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/sim/admission"
)

// loadChanges gives a service its next load.
func (w *World) loadChanges(e event) {
	s := w.workloads.at(e.who)
	if s.life != e.generation || s.stage != stageRunning {
		w.stale()
		return
	}
	w.integrate(s)
	s.load = s.job.Load.At(w.now - w.records[s.record].Started)
	for _, n := range w.nodesOf(s) {
		w.refresh(n)
	}
	w.heap.push(w.now+w.config.LoadEvery, kindLoad, e.who, s.life)
}

// resumes lets a restarted workload work again.
func (w *World) resumes(e event) {
	s := w.workloads.at(e.who)
	if s.life != e.generation || s.stage != stageRunning || w.now < s.resume {
		w.stale()
		return
	}
	w.rate(e.who, s)
}

// nodeChanges loses a node with all it runs, or brings it back.
func (w *World) nodeChanges(c NodeChange) {
	w.down[c.Node] = !c.Ready
	w.board.SetReady(c.Node, c.Ready && !w.closed[c.Node])
	if c.Ready {
		if w.anyBound > 0 {
			w.bindings(c.Node)
		}
		return
	}
	w.counters.NodesLost++
	for len(w.nodeReplicas[c.Node]) > 0 {
		w.restart(w.replicas[w.nodeReplicas[c.Node][0]].workload)
	}
}

// awaitFleet comes again when something happens to rented nodes, and takes off the board what the
// controller has given back.
func (w *World) awaitFleet() {
	if w.config.Fleet == nil {
		return
	}
	for _, n := range w.rented {
		if !w.config.Fleet.Ready(n) {
			w.board.SetReady(n, false)
		}
	}
	w.rented = slices.DeleteFunc(w.rented, func(n board.Index) bool { return !w.board.Ready(n) })
	if at, ok := w.config.Fleet.Next(); ok && (w.fleetAt == Never || at < w.fleetAt) {
		w.fleetAt = at
		w.heap.push(at, kindFleet, 0, 0)
	}
}

// fleetMoves takes in nodes that have started, and what others do on the machines of those that
// run.
func (w *World) fleetMoves(e event) {
	if e.at == w.fleetAt {
		w.fleetAt = Never
	}
	w.stirred = false
	for _, c := range w.config.Fleet.Advance(w.now) {
		if c.Ready {
			w.board.SetReady(c.Node, true)
			w.rented = append(w.rented, c.Node)
			w.stirred = true
		} else {
			w.refresh(c.Node)
		}
	}
	if !w.stirred {
		w.awaitFleet()
	}
}

// evict makes the workload of an allocation leave, and wait again.
func (w *World) evict(handle board.Handle) {
	s := w.workloads.at(workloadOf(handle))
	if s.stage != stageRunning {
		return
	}
	w.counters.Evictions++
	w.restart(workloadOf(handle))
}

// restart takes a workload off its nodes and submits it again: batch work begins
// from the start, the life of a service goes on.
func (w *World) restart(i int32) {
	s := w.workloads.at(i)
	w.integrate(s)
	w.counters.Restarts++
	r := &w.records[s.record]
	if r.Restarts < 255 {
		r.Restarts++
	}
	w.leaveRunning(s)
	s.stage = stageWaiting
	w.leaveNodes(s)
	done := s.progress.done
	s.progress = progress{work: s.job.Duration.Seconds(), since: w.now, generation: s.progress.generation + 1}
	if s.job.Shape == Service {
		s.progress.done = done
	} else {
		s.phase = 0
	}
	s.left, s.missing = s.job.Count, 0
	s.ask.Count = s.job.Count
	w.config.Controller.Arrive(w.now, admission.Item{Ask: &s.ask, Arrived: r.Arrived, Ready: w.now})
}
