package sim

import (
	"time"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/sim/admission"
)

// Bounds of trying.
const (
	maxRetries  = 10      // of one decision after conflicts, then it is refused
	maxAttempts = 4 << 20 // at one instant: more is a controller that never stops
)

// schedule lets admission offer what may be tried, while an agent is free.
func (w *World) schedule() error {
	w.stirred = false
	w.settle()
	for w.agents > 0 {
		attempt, ok := w.config.Controller.Next(w.now)
		if !ok {
			break
		}
		if w.attempts++; w.attempts > maxAttempts {
			return ErrSpins
		}
		w.decide(attempt, 0)
		w.settle()
	}
	if at, ok := w.config.Controller.Wake(); ok && at > w.now && (w.wakeAt == Never || at < w.wakeAt) {
		w.wakeAt = at
		w.heap.push(at, kindWake, 0, 0)
	}
	w.awaitFleet()
	return nil
}

// fixedTime is taken by every decision.
type fixedTime time.Duration

// DecisionTime implements board.DecisionTime.
func (t fixedTime) DecisionTime(*board.Board, *board.Request, board.Choice) time.Duration {
	return time.Duration(t)
}

// decide asks the selector, and commits at once where that takes no time.
func (w *World) decide(attempt admission.Attempt, retries int) {
	who := workloadOf(attempt.Item.Ask.Handle)
	s := w.workloads.at(who)
	choice := w.choose(attempt)
	spent := time.Duration(0)
	if w.timed != nil {
		spent = w.timed.DecisionTime(w.board, attempt.Item.Ask, choice)
	}
	w.records[s.record].Deciding += spent
	if spent <= 0 {
		w.commit(attempt, choice, retries)
		return
	}
	w.agents--
	k := w.flight()
	f := &w.flights[k]
	f.replicas = append(f.replicas[:0], choice.Replicas...)
	f.who, f.attempt, f.choice, f.retries, f.free, f.life = who, attempt, choice, retries, false, s.life
	f.choice.Replicas = f.replicas
	w.heap.push(w.now+spent, kindDecision, int32(k), 0)
}

// choose runs the selector on the nodes the attempt may use, and tells it what
// kind of attempt this is.
func (w *World) choose(attempt admission.Attempt) board.Choice {
	w.counters.Decisions++
	ask, within := attempt.Item.Ask, attempt.Within
	if within == nil && !attempt.Late && !attempt.Forced {
		return w.selected(ask)
	}
	limited := *ask
	limited.Late, limited.Forced, limited.Only = attempt.Late, attempt.Forced, attempt.Only
	if within != nil {
		limited.Allowed = within
		if user := ask.Allowed; user != nil {
			limited.Allowed = func(n board.Index) bool { return user(n) && within(n) }
		}
	}
	return w.selected(&limited)
}

func (w *World) selected(ask *board.Request) board.Choice {
	w.untilDeadline(ask)
	c := w.config.Selector.Select(w.board, ask, w.choosing)
	w.counters.Examined += int64(c.Examined)
	w.counters.Indexed += c.Indexed
	w.counters.Scanned += c.Scanned
	w.counters.Scans += c.Scans
	if c.TimedOut {
		w.counters.TimedOut++
	}
	return c
}

// flight returns a place for a decision under way.
func (w *World) flight() int {
	for k := range w.flights {
		if w.flights[k].free {
			return k
		}
	}
	w.flights = append(w.flights, flight{})
	return len(w.flights) - 1
}

// decided commits a decision that took its time.
func (w *World) decided(k int32) {
	f := &w.flights[k]
	f.free = true
	w.agents++
	s := w.workloads.at(f.who)         // not by the handle of an ask that may be gone
	if s.life == f.life && s.waits() { // it was not killed with its first tasks meanwhile
		w.commit(f.attempt, f.choice, f.retries)
	}
}

// commit applies a choice: what another decision has taken meanwhile is refused,
// and chosen anew.
func (w *World) commit(attempt admission.Attempt, choice board.Choice, retries int) {
	ask := attempt.Item.Ask
	i := workloadOf(ask.Handle)
	s := w.workloads.at(i)
	switch {
	case !taken(attempt, choice):
		w.counters.NoRoom++
		w.config.Controller.Refused(w.now, ask.Handle)
		return
	case len(choice.Replicas) == 0:
		w.bind(i, s, choice.Bind)
		w.config.Controller.Placed(w.now, ask.Handle)
		return
	}
	for _, e := range choice.Evict {
		w.evict(e.Handle)
	}
	replicas, conflict := w.fitting(s, choice.Replicas)
	if conflict {
		w.counters.Conflicts++
		if s.job.Shape != Tasks || ask.Gang {
			replicas = replicas[:0]
		}
	}
	if len(replicas) > 0 {
		w.place(i, s, replicas, &choice)
	}
	switch {
	case conflict && s.left > 0 && retries < maxRetries:
		w.decide(attempt, retries+1)
	case s.waits():
		w.config.Controller.Refused(w.now, ask.Handle)
	default:
		w.config.Controller.Placed(w.now, ask.Handle)
	}
}

// taken reports whether a choice may be carried out: within a pool only one that
// breaks no bound, so that another pool may do better (arq). What is forced is
// taken as it is.
func taken(attempt admission.Attempt, choice board.Choice) bool {
	if len(choice.Replicas) == 0 {
		return len(choice.Bind) > 0
	}
	if attempt.Forced || attempt.Within == nil {
		return true
	}
	return len(choice.Relaxed) == 0
}

// waits reports whether allocations of the workload are still to be placed.
func (s *workload) waits() bool {
	return s.left > 0 && (s.stage == stageWaiting || s.job.Shape == Tasks)
}

// fitting keeps the units that still have room, all together.
func (w *World) fitting(s *workload, replicas []board.Replica) ([]board.Replica, bool) {
	if s.job.Shape == Tasks && len(replicas) > s.left {
		replicas = replicas[:s.left]
	}
	kept := replicas[:0]
	for k := range replicas {
		u := replicas[k]
		need := u.Size
		for _, other := range kept {
			if other.Node == u.Node {
				need = need.Add(other.Size)
			}
		}
		if w.board.Fits(u.Node, need) {
			kept = append(kept, u)
		}
	}
	return kept, len(kept) < len(replicas)
}

// bind lets a workload wait at busy nodes for whichever has room first.
func (w *World) bind(i int32, s *workload, nodes []board.Index) {
	w.counters.Bound++
	for _, n := range nodes {
		w.bound[n] = append(w.bound[n], binding{i, s.life})
		w.anyBound++
	}
}

// bindings starts what waits at a node that has room again.
func (w *World) bindings(n board.Index) {
	queue := w.bound[n]
	for len(queue) > 0 {
		s := w.workloads.at(queue[0].workload)
		live := s.life == queue[0].life && s.waits()
		if live && !w.board.Fits(n, s.ask.Size) {
			break
		}
		if live {
			one := [1]board.Replica{{Node: n, Size: s.ask.Size}}
			w.place(queue[0].workload, s, one[:], &board.Choice{})
		}
		w.anyBound--
		queue = queue[1:]
	}
	w.bound[n] = queue
}

// coresOf is a size in cores.
func coresOf(size cluster.Resources) float64 {
	return float64(size.Cores) + float64(size.CPUMHz)/mhzPerCore
}

// asked is the cores a job's user asks for.
func (w *World) asked(s *workload) float64 { return coresOf(s.job.Size) * float64(s.job.Count) }
