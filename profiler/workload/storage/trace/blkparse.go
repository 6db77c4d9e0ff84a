package trace

import (
	"bytes"

	"github.com/nomad-placer/nomad-placer/profiler/workload/storage"
)

// blkparse is the text that blkparse prints of a blktrace, in its default form:
//
//	8,0    3        1     0.000000000   697  Q   W 223490 + 8 [kjournald]
//
// device, processor, number, seconds, process, action, kind, sector + sectors [program].
// Taken is where an I/O is queued (Q): that is the application's side of the block layer,
// before requests are merged, split and sorted. Sectors are of 512 bytes.
var blkparse = Format{
	Name:    "blkparse",
	Summary: "text of blkparse, in its default form",
	Source:  "blkparse(1)",
	Threads: "a process",
	Detect: func(first []byte) bool {
		var cells [blkCells][]byte
		if cut(first, cells[:]) < 7 {
			return false
		}
		major, minor, comma := bytes.Cut(cells[0], []byte(","))
		_, isMajor := number(major)
		_, isMinor := number(minor)
		_, isTime := seconds(cells[3])
		return comma && isMajor && isMinor && isTime
	},
	start: func(s *stream, _ []byte) parse {
		b := &blkParser{stream: s}
		return b.line
	},
}

const (
	blkCells    = 11
	sectorBytes = 512
)

// Reasons for leaving out a line of blkparse.
const (
	skipAction  = "another action than the queueing of an I/O"
	skipDiscard = "a discard"
	skipFlush   = "a flush without data"
	skipSummary = "the summary behind the trace"
)

type blkParser struct {
	stream  *stream
	summary bool
	name    []byte
}

func (b *blkParser) line(line []byte, r *storage.Record) (string, error) {
	if b.summary || bytes.HasPrefix(line, []byte("CPU")) || bytes.HasPrefix(line, []byte("Total (")) {
		b.summary = true
		return skipSummary, nil
	}
	var cells [blkCells][]byte
	n := cut(line, cells[:])
	if n < 7 {
		return "", b.stream.lines.badCell("the line", line, "ends too early", "the file may be cut short, or written with blkparse -f in another form")
	}
	if string(cells[5]) != "Q" {
		return skipAction, nil
	}
	kind := cells[6]
	switch {
	case bytes.IndexByte(kind, 'D') >= 0:
		return skipDiscard, nil
	case bytes.IndexByte(kind, 'R') >= 0:
		r.Op = storage.Read
	case bytes.IndexByte(kind, 'W') >= 0:
		r.Op = storage.Write
	default:
		return skipFlush, nil
	}
	return b.io(line, cells[:n], r)
}

// io reads an event that moves data.
func (b *blkParser) io(line []byte, cells [][]byte, r *storage.Record) (string, error) {
	var ok bool
	if r.At, ok = seconds(cells[3]); !ok {
		return "", b.stream.lines.badCell("the time", cells[3], "not a number of seconds", "")
	}
	if len(cells) < 8 {
		return "", b.stream.lines.badCell("the line", line, "ends too early", "the file may be cut short")
	}
	if cells[7][0] == '[' {
		return skipFlush, nil // FWS and the like: a flush without an address
	}
	sector, ok := number(cells[7])
	if !ok || sector > largestOffset/sectorBytes {
		return "", b.stream.lines.badCell("the sector", cells[7], "not the number of a sector", "")
	}
	if len(cells) < 10 || string(cells[8]) != "+" {
		return skipFlush, nil // the same, with an address and without a size
	}
	sectors, ok := number(cells[9])
	if !ok || sectors > largestIO/sectorBytes {
		return "", b.stream.lines.badCell("the size", cells[9], "not a number of sectors", "")
	}
	r.Offset, r.Bytes = sector*sectorBytes, sectors*sectorBytes
	b.name = append(b.name[:0], cells[4]...)
	if len(cells) > 10 {
		b.name = append(append(b.name, ' '), bytes.Trim(cells[10], "[] ")...)
	}
	r.Thread, r.Volume = b.stream.threads.of(b.name), b.stream.volumes.of(cells[0])
	return "", nil
}
