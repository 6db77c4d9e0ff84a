package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/adapt"
	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/sim/admission"
)

// window measures every running workload and carries out what the adapter says.
func (w *World) window() error {
	w.heap.push(w.now+w.config.Window, kindWindow, 0, 0)
	order := slices.Clone(w.running)
	slices.Sort(order)
	w.windows = w.windows[:0]
	w.measured++
	for _, i := range order {
		if s := w.workloads.at(i); s.job.App != nil && w.now >= s.resume {
			w.windows = append(w.windows, w.observe(s))
		}
	}
	actions := w.config.Adapter.Step(w.now, w.board, w.windows, w.adapting)
	w.note()
	for _, a := range actions {
		if err := w.act(a); err != nil {
			return err
		}
	}
	for _, i := range order {
		if s := w.workloads.at(i); s.stage == stageRunning && s.missing > 0 {
			w.grow(i, s)
		}
	}
	return nil
}

// observe is what a probe sees of a workload: for one without a target, the speed
// that its placement was chosen for is unknown, and the target is its best.
func (w *World) observe(s *workload) adapt.Observation {
	o := adapt.Observation{
		Handle: s.ask.Handle, Performance: s.capacity, Target: s.job.Target * s.load, Sizes: s.ask.Sizes, Speed: s.ask.Speed,
		Priority: s.job.Priority, BestEffort: s.job.BestEffort, Scales: s.job.Sized && s.ask.ScaleOut != nil && s.job.Shape != Tasks,
	}
	if s.job.Shape != Service && o.Target == 0 && s.ask.Speed != nil {
		o.Target = w.expected(s)
	}
	o.Left = s.expectedLeft(w.now)
	for _, k := range s.replicas {
		u := &w.replicas[k]
		o.Replicas = append(o.Replicas, adapt.Replica{Handle: handleOf(u.workload, u.number), Node: u.node, Size: u.size, Performance: u.speed, Task: w.task(s, u)})
	}
	return o
}

// expectedLeft is what the estimates say of its run, less the part of its work that its probe
// has counted.
func (s *workload) expectedLeft(now Instant) time.Duration {
	if s.ask.Expected <= 0 || !(s.progress.work > 0) || s.job.Shape == Service {
		return 0
	}
	done := s.progress.done + s.progress.rate*(now-s.progress.since).Seconds()
	return time.Duration(max(0, 1-done/s.progress.work) * float64(s.ask.Expected))
}

// expected is the performance the estimates say for where it runs.
func (w *World) expected(s *workload) float64 {
	sum := 0.0
	for _, k := range s.replicas {
		sum += s.ask.Speed[w.board.Node(w.replicas[k].node).Configuration]
	}
	return sum
}

// act carries out one action. What has ended or changed meanwhile is left alone.
func (w *World) act(a adapt.Action) error {
	switch a.Kind {
	case adapt.Close, adapt.Open:
		w.closed[a.Node] = a.Kind == adapt.Close
		if a.Kind == adapt.Close {
			w.counters.Closed++
		}
		w.board.SetReady(a.Node, !w.closed[a.Node] && !w.down[a.Node])
		return nil
	case adapt.Evict:
		if w.replicaOf(a.Handle) >= 0 {
			w.evict(a.Handle)
		}
		return nil
	}
	i := workloadOf(a.Handle)
	s := w.workloads.at(i)
	if s.stage != stageRunning {
		return nil
	}
	w.integrate(s)
	switch a.Kind {
	case adapt.Reclassify:
		return w.reclassify(s)
	case adapt.Grow:
		s.missing = max(s.missing, a.Count)
	case adapt.Resize:
		w.resize(a)
	case adapt.Shrink, adapt.Relaunch:
		w.drop(i, s, a)
	case adapt.Move:
		w.move(i, s)
	case adapt.Migrate:
		return w.migrate(a)
	default:
		return fmt.Errorf("sim: the adapter asks for %q, which is not an action", a.Kind)
	}
	return nil
}

// replicaOf finds the allocation of a handle; -1 where it is gone.
func (w *World) replicaOf(handle board.Handle) int32 {
	s := w.workloads.at(workloadOf(handle))
	if s.stage != stageRunning {
		return -1
	}
	for _, k := range s.replicas {
		if handleOf(w.replicas[k].workload, w.replicas[k].number) == handle {
			return k
		}
	}
	return -1
}

// reclassify profiles a workload where it is, in the phase it is in. What was
// measured in the same phase before is kept, and more is added to it.
func (w *World) reclassify(s *workload) error {
	if w.config.Estimator == nil {
		return nil
	}
	w.counters.Reclassified++
	if s.known == s.phase {
		s.again++
	} else {
		s.known, s.again = s.phase, 0
	}
	return w.inform(s, s.again)
}

// inform estimates a workload anew, by so many profiles more than one, and the board with it.
func (w *World) inform(s *workload, again int) error {
	e, err := w.config.Estimator.Know(&s.job, s.phase, again)
	if err != nil {
		return fmt.Errorf("sim: job %d: %w", s.job.Number, err)
	}
	s.estimate(e)
	for _, k := range s.replicas {
		u := &w.replicas[k]
		handle := handleOf(u.workload, u.number)
		if err := w.board.Remove(u.node, handle); err != nil {
			return err
		}
		w.board.Place(u.node, s.resident(handle, u.size))
	}
	return nil
}

// resize changes an allocation where the node has room.
func (w *World) resize(a adapt.Action) {
	k := w.replicaOf(a.Handle)
	if k < 0 {
		return
	}
	u := &w.replicas[k]
	more := cluster.Resources{CPUMHz: a.Size.CPUMHz - u.size.CPUMHz, Cores: a.Size.Cores - u.size.Cores, MemoryMB: a.Size.MemoryMB - u.size.MemoryMB}
	if (more.Cores > 0 || more.CPUMHz > 0 || more.MemoryMB > 0) && !w.board.Fits(u.node, more) {
		return
	}
	if err := w.board.Resize(u.node, a.Handle, a.Size); err != nil {
		return
	}
	w.counters.Resizes++
	u.size, u.cores = a.Size, coresOf(a.Size)
	w.vacated(u.node)
}

// drop ends one allocation, and starts another one where it only straggled. One of a job of tasks
// stays: with it a piece of the job's work would be gone, and a task that is started elsewhere begins anew.
func (w *World) drop(i int32, s *workload, a adapt.Action) {
	k := w.replicaOf(a.Handle)
	if k < 0 || len(s.replicas) < 2 || s.job.Shape == Tasks {
		return
	}
	n := w.replicas[k].node
	w.finish(k)
	w.vacated(n)
	w.counters.Shrunk++
	if a.Kind == adapt.Relaunch {
		s.missing++
	}
	w.rate(i, s)
}

// grow adds allocations to a running workload, without admission: it was admitted
// with its target.
func (w *World) grow(i int32, s *workload) {
	ask := s.ask
	ask.Count = s.missing
	ask.Target = max(0, s.job.Target*s.load-s.capacity)
	choice := w.choose(admission.Attempt{Item: admission.Item{Ask: &ask}})
	replicas, _ := w.fitting(s, choice.Replicas)
	if len(replicas) == 0 {
		return
	}
	w.counters.Grown++
	s.missing = 0
	for _, u := range replicas {
		w.begin(i, s, u.Node, u.Size)
	}
	for _, u := range replicas {
		w.refresh(u.Node)
	}
	w.rate(i, s)
}

// move starts a workload elsewhere, where the selector now chooses another node; a task stays (see drop).
func (w *World) move(i int32, s *workload) {
	if s.job.Shape == Tasks {
		return
	}
	k := s.replicas[0]
	from := w.replicas[k].node
	choice := w.choose(admission.Attempt{
		Item: admission.Item{Ask: &s.ask}, Within: func(n board.Index) bool { return n != from },
	})
	replicas, _ := w.fitting(s, choice.Replicas)
	if len(replicas) == 0 || len(choice.Relaxed) > 0 {
		return
	}
	w.counters.Moves++
	s.resume = w.now + w.config.MoveTime
	if w.config.MoveTime > 0 {
		w.heap.push(s.resume, kindResume, i, s.life)
	}
	w.begin(i, s, replicas[0].Node, replicas[0].Size)
	w.finish(k)
	w.refresh(replicas[0].Node)
	w.vacated(from)
	w.rate(i, s)
}
