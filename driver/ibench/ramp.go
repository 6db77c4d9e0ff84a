package ibench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"
)

// rampLevels are those of the published ramp: 0 to 100 percent in steps of one
// (Delimitrou 2015, §5.3).
const rampLevels = 101

// The shortest and the longest ramp: a level takes at least some quanta of
// work, and the control socket waits for the end.
const (
	rampMin = 10 * time.Millisecond
	rampMax = askTimeout / 2
)

// RampLevel is what a kernel did at one level of a ramp, over all its threads.
type RampLevel struct {
	IntensityPercent float64 `json:"intensity_percent"`
	Ops              float64 `json:"ops"`
	DemandOps        float64 `json:"demand_ops"`
	BusyNanoseconds  float64 `json:"busy_ns"`
	WallNanoseconds  float64 `json:"wall_ns"`
}

// AchievedPercent is the part of the intensity that was reached; ok is false
// where nothing was asked for.
func (l RampLevel) AchievedPercent() (percent float64, ok bool) {
	if !(l.DemandOps > 0) {
		return 0, false
	}
	return l.IntensityPercent * min(1, l.Ops/l.DemandOps), true
}

// ramp is a ramp under way. Each worker climbs by itself, on the same clock: no
// message would be in time.
type ramp struct {
	start, step time.Duration // on the rig's clock
	knobs       [rampLevels]float64

	mu     sync.Mutex
	levels [rampLevels]totals
	err    error         // of the first thread that failed
	left   int           // threads that have not ended it
	done   chan struct{} // closed when all have
}

func (p *ramp) add(level int, t totals) {
	p.mu.Lock()
	p.levels[level] = p.levels[level].plus(t)
	p.mu.Unlock()
}

func (p *ramp) leave(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.err = err
	}
	if p.left--; p.left == 0 {
		close(p.done)
	}
}

// climb runs the ramp on this thread. Levels are short, so it waits awake.
func (b *beat) climb(p *ramp) (err error) {
	defer func() { p.leave(err) }()
	peak := b.rig.peakPerThread()
	b.pace = Pace{}
	b.awake(p.start)
	b.account(0, 0)
	for level, knob := range p.knobs {
		pace := b.worker.Tune(knob, peak)
		begin := p.start + time.Duration(level)*p.step
		t, err := b.level(pace, begin, begin+p.step)
		if err != nil {
			return err
		}
		p.add(level, t)
		b.meter.add(t)
		b.marked = b.rig.now()
	}
	return nil
}

// awake waits without sleeping, which would end too late.
func (b *beat) awake(until time.Duration) {
	for b.rig.now() < until && !b.rig.ending.Load() {
	}
}

// level keeps a pace from begin to end, in one window.
func (b *beat) level(pace Pace, begin, end time.Duration) (totals, error) {
	t := totals{wall: end - begin}
	tokens := pace.OpsPerSecond * t.wall.Seconds()
	busyEnd := begin + time.Duration(pace.Busy*float64(t.wall))
	now := b.rig.now()
	for !pace.idle() && t.ops < tokens && now < busyEnd && !b.rig.ending.Load() {
		n, err := b.worker.Work(tokens - t.ops)
		if err != nil {
			return t, err
		}
		last := now
		now = b.rig.now()
		t.ops += n
		t.busy += b.took(now - last)
		if n == 0 {
			break
		}
	}
	b.awake(end)
	t.demandOps = pace.DemandPerSec * t.wall.Seconds()
	if pace.idle() {
		t.demandOps = 0
	} else if math.IsInf(t.demandOps, 1) {
		t.demandOps = t.ops
	}
	return t, nil
}

// climb lets every worker run a ramp of that length and returns what they did
// at each level. knob says which knob has an intensity, in percent.
func (r *rig) climb(ctx context.Context, total time.Duration, knob func(percent float64) float64) ([]RampLevel, error) {
	if total < rampMin || total > rampMax {
		return nil, fmt.Errorf("a ramp of %s is not between %s and %s", total, rampMin, rampMax)
	}
	p := &ramp{start: r.now() + settleDwell, step: total / rampLevels, left: len(r.meters), done: make(chan struct{})}
	for level := range p.knobs {
		p.knobs[level] = knob(float64(level)) / 100
	}
	if !r.ramp.CompareAndSwap(nil, p) {
		return nil, errors.New("a ramp is under way")
	}
	defer r.ramp.Store(nil)
	r.announce()
	select {
	case <-p.done:
		if p.err != nil {
			return nil, p.err
		}
	case <-r.failed:
		return nil, r.failure()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	out := make([]RampLevel, rampLevels)
	for level, t := range p.levels {
		out[level] = RampLevel{
			IntensityPercent: float64(level), Ops: t.ops, DemandOps: t.demandOps,
			BusyNanoseconds: float64(t.busy.Nanoseconds()), WallNanoseconds: float64(t.wall.Nanoseconds()),
		}
	}
	return out, nil
}
