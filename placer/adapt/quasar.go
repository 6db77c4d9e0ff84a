package adapt

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// quasar is reactive and proactive adaptation.
type quasar struct {
	options Options
	states  map[board.Handle]*state
	probed  Instant
}

// state is what is remembered of a workload.
type state struct {
	bad, wasteful int
	quietUntil    Instant
	reclassified  bool // since it was last well
}

func newQuasar(o Options) Adapter { return &quasar{options: o, states: map[board.Handle]*state{}} }

func (q *quasar) Forget(handle board.Handle) { delete(q.states, handle) }

// Step judges every window. Workloads are served in the order of priority.
func (q *quasar) Step(now Instant, b *board.Board, windows []Observation, random *rand.Rand) []Action {
	order := make([]int, len(windows))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return windows[j].Priority - windows[i].Priority })
	var out []Action
	free := newRoom(b)
	for _, i := range order {
		out = append(out, q.judge(now, b, &windows[i], free)...)
	}
	if q.options.ProbeEvery > 0 && now-q.probed >= q.options.ProbeEvery {
		q.probed = now
		out = append(out, q.probe(windows, random)...)
	}
	return out
}

// probe samples workloads for a classification in place (Delimitrou 2015,
// §4.3.4, proactive).
func (q *quasar) probe(windows []Observation, random *rand.Rand) []Action {
	var out []Action
	for i := range windows {
		if random.Float64() < q.options.ProbeShare && !windows[i].BestEffort {
			out = append(out, Action{Kind: Reclassify, Handle: windows[i].Handle, Reason: "sampled"})
		}
	}
	return out
}

// state of a workload, from its first window on.
func (q *quasar) state(handle board.Handle) *state {
	s := q.states[handle]
	if s == nil {
		s = &state{}
		q.states[handle] = s
	}
	return s
}

func (q *quasar) judge(now Instant, b *board.Board, w *Observation, free *room) []Action {
	s := q.state(w.Handle)
	if now < s.quietUntil || !(w.Target > 0) || w.BestEffort {
		return nil
	}
	if math.IsNaN(w.Performance) || math.IsInf(w.Performance, 0) || w.Performance < 0 {
		s.bad, s.wasteful = 0, 0 // windows that follow one another are what counts
		return nil
	}
	share := w.Performance / w.Target
	switch {
	case share < q.options.Below:
		s.bad, s.wasteful = s.bad+1, 0
	case share > q.options.Above:
		s.bad, s.wasteful = 0, s.wasteful+1
	default:
		*s = state{}
	}
	switch {
	case s.bad >= q.options.Windows:
		s.quietUntil, s.bad = now+q.options.Quiet, 0
		return q.improve(s, b, w, share, free, fmt.Sprintf("at %.0f %% of its target", 100*share))
	case s.wasteful >= q.options.WastefulAfter:
		s.quietUntil, s.wasteful = now+q.options.Quiet, 0
		return q.giveBack(w, share)
	}
	return q.stragglers(now, s, w)
}

// stragglers starts allocations elsewhere that are slower than the median of
// their group.
func (q *quasar) stragglers(now Instant, s *state, w *Observation) []Action {
	if len(w.Replicas) < 4 { // a median of fewer says nothing
		return nil
	}
	speeds := make([]float64, len(w.Replicas))
	for i, u := range w.Replicas {
		speeds[i] = u.Performance
	}
	slices.Sort(speeds)
	median := speeds[len(speeds)/2]
	for _, u := range w.Replicas {
		if u.Performance < median/(1+q.options.Straggler) {
			s.quietUntil = now + q.options.Quiet
			return []Action{{Kind: Relaunch, Handle: u.Handle, Node: u.Node, Reason: "straggles"}}
		}
	}
	return nil
}

// improve classifies anew once, then takes the cheapest step that helps.
func (q *quasar) improve(s *state, b *board.Board, w *Observation, share float64, free *room, reason string) []Action {
	var out []Action
	if !s.reclassified {
		s.reclassified = true
		out = append(out, Action{Kind: Reclassify, Handle: w.Handle, Reason: reason})
	}
	if q.options.YieldFirst {
		if gone := evictCoRunners(b, w, reason, free); len(gone) > 0 {
			return append(out, gone...)
		}
	}
	if up := q.scaleUp(b, w, share, reason, free); len(up) > 0 {
		return append(out, up...)
	}
	held := 0.0
	for _, u := range w.Replicas {
		held += cores(b, u.Node, u.Size)
	}
	if w.Scales && (q.options.MaxCores <= 0 || held < q.options.MaxCores) {
		more := max(1, int(math.Ceil(float64(len(w.Replicas))*(1/max(0.1, share)-1))))
		return append(out, Action{Kind: Grow, Handle: w.Handle, Count: min(more, len(w.Replicas)), Reason: reason})
	}
	if q.options.Moves && len(w.Replicas) == 1 {
		out = append(out, Action{Kind: Move, Handle: w.Handle, Reason: reason})
	}
	return out
}

// scaleUp gives each allocation the least size that closes the gap and has
// room, evicting best-effort work where that makes it.
func (q *quasar) scaleUp(b *board.Board, w *Observation, share float64, reason string, free *room) []Action {
	var out []Action
	for _, u := range w.Replicas {
		now := speedOf(w.Sizes, u.Size)
		for _, option := range w.Sizes {
			if !(option.Speed > now) || option.Speed < min(now/share, top(w.Sizes)) {
				continue
			}
			if steps := free.resize(w.Handle, u, option.Size, reason); len(steps) > 0 {
				out = append(out, steps...)
				break
			}
		}
	}
	return out
}

// giveBack takes what is transferred, one allocation, or one size, from a workload that has
// too much.
func (q *quasar) giveBack(w *Observation, share float64) []Action {
	reason := fmt.Sprintf("at %.0f %% of its target", 100*share)
	n := len(w.Replicas)
	if w.Transferred || w.Scales && n > 1 && share*float64(n-1)/float64(n) > 1 {
		last := w.Replicas[n-1]
		return []Action{{Kind: Shrink, Handle: last.Handle, Node: last.Node, Reason: reason}}
	}
	var out []Action
	for _, u := range w.Replicas {
		now := speedOf(w.Sizes, u.Size)
		for _, option := range w.Sizes {
			if option.Speed < now && option.Speed >= 1.05*now/share { // 5 % in reserve
				out = append(out, Action{Kind: Resize, Handle: u.Handle, Node: u.Node, Size: option.Size, Reason: reason})
				break
			}
		}
	}
	return out
}

// speedOf is the speed of a size. One that is not in the list, because the workload
// was classified anew meanwhile, counts as the largest that takes no more cpu; NaN
// where none does.
func speedOf(sizes []board.SizeOption, size cluster.Resources) float64 {
	speed := math.NaN()
	for _, o := range sizes {
		switch {
		case o.Size == size:
			return o.Speed
		case o.Size.Cores <= size.Cores && o.Size.CPUMHz <= size.CPUMHz:
			speed = o.Speed
		}
	}
	return speed
}

func top(sizes []board.SizeOption) float64 {
	best := 0.0
	for _, o := range sizes {
		best = max(best, o.Speed)
	}
	return best
}

func cores(b *board.Board, n board.Index, size cluster.Resources) float64 {
	mhz := float64(b.Node(n).CoreMHz)
	if mhz <= 0 {
		return float64(size.Cores)
	}
	return float64(size.Cores) + float64(size.CPUMHz)/mhz
}
