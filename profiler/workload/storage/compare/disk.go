package compare

import (
	"math"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/nomad-placer/nomad-placer/profiler/workload/storage"
)

// The reference disk: a drive of 7200 turns a minute, as those of the text (chosen by us:
// the text names no model). A seek takes shortSeek + longSeek·√distance, with the distance
// as a part of the device (Ruemmler and Wilkes 1994, §2.1).
const (
	shortSeek     = time.Millisecond
	longSeek      = 9 * time.Millisecond
	halfTurn      = 60 * time.Second / 7200 / 2
	bytesPerSec   = 150e6
	latencyDigits = 3
	mostLatency   = int64(time.Hour / time.Microsecond)
)

// DiskResult is what the reference disk does with a stream.
type DiskResult struct {
	// IOPS is how many I/Os it does in a second when the next one is always there.
	IOPS float64 `json:"iops"`
	// Latencies are from the I/O's own time on, in one queue.
	MeanMilliseconds float64 `json:"mean_milliseconds"`
	P50Milliseconds  float64 `json:"p50_milliseconds"`
	P95Milliseconds  float64 `json:"p95_milliseconds"`
	P99Milliseconds  float64 `json:"p99_milliseconds"`
	// Depth is how many I/Os are there on average, by Little's law.
	Depth float64 `json:"depth"`
}

// head is the state of the disk: where it is.
type head struct {
	deviceBytes int64
	at          int64
}

// service is how long an I/O takes once it is its turn.
func (h *head) service(r *storage.Record) time.Duration {
	d := time.Duration(float64(r.Bytes) / bytesPerSec * float64(time.Second))
	if distance := r.Offset - h.at; distance != 0 {
		d += halfTurn
		if distance < 0 || distance > storage.NearBytes {
			part := math.Abs(float64(distance)) / float64(h.deviceBytes)
			d += shortSeek + time.Duration(math.Sqrt(min(part, 1))*float64(longSeek))
		}
	}
	h.at = r.End()
	return d
}

// disk measures a stream on the reference disk.
type disk struct {
	head      head
	free      time.Duration // when it is done with all that came
	busy      time.Duration
	waited    float64 // sum of latencies in seconds
	last      time.Duration
	ios       int64
	latencies *hdrhistogram.Histogram // µs
}

func newDisk(deviceBytes int64) *disk {
	return &disk{head: head{deviceBytes: deviceBytes}, latencies: hdrhistogram.New(1, mostLatency, latencyDigits)}
}

func (d *disk) add(r *storage.Record) {
	service := d.head.service(r)
	d.free = max(d.free, r.At) + service
	d.busy += service
	latency := d.free - r.At
	d.waited += latency.Seconds()
	// A queue of more than an hour is an hour: the mean is exact, percentiles say at least.
	_ = d.latencies.RecordValue(min(max(latency.Microseconds(), 1), mostLatency))
	d.last = r.At
	d.ios++
}

func (d *disk) result() DiskResult {
	n := float64(d.ios)
	at := func(percentile float64) float64 { return float64(d.latencies.ValueAtPercentile(percentile)) / 1e3 }
	return DiskResult{
		IOPS: n / d.busy.Seconds(), MeanMilliseconds: d.waited / n * 1e3,
		P50Milliseconds: at(50), P95Milliseconds: at(95), P99Milliseconds: at(99),
		Depth: d.waited / max(d.last, d.free).Seconds(),
	}
}

// closedLoop gives the I/Os of a stream the times at which the reference disk with a fixed
// number of outstanding I/Os would take them: the mode that the text compares inter-arrival
// times with (§A.3.4).
type closedLoop struct {
	from storage.Reader
	head head
	free time.Duration
	ends []time.Duration // of the outstanding I/Os, as a ring: one queue ends them in order
	next int
}

func newClosedLoop(from storage.Reader, deviceBytes int64, depth int) *closedLoop {
	return &closedLoop{from: from, head: head{deviceBytes: deviceBytes}, ends: make([]time.Duration, max(depth, 1))}
}

// Next fills the next I/O.
func (c *closedLoop) Next(r *storage.Record) error {
	if err := c.from.Next(r); err != nil {
		return err
	}
	r.At = c.ends[c.next]
	c.free = max(c.free, r.At) + c.head.service(r)
	c.ends[c.next] = c.free
	c.next = (c.next + 1) % len(c.ends)
	return nil
}
