package storage

import (
	"errors"
	"io"
	"time"
)

// MergedBytes bounds what is merged: the longest request of most devices of Linux
// (max_sectors_kb).
const MergedBytes = 1280 << 10

// Merge joins I/Os of a trace that the block layer joins before a device gets them: those of
// one thread and direction of which each begins where the last one ended, at most some time
// after it. What is recorded at the queue of the block layer comes before that; a device counts
// and serves what comes after. 0 merges nothing.
func Merge(t Trace, within time.Duration) Trace {
	if within == 0 {
		return t
	}
	return &merged{Trace: t, within: within, open: map[uint32]*merging{}}
}

type merged struct {
	Trace
	within time.Duration
	queue  []*merging // in the order of their first I/Os
	open   map[uint32]*merging
	now    time.Duration
	over   bool
}

// merging is an I/O that others may still be joined to.
type merging struct {
	Record
	last   time.Duration // when the last I/O of it came
	closed bool
}

// Next is the next I/O that nothing more can be joined to.
func (m *merged) Next(out *Record) error {
	for {
		if len(m.queue) > 0 {
			if first := m.queue[0]; first.closed || m.over || m.now-first.last > m.within {
				first.closed = true
				*out, m.queue = first.Record, m.queue[1:]
				return nil
			}
		} else if m.over {
			return io.EOF
		}
		var next Record
		err := m.Trace.Next(&next)
		switch {
		case errors.Is(err, io.EOF):
			m.over = true
		case err != nil:
			return err
		default:
			m.add(next)
		}
	}
}

func (m *merged) add(next Record) {
	m.now = next.At
	if p := m.open[next.Thread]; p != nil {
		if !p.closed && p.Op == next.Op && p.Volume == next.Volume && p.End() == next.Offset && next.At-p.last <= m.within && p.Bytes+next.Bytes <= MergedBytes {
			p.Bytes, p.last = p.Bytes+next.Bytes, next.At
			return
		}
		p.closed = true
	}
	p := &merging{Record: next, last: next.At}
	m.open[next.Thread], m.queue = p, append(m.queue, p)
}
