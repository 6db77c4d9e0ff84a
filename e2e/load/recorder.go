package load

import (
	"fmt"
	"io"
	"math"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/prometheus/client_golang/prometheus"
)

// The range and precision of the recorded latencies. A latency beyond the range
// is recorded as its end.
const (
	lowestLatency  = time.Microsecond
	highestLatency = 10 * time.Minute
	latencyDigits  = 3
)

// The Prometheus buckets: from 50 µs to 5 s in steps of about 1.25, so that a
// percentile interpolated inside a bucket is off by at most an eighth.
const (
	firstBucketSeconds = 50e-6
	lastBucketSeconds  = 5.0
	bucketStep         = 1.25
)

// recorder collects the outcome of requests, from any goroutine.
type recorder struct {
	requests prometheus.Counter
	errors   prometheus.Counter
	seconds  prometheus.Histogram

	mu             sync.Mutex
	total, second  *hdrhistogram.Histogram // latencies: of the load, since the last line
	failed         uint64
	failedInSecond uint64
	lastError      string
}

func newRecorder() *recorder {
	return &recorder{
		requests: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "load_requests_total", Help: "Requests answered without error.",
		}),
		errors: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "load_errors_total", Help: "Requests that failed, timed out or could not be sent.",
		}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "load_request_seconds", Help: "Time from when a request was due to its answer; failed requests are not in it.",
			Buckets: buckets(),
		}),
		total: newHistogram(), second: newHistogram(),
	}
}

func newHistogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(lowestLatency.Nanoseconds(), highestLatency.Nanoseconds(), latencyDigits)
}

// buckets are evenly spaced on the logarithm, and begin and end exactly.
func buckets() []float64 {
	steps := int(math.Ceil(math.Log(lastBucketSeconds/firstBucketSeconds) / math.Log(bucketStep)))
	list := prometheus.ExponentialBucketsRange(firstBucketSeconds, lastBucketSeconds, steps+1)
	list[steps] = lastBucketSeconds // without the rounding of its computation
	return list
}

// Describe and Collect make the recorder a Prometheus collector.
func (r *recorder) Describe(ch chan<- *prometheus.Desc) {
	r.requests.Describe(ch)
	r.errors.Describe(ch)
	r.seconds.Describe(ch)
}

func (r *recorder) Collect(ch chan<- prometheus.Metric) {
	r.requests.Collect(ch)
	r.errors.Collect(ch)
	r.seconds.Collect(ch)
}

// answered records a request that was due at one time and answered at another.
func (r *recorder) answered(due, at time.Time) {
	latency := min(max(at.Sub(due), lowestLatency), highestLatency)
	r.requests.Inc()
	r.seconds.Observe(latency.Seconds())
	r.mu.Lock()
	defer r.mu.Unlock()
	// The value is in range, which is the only thing RecordValue refuses.
	_ = r.total.RecordValue(latency.Nanoseconds())
	_ = r.second.RecordValue(latency.Nanoseconds())
}

// failure records n requests that failed for a reason.
func (r *recorder) failure(n int, reason error) {
	if n == 0 {
		return
	}
	r.errors.Add(float64(n))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed += uint64(n)
	r.failedInSecond += uint64(n)
	r.lastError = reason.Error()
}

// line writes what happened since the last line.
func (r *recorder) line(w io.Writer, elapsed, since time.Duration) error {
	r.mu.Lock()
	second, failed, last := r.second, r.failedInSecond, r.lastError
	r.second, r.failedInSecond = newHistogram(), 0
	r.mu.Unlock()
	text := fmt.Sprintf("t=%.0fs rate=%.0f/s errors=%d", elapsed.Seconds(), float64(second.TotalCount())/since.Seconds(), failed)
	if second.TotalCount() > 0 {
		text += fmt.Sprintf(" p50=%v p95=%v p99=%v max=%v",
			quantile(second, 50), quantile(second, 95), quantile(second, 99), pretty(second.Max()))
	}
	if failed > 0 {
		text += fmt.Sprintf(" error=%q", last)
	}
	_, err := fmt.Fprintln(w, text)
	return err
}

// summary closes the books.
func (r *recorder) summary(took time.Duration) Summary {
	r.mu.Lock()
	defer r.mu.Unlock()
	return Summary{
		Requests: uint64(r.total.TotalCount()), Errors: r.failed, LastError: r.lastError,
		Took: took, latency: hdrhistogram.Import(r.total.Export()),
	}
}

// Summary is the outcome of a load.
type Summary struct {
	Requests  uint64 // answered without error
	Errors    uint64
	LastError string // empty without errors
	Took      time.Duration
	latency   *hdrhistogram.Histogram
}

// RatePerSecond is the rate of requests answered without error.
func (s Summary) RatePerSecond() float64 { return float64(s.Requests) / s.Took.Seconds() }

// Latency returns a percentile of the latency, and whether there is one: a load
// without an answer has no latency.
func (s Summary) Latency(percentile float64) (time.Duration, bool) {
	if s.Requests == 0 {
		return 0, false
	}
	return time.Duration(s.latency.ValueAtQuantile(percentile)), true
}

// String prints one line.
func (s Summary) String() string {
	text := fmt.Sprintf("%d requests in %.1f s: %.0f/s, %d errors", s.Requests, s.Took.Seconds(), s.RatePerSecond(), s.Errors)
	if s.Requests > 0 {
		text += fmt.Sprintf("; latency p50=%v p95=%v p99=%v p99.9=%v max=%v",
			quantile(s.latency, 50), quantile(s.latency, 95), quantile(s.latency, 99), quantile(s.latency, 99.9), pretty(s.latency.Max()))
	}
	if s.Errors > 0 {
		text += fmt.Sprintf("; last error: %s", s.LastError)
	}
	return text
}

func quantile(h *hdrhistogram.Histogram, percentile float64) time.Duration {
	return pretty(h.ValueAtQuantile(percentile))
}

// pretty rounds nanoseconds to three digits.
func pretty(nanoseconds int64) time.Duration {
	d, unit := time.Duration(nanoseconds), time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit)
}
