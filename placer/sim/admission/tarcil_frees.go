package admission

import (
	"math"
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/stat"
)

const (
	keptFrees  = 512 // the last ones of the history
	leastFrees = 9   // below, nothing is said of the wait (chosen by us)
	// sureShare is the "probability that approximates 1" of §7.3.4: above 0.977 a
	// normal estimate would always be beyond mean + 2 sigma, and no item would wait.
	sureShare = 0.95
)

// frees is when the units of one bucket came free: a ring of the last ones.
type frees struct {
	times  []Instant
	oldest int
	at     Instant // of the summary
	fresh  bool    // the summary holds all times
	last   gapSummary
}

// gapSummary is of the gaps between frees, in seconds.
type gapSummary struct {
	mean, variance, sure float64 // sure: the sureShare quantile
	n                    int     // gaps
}

// add notes that so many units came free together.
func (f *frees) add(now Instant, units int) {
	f.fresh = false
	for range min(units, keptFrees) {
		if len(f.times) < keptFrees {
			f.times = append(f.times, now)
			continue
		}
		f.times[f.oldest] = now
		f.oldest = (f.oldest + 1) % keptFrees
	}
}

// summary is of the frees of the last history. O(keptFrees), and O(1) until the
// next free.
func (f *frees) summary(now Instant, history time.Duration) gapSummary {
	if f.fresh && now-f.at < history/ticksPerWindow {
		return f.last
	}
	f.fresh, f.at = true, now
	gaps := make([]float64, 0, len(f.times))
	before := Instant(-1)
	for i := range f.times {
		t := f.times[(f.oldest+i)%len(f.times)]
		if now-t > history {
			continue
		}
		if before >= 0 {
			gaps = append(gaps, (t - before).Seconds())
		}
		before = t
	}
	f.last = summarise(gaps)
	return f.last
}

func summarise(gaps []float64) gapSummary {
	s := gapSummary{n: len(gaps)}
	if s.n == 0 {
		return s
	}
	for _, g := range gaps {
		s.mean += g / float64(s.n)
	}
	for _, g := range gaps {
		s.variance += (g - s.mean) * (g - s.mean) / float64(s.n)
	}
	slices.Sort(gaps)
	s.sure = stat.Quantile(gaps, sureShare)
	return s
}

// wait is the estimate for an item: when the units it lacks will have come free.
type wait struct {
	mean  time.Duration
	sure  time.Duration // by then, with sureShare
	bound time.Duration // mean + sigmas·sigma
}

// estimate is of the wait for k frees of some buckets together, from now; ok is
// false where too few frees are known.
//
// With gaps of mean μ and variance σ², and c² = σ²/μ², the first free is an
// equilibrium residual (§7.3.4 measures it from when the waiter appears), the
// others are whole gaps:
//
//	mean     = μ·(1 + c²)/2 + (k − 1)·μ
//	variance = μ²·(1 + c²)·(1 + 2c²)/3 − (μ·(1 + c²)/2)² + (k − 1)·σ²
//
// where the third moment is that of a gamma distribution with this c². Buckets
// add up: rates 1/μ, and σ²/μ³, the growth of the variance of their counts.
func (t *buckets) estimate(list []int32, now Instant, k int, c tarcilConfig, caution float64) (wait, bool) {
	var rate, spread, z float64
	n := 0
	for _, i := range list {
		s := t.list[i].frees.summary(now, c.history)
		if s.n == 0 || s.mean <= 0 {
			continue
		}
		n += s.n
		r := 1 / s.mean
		rate += r
		spread += s.variance * r * r * r
		if s.variance > 0 {
			z += r * (s.sure - s.mean) / math.Sqrt(s.variance)
		}
	}
	if n < leastFrees-1 {
		return wait{}, false
	}
	gap := 1 / rate
	c2 := spread * gap // σ²/μ², with σ² = spread·μ³
	first := gap * (1 + c2) / 2
	mean := first + float64(k-1)*gap
	variance := gap*gap*(1+c2)*(1+2*c2)/3 - first*first + float64(k-1)*c2*gap*gap
	sigma := math.Sqrt(variance)
	bound := mean + c.sigmas*sigma
	sure := min(bound, max(mean/4, (mean+z/rate*sigma)*caution))
	return wait{mean: span(mean), sure: span(sure), bound: span(bound)}, true
}

// longestSpan keeps spans far from the end of the clock.
const longestSpan = 1000 * 24 * time.Hour

func span(seconds float64) time.Duration {
	return time.Duration(min(seconds, longestSpan.Seconds()) * float64(time.Second))
}
