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
// validation of seventeen sources takes ten minutes, without the calibration before
// it and what that has to repeat.
type pace struct {
	quick      bool          // leave out other people's programs
	settle     time.Duration // after a change of intensity, before it counts
	level      time.Duration // one level of a linearity sweep
	sameLevel  time.Duration // the same where the kernel works in windows of 10 ms
	window     time.Duration // one window of a pair
	pairs      int           // off and on
	victimStep int           // percent between the levels of a victim's curve
	linearStep int
	curvePairs int           // per level of a victim's curve, in each pass
	passes     int           // over the levels of a victim's curve
	peak       time.Duration // one window of a peak
	peakPairs  int
	probe      time.Duration // one level of a displacement curve
}

func fullPace() pace {
	return pace{
		settle: 4 * time.Millisecond, level: 30 * time.Millisecond, sameLevel: 60 * time.Millisecond,
		window: 30 * time.Millisecond, pairs: 6, victimStep: 10, linearStep: 5, curvePairs: 2, passes: 3,
		peak: 150 * time.Millisecond, peakPairs: 6, probe: 200 * time.Millisecond,
	}
}

// quickPace is for a look whether everything works: its numbers are rough.
func quickPace() pace {
	p := fullPace()
	p.quick = true
	p.level, p.sameLevel, p.probe = 20*time.Millisecond, 30*time.Millisecond, 40*time.Millisecond
	p.pairs, p.curvePairs, p.passes, p.peakPairs = 2, 2, 1, 2
	p.victimStep, p.linearStep = 50, 25
	p.peak = 50 * time.Millisecond
	return p
}

// window is a stretch of time of which the speed of something is known.
type window func(ctx context.Context, length time.Duration) (opsPerSec float64, err error)

// workerWindow measures a worker in ops per wall time.
func (s *session) workerWindow(w subject) window {
	return func(ctx context.Context, length time.Duration) (float64, error) {
		before, err := w.Read()
		if err != nil {
			return 0, err
		}
		if err := s.bench.Sleep(ctx, length); err != nil {
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
func (s *session) kernelWindow(k kernel) window {
	return func(ctx context.Context, length time.Duration) (float64, error) {
		before, after, err := s.kernelStretch(ctx, k, length)
		if err != nil {
			return 0, err
		}
		return k.Speed(before.KernelStats, after.KernelStats), nil
	}
}

// wallWindow measures what all threads of a kernel did per wall time.
func (s *session) wallWindow(k kernel) window {
	return func(ctx context.Context, length time.Duration) (float64, error) {
		before, after, err := s.kernelStretch(ctx, k, length)
		if err != nil {
			return 0, err
		}
		return opsPerWall(before, after), nil
	}
}

func (s *session) kernelStretch(ctx context.Context, k kernel, length time.Duration) (before, after ibench.Report, err error) {
	if before, err = k.Report(ctx); err != nil {
		return before, after, err
	}
	if err = s.bench.Sleep(ctx, length); err != nil {
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

// paired are windows with and without something, next to each other in time.
type paired struct{ on, off []float64 }

// add measures pairs in the order off, on, on, off, and so on: a drift of the
// machine cancels out within two of them.
func (p *paired) add(ctx context.Context, pairs int, measure func(on bool) (float64, error)) error {
	for i := range pairs {
		first := i%2 == 1 // odd pairs begin with pressure
		for _, state := range []bool{first, !first} {
			if err := ctx.Err(); err != nil {
				return err
			}
			v, err := measure(state)
			if err != nil {
				return err
			}
			if state {
				p.on = append(p.on, v)
			} else {
				p.off = append(p.off, v)
			}
		}
	}
	return nil
}

// ratio is the interval of with / without.
func (p *paired) ratio() (Interval, error) {
	s := stat.RatioMedian(p.on, p.off, confidence)
	if s.N == 0 {
		return Interval{}, errNothingDone
	}
	return intervalOf(s), nil
}

// contrast measures pairs and returns the interval of the ratio with / without.
func contrast(ctx context.Context, pairs int, measure func(on bool) (float64, error)) (Interval, error) {
	var p paired
	if err := p.add(ctx, pairs, measure); err != nil {
		return Interval{}, err
	}
	return p.ratio()
}

var errNothingDone = errors.New("nothing was done in the windows without pressure, so there is nothing to compare with")

// underPressure measures with a kernel at an intensity, and without it.
func (s *session) underPressure(ctx context.Context, k kernel, percent float64, measure window, length time.Duration) func(on bool) (float64, error) {
	at := math.NaN()
	return func(on bool) (float64, error) {
		want := 0.0
		if on {
			want = percent
		}
		if want != at {
			if err := s.setAndSettle(ctx, k, want); err != nil {
				return 0, err
			}
			at = want
		}
		return measure(ctx, length)
	}
}

// fullPressure measures what a kernel at 100 costs. A loss over the target is
// measured again, with twice as many pairs, and all of them count: something else
// that happened on the machine meanwhile does not happen again, cross-talk does.
// sure says that a loss needs no second look.
func (s *session) fullPressure(ctx context.Context, k kernel, measure window, length time.Duration, sure bool) (Interval, error) {
	var pairs paired
	once := s.underPressure(ctx, k, 100, measure, length)
	for _, n := range []int{s.pace.pairs, 2 * s.pace.pairs} {
		if err := pairs.add(ctx, n, once); err != nil {
			return Interval{}, err
		}
		ratio, err := pairs.ratio()
		if loss := lossOf(ratio); err != nil || loss.Center <= crossTalkMaxLoss || sure {
			return loss, err
		}
	}
	ratio, err := pairs.ratio()
	return lossOf(ratio), err
}

// setAndSettle sets a level and waits until the kernel has reached it.
func (s *session) setAndSettle(ctx context.Context, k kernel, percent float64) error {
	if err := k.Set(ctx, percent); err != nil {
		return err
	}
	if err := s.bench.Sleep(ctx, s.pace.settle); err != nil {
		return err
	}
	return ibench.AwaitLevel(ctx, k.Report, s.bench.Sleep)
}
