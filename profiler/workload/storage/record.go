package storage

import (
	"fmt"
	"time"
)

// Op is the direction of an I/O.
type Op uint8

// The directions.
const (
	Read Op = iota
	Write
)

// Ops is how many directions there are.
const Ops = 2

var opNames = [Ops]string{"read", "write"}

// String is the name in files and on pages.
func (o Op) String() string { return opNames[o] }

// MarshalText writes the name.
func (o Op) MarshalText() ([]byte, error) {
	if o >= Ops {
		return nil, fmt.Errorf("no direction of an I/O: %d", o)
	}
	return []byte(opNames[o]), nil
}

// UnmarshalText reads the name.
func (o *Op) UnmarshalText(text []byte) error {
	for i, name := range opNames {
		if name == string(text) {
			*o = Op(i)
			return nil
		}
	}
	return fmt.Errorf("%q is not read or write", text)
}

// Record is one I/O.
type Record struct {
	At     time.Duration // since the first I/O of the trace; never before the one before it
	Offset int64         // byte of the volume, 0 or above
	Bytes  int64         // above 0
	Thread uint32        // index into Reader.Threads
	Volume uint32        // the address space of Offset: a device or a file
	Op     Op
}

// End is the first byte behind the I/O.
func (r *Record) End() int64 { return r.Offset + r.Bytes }

// Reader gives the I/Os of a stream in order of time. It is for one goroutine.
type Reader interface {
	// Next fills the next I/O; io.EOF after the last.
	Next(*Record) error
}

// Trace is a Reader over what was recorded.
type Trace interface {
	Reader
	// Format is the name of the trace's format.
	Format() string
	// Threads are the names of the threads seen so far. They stay in this process: no model
	// holds one.
	Threads() []string
	// Skips counts the lines left out so far, by reason.
	Skips() map[string]int64
	// ReadBytes is how much of the file was read so far, and TotalBytes its size; 0 where
	// that is not known.
	ReadBytes() int64
	TotalBytes() int64
	Close() error
}

// Kind is how an I/O lies to the one before it in its thread.
type Kind uint8

// The kinds. The text says sequential or random and defines neither.
const (
	Random         Kind = iota
	NearSequential      // begins at most NearBytes behind the end of the one before
	Sequential          // begins where the one before ended
)

// Kinds is how many kinds there are.
const Kinds = 3

// NearBytes bounds a near-sequential jump: two requests of 32 KiB, or a stripe (chosen by
// us: the text does not say what is near).
const NearBytes = 64 << 10

var kindNames = [Kinds]string{"random", "near", "sequential"}

// String is the name in files and on pages.
func (k Kind) String() string { return kindNames[k] }

// MarshalText writes the name.
func (k Kind) MarshalText() ([]byte, error) {
	if k >= Kinds {
		return nil, fmt.Errorf("no kind of an I/O: %d", k)
	}
	return []byte(kindNames[k]), nil
}

// UnmarshalText reads the name.
func (k *Kind) UnmarshalText(text []byte) error {
	for i, name := range kindNames {
		if name == string(text) {
			*k = Kind(i)
			return nil
		}
	}
	return fmt.Errorf("%q is not random, near or sequential", text)
}

// KindAfter is the kind of an I/O that begins at offset, when the one before it in its
// thread ended at end.
func KindAfter(end, offset int64) Kind {
	switch ahead := offset - end; {
	case ahead == 0:
		return Sequential
	case ahead > 0 && ahead <= NearBytes:
		return NearSequential
	default:
		return Random
	}
}
