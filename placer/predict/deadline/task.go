package deadline

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Errors of a step.
var (
	// ErrSample: the meter gave something that is no slowdown. The estimate stays.
	ErrSample = errors.New("the sample is no slowdown")
	// ErrSilent: the meter has said nothing for so long that nothing is known.
	ErrSilent = errors.New("the meter is silent")
)

// Verdict is what is known of a task after a step.
type Verdict struct {
	Slowdown float64       // estimated
	Left     float64       // work, estimated
	Finish   time.Duration // predicted; Never where it makes no progress
	Late     bool          // it needs help to end in time
}

// Task is the estimate of one running task.
type Task struct {
	parameters Parameters
	detector   Detector
	fullRate   float64
	deadline   time.Duration

	left     float64
	slowdown float64
	at       time.Duration // of the last step
	heard    time.Duration // of the last usable sample
	points   []Point
	missing  int
}

// NewTask begins at an instant with so much work left. fullRate is the fastest the
// task ever is; +Inf where that is not known.
func NewTask(d Detector, p Parameters, now time.Duration, left, fullRate float64, deadline time.Duration) *Task {
	return &Task{
		parameters: p, detector: d, fullRate: fullRate, deadline: deadline, left: left, at: now, heard: now,
		points: append(make([]Point, 0, max(2, p.Points)), Point{now, left}),
	}
}

// Step takes what happened since the last one: the rate the task held and how much
// slower than that the meter saw it. NaN is a meter that said nothing: the last
// estimate holds. An error says what was wrong with the sample; the verdict holds all
// the same, but is never Late when the meter is silent.
func (t *Task) Step(now time.Duration, rate, sample float64) (Verdict, error) {
	err := t.listen(now, sample)
	seconds := (now - t.at).Seconds()
	if seconds > 0 && rate >= 0 {
		t.left = max(0, t.left-seconds*min(t.fullRate, rate/(1+t.slowdown)))
		t.at = now
		t.remember(Point{now, t.left})
	}
	v := Verdict{Slowdown: t.slowdown, Left: t.left, Finish: Finish(t.points)}
	if len(t.points) < 2 {
		v.Finish = Ahead(now, t.left, rate, t.slowdown)
	}
	v.Late = !errors.Is(err, ErrSilent) && t.left > 0 && t.detector.Late(v.Finish, t.deadline)
	return v, err
}

// Corrected is the verdict where the work left was counted, and not only estimated: the
// task goes on from there.
func (t *Task) Corrected(v Verdict, now time.Duration, rate, left float64) Verdict {
	if !(left >= 0) || math.IsInf(left, 0) {
		return v
	}
	by := left - t.left
	t.left = left
	for i := range t.points {
		t.points[i].Left += by
	}
	v.Left, v.Finish = left, Ahead(now, left, rate, t.slowdown)
	v.Late = left > 0 && now-t.heard < t.parameters.Silence && t.detector.Late(v.Finish, t.deadline)
	return v
}

// listen takes the sample, or lets the time pass without it.
func (t *Task) listen(now time.Duration, sample float64) error {
	var err error
	if math.IsNaN(sample) || math.IsInf(sample, 0) || sample <= -1 {
		t.missing++
		t.detector.Skip()
		if !math.IsNaN(sample) {
			err = fmt.Errorf("%w: %v", ErrSample, sample)
		}
	} else {
		t.heard = now
		t.slowdown = max(leastSlowdown, t.detector.Sample(sample))
	}
	if quiet := now - t.heard; quiet >= t.parameters.Silence {
		err = errors.Join(err, fmt.Errorf("%w: for %s", ErrSilent, quiet))
	}
	return err
}

// leastSlowdown keeps a rate finite: at twice its expected speed a task is not where
// it was thought to be.
const leastSlowdown = -0.5

func (t *Task) remember(p Point) {
	if len(t.points) == max(2, t.parameters.Points) {
		copy(t.points, t.points[1:])
		t.points = t.points[:len(t.points)-1]
	}
	t.points = append(t.points, p)
}

// Pause lets time pass in which the task stood still, as while it is moved: nothing is
// read of it.
func (t *Task) Pause(now time.Duration) {
	t.at, t.heard = now, now
	t.points = append(t.points[:0], Point{now, t.left})
}

// Changed begins the regression anew: what the task holds was changed.
func (t *Task) Changed() { t.points = append(t.points[:0], Point{t.at, t.left}) }

// Left is the work that is estimated to be left.
func (t *Task) Left() float64 { return t.left }

// Slowdown is the present estimate.
func (t *Task) Slowdown() float64 { return t.slowdown }

// Deadline is when the task must have ended.
func (t *Task) Deadline() time.Duration { return t.deadline }

// FullRate is the fastest the task ever is.
func (t *Task) FullRate() float64 { return t.fullRate }

// Missing counts the samples that could not be used.
func (t *Task) Missing() int { return t.missing }
