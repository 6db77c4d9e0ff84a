package trace

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
)

const (
	firstLineBytes = 1 << 16
	// maxLineBytes bounds a line: a binary file has none, and must not fill memory.
	maxLineBytes = 1 << 20
)

// lines reads a file line by line, gzip transparently.
type lines struct {
	name    string // in errors
	counted *counted
	scanner *bufio.Scanner
	number  int64 // of the line that was returned last
	zipped  bool
}

// counted counts the bytes that are read, for progress.
type counted struct {
	in   io.Reader
	read atomic.Int64
}

// Read reads on.
func (c *counted) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	c.read.Add(int64(n))
	return n, err
}

func newLines(name string, in io.Reader) (*lines, error) {
	l := &lines{name: name, counted: &counted{in: in}}
	plain := bufio.NewReaderSize(l.counted, firstLineBytes)
	var from io.Reader = plain
	if magic, err := plain.Peek(2); err == nil && magic[0] == 0x1f && magic[1] == 0x8b {
		l.zipped = true
		if from, err = gzip.NewReader(plain); err != nil {
			return nil, l.broken(err)
		}
	}
	l.scanner = bufio.NewScanner(from)
	l.scanner.Buffer(make([]byte, firstLineBytes), maxLineBytes)
	return l, nil
}

// next returns the next line that is not empty, without its end; io.EOF after the last.
// It is good until the next one.
func (l *lines) next() ([]byte, error) {
	for l.scanner.Scan() {
		l.number++
		if line := bytes.TrimSpace(l.scanner.Bytes()); len(line) > 0 {
			return line, nil
		}
	}
	if err := l.scanner.Err(); err != nil {
		return nil, l.broken(err)
	}
	return nil, io.EOF
}

// broken is the error of a file that cannot be read on.
func (l *lines) broken(err error) error {
	e := &FormatError{File: l.name, Line: l.number + 1, Problem: "cannot be read", Err: err}
	switch {
	case errors.Is(err, bufio.ErrTooLong):
		e.Problem, e.Err = fmt.Sprintf("a line of more than %d bytes", maxLineBytes), nil
		e.Hint = "is this a text file?"
	case l.zipped && (errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)):
		e.Problem, e.Hint, e.Err = "the gzip stream is cut short", "fetch the file again", io.ErrUnexpectedEOF
	case errors.Is(err, gzip.ErrChecksum), errors.Is(err, gzip.ErrHeader):
		e.Problem, e.Hint = "the gzip stream is damaged", "fetch the file again"
	}
	return e
}

// bad is the error of the line that was returned last.
func (l *lines) bad(problem, hint string) error {
	return &FormatError{File: l.name, Line: l.number, Problem: problem, Hint: hint}
}

// badCell is the error of one value of the line that was returned last.
func (l *lines) badCell(what string, cell []byte, problem, hint string) error {
	return l.bad(fmt.Sprintf("%s %.40q: %s", what, cell, problem), hint)
}
