package adapt

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/policy"
	"github.com/nomad-placer/nomad-placer/placer/predict/deadline"
)

// ppRTTE is Algorithm 1 of PP-RTTE for what runs: tasks that will be late grow where
// they are, move, or have a co-runner moved; under-used nodes are emptied. New tasks
// are placed by the policy of the same name.
//
// The listing is mended in three places: a task that could grow is done with; its own
// move counts; what was tried for one task is not carried over to the next.
type ppRTTE struct {
	options    Options
	parameters deadline.Parameters
	detector   deadline.Descriptor
	reacts     bool // to slowdowns
	fullSpeed  bool // a move gives all that a task can use
	choose     func(*board.Board, policy.Loads, func(board.Index) (cluster.Resources, bool)) (board.Index, cluster.Resources)
	rest       Adapter // of workloads without tasks; nil: they are left alone

	tasks   map[board.Handle]*tracked       // by allocation
	of      map[board.Handle][]board.Handle // by workload
	low     map[board.Index][]bool          // the last samples of load: too low
	sampled Instant                         // when load was sampled last
	gone    int                             // unusable samples of tasks that have ended
}

// The trigger of an under-used node (§IV): of five samples, a minute apart, three are
// below half of its cpu.
const (
	lowLoad     = 0.5
	lowSamples  = 3
	loadSamples = 5
	loadEvery   = time.Minute
)

// holdOffSamples pass after a move before the next alarm counts (chosen by us).
const holdOffSamples = 2

// tracked is what is remembered of a task.
type tracked struct {
	task    *deadline.Task
	started Instant
	quiet   Instant // until when alarms do not count
	late    bool

	// Of this window.
	replica *Replica
	slack   time.Duration
}

func newPPRTTE(o Options) Adapter { return makePPRTTE(o) }

func makePPRTTE(o Options) *ppRTTE {
	return &ppRTTE{
		options: o, parameters: deadline.Defaults(), detector: detectorOf(o), reacts: true, choose: policy.MostEfficient, rest: makeKFLR(o),
		tasks: map[board.Handle]*tracked{}, of: map[board.Handle][]board.Handle{}, low: map[board.Index][]bool{},
	}
}

// Forget implements Adapter.
func (p *ppRTTE) Forget(handle board.Handle) {
	for _, r := range p.of[handle] {
		p.gone += p.tasks[r].task.Missing()
		delete(p.tasks, r)
	}
	delete(p.of, handle)
	if p.rest != nil {
		p.rest.Forget(handle)
	}
}

// Slowdown implements Estimator.
func (p *ppRTTE) Slowdown(handle board.Handle) (float64, bool) {
	if t := p.tasks[handle]; t != nil && p.reacts {
		return t.task.Slowdown(), true
	}
	return 0, false
}

// Unheard implements Estimator.
func (p *ppRTTE) Unheard() int {
	n := p.gone
	for _, t := range p.tasks {
		n += t.task.Missing()
	}
	return n
}

// Step implements Adapter.
func (p *ppRTTE) Step(now Instant, b *board.Board, windows []Observation, random *rand.Rand) []Action {
	s := &schedule{ppRTTE: p, now: now, board: b, loads: policy.Loads{}, on: map[board.Index][]*tracked{}, emptied: map[board.Index]bool{}, moved: map[*tracked]bool{}}
	var rest []Observation
	for i := range windows {
		w := &windows[i]
		own := 0
		for j := range w.Replicas {
			if w.Replicas[j].Task != nil {
				s.see(w.Handle, &w.Replicas[j])
				own++
			}
		}
		if own == 0 {
			rest = append(rest, *w)
		}
	}
	for _, t := range s.underPerforming() {
		s.help(t)
	}
	s.consolidate()
	if p.rest != nil && len(rest) > 0 {
		s.actions = append(s.actions, p.rest.Step(now, b, rest, random)...)
	}
	return s.actions
}

// schedule is one run of the algorithm: the board with what was decided so far.
type schedule struct {
	*ppRTTE
	now     Instant
	board   *board.Board
	loads   policy.Loads
	on      map[board.Index][]*tracked // tasks by node, as on the board
	moved   map[*tracked]bool
	emptied map[board.Index]bool
	actions []Action
}

// see takes the window of one task.
func (s *schedule) see(workload board.Handle, u *Replica) {
	t := s.tasks[u.Handle]
	if t == nil || t.started != u.Task.Started {
		if t == nil {
			s.of[workload] = append(s.of[workload], u.Handle)
		}
		t = &tracked{
			task:    deadline.NewTask(s.detector.New(s.parameters), s.parameters, u.Task.Started, u.Task.Work, u.Task.FullMHz, u.Task.Deadline),
			started: u.Task.Started,
		}
		s.tasks[u.Handle] = t
	}
	t.replica, t.late = u, false
	s.on[u.Node] = append(s.on[u.Node], t)
	if u.Task.Moving {
		t.task.Pause(s.now)
		return
	}
	sample := u.Task.Slowdown
	if !s.reacts {
		sample = 0
	}
	v, err := t.task.Step(s.now, float64(u.Size.CPUMHz), sample)
	t.late = s.reacts && v.Late && s.now >= t.quiet && !errors.Is(err, deadline.ErrSilent)
	t.slack = deadline.Slack(v.Left, u.Task.FullMHz, s.now, u.Task.Deadline)
}

// underPerforming lists the tasks that will be late and can still be helped, those
// with the least slack first (lines 3 and 4).
func (s *schedule) underPerforming() []*tracked {
	var out []*tracked
	for _, n := range slices.Sorted(maps.Keys(s.on)) {
		for _, t := range s.on[n] {
			if t.late && t.slack >= 0 {
				out = append(out, t)
			}
		}
	}
	slices.SortStableFunc(out, bySlack)
	return out
}

func bySlack(x, y *tracked) int {
	return cmp.Or(cmp.Compare(x.slack, y.slack), cmp.Compare(x.replica.Handle, y.replica.Handle))
}

// help is what the algorithm does for one task that will be late (lines 6 to 20).
func (s *schedule) help(t *tracked) {
	if s.moved[t] {
		return // it was moved away for another one, and has what it needs there
	}
	reason := fmt.Sprintf("it will end after its deadline, slowed down by %.0f %%", 100*t.task.Slowdown())
	if size, ok := s.expanded(t, s.loads); ok {
		s.expand(t, size, reason)
		return
	}
	if n, size := s.elsewhere(t, s.loads, false); n != board.None {
		s.migrate(t, n, size, reason)
		return
	}
	if s.makeRoom(t, reason) {
		return
	}
	s.whatIsLeft(t, reason)
}

// expanded is the size that a task needs where it is, if that has room. An alarm never
// takes anything away.
func (s *schedule) expanded(t *tracked, loads policy.Loads) (cluster.Resources, bool) {
	need, ok := deadline.Needed(t.task.Left(), t.replica.Task.FullMHz, s.now, t.replica.Task.Deadline, 0, t.task.Slowdown())
	if !ok {
		return cluster.Resources{}, false
	}
	size := t.replica.Size
	size.CPUMHz = max(size.CPUMHz, policy.WholeMHz(need.Held()))
	return size, loads.Fits(s.board, t.replica.Node, minus(size, t.replica.Size))
}

func (s *schedule) expand(t *tracked, size cluster.Resources, reason string) {
	if size == t.replica.Size {
		return
	}
	s.loads.Add(t.replica.Node, minus(size, t.replica.Size), 0)
	s.actions = append(s.actions, Action{Kind: Resize, Handle: t.replica.Handle, Node: t.replica.Node, Size: size, Reason: reason})
	t.task.Changed()
}

// elsewhere is getPeffPM for a task that runs: another node than its own, and what it
// needs there.
func (s *schedule) elsewhere(t *tracked, loads policy.Loads, awakeOnly bool) (board.Index, cluster.Resources) {
	return s.choose(s.board, loads, func(n board.Index) (cluster.Resources, bool) {
		if n == t.replica.Node || s.emptied[n] || awakeOnly && len(s.board.Residents(n))+loads[n].Residents == 0 {
			return cluster.Resources{}, false
		}
		beta := 0.0
		if s.reacts {
			beta = deadline.ForMigration(t.task.Slowdown(), s.expectedOn(n))
		}
		need, ok := deadline.Needed(t.task.Left(), t.replica.Task.FullMHz, s.now, t.replica.Task.Deadline, t.replica.Task.MoveTime, beta)
		if !ok {
			return cluster.Resources{}, false
		}
		size := t.replica.Size
		size.CPUMHz = policy.WholeMHz(need.Held())
		if s.fullSpeed {
			size.CPUMHz = policy.WholeMHz(t.replica.Task.FullMHz)
		}
		return size, true
	})
}

// expectedOn is the mean slowdown of the tasks on a node that stay there.
func (s *schedule) expectedOn(n board.Index) float64 {
	var known []float64
	for _, t := range s.on[n] {
		if !s.moved[t] {
			known = append(known, t.task.Slowdown())
		}
	}
	return deadline.MeanOf(known)
}

func (s *schedule) migrate(t *tracked, to board.Index, size cluster.Resources, reason string) {
	s.loads.Add(t.replica.Node, t.replica.Size, -1)
	s.loads.Add(to, size, +1)
	s.actions = append(s.actions, Action{Kind: Migrate, Handle: t.replica.Handle, Node: t.replica.Node, To: to, Size: size, Reason: reason})
	t.quiet = s.now + t.replica.Task.MoveTime + holdOffSamples*s.options.Window
	t.task.Changed()
	s.moved[t] = true
}

// makeRoom moves co-runners away, the one with the most slack first, until the task can
// grow; if it cannot, none is moved (lines 10 to 20).
func (s *schedule) makeRoom(t *tracked, reason string) bool {
	coRunners := slices.DeleteFunc(slices.Clone(s.on[t.replica.Node]), func(o *tracked) bool {
		return o == t || s.moved[o] || o.replica.Task.Moving || o.late || s.now < o.quiet
	})
	slices.SortStableFunc(coRunners, func(x, y *tracked) int {
		return cmp.Or(cmp.Compare(y.slack, x.slack), cmp.Compare(x.replica.Handle, y.replica.Handle))
	})
	type move struct {
		task *tracked
		to   board.Index
		size cluster.Resources
	}
	var moves []move
	loads := maps.Clone(s.loads)
	for _, o := range coRunners {
		n, size := s.elsewhere(o, loads, false)
		if n == board.None {
			continue
		}
		loads.Add(o.replica.Node, o.replica.Size, -1)
		loads.Add(n, size, +1)
		moves = append(moves, move{o, n, size})
		if size, ok := s.expanded(t, loads); ok {
			for _, m := range moves {
				s.migrate(m.task, m.to, m.size, "a co-runner needs its room: "+reason)
			}
			s.expand(t, size, reason)
			return true
		}
	}
	return false
}

// whatIsLeft gives a task that nothing else helps the free cpu of its node.
func (s *schedule) whatIsLeft(t *tracked, reason string) {
	n := t.replica.Node
	free := s.board.FreeMHz(n) - s.loads[n].Size.CPUMHz
	need, ok := deadline.Needed(t.task.Left(), math.Inf(1), s.now, t.replica.Task.Deadline, 0, t.task.Slowdown())
	if !ok || free <= 0 {
		return
	}
	size := t.replica.Size
	size.CPUMHz = max(size.CPUMHz, min(size.CPUMHz+free, policy.WholeMHz(need.Held())))
	s.expand(t, size, reason)
}

// consolidate empties nodes that were under-used for some minutes, the least used
// first, where all that runs there fits elsewhere on nodes that are awake.
func (s *schedule) consolidate() {
	if s.now-s.sampled < loadEvery {
		return
	}
	s.sampled = s.now
	var under []board.Index
	for i := range s.board.Len() {
		n := board.Index(i)
		if len(s.board.Residents(n)) == 0 {
			delete(s.low, n)
			continue
		}
		last := append(s.low[n], s.board.Load(n) < lowLoad)
		s.low[n] = last[max(0, len(last)-loadSamples):]
		if s.wasteful(n) {
			under = append(under, n)
		}
	}
	slices.SortStableFunc(under, func(x, y board.Index) int { return cmp.Compare(s.board.Load(x), s.board.Load(y)) })
	for _, n := range under {
		s.empty(n)
	}
}

func (s *schedule) wasteful(n board.Index) bool {
	count := 0
	for _, low := range s.low[n] {
		if low {
			count++
		}
	}
	return len(s.low[n]) == loadSamples && count >= lowSamples
}

// empty moves everything off a node, or nothing.
func (s *schedule) empty(n board.Index) {
	tasks := slices.Clone(s.on[n])
	if len(tasks) != len(s.board.Residents(n)) || s.loads[n].Residents != 0 {
		return // something else runs there, or just came or went
	}
	for _, t := range tasks {
		if t.replica.Task.Moving || t.late || t.slack < 0 {
			return
		}
	}
	slices.SortStableFunc(tasks, bySlack)
	loads := maps.Clone(s.loads)
	targets, sizes := make([]board.Index, len(tasks)), make([]cluster.Resources, len(tasks))
	for i, t := range tasks {
		targets[i], sizes[i] = s.elsewhere(t, loads, true)
		if targets[i] == board.None {
			return
		}
		loads.Add(n, t.replica.Size, -1)
		loads.Add(targets[i], sizes[i], +1)
	}
	for i, t := range tasks {
		s.migrate(t, targets[i], sizes[i], "its node is under-used")
	}
	s.emptied[n] = true
	delete(s.low, n)
}
