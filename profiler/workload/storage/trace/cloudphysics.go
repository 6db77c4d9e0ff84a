package trace

import (
	"bytes"
	"fmt"

	"github.com/nomad-placer/nomad-placer/profiler/workload/storage"
)

// cloudPhysics is the block trace of one virtual machine that CloudPhysics published, as
// libCacheSim has it: version, time in seconds, SCSI operation in hexadecimal, bytes, and
// the logical block, of 512 bytes. Its times are whole seconds.
var cloudPhysics = Format{
	Name:    "cloudphysics",
	Summary: "a block trace of CloudPhysics (CSV)",
	Source:  "libCacheSim, data/cloudPhysicsIO.csv; operations: SBC-3",
	Threads: "the whole trace",
	Detect:  func(first []byte) bool { return string(first) == cloudPhysicsHeader },
	header:  true,
	start: func(s *stream, _ []byte) parse {
		c := &cloudParser{stream: s}
		return c.line
	},
}

const (
	cloudPhysicsHeader = "version,time,op,size,lbn"
	cloudCells         = 5
)

// The operations of a SCSI disk that move data (SBC-3), by length of their command.
const (
	read6   = 0x08
	read10  = 0x28
	read12  = 0xa8
	read16  = 0x88
	write6  = 0x0a
	write10 = 0x2a
	write12 = 0xaa
	write16 = 0x8a
)

type cloudParser struct{ stream *stream }

func (c *cloudParser) line(line []byte, r *storage.Record) (string, error) {
	var cells [cloudCells][]byte
	rest := line
	for i := range cells {
		cell, behind, more := bytes.Cut(rest, []byte(","))
		if more != (i < cloudCells-1) {
			return "", c.stream.lines.badCell("the line", line, fmt.Sprintf("has not %d columns", cloudCells), "the file may be cut short")
		}
		cells[i], rest = cell, behind
	}
	return c.io(cells, r)
}

func (c *cloudParser) io(cells [cloudCells][]byte, r *storage.Record) (string, error) {
	var ok bool
	if r.At, ok = seconds(cells[1]); !ok {
		return "", c.stream.lines.badCell("the time", cells[1], "not a number of seconds", "")
	}
	op, ok := hexadecimal(cells[2])
	if !ok {
		return "", c.stream.lines.badCell("the operation", cells[2], "not a SCSI operation in hexadecimal", "28 is a read, 2a a write")
	}
	switch op {
	case read6, read10, read12, read16:
		r.Op = storage.Read
	case write6, write10, write12, write16:
		r.Op = storage.Write
	default:
		return "an operation that moves no data", nil
	}
	if r.Bytes, ok = number(cells[3]); !ok {
		return "", c.stream.lines.badCell("the size", cells[3], "not a whole number of bytes", "")
	}
	block, ok := number(cells[4])
	if !ok || block > largestOffset/sectorBytes {
		return "", c.stream.lines.badCell("the block", cells[4], "not the number of a block", "")
	}
	r.Offset = block * sectorBytes
	r.Thread, r.Volume = c.stream.threads.of(nil), c.stream.volumes.of(nil)
	return "", nil
}
