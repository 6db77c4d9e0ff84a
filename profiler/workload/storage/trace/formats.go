package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/nomad-placer/nomad-placer/profiler/workload/storage"
)

// Format is one line of the table of formats.
type Format struct {
	Name    string // on the command line and in the model
	Summary string
	Source  string // where it is described
	Threads string // what a thread of the trace is
	// Detect tells by the first line whether a file is of the format.
	Detect func(first []byte) bool

	header bool // the first line is no record
	start  func(s *stream, first []byte) parse
}

// parse reads a line into a record. It returns why the line is no I/O, or an error.
type parse func(line []byte, r *storage.Record) (skip string, err error)

// Formats is the table, sorted by name.
func Formats() []Format {
	return []Format{blkparse, cloudPhysics, fioLog}
}

// Names are the names of all formats.
func Names() []string {
	var names []string
	for _, f := range Formats() {
		names = append(names, f.Name)
	}
	return names
}

// lookup finds a format by its name.
func lookup(name string) (Format, error) {
	for _, f := range Formats() {
		if f.Name == name {
			return f, nil
		}
	}
	return Format{}, fmt.Errorf("%w: no format %q; known: %s", ErrFormat, name, strings.Join(Names(), ", "))
}

// Open reads a file. An empty format is found by the first line.
func Open(path, format string) (storage.Trace, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	info, err := file.Stat()
	if err == nil && info.IsDir() {
		err = &FormatError{File: path, Problem: "is a folder", Hint: "name the file of the trace"}
	}
	if err != nil {
		_ = file.Close() // it was only read: nothing can be lost
		return nil, err
	}
	s, err := newStream(path, format, file)
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	s.file = file
	if info.Mode().IsRegular() {
		s.total = info.Size()
	}
	return s, nil
}

// New reads from a reader; name is what errors call it. An empty format is found by the
// first line.
func New(name, format string, in io.Reader) (storage.Trace, error) {
	s, err := newStream(name, format, in)
	if err != nil {
		return nil, err // no stream at all, not a nil one
	}
	return s, nil
}

func newStream(name, format string, in io.Reader) (*stream, error) {
	l, err := newLines(name, in)
	if err != nil {
		return nil, err
	}
	s := &stream{lines: l, skips: map[string]int64{}, threads: newNames(), volumes: newNames()}
	first, err := l.next()
	switch {
	case errors.Is(err, io.EOF):
		return nil, &FormatError{File: name, Problem: "the file is empty", Hint: "was the trace stopped before its first I/O?"}
	case err != nil:
		return nil, err
	}
	if format == "" {
		s.format, err = detect(name, first)
	} else {
		s.format, err = lookup(format)
	}
	if err != nil {
		return nil, err
	}
	if !s.format.Detect(first) {
		return nil, &FormatError{File: name, Line: l.number, Problem: fmt.Sprintf("%.60q is not the first line of %s", first, s.format.Name), Hint: "leave the format out to have it found"}
	}
	s.parse = s.format.start(s, first)
	if !s.format.header {
		s.pending = bytes.Clone(first)
	}
	return s, nil
}

func detect(name string, first []byte) (Format, error) {
	for _, f := range Formats() {
		if f.Detect(first) {
			return f, nil
		}
	}
	return Format{}, &FormatError{
		File: name, Line: 1, Problem: fmt.Sprintf("%.60q is the first line of no known format", first),
		Hint: "known: " + strings.Join(Names(), ", ") + "; other traces can be written as a log of fio, version 3",
	}
}
