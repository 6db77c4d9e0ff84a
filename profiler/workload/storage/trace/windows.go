package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Window is what is known of 30 minutes of a volume where only statistics were published.
type Window struct {
	Volume                            string
	Number                            int64 // from 0
	Reads, Writes                     int64
	ReadBytes, WriteBytes             int64
	SequentialReads, SequentialWrites int64
	RangeBytes                        int64 // between the lowest and the highest address
}

// WindowsName is the name of the format of statistics, and windowColumns are the columns
// that are read of it; the others are left out.
const WindowsName = "cloudphysics-30min"

var windowColumns = []string{
	"volume", "window", "read_block_req_count", "write_block_req_count", "read_io_request_size_sum", "write_io_request_size_sum",
	"read_seq_count", "write_seq_count", "range",
}

// Windows reads statistics by 30 minutes of the volumes of CloudPhysics (BlockTraceFeatures,
// block_snapshots): a table with one line for each volume and window, volume by volume.
// Its column ts is left out: it is no multiple of 30 minutes, and the number of the window
// is.
type Windows struct {
	lines *lines
	at    []int // of windowColumns
	cells [][]byte
	file  *os.File
	last  Window
	begun bool
}

// IsWindows tells statistics from a trace by the first line.
func IsWindows(path string) (bool, error) {
	file, err := os.Open(path)
	if err != nil {
		return false, fmt.Errorf("trace: %w", err)
	}
	defer file.Close()
	l, err := newLines(path, file)
	if err != nil {
		return false, err
	}
	first, err := l.next()
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	return err == nil && bytes.HasPrefix(first, []byte("volume,window,")), err
}

// OpenWindows reads a file of statistics.
func OpenWindows(path string) (*Windows, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	w, err := NewWindows(path, file)
	if err != nil {
		_ = file.Close() // it was only read: nothing can be lost
		return nil, err
	}
	w.file = file
	return w, nil
}

// NewWindows reads from a reader; name is what errors call it.
func NewWindows(name string, in io.Reader) (*Windows, error) {
	l, err := newLines(name, in)
	if err != nil {
		return nil, err
	}
	head, err := l.next()
	if errors.Is(err, io.EOF) {
		return nil, &FormatError{File: name, Problem: "the file is empty"}
	}
	if err != nil {
		return nil, err
	}
	w := &Windows{lines: l}
	names := strings.Split(string(head), ",")
	for _, column := range windowColumns {
		at := -1
		for i, name := range names {
			if name == column {
				at = i
			}
		}
		if at < 0 {
			return nil, &FormatError{File: name, Line: l.number, Problem: "missing column " + column, Hint: "needed: " + strings.Join(windowColumns, ", ")}
		}
		w.at = append(w.at, at)
	}
	w.cells = make([][]byte, len(names))
	return w, nil
}

// Next fills the next window; io.EOF after the last.
func (w *Windows) Next(out *Window) error {
	line, err := w.lines.next()
	if err != nil {
		return err
	}
	n := 0
	for rest, more := line, true; more; n++ {
		if n == len(w.cells) {
			return w.lines.bad("the line has more columns than the first one", "")
		}
		w.cells[n], rest, more = bytes.Cut(rest, []byte(","))
	}
	if n < len(w.cells) {
		return w.lines.bad(fmt.Sprintf("the line ends after %d columns", n), "the file may be cut short")
	}
	*out = Window{Volume: string(w.cells[w.at[0]])}
	to := []*int64{
		&out.Number, &out.Reads, &out.Writes, &out.ReadBytes, &out.WriteBytes, &out.SequentialReads, &out.SequentialWrites, &out.RangeBytes,
	}
	for i, v := range to {
		cell := w.cells[w.at[i+1]]
		var ok bool
		if *v, ok = number(cell); !ok {
			return w.lines.badCell(windowColumns[i+1], cell, "not a whole number", "")
		}
	}
	return w.check(out)
}

// check refuses what cannot be.
func (w *Windows) check(out *Window) error {
	switch {
	case out.SequentialReads > out.Reads || out.SequentialWrites > out.Writes:
		return w.lines.bad("more sequential I/Os than I/Os", "")
	case w.begun && out.Volume == w.last.Volume && out.Number <= w.last.Number:
		return w.lines.bad(fmt.Sprintf("window %d of %s is behind window %d", out.Number, out.Volume, w.last.Number), "sort the table by volume and window")
	case out.Number > maxWindows:
		return w.lines.bad(fmt.Sprintf("window %d", out.Number), "windows are counted from 0, and have 30 minutes")
	}
	w.last, w.begun = *out, true
	return nil
}

// maxWindows bounds the number of a window, ten years: what is between two is kept.
const maxWindows = 10 * 365 * 48

// Close ends reading.
func (w *Windows) Close() error {
	if w.file == nil {
		return nil
	}
	return w.file.Close()
}
