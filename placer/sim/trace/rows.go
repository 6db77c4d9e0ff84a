package trace

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

const (
	firstBufferBytes = 1 << 18
	// maxLineBytes bounds a line: a binary file has none, and must not fill memory.
	maxLineBytes = 1 << 20
)

// rows reads the records of a series of files as one table, without allocating
// per record: cells are slices of one buffer, good until the next record.
type rows struct {
	folder fs.FS
	files  []string // still to be opened
	layout *layout

	name string // of the open file
	file fs.File
	zip  *gzip.Reader // nil where the file is not compressed
	in   io.Reader    // nil: the next file is to be opened

	buffer     []byte
	start, end int // of what is read and not yet used
	ended      bool
	line       int

	raw   []byte   // the record
	cells [][]byte // of the record
	at    []int    // cell of each column of the layout; -1 where the file has none
	plain []byte   // a quoted cell without its quotes
}

func newRows(folder fs.FS, files []string, l *layout) *rows {
	return &rows{folder: folder, files: files, layout: l, buffer: make([]byte, firstBufferBytes), cells: make([][]byte, 0, 32)}
}

// next reads the next record; io.EOF after the last of the last file.
func (r *rows) next() error {
	for {
		if r.in == nil {
			if len(r.files) == 0 {
				return io.EOF
			}
			if err := r.open(); err != nil {
				return err
			}
			if err := r.bind(); errors.Is(err, io.EOF) {
				r.shut()
				continue
			} else if err != nil {
				return err
			}
			if len(r.cells) > 0 {
				return r.checkWidth()
			}
		}
		switch err := r.record(); {
		case err == nil:
			return r.checkWidth()
		case !errors.Is(err, io.EOF):
			return err
		}
		r.shut()
	}
}

// bind reads the first record of a file and finds the columns. A header is
// used up; a first row of data is left in r.cells.
func (r *rows) bind() error {
	if err := r.record(); err != nil {
		return err
	}
	at, header, missing := r.layout.bind(r.cells)
	if at == nil {
		return &FormatError{File: r.name, Line: r.line, Problem: "missing column " + missing, Hint: r.layout.expected()}
	}
	r.at = at
	if header {
		if name, cell := r.layout.twice(r.cells, at); name != "" {
			return &FormatError{
				File: r.name, Line: r.line, Column: r.place(cell),
				Problem: fmt.Sprintf("two columns are called %q", name), Hint: "keep the one that is meant, and give the other another name",
			}
		}
		r.cells = r.cells[:0]
	}
	return nil
}

// checkWidth refuses records too short for the columns that must be there.
func (r *rows) checkWidth() error {
	for i, c := range r.layout.columns {
		if c.required && r.at[i] >= len(r.cells) {
			return &FormatError{
				File: r.name, Line: r.line, Column: len(r.raw) + 1, Field: c.names[0],
				Problem: fmt.Sprintf("the row ends after %d columns", len(r.cells)),
				Hint:    "the file may be cut short",
			}
		}
	}
	return nil
}

func (r *rows) open() error {
	r.name, r.files = r.files[0], r.files[1:]
	file, err := r.folder.Open(r.name)
	if err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	r.file, r.in, r.line = file, file, 0
	r.start, r.end, r.ended = 0, 0, false
	peek := bufio.NewReaderSize(file, 1<<16)
	if magic, err := peek.Peek(2); err == nil && magic[0] == 0x1f && magic[1] == 0x8b {
		if r.zip == nil {
			r.zip, err = gzip.NewReader(peek)
		} else {
			err = r.zip.Reset(peek)
		}
		if err != nil {
			return r.broken(err)
		}
		r.in = r.zip
		return nil
	}
	r.in = peek
	return nil
}

// broken is the error of a file that cannot be read on.
func (r *rows) broken(err error) error {
	e := &FormatError{File: r.name, Line: r.line + 1, Problem: "cannot be read", Err: err}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		e.Problem, e.Hint = "the gzip stream is cut short", "fetch the file again"
		e.Err = io.ErrUnexpectedEOF
	} else if errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader) {
		e.Problem, e.Hint = "the gzip stream is damaged", "fetch the file again"
	}
	return e
}

// shut ends the open file.
func (r *rows) shut() {
	if r.file == nil {
		return
	}
	_ = r.file.Close() // it was only read: nothing can be lost
	r.file, r.in = nil, nil
}

// record reads the next line that is not empty or a comment, and splits it.
func (r *rows) record() error {
	for {
		line, err := r.nextLine()
		if err != nil {
			return err
		}
		if len(line) == 0 || (r.layout.comment != 0 && line[0] == r.layout.comment) {
			continue
		}
		r.raw = line
		return r.split(line)
	}
}

// nextLine returns the next line without its end; io.EOF after the last.
func (r *rows) nextLine() ([]byte, error) {
	searched := r.start
	for {
		if n := bytes.IndexByte(r.buffer[searched:r.end], '\n'); n >= 0 {
			line := r.buffer[r.start : searched+n]
			r.start = searched + n + 1
			r.line++
			return trimReturn(line), nil
		}
		if r.ended {
			line := r.buffer[r.start:r.end]
			r.start = r.end
			if len(line) == 0 {
				return nil, io.EOF
			}
			r.line++
			return trimReturn(line), nil
		}
		pending := r.end - r.start
		if err := r.fill(); err != nil {
			return nil, err
		}
		searched = r.start + pending
	}
}

// fill reads more of the file behind what is pending.
func (r *rows) fill() error {
	if r.start > 0 {
		copy(r.buffer, r.buffer[r.start:r.end])
		r.end -= r.start
		r.start = 0
	}
	if r.end == len(r.buffer) {
		if len(r.buffer) >= maxLineBytes {
			return &FormatError{
				File: r.name, Line: r.line + 1,
				Problem: fmt.Sprintf("a line of more than %d bytes", maxLineBytes), Hint: "is this a text file?",
			}
		}
		r.buffer = append(r.buffer, make([]byte, len(r.buffer))...)
	}
	n, err := r.in.Read(r.buffer[r.end:])
	r.end += n
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return r.broken(err)
	case errors.Is(err, io.EOF):
		r.ended = true
	case err != nil:
		return r.broken(err)
	}
	return nil
}

func trimReturn(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\r' {
		return line[:n-1]
	}
	return line
}

// split cuts a line into r.cells.
func (r *rows) split(line []byte) error {
	r.cells = r.cells[:0]
	separator := r.layout.separator
	if separator == ' ' {
		r.cells = splitBlanks(r.cells, line)
		return nil
	}
	if bytes.IndexByte(line, '"') >= 0 {
		return r.splitQuoted(line)
	}
	for {
		n := bytes.IndexByte(line, separator)
		if n < 0 {
			r.cells = append(r.cells, line)
			return nil
		}
		r.cells = append(r.cells, line[:n])
		line = line[n+1:]
	}
}

// splitBlanks cuts at runs of blanks and tabs.
func splitBlanks(cells [][]byte, line []byte) [][]byte {
	for i := 0; i < len(line); {
		if line[i] == ' ' || line[i] == '\t' {
			i++
			continue
		}
		from := i
		for i < len(line) && line[i] != ' ' && line[i] != '\t' {
			i++
		}
		cells = append(cells, line[from:i])
	}
	return cells
}

// splitQuoted cuts a line with quoted cells (RFC 4180); a quoted cell may not
// go over the end of the line.
func (r *rows) splitQuoted(line []byte) error {
	r.plain = r.plain[:0]
	for i := 0; ; {
		if i < len(line) && line[i] == '"' {
			from := len(r.plain)
			open := i
			for i++; ; i++ {
				if i >= len(line) {
					return &FormatError{
						File: r.name, Line: r.line, Column: open + 1,
						Problem: "a quoted cell that does not end", Hint: "cells must not contain line breaks",
					}
				}
				if line[i] != '"' {
					r.plain = append(r.plain, line[i])
					continue
				}
				if i+1 < len(line) && line[i+1] == '"' {
					r.plain = append(r.plain, '"')
					i++
					continue
				}
				break
			}
			i++
			if i < len(line) && line[i] != r.layout.separator {
				return &FormatError{File: r.name, Line: r.line, Column: i + 1, Problem: "text after the end of a quoted cell"}
			}
			r.cells = append(r.cells, bytes.Clone(r.plain[from:]))
		} else {
			n := bytes.IndexByte(line[i:], r.layout.separator)
			if n < 0 {
				n = len(line) - i
			}
			r.cells = append(r.cells, line[i:i+n])
			i += n
		}
		if i >= len(line) {
			return nil
		}
		i++
		if i == len(line) {
			r.cells = append(r.cells, nil)
			return nil
		}
	}
}

// firstRecord is the first line of a file that is neither empty nor a comment;
// empty for an empty file.
func firstRecord(folder fs.FS, name string) (string, error) {
	r := newRows(folder, []string{name}, &layout{separator: ','})
	r.buffer = make([]byte, 1<<12)
	if err := r.open(); err != nil {
		return "", err
	}
	defer r.shut()
	for {
		line, err := r.nextLine()
		switch {
		case errors.Is(err, io.EOF):
			return "", nil
		case err != nil:
			return "", err
		case len(line) > 0 && line[0] != ';' && line[0] != '#':
			return string(line), nil
		}
	}
}
