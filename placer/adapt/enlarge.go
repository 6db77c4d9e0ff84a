package adapt

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// enlarge gives a workload that falls short more CPU where it is, by as much as it falls short, and
// does nothing else: the first step of HCloud's correction (Delimitrou 2015, §8.3.3: "increasing
// the resource allocation"). The second one, rescheduling, is rare there for all strategies but one.
type enlarge struct {
	options Options
	states  map[board.Handle]*shortfall
}

// shortfall is what is remembered of a workload.
type shortfall struct {
	bad        int
	quietUntil Instant
	first      map[board.Handle]cluster.Resources // sizes that its allocations had at first
}

// mostTimes its first size is the most that an allocation is given (chosen by us: twice, so that
// one that interference slows down for good does not take a whole machine).
const mostTimes = 2

func newEnlarge(o Options) Adapter {
	return &enlarge{options: o, states: map[board.Handle]*shortfall{}}
}

func (e *enlarge) Forget(handle board.Handle) { delete(e.states, handle) }

// Step enlarges what was below its target in consecutive windows.
func (e *enlarge) Step(now Instant, b *board.Board, windows []Observation, _ *rand.Rand) []Action {
	var out []Action
	free := newRoom(b)
	for i := range windows {
		out = append(out, e.judge(now, &windows[i], free)...)
	}
	return out
}

func (e *enlarge) judge(now Instant, w *Observation, free *room) []Action {
	s := e.states[w.Handle]
	if s == nil {
		s = &shortfall{first: map[board.Handle]cluster.Resources{}}
		e.states[w.Handle] = s
	}
	for _, u := range w.Replicas {
		if _, known := s.first[u.Handle]; !known {
			s.first[u.Handle] = u.Size
		}
	}
	share := w.Performance / w.Target
	if now < s.quietUntil || !(w.Target > 0) || w.BestEffort || !(share >= 0 && share < e.options.Below) {
		s.bad = 0
		return nil
	}
	if s.bad++; s.bad < e.options.Windows {
		return nil
	}
	s.bad, s.quietUntil = 0, now+e.options.Quiet
	var out []Action
	for _, u := range w.Replicas {
		to := larger(u.Size, s.first[u.Handle], share)
		if to == u.Size {
			continue
		}
		out = append(out, free.resize(w.Handle, u, to, fmt.Sprintf("at %.0f %% of its target", 100*share))...)
	}
	return out
}

// larger is the size with which a share of the target would be all of it, if speed were in
// proportion.
func larger(now, first cluster.Resources, share float64) cluster.Resources {
	more := func(now, first int) int {
		return int(math.Min(math.Ceil(float64(now)/share), mostTimes*float64(first)))
	}
	now.CPUMHz, now.Cores = more(now.CPUMHz, first.CPUMHz), more(now.Cores, first.Cores)
	return now
}
