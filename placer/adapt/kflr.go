package adapt

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/predict/deadline"
)

// kflr is quasar with another judge for work that must finish: not what it reaches in
// a window counts, but when it is predicted to end. Work that is ahead may be slow for
// a while; work that is late is helped however well it does now.
type kflr struct {
	*quasar
	parameters deadline.Parameters
	detector   deadline.Descriptor
	tasks      map[board.Handle]*ending
	gone       int // samples that could not be used, of tasks that have ended
}

// ending is what is remembered of a workload that must finish.
type ending struct {
	task     *deadline.Task
	deadline Instant
	late     int     // windows with an alarm, one after another
	best     float64 // rate seen
}

func newKFLR(o Options) Adapter { return makeKFLR(o) }

func makeKFLR(o Options) *kflr {
	return &kflr{
		quasar:     &quasar{options: o, states: map[board.Handle]*state{}},
		parameters: deadline.Defaults(), detector: detectorOf(o), tasks: map[board.Handle]*ending{},
	}
}

// detectorOf the options; an unknown name is the default one: names are checked where they
// are read from a person.
func detectorOf(o Options) deadline.Descriptor {
	d, err := deadline.Lookup(o.Detector)
	if err != nil {
		d, _ = deadline.Lookup(deadline.DefaultDetector)
	}
	return d
}

// Forget implements Adapter.
func (k *kflr) Forget(handle board.Handle) {
	if e := k.tasks[handle]; e != nil {
		k.gone += e.task.Missing()
	}
	delete(k.tasks, handle)
	k.quasar.Forget(handle)
}

// Slowdown implements Estimator: against the rate that just reaches the target.
func (k *kflr) Slowdown(handle board.Handle) (float64, bool) {
	if e := k.tasks[handle]; e != nil {
		return e.task.Slowdown(), true
	}
	return 0, false
}

// Unheard implements Estimator.
func (k *kflr) Unheard() int {
	n := k.gone
	for _, e := range k.tasks {
		n += e.task.Missing()
	}
	return n
}

// Step implements Adapter.
func (k *kflr) Step(now Instant, b *board.Board, windows []Observation, random *rand.Rand) []Action {
	var rest []Observation
	var out []Action
	free := newRoom(b)
	for i := range windows {
		w := &windows[i]
		if w.Finish == nil || !(w.Target > 0) || w.BestEffort {
			rest = append(rest, *w)
			continue
		}
		out = append(out, k.ends(now, b, w, free)...)
	}
	return append(out, k.quasar.Step(now, b, rest, random)...)
}

// ends judges one workload by when it will end. Several alarms must follow one
// another, as several windows below a target must.
func (k *kflr) ends(now Instant, b *board.Board, w *Observation, free *room) []Action {
	e := k.ending(now, w)
	v, err := e.task.Step(now, w.Target, slowdownOf(w))
	v = e.task.Corrected(v, now, w.Target, w.Finish.Work-w.Finish.Done)
	if w.Performance > e.best {
		e.best = w.Performance
	}
	switch {
	case err != nil || math.IsNaN(w.Performance): // nothing is known, and nothing done
		e.late = 0
		return nil
	case !v.Late:
		e.late = 0
		k.recovered(w.Handle)
		return nil
	}
	e.late++
	s := k.state(w.Handle)
	if e.late < k.options.Windows || now < s.quietUntil {
		return nil
	}
	s.quietUntil, e.late = now+k.options.Quiet, 0
	actions := k.improve(s, b, w, shareInTime(now, v.Finish, e.deadline), free, lateReason(now, v.Finish, e.deadline))
	return slices.DeleteFunc(actions, func(a Action) bool { return a.Kind == Move && !e.mayStartAnew(now, w) })
}

// mayStartAnew: elsewhere it begins from the start. That is worth it only where it can
// still do all of its work in time, at the best rate it was seen to have.
func (e *ending) mayStartAnew(now Instant, w *Observation) bool {
	return e.best*(e.deadline-now).Seconds() >= w.Finish.Work
}

// ending is what is known of the workload; anew where its deadline moved.
func (k *kflr) ending(now Instant, w *Observation) *ending {
	e := k.tasks[w.Handle]
	if e != nil && e.deadline == w.Finish.Deadline {
		return e
	}
	f := w.Finish
	done := f.Done
	if math.IsNaN(done) { // how far it is is unknown: assumed is that it was in time until now
		done = min(f.Work, w.Target*max(0, now-f.Started).Seconds())
	}
	e = &ending{deadline.NewTask(k.detector.New(k.parameters), k.parameters, now, max(0, f.Work-done), math.Inf(1), f.Deadline), f.Deadline, 0, 0}
	k.tasks[w.Handle] = e
	return e
}

// slowdownOf is how much longer than at the rate that just reaches its target it takes
// by this window; NaN where nothing is known. Standing still is as slow as counts.
func slowdownOf(w *Observation) float64 {
	if math.IsNaN(w.Performance) || w.Performance < 0 {
		return math.NaN()
	}
	if w.Performance*(1+mostSlowdown) < w.Target {
		return mostSlowdown
	}
	return w.Target/w.Performance - 1
}

// mostSlowdown bounds what one window may say: a fifth of the rate, chosen by us.
const mostSlowdown = 4.0

// recovered lets what was classified anew be so again.
func (k *kflr) recovered(handle board.Handle) {
	if s := k.states[handle]; s != nil {
		s.reclassified = false
	}
}

// shareInTime is which part of its work will be done when it should have ended.
func shareInTime(now, finish, deadline Instant) float64 {
	left, needed := (deadline - now).Seconds(), (finish - now).Seconds()
	return min(0.99, max(0.1, left/max(needed, 1e-9)))
}

func lateReason(now, finish, until Instant) string {
	switch {
	case until <= now:
		return fmt.Sprintf("%s past its deadline", (now - until).Round(time.Second))
	case finish == deadline.Never:
		return fmt.Sprintf("without progress, with its deadline in %s", (until - now).Round(time.Second))
	}
	return fmt.Sprintf("predicted to end %s after its deadline in %s", (finish - until).Round(time.Second), (until - now).Round(time.Second))
}
