package blockio

import (
	"cmp"
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

// queueDepth is how many I/Os may be outstanding at all before load falls behind its times
// (chosen by us: the text has no bound, the kernel needs one).
const queueDepth = 256

// mostWaiting bounds the I/Os that are due and not submitted: load that is further behind is late
// by more.
const mostWaiting = 1 << 16

// Play says how a stream is played.
type Play struct {
	// Reads and Writes are how many of them may be outstanding; 0 is queueDepth. More wait, in
	// their order; those of the other direction do not wait for them.
	Reads, Writes int
	// ThreadReads is how many reads of one thread of the stream may be; 0 has no bound of its
	// own. Those of other threads do not wait for them.
	ThreadReads int
	// Waits is a closed loop: by as much as an I/O has to wait for another one's end, all that
	// come after it are later. Without it times are kept, come what may.
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
	queue, err := openAIO(s.Path, queueDepth)
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

	lines       []*line // of what is due, in the order of their first I/Os
	lineOf      map[lineKey]*line
	waiting     int // in all of them
	outstanding [storage.Ops]int
	limit       [storage.Ops]int

	free  []int    // slots
	slots []inSlot // of what is outstanding

	ios, reads, total int64
	latencies         *hdrhistogram.Histogram // µs
	sum               time.Duration
	last              time.Duration
}

// line has the I/Os that wait for one another's ends: those of a direction, or of a thread.
type line struct {
	waiting            []storage.Record
	outstanding, limit int
}

type lineKey struct {
	op     storage.Op
	thread uint32 // 0: of all of them
}

// lineFor is where an I/O waits.
func (p *playing) lineFor(r *storage.Record) *line {
	key, limit := lineKey{op: r.Op}, queueDepth
	if r.Op == storage.Read && p.how.ThreadReads > 0 {
		key.thread, limit = 1+r.Thread, p.how.ThreadReads
	}
	l := p.lineOf[key]
	if l == nil {
		l = &line{limit: limit}
		p.lineOf[key], p.lines = l, append(p.lines, l)
	}
	return l
}

// inSlot is an I/O that is outstanding.
type inSlot struct {
	line  *line
	op    storage.Op
	bytes int64
	since time.Duration
}

// Latencies are told apart up to an hour, to three digits.
const (
	longestMicroseconds = int64(time.Hour / time.Microsecond)
	latencyDigits       = 3
)

func newPlaying(queue *aio, stream storage.Reader, how Play) *playing {
	p := &playing{queue: queue, stream: stream, how: how, slots: make([]inSlot, queueDepth), lineOf: map[lineKey]*line{}, latencies: hdrhistogram.New(1, longestMicroseconds, latencyDigits)}
	p.limit = [storage.Ops]int{storage.Read: cmp.Or(how.Reads, queueDepth), storage.Write: cmp.Or(how.Writes, queueDepth)}
	for i := range p.slots {
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
	for !p.over || p.waiting > 0 || len(p.free) < len(p.slots) {
		for !p.over && p.takes() && p.due() <= 0 {
			l := p.lineFor(&p.next)
			l.waiting = append(l.waiting, p.next)
			p.waiting++
			if err := p.take(); err != nil {
				return err
			}
			if err := p.submit(); err != nil {
				return err
			}
		}
		if err := p.submit(); err != nil {
			return err
		}
		wait := lookEvery
		if !p.over && p.takes() {
			wait = min(wait, p.due())
		}
		if err := p.collect(ctx, wait); err != nil {
			return err
		}
	}
	return nil
}

// due is how long it is until the next I/O.
func (p *playing) due() time.Duration { return p.next.At + p.shift - p.now() }

// takes says whether the stream goes on: in a closed loop it waits for what is late.
func (p *playing) takes() bool {
	return p.waiting == 0 || (!p.how.Waits && p.waiting < mostWaiting)
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

// submit submits what is due, as far as it may be outstanding.
func (p *playing) submit() error {
	for _, l := range p.lines {
		for len(l.waiting) > 0 && l.outstanding < l.limit && p.outstanding[l.waiting[0].Op] < p.limit[l.waiting[0].Op] && len(p.free) > 0 {
			r := l.waiting[0]
			l.waiting = l.waiting[1:]
			p.waiting--
			slot := p.free[len(p.free)-1]
			p.free = p.free[:len(p.free)-1]
			now := p.now()
			if p.how.Waits {
				p.shift = max(p.shift, now-r.At)
			}
			p.slots[slot] = inSlot{l, r.Op, r.Bytes, now}
			l.outstanding++
			p.outstanding[r.Op]++
			if err := p.queue.submit(slot, r.Op == storage.Write, r.Offset, r.Bytes); err != nil {
				return err
			}
		}
	}
	return nil
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
		slot := p.slots[e.data]
		switch {
		case e.result < 0:
			return fmt.Errorf("%w: %w", ErrIO, unix.Errno(-e.result))
		case e.result != slot.bytes:
			return fmt.Errorf("%w: %d bytes of %d were done", ErrIO, e.result, slot.bytes)
		}
		took := now - slot.since
		if slot.op == storage.Read {
			p.reads++
		}
		p.outstanding[slot.op]--
		slot.line.outstanding--
		p.ios, p.total, p.sum, p.last = p.ios+1, p.total+e.result, p.sum+took, now
		if err := p.latencies.RecordValue(min(took.Microseconds(), longestMicroseconds)); err != nil {
			return err
		}
		p.free = append(p.free, int(e.data))
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
	return s.Play(ctx, &sequential{bytes: s.Bytes}, Play{Reads: ratedDepth, Waits: true, Length: length})
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
