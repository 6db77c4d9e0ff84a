package sim

import (
	"fmt"
	"math"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/sim/admission"
	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
)

// arrive takes the next submission in, and sends it to be profiled.
func (w *World) arrive() error {
	i := w.workloads.take()
	s := w.workloads.at(i)
	s.job, s.stage, s.load, s.running = w.next, stageProfiling, 1, -1
	j := &s.job
	if j.Count < 1 || j.Count >= 1<<maxReplicaBits {
		return fmt.Errorf("%w: job %d wants %d allocations", ErrConfig, j.Number, j.Count)
	}
	s.record = int32(len(w.records))
	w.records = append(w.records, Record{
		Number: int32(j.Number), Class: int16(j.Class), Shape: j.Shape, Arrived: w.now, Ready: Never, Started: Never, Ended: Never,
		Ideal: j.Duration, Targeted: j.Target > 0, Priority: int16(j.Priority),
	})
	w.reserved += w.asked(s)
	if j.Target > 0 {
		w.targeted++
	}
	profiled, err := w.know(i, s)
	if err != nil {
		return err
	}
	s.prepare(w.machines)
	if err := w.read(); err != nil {
		return err
	}
	if !profiled || w.config.ProfileTime <= 0 || w.profiled[j.App] {
		return w.ready(i)
	}
	if assumer, ok := w.config.Estimator.(Assumer); ok && w.startsAtOnce(s) {
		e, err := assumer.Assume(j, s.phase)
		if err != nil {
			return fmt.Errorf("sim: job %d: %w", j.Number, err)
		}
		s.estimate(e)
		w.heap.push(w.now+w.config.ProfileTime, kindLearned, i, s.life)
		return w.ready(i)
	}
	w.profile(i)
	return nil
}

// startsAtOnce: the cluster is quiet, and nobody has a target that a wrong place could make
// them miss.
func (w *World) startsAtOnce(s *workload) bool {
	return w.targeted == 0 && w.reserved < w.config.StartBelow*w.usage.total
}

// learned puts what was measured in place of what was assumed.
func (w *World) learned(e event) error {
	s := w.workloads.at(e.who)
	if s.life != e.generation || s.stage != stageWaiting && s.stage != stageRunning {
		w.stale()
		return nil
	}
	w.remember(s)
	return w.inform(s, 0)
}

// prepare derives what the progress is measured in.
func (s *workload) prepare(machines []truth.Machine) {
	j := &s.job
	s.left = j.Count
	s.progress.work = j.Duration.Seconds()
	if j.App == nil {
		return
	}
	_, s.top = j.Best(machines)
	s.useful = j.App.UsefulCores()
	s.best = s.top * j.App.Size(0, float64(j.Size.Cores)+float64(j.Size.CPUMHz)/mhzPerCore, math.Inf(1))
	switch {
	case j.Target > 0:
		s.scale = j.Target
	case j.Shape == Batch:
		s.scale = s.best * float64(j.Count) * j.App.Out.Relative(j.Count)
	default:
		s.scale = s.best
	}
}

// mhzPerCore is what CPU shares are counted in here: a core of any node is a
// thousand of them. How fast it is, the truth knows.
const mhzPerCore = 1000

// know fills the ask with estimates, and reports whether that takes a profiling
// run.
func (w *World) know(i int32, s *workload) (bool, error) {
	j := &s.job
	s.ask = board.Request{
		Handle: handleOf(i, 0), Size: j.Size, Count: j.Count, Priority: j.Priority, Tolerated: w.assumedT, Caused: w.assumedC,
		Target: j.Target, BestEffort: j.BestEffort, Gang: j.Gang, SlowdownMax: slowdownMax, Class: j.Declared,
	}
	w.due(i, s)
	if w.config.Estimator == nil {
		return false, nil
	}
	e, err := w.config.Estimator.Know(j, s.phase, 0)
	if err != nil {
		return false, fmt.Errorf("sim: job %d: %w", j.Number, err)
	}
	s.estimate(e)
	s.known, s.again = s.phase, 0
	return e.Profiled, nil
}

// slowdownMax is the loss that still counts as good (Delimitrou 2015, §3.3.2).
const slowdownMax = 0.05

// estimate puts what is known into the ask.
func (s *workload) estimate(e Estimate) {
	if e.Tolerated != nil {
		s.ask.Tolerated, s.ask.Caused, s.ask.AtBound, s.ask.Tolerances = e.Tolerated, e.Caused, e.AtBound, e.Tolerances
	}
	s.ask.Speed, s.ask.Expected, s.ask.Response = e.Speed, e.Expected, e.Response
	if s.job.Sized {
		s.ask.Sizes, s.ask.ScaleOut = e.Sizes, e.ScaleOut
	}
}

// profile takes a slot of the laboratory, or waits for one.
func (w *World) profile(i int32) {
	if w.config.LabSlots > 0 && w.labBusy >= w.config.LabSlots {
		w.lab = append(w.lab, i)
		return
	}
	w.labBusy++
	w.heap.push(w.now+w.config.ProfileTime, kindReady, i, 0)
}

// remember that a profile of its application is there.
func (w *World) remember(s *workload) {
	if w.config.Recurring && s.job.App != nil {
		w.profiled[s.job.App] = true
	}
}

// ready hands a profiled workload to admission.
func (w *World) ready(i int32) error {
	s := w.workloads.at(i)
	r := &w.records[s.record]
	it := admission.Item{Ask: &s.ask, Arrived: r.Arrived, Ready: w.now}
	if w.now > r.Arrived {
		it.Profile = w.config.ProfileTime
		w.remember(s)
		w.labBusy--
		if len(w.lab) > 0 {
			w.profile(w.lab[0])
			w.lab = w.lab[1:]
		}
	}
	r.Ready = w.now
	s.stage = stageWaiting
	w.config.Controller.Arrive(w.now, it)
	return nil
}
