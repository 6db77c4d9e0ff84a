package validate

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/nomad-placer/nomad-placer/driver/ibench"
	"github.com/nomad-placer/nomad-placer/profiler/stat"
)

// confidence is that of the intervals asked for.
const confidence = 0.95

// pace says how long the measurements take. Chosen by us so that a full
// validation of seventeen sources ends within ten minutes.
type pace struct {
	quick      bool          // leave out other people's programs
	settle     time.Duration // after a change of intensity, before it counts
	level      time.Duration // one level of a linearity sweep
	sameLevel  time.Duration // the same where the kernel works in windows of 10 ms
	window     time.Duration // one window of a pair
	pairs      int           // off and on
	victimStep int           // percent between the levels of a victim's curve
	linearStep int
	curvePairs int           // per level of a victim's curve
	peak       time.Duration // one window of a peak
	peakPairs  int
	probe      time.Duration // one level of a displacement curve
}

func fullPace() pace {
	return pace{
		settle: 4 * time.Millisecond, level: 60 * time.Millisecond, sameLevel: 100 * time.Millisecond,
		window: 30 * time.Millisecond, pairs: 6, victimStep: 10, linearStep: 5, curvePairs: 6,
		peak: 150 * time.Millisecond, peakPairs: 6, probe: 120 * time.Millisecond,
	}
}

// quickPace is for a look whether everything works: its numbers are rough.
func quickPace() pace {
	p := fullPace()
	p.quick = true
	p.level, p.sameLevel, p.probe = 20*time.Millisecond, 30*time.Millisecond, 40*time.Millisecond
	p.pairs, p.curvePairs, p.peakPairs = 2, 2, 2
	p.victimStep, p.linearStep = 50, 25
	p.peak = 50 * time.Millisecond
	return p
}

// window is a stretch of time of which the speed of something is known.
type window func(ctx context.Context, length time.Duration) (opsPerSec float64, err error)

// workerWindow measures a worker in ops per wall time.
func workerWindow(b bench, w subject) window {
	return func(ctx context.Context, length time.Duration) (float64, error) {
		before, err := w.Read()
		if err != nil {
			return 0, err
		}
		if err := b.Sleep(ctx, length); err != nil {
			return 0, err
		}
		after, err := w.Read()
		if err != nil {
			return 0, err
		}
		return (after.Ops - before.Ops) / after.At.Sub(before.At).Seconds(), nil
	}
}

// kernelWindow measures a kernel as the profiler does, for a caused score.
func kernelWindow(b bench, k kernel) window {
	return func(ctx context.Context, length time.Duration) (float64, error) {
		before, after, err := kernelStretch(ctx, b, k, length)
		if err != nil {
			return 0, err
		}
		return k.Speed(before.KernelStats, after.KernelStats), nil
	}
}

// wallWindow measures what all threads of a kernel did per wall time.
func wallWindow(b bench, k kernel) window {
	return func(ctx context.Context, length time.Duration) (float64, error) {
		before, after, err := kernelStretch(ctx, b, k, length)
		if err != nil {
			return 0, err
		}
		return opsPerWall(before, after), nil
	}
}

func kernelStretch(ctx context.Context, b bench, k kernel, length time.Duration) (before, after ibench.Report, err error) {
	if before, err = k.Report(ctx); err != nil {
		return before, after, err
	}
	if err = b.Sleep(ctx, length); err != nil {
		return before, after, err
	}
	after, err = k.Report(ctx)
	return before, after, err
}

// opsPerWall is the speed of all threads together; their wall times add up.
func opsPerWall(before, after ibench.Report) float64 {
	wall := (after.WallNanoseconds - before.WallNanoseconds) / float64(after.Threads)
	if wall <= 0 {
		return math.NaN()
	}
	return (after.Ops - before.Ops) / wall * 1e9
}

// contrast measures a window without and with something, in the order off, on,
// on, off, and so on: a drift of the machine cancels out within two pairs. It
// returns the interval of the ratio with / without.
func contrast(ctx context.Context, pairs int, measure func(on bool) (float64, error)) (Interval, error) {
	var on, off []float64
	for i := range pairs {
		first := i%2 == 1 // odd pairs begin with pressure
		for _, state := range []bool{first, !first} {
			if err := ctx.Err(); err != nil {
				return Interval{}, err
			}
			v, err := measure(state)
			if err != nil {
				return Interval{}, err
			}
			if state {
				on = append(on, v)
			} else {
				off = append(off, v)
			}
		}
	}
	s := stat.RatioMedian(on, off, confidence)
	if s.N == 0 {
		return Interval{}, errNothingDone
	}
	return intervalOf(s), nil
}

var errNothingDone = errors.New("nothing was done in the windows without pressure, so there is nothing to compare with")

// press measures what a kernel at an intensity costs.
func press(ctx context.Context, b bench, p pace, pairs int, k kernel, percent float64, measure window, length time.Duration) (Interval, error) {
	at := math.NaN()
	ratio, err := contrast(ctx, pairs, func(on bool) (float64, error) {
		want := 0.0
		if on {
			want = percent
		}
		if want != at {
			if err := setAndSettle(ctx, b, p, k, want); err != nil {
				return 0, err
			}
			at = want
		}
		return measure(ctx, length)
	})
	return lossOf(ratio), err
}

// pressFull measures what a kernel at 100 costs. Where the interval cannot
// tell whether a loss is over the target, twice as many pairs decide.
func pressFull(ctx context.Context, b bench, p pace, k kernel, measure window, length time.Duration) (Interval, error) {
	loss, err := press(ctx, b, p, p.pairs, k, 100, measure, length)
	if err != nil || loss.Center <= crossTalkMaxLoss || loss.Low > crossTalkMaxLoss {
		return loss, err
	}
	return press(ctx, b, p, 2*p.pairs, k, 100, measure, length)
}

// A kernel that fills memory or a disk takes its time: its level counts once
// it holds what it should.
const (
	settlePoll  = 20 * time.Millisecond
	settlePolls = 150     // at most
	settleBytes = 1 << 20 // as near to its goal as counts
	// stillPolls is how many looks in a row may show no change before the kernel
	// counts as stuck short of its goal, or as one that does not give back.
	stillPolls = 10
	// keptPolls is the same for one that holds more than its goal: some give
	// back at once, others not at all.
	keptPolls = 2
)

// setAndSettle sets a level and waits until the kernel has reached it.
func setAndSettle(ctx context.Context, b bench, p pace, k kernel, percent float64) error {
	if err := k.Set(ctx, percent); err != nil {
		return err
	}
	if err := b.Sleep(ctx, p.settle); err != nil {
		return err
	}
	last := math.NaN()
	for still, polls := 0, 0; polls < settlePolls; polls++ {
		r, err := k.Report(ctx)
		if err != nil {
			return err
		}
		held, fills := r.Measures[measureHeld]
		if !fills || math.Abs(held-r.Measures[measureGoal]) <= settleBytes {
			return nil
		}
		still++
		if held != last {
			still = 0
		}
		last = held
		if still >= stillPolls || (still >= keptPolls && held > r.Measures[measureGoal]) {
			return nil
		}
		if err := b.Sleep(ctx, settlePoll); err != nil {
			return err
		}
	}
	return nil
}

// The measures by which kernels that fill something say how far they are.
const (
	measureGoal = "goal_bytes"
	measureHeld = "held_bytes"
)
