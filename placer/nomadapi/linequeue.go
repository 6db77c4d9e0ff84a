package nomadapi

import (
	"bufio"
	"context"
	"errors"
	"io"
	"sync"
	"time"
)

var (
	errAgain    = errors.New("time to read the lists again")
	errWanted   = errors.New("something was requested that is not followed")
	errFlooded  = errors.New("too many events are waiting")
	errStreamed = errors.New("event stream closed by the server")
)

// lineQueue holds the lines of the event stream that were received and not yet
// folded in: the stream has to be read on while lists are read, because Nomad
// cuts off a slow reader.
type lineQueue struct {
	mu    sync.Mutex
	lines [][]byte
	bytes int
	err   error // why no more lines come
	more  chan struct{}
}

func newLineQueue() *lineQueue { return &lineQueue{more: make(chan struct{}, 1)} }

// fill reads lines until the stream ends, and reports why it did.
func (q *lineQueue) fill(body io.Reader) {
	r := bufio.NewReaderSize(body, streamReadSize)
	for {
		line, err := readLine(r)
		if errors.Is(err, io.EOF) {
			err = errStreamed
		}
		if !q.put(line, err) {
			return
		}
	}
}

// readLine reads a line, and gives one up that is longer than all that may wait.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
		if len(line) > maxQueuedBytes {
			return nil, errFlooded
		}
	}
}

func (q *lineQueue) put(line []byte, err error) (open bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if err == nil && q.bytes+len(line) > maxQueuedBytes {
		err = errFlooded
	}
	if err == nil {
		q.lines = append(q.lines, line)
		q.bytes += len(line)
	}
	q.err = err
	select {
	case q.more <- struct{}{}:
	default:
	}
	return err == nil
}

func (q *lineQueue) take() (line []byte, ok bool, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.lines) == 0 {
		return nil, false, q.err
	}
	line = q.lines[0]
	q.lines[0] = nil
	q.lines = q.lines[1:]
	q.bytes -= len(line)
	return line, true, nil
}

// next returns the oldest line, waiting for one; errAgain or errWanted when again or
// wanted receives.
func (q *lineQueue) next(ctx context.Context, again <-chan time.Time, wanted <-chan struct{}) ([]byte, error) {
	for {
		select {
		case <-again:
			return nil, errAgain
		case <-wanted:
			return nil, errWanted
		default:
		}
		line, ok, err := q.take()
		if ok || err != nil {
			return line, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-again:
			return nil, errAgain
		case <-wanted:
			return nil, errWanted
		case <-q.more:
		}
	}
}
