package trace

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/workload/storage"
)

// Reasons for leaving out a line. A format may have more.
const (
	skipEmpty = "it moves no data"
)

// largestOffset bounds an address, 4 EiB: sums of addresses and sizes stay in an int64.
const largestOffset = 1 << 62

// largestIO bounds one I/O, 1 GiB: what is larger was misread (Linux splits requests at
// far less).
const largestIO = 1 << 30

// stream is the storage.Trace of every format.
type stream struct {
	lines   *lines
	file    *os.File // nil: not ours to close
	total   int64
	format  Format
	parse   parse
	pending []byte // the first line, which told the format
	skips   map[string]int64
	threads *names
	volumes *names

	begun  bool
	origin time.Duration // the trace's own time of its first I/O
	last   time.Duration // since origin
	failed error
}

// Next fills the next I/O.
func (s *stream) Next(r *storage.Record) error {
	if s.failed != nil {
		return s.failed
	}
	s.failed = s.next(r)
	return s.failed
}

func (s *stream) next(r *storage.Record) error {
	for {
		line, err := s.line()
		if err != nil {
			if errors.Is(err, io.EOF) && !s.begun {
				return &FormatError{File: s.lines.name, Problem: "the file has no I/O", Hint: s.hintOfNone()}
			}
			return err
		}
		*r = storage.Record{}
		skip, err := s.parse(line, r)
		if err != nil {
			return err
		}
		if skip == "" && r.Bytes == 0 {
			skip = skipEmpty
		}
		if skip != "" {
			s.skips[skip]++
			continue
		}
		return s.settle(r)
	}
}

func (s *stream) line() ([]byte, error) {
	if s.pending != nil {
		line := s.pending
		s.pending = nil
		return line, nil
	}
	return s.lines.next()
}

// hintOfNone says what was in a file without an I/O.
func (s *stream) hintOfNone() string {
	hint := "was the trace stopped before its first I/O?"
	most := int64(0)
	for reason, n := range s.skips {
		if n > most {
			most, hint = n, fmt.Sprintf("%d lines were left out: %s", n, reason)
		}
	}
	return hint
}

// settle puts a record on the stream's own clock, and refuses what cannot be.
func (s *stream) settle(r *storage.Record) error {
	switch {
	case r.Bytes < 0 || r.Bytes > largestIO:
		return s.lines.bad(fmt.Sprintf("an I/O of %d bytes", r.Bytes), "is the size in the right unit?")
	case r.Offset < 0 || r.Offset > largestOffset:
		return s.lines.bad(fmt.Sprintf("an I/O at byte %d", r.Offset), "is the address in the right unit?")
	}
	if !s.begun {
		s.begun, s.origin = true, r.At
	}
	r.At -= s.origin
	if r.At < s.last {
		return s.lines.bad(fmt.Sprintf("an I/O %s before the one above it", s.last-r.At), "sort the trace by time")
	}
	s.last = r.At
	return nil
}

// Format is the name of the trace's format.
func (s *stream) Format() string { return s.format.Name }

// Threads are the names of the threads seen so far.
func (s *stream) Threads() []string { return s.threads.list }

// Skips counts the lines left out so far.
func (s *stream) Skips() map[string]int64 { return maps.Clone(s.skips) }

// ReadBytes is how much was read so far.
func (s *stream) ReadBytes() int64 { return s.lines.counted.read.Load() }

// TotalBytes is the size of the file; 0 where it is not known.
func (s *stream) TotalBytes() int64 { return s.total }

// Close ends reading.
func (s *stream) Close() error {
	s.failed = io.EOF
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}

// maxNames bounds threads and volumes: what comes after shares the last number, so that a
// program that starts a thread for every request does not fill memory.
const maxNames = 1 << 16

// names numbers names in the order in which they appear.
type names struct {
	number map[string]uint32
	list   []string
}

func newNames() *names { return &names{number: map[string]uint32{}} }

func (n *names) of(name []byte) uint32 {
	if i, ok := n.number[string(name)]; ok {
		return i
	}
	if len(n.list) == maxNames {
		return maxNames - 1
	}
	i := uint32(len(n.list))
	text := string(name)
	n.number[text] = i
	n.list = append(n.list, text)
	return i
}
