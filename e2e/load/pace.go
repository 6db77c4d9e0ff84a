package load

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"time"
)

// tick is the distance between two batches.
const tick = time.Millisecond

// maxPoissonMean bounds the mean that is sampled at once: exp(-mean) must stay
// far from the smallest float64.
const maxPoissonMean = 30

// batch is a number of requests due at one time.
type batch struct {
	due   time.Time
	count int
}

// schedule yields the batches of a load, tick by tick. It depends on its
// arguments only.
type schedule struct {
	start    time.Time
	perTick  float64
	arrivals Arrivals
	rng      *rand.Rand
	ticks    int64 // ticks yielded or skipped so far
}

func newSchedule(start time.Time, ratePerSecond float64, arrivals Arrivals, seed uint64) *schedule {
	return &schedule{
		start: start, perTick: ratePerSecond * tick.Seconds(), arrivals: arrivals,
		rng: rand.New(rand.NewPCG(seed, seed)),
	}
}

// next returns the next batch that is not empty.
func (s *schedule) next() batch {
	for {
		k := s.ticks
		s.ticks++
		if n := s.arriving(k); n > 0 {
			return batch{due: s.start.Add(time.Duration(k) * tick), count: n}
		}
	}
}

// arriving is the number of requests due at tick k.
func (s *schedule) arriving(k int64) int {
	if s.arrivals == Poisson {
		return poisson(s.rng, s.perTick)
	}
	// The difference of two rounded totals never drifts from the rate.
	return int(math.Floor(s.perTick*float64(k+1)) - math.Floor(s.perTick*float64(k)))
}

// poisson draws from the Poisson distribution (Knuth 1969, vol. 2, §3.4.1). A
// large mean is drawn as a sum of two halves. Cost O(mean).
func poisson(rng *rand.Rand, mean float64) int {
	if mean > maxPoissonMean {
		return poisson(rng, mean/2) + poisson(rng, mean/2)
	}
	limit, n := math.Exp(-mean), 0
	for p := rng.Float64(); p > limit; p *= rng.Float64() {
		n++
	}
	return n
}

// pace hands the batches of a schedule to deal, each when it is due, until the
// end (zero: never) or until the context ends. deal may block; then batches come
// late, but with their own due times.
func pace(ctx context.Context, s *schedule, end time.Time, deal func(batch)) {
	// Sharper timers are a property of the thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	sharpenTimers()
	for ctx.Err() == nil {
		b := s.next()
		if !end.IsZero() && !b.due.Before(end) {
			sleepUntil(ctx, end)
			return
		}
		sleepUntil(ctx, b.due)
		if ctx.Err() == nil {
			deal(b)
		}
	}
}

// longestSleep bounds one sleep, so that the end of the context is noticed.
const longestSleep = 50 * time.Millisecond

func sleepUntil(ctx context.Context, t time.Time) {
	for ctx.Err() == nil {
		left := time.Until(t)
		if left <= 0 {
			return
		}
		preciseSleep(min(left, longestSleep))
	}
}
