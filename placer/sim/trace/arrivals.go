package trace

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// Arrivals say when the jobs of a generator are submitted.
type Arrivals interface {
	// Times gives n offsets, ascending, the first at 0 or above.
	Times(n int, random *rand.Rand) []time.Duration
	// Check tells what is wrong with the parameters.
	Check() error
}

// Constant submits every Gap, the first at 0.
type Constant struct{ Gap time.Duration }

// Times gives n offsets.
func (c Constant) Times(n int, _ *rand.Rand) []time.Duration {
	return accumulate(n, func() time.Duration { return c.Gap })
}

// Check wants a gap of 0 or above.
func (c Constant) Check() error { return checkSpans("constant", c.Gap) }

// Poisson has exponential gaps.
type Poisson struct{ MeanGap time.Duration }

// Times gives n offsets.
func (p Poisson) Times(n int, random *rand.Rand) []time.Duration {
	return accumulate(n, func() time.Duration { return time.Duration(random.ExpFloat64() * float64(p.MeanGap)) })
}

// Check wants a mean gap of 0 or above.
func (p Poisson) Check() error { return checkSpans("poisson", p.MeanGap) }

// GaussianGaps has normal gaps; negative ones are drawn again, which raises the
// mean where Sigma is not small beside it (Delimitrou 2015, §3.4: mean 10 s,
// variance 1.0 s², where one in 10²³ is negative).
type GaussianGaps struct{ MeanGap, Sigma time.Duration }

// Times gives n offsets.
func (g GaussianGaps) Times(n int, random *rand.Rand) []time.Duration {
	return accumulate(n, func() time.Duration {
		for {
			if gap := float64(g.MeanGap) + random.NormFloat64()*float64(g.Sigma); gap >= 0 {
				return time.Duration(gap)
			}
		}
	})
}

// Check wants spans of 0 or above: then at least every second gap is taken.
func (g GaussianGaps) Check() error { return checkSpans("gaussian gaps", g.MeanGap, g.Sigma) }

// GaussianTimes has normal times of submission around Middle: a wave. Times
// before 0 are drawn again.
type GaussianTimes struct{ Middle, Sigma time.Duration }

// Times gives n offsets.
func (g GaussianTimes) Times(n int, random *rand.Rand) []time.Duration {
	times := make([]time.Duration, n)
	for i := range times {
		for {
			if at := float64(g.Middle) + random.NormFloat64()*float64(g.Sigma); at >= 0 {
				times[i] = time.Duration(at)
				break
			}
		}
	}
	slices.Sort(times)
	return times
}

// Check wants spans of 0 or above.
func (g GaussianTimes) Check() error { return checkSpans("gaussian times", g.Middle, g.Sigma) }

// Burst adds Count jobs, Gap apart, to those of Base, from the moment the
// After-th of them is submitted. Of n jobs, n − Count are of Base (Delimitrou
// 2015, §3.4: 7,500 jobs every second, and 1,000 less than 0.1 s apart after the
// first 3,750).
type Burst struct {
	Base  Arrivals
	After int
	Count int
	Gap   time.Duration
}

// Times gives n offsets.
func (b Burst) Times(n int, random *rand.Rand) []time.Duration {
	count := min(b.Count, n)
	times := b.Base.Times(n-count, random)
	var from time.Duration
	if after := min(b.After, len(times)); after > 0 {
		from = times[after-1]
	}
	for i := range count {
		times = append(times, from+time.Duration(i+1)*b.Gap)
	}
	slices.Sort(times)
	return times
}

// Check wants a base, and counts of 0 or above.
func (b Burst) Check() error {
	if b.Base == nil || b.After < 0 || b.Count < 0 {
		return fmt.Errorf("%w: burst of %d after %d", ErrDistribution, b.Count, b.After)
	}
	if err := b.Base.Check(); err != nil {
		return err
	}
	return checkSpans("burst", b.Gap)
}

// accumulate sums gaps; the first job is at 0.
func accumulate(n int, gap func() time.Duration) []time.Duration {
	times := make([]time.Duration, n)
	for i := 1; i < n; i++ {
		times[i] = times[i-1] + gap()
	}
	return times
}

func checkSpans(name string, spans ...time.Duration) error {
	for _, s := range spans {
		if s < 0 {
			return fmt.Errorf("%w: %s of %s", ErrDistribution, name, s)
		}
	}
	return nil
}
