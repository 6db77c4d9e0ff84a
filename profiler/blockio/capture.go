package blockio

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// Errors of a capture.
var (
	// ErrNoTracing: this kernel, or this process in it, cannot be traced.
	ErrNoTracing = errors.New("block I/O cannot be traced here")
	ErrDevice    = errors.New("no device to capture")
	ErrGone      = errors.New("the device went away")
	ErrIdle      = errors.New("nothing was captured")
)

const (
	// bufferKiB is the kernel's buffer of one processor: half a second of 100,000 I/Os a
	// second (chosen by us).
	bufferKiB = 8192
	// emptyWait is between two looks at an empty buffer.
	emptyWait = 100 * time.Millisecond
	// aliveEvery is between two looks whether the device is there, and two reports.
	aliveEvery = time.Second
)

// Capture says what is captured.
type Capture struct {
	Device Device
	Length time.Duration
	// Tasks are the numbers of the threads whose I/Os are taken, with those that they start
	// meanwhile; empty takes all. Writes that the kernel makes later for a thread, from the
	// page cache, are not its own.
	Tasks []int
	Now   func() time.Time
	After func(time.Duration) <-chan time.Time
	// Progress is told how long it has been going on, and the I/Os so far; may be nil.
	Progress func(at time.Duration, ios int64)
}

// Captured is what a capture has.
type Captured struct {
	IOs     int64   `json:"ios"`
	Seconds float64 `json:"seconds"`
	// Lost are events that the kernel's buffer had no room for.
	Lost int64 `json:"lost"`
	// Skipped are events without data: flushes and discards.
	Skipped int64 `json:"skipped"`
}

// Run captures the I/Os that are queued at a device, and writes them as text of blkparse.
// That is the application's side of the block layer, before requests are merged and sorted.
// It ends with the length or, without an error, with ctx.
func (c Capture) Run(ctx context.Context, w io.Writer) (done *Captured, err error) {
	t, err := openTracing()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	if err := t.begin(c.Device, c.Tasks); err != nil {
		return nil, err
	}
	out := newBlkparse(w, c.Device)
	done = &Captured{}
	begun := c.Now()
	if err := c.follow(ctx, t, out, begun); err != nil {
		return nil, err
	}
	done.Seconds = c.Now().Sub(begun).Seconds()
	if err := t.stop(); err != nil {
		return nil, err
	}
	if _, err := t.drain(out.add); err != nil {
		return nil, err
	}
	done.IOs, done.Skipped = out.ios, out.skipped
	if done.Lost, err = t.lost(); err != nil {
		return nil, err
	}
	if done.IOs == 0 {
		return nil, fmt.Errorf("%w: %s was asked for nothing in %.0f s", ErrIdle, c.Device.Name, done.Seconds)
	}
	return done, out.flush()
}

// follow takes events until the time is over.
func (c Capture) follow(ctx context.Context, t *tracing, out *blkparseWriter, begun time.Time) error {
	looked := begun
	for {
		some, err := t.drain(out.add)
		if err != nil {
			return err
		}
		now := c.Now()
		if now.Sub(looked) >= aliveEvery {
			looked = now
			if !c.Device.there() {
				return fmt.Errorf("%w: %s, after %s and %d I/Os", ErrGone, c.Device.Name, now.Sub(begun).Round(time.Second), out.ios)
			}
			if c.Progress != nil {
				c.Progress(now.Sub(begun), out.ios)
			}
		}
		if now.Sub(begun) >= c.Length || ctx.Err() != nil {
			return nil
		}
		if some {
			continue
		}
		select {
		case <-ctx.Done():
		case <-c.After(min(emptyWait, c.Length-now.Sub(begun))):
		}
	}
}

// blkparseWriter turns lines of the kernel's trace into text of blkparse.
type blkparseWriter struct {
	to     *bufio.Writer
	device Device
	line   []byte
	first  time.Duration
	begun  bool

	ios, skipped int64
}

func newBlkparse(w io.Writer, d Device) *blkparseWriter {
	return &blkparseWriter{to: bufio.NewWriterSize(w, 1<<16), device: d}
}

// event is an I/O as the kernel prints it.
type event struct {
	at              time.Duration
	cpu, task       int64
	kind            []byte
	sector, sectors int64
	program         []byte
}

// errEvent: a line of the kernel is not as it is expected.
var errEvent = fmt.Errorf("%w: the kernel prints its events in another form", ErrNoTracing)

// eventName is the tracepoint: an I/O is queued.
const eventName = "block_bio_queue"

var eventMark = []byte(": " + eventName + ": ")

// add writes one line of the kernel's trace.
func (b *blkparseWriter) add(line []byte) error {
	head, tail, ok := bytes.Cut(line, eventMark)
	if !ok {
		return nil // a line between events, as that some were lost: lost() counts those
	}
	e, err := parseEvent(head, tail)
	if err != nil {
		return err
	}
	if e.sectors == 0 || bytes.IndexByte(e.kind, 'D') >= 0 {
		b.skipped++
		return nil
	}
	if !b.begun {
		b.begun, b.first = true, e.at
	}
	b.ios++
	at := e.at - b.first
	b.line = fmt.Appendf(b.line[:0], "%d,%d %4d %8d %5d.%09d %5d  Q %3s %d + %d [%s]\n", b.device.Major, b.device.Minor, e.cpu, b.ios,
		at/time.Second, at%time.Second, e.task, e.kind, e.sector, e.sectors, e.program)
	_, err = b.to.Write(b.line)
	return err
}

func (b *blkparseWriter) flush() error { return b.to.Flush() }

// parseEvent reads
//
//	kworker/0:1-123     [001] d..2.  1234.567890: block_bio_queue: 254,0 WS 223490 + 8 [kworker/0:1]
//
// in two parts. Names of programs may have blanks, dashes and brackets: what is before the
// event is read from its end.
func parseEvent(head, tail []byte) (event, error) {
	var e event
	var okTime, okCPU, okTask, okSector, okSectors bool
	at := bytes.LastIndexByte(head, ' ')
	e.at, okTime = secondsOf(head[at+1:])
	open := bytes.LastIndexByte(head[:max(at, 0)], '[')
	if open < 0 {
		return e, fmt.Errorf("%w: %q", errEvent, head)
	}
	cpu, _, _ := bytes.Cut(head[open+1:], []byte("]"))
	e.cpu, okCPU = wholeNumber(cpu)
	name := bytes.TrimRight(head[:open], " ")
	e.task, okTask = wholeNumber(name[bytes.LastIndexByte(name, '-')+1:])

	cells, program, _ := bytes.Cut(tail, []byte(" ["))
	fields := bytes.Fields(cells)
	if len(fields) < 5 {
		return e, fmt.Errorf("%w: %q", errEvent, tail)
	}
	e.kind, e.program = fields[1], bytes.TrimSuffix(bytes.TrimSpace(program), []byte("]"))
	e.sector, okSector = wholeNumber(fields[2])
	e.sectors, okSectors = wholeNumber(fields[4])
	if !okTime || !okCPU || !okTask || !okSector || !okSectors {
		return e, fmt.Errorf("%w: %q", errEvent, append(append(bytes.Clone(head), eventMark...), tail...))
	}
	return e, nil
}

// wholeNumber reads digits.
func wholeNumber(text []byte) (int64, bool) {
	if len(text) == 0 || len(text) > 18 {
		return 0, false
	}
	n := int64(0)
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int64(c-'0')
	}
	return n, true
}

// secondsOf reads 1234.567890.
func secondsOf(text []byte) (time.Duration, bool) {
	whole, part, _ := bytes.Cut(text, []byte("."))
	s, ok := wholeNumber(whole)
	if !ok || len(part) > 9 || len(part) == 0 {
		return 0, false
	}
	p, ok := wholeNumber(part)
	for range 9 - len(part) {
		p *= 10
	}
	return time.Duration(s)*time.Second + time.Duration(p), ok
}
