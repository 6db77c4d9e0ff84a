// Package trace reads block traces, a file per format: logs of fio, text of blkparse, and
// public traces. Files are read once, line by line, gzip transparently, in bounded memory.
//
//	t, err := trace.Open("app.log", "")
//	for {
//		err := t.Next(&record) // io.EOF after the last
//	}
//
// A line that cannot be read is an error with file, line and hint; so is one that is
// earlier than the line before it. A line that can be read and is no I/O (a flush, a
// discard, another point of the block layer) is left out and counted by reason in Skips.
//
// Sources: fio's own manual, "Trace file format v2" and "v3"; blkparse(1), "Trace
// actions"; libCacheSim, data/cloudPhysicsIO.csv, for the trace of CloudPhysics, whose
// operations are SCSI codes (SBC-3).
//
// # Differences from the formats
//
// Time stamps of fio's version 3 are microseconds: so fio's source reads them, and its
// manual says milliseconds. What a version 2 log waits is added up. Offsets of several
// files or devices are address spaces of their own (Record.Volume); whoever needs one
// range lays them one behind the other.
package trace
