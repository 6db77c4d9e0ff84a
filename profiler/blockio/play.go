package blockio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"golang.org/x/sys/unix"

	"github.com/nomad-placer/nomad-placer/profiler/workload/storage"
)

// queueDepth is how many I/Os may be outstanding before an open loop falls behind its times
// (chosen by us: the text has no bound, the kernel needs one).
const queueDepth = 256

// Play says how a stream is played.
type Play struct {
	// Depth is how many I/Os may be outstanding; 0 is queueDepth.
	Depth int
	// Waits is a closed loop: an I/O that has to wait for another one's end is late, and all
	// that come after it are later by as much. Without it times are kept, come what may.
	Waits bool
	// Length ends playing; 0 plays all.
	Length time.Duration
}

// Played is what a device did with load.
type Played struct {
	IOs         int64   `json:"ios"`
	ReadIOs     int64   `json:"read_ios"`
	Seconds     float64 `json:"seconds"`
	IOPS        float64 `json:"iops"`
	BytesPerSec float64 `json:"bytes_per_second"`
	// Latencies are from the submission of an I/O to its end, of reads and writes together.
	MeanMilliseconds float64 `json:"mean_milliseconds"`
	P50Milliseconds  float64 `json:"p50_milliseconds"`
	P95Milliseconds  float64 `json:"p95_milliseconds"`
	P99Milliseconds  float64 `json:"p99_milliseconds"`
}

// Play plays a stream at its times, past the page cache.
func (s *Scratch) Play(ctx context.Context, stream storage.Reader, how Play) (*Played, error) {
	type outcome struct {
		played *Played
		err    error
	}
	done := make(chan outcome)
	go func() {
		// The thread ends with this goroutine: its sleeps are exact, and those of others are
		// left as they were.
		runtime.LockOSThread()
		_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) // else sleeps are 50 µs longer
		played, err := s.play(ctx, stream, how)
		done <- outcome{played, err}
	}()
	o := <-done
	return o.played, o.err
}

func (s *Scratch) play(ctx context.Context, stream storage.Reader, how Play) (played *Played, err error) {
	if how.Depth == 0 {
		how.Depth = queueDepth
	}
	queue, err := openAIO(s.Path, how.Depth)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, queue.close()) }()
	p := newPlaying(queue, stream, how)
	if err := p.run(ctx); err != nil {
		return nil, err
	}
	if p.ios == 0 {
		return nil, fmt.Errorf("%w: there is none in this load", ErrIO)
	}
	return p.played(), nil
}

// playing is a stream that is being played.
type playing struct {
	queue  *aio
	stream storage.Reader
	how    Play

	next  storage.Record
	over  bool // no I/O comes after
	begun time.Time
	shift time.Duration // by which a closed loop is late

	free  []int           // slots
	since []time.Duration // when the I/O of a slot was submitted
	bytes []int64

	ios, reads, total int64
	latencies         *hdrhistogram.Histogram // µs
	sum               time.Duration
	last              time.Duration
}

// Latencies are told apart up to an hour, to three digits.
const (
	longestMicroseconds = int64(time.Hour / time.Microsecond)
	latencyDigits       = 3
)

func newPlaying(queue *aio, stream storage.Reader, how Play) *playing {
	p := &playing{queue: queue, stream: stream, how: how, since: make([]time.Duration, how.Depth), bytes: make([]int64, how.Depth), latencies: hdrhistogram.New(1, longestMicroseconds, latencyDigits)}
	for i := range how.Depth {
		p.free = append(p.free, i)
	}
	return p
}

func (p *playing) now() time.Duration { return time.Since(p.begun) }

func (p *playing) run(ctx context.Context) error {
	if err := p.take(); err != nil {
		return err
	}
	p.begun = time.Now()
	for !p.over || len(p.free) < p.how.Depth {
		wait := time.Duration(0)
		switch due := p.next.At + p.shift - p.now(); {
		case p.over || len(p.free) == 0:
			wait = lookEvery
		case due > 0:
			wait = due
		default:
			if err := p.submit(); err != nil {
				return err
			}
		}
		if err := p.collect(ctx, wait); err != nil {
			return err
		}
	}
	return nil
}

// take takes the next I/O of the stream.
func (p *playing) take() error {
	err := p.stream.Next(&p.next)
	if errors.Is(err, io.EOF) || (p.how.Length > 0 && !p.begun.IsZero() && p.now() >= p.how.Length) {
		p.over = true
		return nil
	}
	return err
}

func (p *playing) submit() error {
	slot := p.free[len(p.free)-1]
	p.free = p.free[:len(p.free)-1]
	if p.how.Waits && len(p.free) == 0 {
		// It may have waited for a slot; what it is late by without that is a matter of µs.
		p.shift = p.now() - p.next.At
	}
	p.since[slot], p.bytes[slot] = p.now(), p.next.Bytes
	write := p.next.Op == storage.Write
	if err := p.queue.submit(slot, write, p.next.Offset, p.next.Bytes); err != nil {
		return err
	}
	if !write {
		p.reads++
	}
	return p.take()
}

// collect takes ends of I/Os.
func (p *playing) collect(ctx context.Context, wait time.Duration) error {
	wait, err := waitFor(ctx, wait)
	if err != nil {
		return err
	}
	events, err := p.queue.ended(wait)
	if err != nil {
		return err
	}
	now := p.now()
	for _, e := range events {
		slot := int(e.data)
		switch {
		case e.result < 0:
			return fmt.Errorf("%w: %w", ErrIO, unix.Errno(-e.result))
		case e.result != p.bytes[slot]:
			return fmt.Errorf("%w: %d bytes of %d were done", ErrIO, e.result, p.bytes[slot])
		}
		took := now - p.since[slot]
		p.ios, p.total, p.sum, p.last = p.ios+1, p.total+e.result, p.sum+took, now
		if err := p.latencies.RecordValue(min(took.Microseconds(), longestMicroseconds)); err != nil {
			return err
		}
		p.free = append(p.free, slot)
	}
	return nil
}

func (p *playing) played() *Played {
	at := func(percentile float64) float64 { return float64(p.latencies.ValueAtPercentile(percentile)) / 1e3 }
	seconds := p.last.Seconds()
	return &Played{
		IOs: p.ios, ReadIOs: p.reads, Seconds: seconds, IOPS: float64(p.ios) / seconds, BytesPerSec: float64(p.total) / seconds,
		MeanMilliseconds: p.sum.Seconds() * 1e3 / float64(p.ios), P50Milliseconds: at(50), P95Milliseconds: at(95), P99Milliseconds: at(99),
	}
}

// ratedIOBytes and ratedDepth are the load that a device is rated by: long sequential
// reads, always some of them outstanding (chosen by us).
const (
	ratedIOBytes = 1 << 20
	ratedDepth   = 32
)

// Rated measures the device's bandwidth: that of sequential reads.
func (s *Scratch) Rated(ctx context.Context, length time.Duration) (*Played, error) {
	return s.Play(ctx, &sequential{bytes: s.Bytes}, Play{Depth: ratedDepth, Length: length})
}

// sequential reads a file from its begin to its end, again and again, as fast as it can.
type sequential struct{ bytes, at int64 }

// Next is the next read.
func (r *sequential) Next(out *storage.Record) error {
	length := min(ratedIOBytes, r.bytes)
	if r.at+length > r.bytes {
		r.at = 0
	}
	*out = storage.Record{Offset: r.at, Bytes: length}
	r.at += length
	return nil
}
