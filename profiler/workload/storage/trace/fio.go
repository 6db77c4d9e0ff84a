package trace

import (
	"bytes"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/workload/storage"
)

// fioLog is what fio writes with write_iolog, and reads with read_iolog.
//
//	fio version 2 iolog            fio version 3 iolog
//	/data add                      0 /data add
//	/data open                     0 /data open
//	/data wait 1500                1500 /data read 4096 8192
//	/data read 4096 8192           2100 /data close
//
// Offsets and lengths are bytes, times microseconds. A version 2 log that never waits has
// no times: all its I/Os are at once, and no model can be fitted to it.
var fioLog = Format{
	Name:    "fio",
	Summary: "a log of fio, version 2 or 3",
	Source:  "fio's manual, Trace file format v2 and v3",
	Threads: "a file",
	Detect:  func(first []byte) bool { return fioVersion(first) != 0 },
	header:  true,
	start: func(s *stream, first []byte) parse {
		f := &fioParser{stream: s, version: fioVersion(first)}
		return f.line
	},
}

// fioVersion is that of a first line; 0: it is none.
func fioVersion(first []byte) int {
	switch string(first) {
	case "fio version 2 iolog":
		return 2
	case "fio version 3 iolog":
		return 3
	}
	return 0
}

// Reasons for leaving out a line of fio.
const (
	skipFile = "a file is added, opened or closed"
	skipSync = "a flush or a sync"
	skipTrim = "a discard"
	skipWait = "a wait"
)

type fioParser struct {
	stream  *stream
	version int
	clock   time.Duration // of version 2: what was waited
}

func (f *fioParser) line(line []byte, r *storage.Record) (string, error) {
	var cells [6][]byte
	n := cut(line, cells[:])
	rest := cells[:n]
	r.At = f.clock
	if f.version == 3 {
		if n < 2 {
			return "", f.short(line)
		}
		at, ok := microseconds(rest[0])
		if !ok {
			return "", f.stream.lines.badCell("the time", rest[0], "not a whole number of microseconds", "lines of version 3 begin with a time; those of version 2 do not")
		}
		r.At, rest = at, rest[1:]
	}
	if len(rest) < 2 {
		return "", f.short(line)
	}
	return f.action(line, rest, r)
}

// short is the error of a line with too few words.
func (f *fioParser) short(line []byte) error {
	return f.stream.lines.badCell("the line", line, "ends too early", "the file may be cut short")
}

// action reads file, action, offset and length.
func (f *fioParser) action(line []byte, cells [][]byte, r *storage.Record) (string, error) {
	switch string(cells[1]) {
	case "add", "open", "close":
		return skipFile, nil
	case "sync", "datasync":
		return skipSync, nil
	case "trim":
		return skipTrim, nil
	case "wait":
		return f.wait(line, cells)
	case "read":
		r.Op = storage.Read
	case "write":
		r.Op = storage.Write
	default:
		return "", f.stream.lines.badCell("the action", cells[1], "not known", "known: read, write, trim, sync, datasync, wait, add, open, close")
	}
	if len(cells) < 4 {
		return "", f.short(line)
	}
	var ok bool
	if r.Offset, ok = number(cells[2]); !ok {
		return "", f.stream.lines.badCell("the offset", cells[2], "not a whole number of bytes", "")
	}
	if r.Bytes, ok = number(bytes.TrimSpace(cells[3])); !ok {
		return "", f.stream.lines.badCell("the length", cells[3], "not a whole number of bytes", "")
	}
	r.Thread, r.Volume = f.stream.threads.of(cells[0]), f.stream.volumes.of(cells[0])
	return "", nil
}

// wait reads what version 2 waits.
func (f *fioParser) wait(line []byte, cells [][]byte) (string, error) {
	if f.version == 3 {
		return "", f.stream.lines.bad("version 3 has no wait", "its lines have times; or is the first line wrong?")
	}
	if len(cells) < 3 {
		return "", f.short(line)
	}
	d, ok := microseconds(cells[2])
	if !ok || d > longest-f.clock {
		return "", f.stream.lines.badCell("the wait", cells[2], "not a number of microseconds that adds up to less than 146 years", "")
	}
	f.clock += d
	return skipWait, nil
}
