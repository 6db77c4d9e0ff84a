package sim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/adapt"
	"github.com/nomad-placer/nomad-placer/placer/board"
)

// Meter reads how much longer a task takes through its co-runners. Its error is
// normal: Bias on average, Deviation around it. It is the same for the same window of
// the same task, whatever a policy does.
type Meter struct {
	Bias, Deviation float64
	// Relative errors are shares of the slowdown; else they are added to it.
	Relative bool
	// Silent is the share of samples that are lost.
	Silent float64
}

func (m *Meter) read(slowdown float64, random *rand.Rand) float64 {
	err := m.Bias + m.Deviation*random.NormFloat64()
	if random.Float64() < m.Silent {
		return math.NaN()
	}
	if m.Relative {
		err *= slowdown
	}
	return max(leastSample, slowdown+err)
}

// leastSample is the fastest a meter says: no time is negative.
const leastSample = -0.9

// deadlineGrace lets an end that is computed to a nanosecond come before its deadline.
const deadlineGrace = time.Microsecond

// due gives a submission its deadline.
func (w *World) due(i int32, s *workload) {
	if s.job.Deadline <= 0 {
		return
	}
	s.ask.Finish = &board.Finish{Work: s.work()}
	w.heap.push(w.now+s.job.Deadline+deadlineGrace, kindDeadline, i, s.life)
}

// work is what one of its allocations does in all.
func (s *workload) work() float64 { return float64(s.job.Size.CPUMHz) * s.job.Duration.Seconds() }

// requested is the work of all its allocations; only that of jobs with a deadline is
// counted.
func (s *workload) requested() float64 {
	if s.job.Deadline <= 0 {
		return 0
	}
	return s.work() * float64(s.job.Count)
}

// deadlineOf a workload.
func (w *World) deadlineOf(s *workload) Instant {
	return w.records[s.record].Arrived + s.job.Deadline
}

// untilDeadline tells an ask how much time is left.
func (w *World) untilDeadline(ask *board.Request) {
	if ask.Finish != nil {
		ask.Finish.In = w.deadlineOf(w.workloads.at(workloadOf(ask.Handle))) - w.now
	}
}

// dueNow takes away what has not ended in time.
func (w *World) dueNow(e event) {
	s := w.workloads.at(e.who)
	if s.life != e.generation || s.stage != stageRunning && s.stage != stageWaiting {
		w.stale()
		return
	}
	w.counters.Late++
	w.integrate(s)
	w.end(e.who, s, Late)
}

// task is what an adapter may know of an allocation with a cap; nil of others.
func (w *World) task(s *workload, u *replica) *adapt.Task {
	if s.job.Deadline <= 0 || s.job.Shape != Tasks {
		return nil
	}
	t := &adapt.Task{
		Work: s.work(), FullMHz: float64(s.job.Size.CPUMHz), Started: u.started, Deadline: w.deadlineOf(s),
		MoveTime: s.job.MoveTime, Moving: w.now < u.resume, Slowdown: math.NaN(),
	}
	if !t.Moving {
		random := rand.New(rand.NewPCG(w.config.Seed^uint64(s.job.Number)<<32^uint64(u.number), streamMeter^w.measured<<8))
		t.Slowdown = w.config.Meter.read(slowdownOf(u), random)
	}
	return t
}

// slowdownOf is what really happens to it now.
func slowdownOf(u *replica) float64 {
	if u.speed <= 0 {
		return 0
	}
	return u.isolated/u.speed - 1
}

// note puts estimates on the board, and holds them against what is so.
func (w *World) note() {
	e, ok := w.config.Adapter.(adapt.Estimator)
	if !ok {
		return
	}
	w.counters.Unheard = e.Unheard()
	for i := range w.windows {
		for _, seen := range w.windows[i].Replicas {
			estimate, ok := e.Slowdown(seen.Handle)
			k := w.replicaOf(seen.Handle)
			if !ok || k < 0 || seen.Task == nil {
				continue
			}
			w.board.SetSlowdown(seen.Node, seen.Handle, estimate)
			if seen.Task.Moving {
				continue
			}
			really := slowdownOf(&w.replicas[k])
			w.slowdown.Windows++
			w.slowdown.True += really
			w.slowdown.Estimated += estimate
			w.slowdown.Error += math.Abs(really - estimate)
		}
	}
}

// migrate lets one task go on elsewhere, after a while without work.
func (w *World) migrate(a adapt.Action) error {
	k := w.replicaOf(a.Handle)
	if k < 0 || !w.board.Fits(a.To, a.Size) {
		return nil
	}
	u := &w.replicas[k]
	s := w.workloads.at(u.workload)
	if s.job.Shape != Tasks || s.job.Deadline <= 0 || u.node == a.To {
		return fmt.Errorf("sim: only tasks with a deadline are moved to a node that is named")
	}
	u.progress.advance(w.now)
	from := u.node
	if err := w.board.Remove(from, a.Handle); err != nil {
		return err
	}
	w.config.Controller.Ended(w.now, from, a.Handle)
	w.leaveNode(k)
	u.node, u.size, u.cores, u.place = a.To, a.Size, coresOf(a.Size), int32(len(w.nodeReplicas[a.To]))
	w.nodeReplicas[a.To] = append(w.nodeReplicas[a.To], k)
	w.board.Place(a.To, s.resident(a.Handle, a.Size))
	if e, ok := w.config.Adapter.(adapt.Estimator); ok {
		if estimate, known := e.Slowdown(a.Handle); known {
			w.board.SetSlowdown(a.To, a.Handle, estimate)
		}
	}
	w.config.Controller.Started(w.now, a.To, a.Handle)
	w.counters.Migrations++
	u.resume = w.now + s.job.MoveTime
	w.heap.push(u.resume, kindMigrated, k, 0)
	w.refresh(a.To)
	w.rateTask(s, k)
	w.vacated(from)
	return nil
}

// migrated lets a task work again.
func (w *World) migrated(k int32) {
	u := &w.replicas[k]
	s := w.workloads.at(u.workload)
	if s.stage != stageRunning || u.resume != w.now {
		w.stale()
		return
	}
	w.rateTask(s, k)
}
