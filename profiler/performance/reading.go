package performance

import (
	"errors"
	"math"
	"time"
)

// Bucket is one cumulative histogram bucket: Count observations at or below
// UpperSeconds (the Prometheus convention; the last bound may be +Inf).
type Bucket struct {
	UpperSeconds float64
	Count        float64
}

// Reading is what a probe saw of a workload at one instant. NaN marks what the
// probe does not give.
type Reading struct {
	At      time.Time
	Work    float64  // units of work done since the workload started
	RateNow float64  // units per second at this instant
	Latency []Bucket // cumulative, ascending; nil without a latency probe
	// Exact: At is the moment Work was counted, as the workload itself says, not
	// the moment it was read. The rate between two exact readings is exact, however
	// coarsely the workload counts.
	Exact bool
	Done  bool // the workload has finished its work
	// Started is when the workload started; zero where the probe cannot tell.
	Started time.Time
}

// Errors of Between.
var (
	ErrNoWork       = errors.New("no measurable work between two readings")
	ErrCounterReset = errors.New("the work counter went backwards: the workload restarted")
	ErrBadReading   = errors.New("the probe gave a number that cannot be a measurement")
)

// Measure is the performance over one window.
type Measure struct {
	Start, End  time.Time
	RatePerSec  float64       // units/s
	LatencyTail time.Duration // at the target's percentile; 0 if not measured
	Goodput     float64       // units/s inside the latency bound; equals RatePerSec without one
}

// Between turns two readings of the same workload into the performance of the
// window between them. t names the latency percentile and bound; without them
// goodput is the rate.
func Between(a, b Reading, t Target) (Measure, error) {
	m := Measure{Start: a.At, End: b.At}
	rate, err := rateBetween(a, b)
	if err != nil {
		return m, err
	}
	m.RatePerSec, m.Goodput = rate, rate
	if t.Latency == nil || len(b.Latency) == 0 {
		return m, nil
	}
	delta, err := bucketsBetween(a.Latency, b.Latency)
	if err != nil {
		return m, err
	}
	total := delta[len(delta)-1].Count
	if total <= 0 {
		return m, ErrNoWork
	}
	m.LatencyTail = time.Duration(quantileSeconds(delta, t.Latency.Percentile/100) * float64(time.Second))
	m.Goodput = rate * shareBelow(delta, t.Latency.Max.Seconds())
	return m, nil
}

func rateBetween(a, b Reading) (float64, error) {
	if bad(a.Work) || bad(b.Work) || bad(a.RateNow) || bad(b.RateNow) {
		return 0, ErrBadReading
	}
	if !math.IsNaN(a.Work) && !math.IsNaN(b.Work) {
		seconds := b.At.Sub(a.At).Seconds()
		if seconds <= 0 {
			return 0, ErrNoWork
		}
		if b.Work < a.Work {
			return 0, ErrCounterReset
		}
		return (b.Work - a.Work) / seconds, nil
	}
	if math.IsNaN(b.RateNow) {
		return 0, ErrBadReading
	}
	if math.IsNaN(a.RateNow) {
		return b.RateNow, nil
	}
	return (a.RateNow + b.RateNow) / 2, nil
}

// bad reports a number no probe may give: negative or infinite. NaN is the
// mark of "not given" and is checked by the callers.
func bad(v float64) bool { return v < 0 || math.IsInf(v, 0) }

func bucketsBetween(a, b []Bucket) ([]Bucket, error) {
	if len(a) != 0 && len(a) != len(b) {
		return nil, ErrCounterReset
	}
	out := make([]Bucket, len(b))
	for i := range b {
		out[i] = b[i]
		if len(a) == 0 {
			continue
		}
		if a[i].UpperSeconds != b[i].UpperSeconds || b[i].Count < a[i].Count {
			return nil, ErrCounterReset
		}
		out[i].Count = b[i].Count - a[i].Count
	}
	return out, nil
}

// quantileSeconds interpolates linearly inside the bucket that holds quantile
// q, as Prometheus' histogram_quantile does; in the +Inf bucket it returns the
// highest finite bound, which is a lower bound of the truth.
func quantileSeconds(cumulative []Bucket, q float64) float64 {
	rank := q * cumulative[len(cumulative)-1].Count
	lower, below := 0.0, 0.0
	for _, b := range cumulative {
		if b.Count >= rank && b.Count > below {
			if math.IsInf(b.UpperSeconds, 1) {
				return lower
			}
			return lower + (b.UpperSeconds-lower)*(rank-below)/(b.Count-below)
		}
		lower, below = b.UpperSeconds, b.Count
	}
	return lower
}

// shareBelow is the share of observations at or below bound, interpolated
// linearly inside its bucket. In the +Inf bucket nothing is credited.
func shareBelow(cumulative []Bucket, boundSeconds float64) float64 {
	total := cumulative[len(cumulative)-1].Count
	lower, below := 0.0, 0.0
	for _, b := range cumulative {
		if boundSeconds < b.UpperSeconds {
			if math.IsInf(b.UpperSeconds, 1) {
				return below / total
			}
			inside := (boundSeconds - lower) / (b.UpperSeconds - lower)
			return (below + inside*(b.Count-below)) / total
		}
		lower, below = b.UpperSeconds, b.Count
	}
	return 1
}
