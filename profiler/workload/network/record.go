package network

import (
	"iter"
	"slices"
	"time"
)

// Direction is what kind of request moved the bytes, seen from who began.
type Direction uint8

// The directions. Where nobody knows who began, bytes count as written by who
// sent them.
const (
	Write Direction = iota // the sender began, and sends
	Read                   // the receiver began, and the bytes answer it
)

// String is "write" or "read".
func (d Direction) String() string { return [...]string{"write", "read"}[d] }

// Record is traffic from one node to another: in a table all that moved within
// a bin, in a list of events one message.
type Record struct {
	// At is counted from a Monday, 00:00, so that a part of the week is a part of it.
	At          time.Duration
	Source      int32 // the node that sends the bytes
	Destination int32 // never the source
	Bytes       int64 // above 0
	Direction   Direction
}

// Time is a moment of a table whose times are Unix times.
func Time(at time.Duration) time.Time { return time.Unix(0, 0).UTC().Add(unixMonday + at) }

// Span is a stretch of time in bins of equal length.
type Span struct {
	From, To time.Duration // since a Monday, 00:00; whole bins
	Bin      time.Duration
	// Missing are the bins, from 0, in which nothing was captured, sorted. They
	// are not bins without traffic: nothing is known of them.
	Missing []int
}

// Bins is the number of bins, those that are missing included.
func (s Span) Bins() int { return int((s.To - s.From) / s.Bin) }

// Captured is the time that is not missing.
func (s Span) Captured() time.Duration {
	return time.Duration(s.Bins()-len(s.Missing)) * s.Bin
}

// bin is the bin of a moment.
func (s Span) bin(at time.Duration) int { return int((at - s.From) / s.Bin) }

func (s Span) missing(bin int) bool {
	_, found := slices.BinarySearch(s.Missing, bin)
	return found
}

// Between is the part of the span in [from, to), which are multiples of its bins.
func (s Span) Between(from, to time.Duration) Span {
	out := Span{From: max(from, s.From), To: min(to, s.To), Bin: s.Bin}
	first, end := s.bin(out.From), s.bin(out.To)
	for _, b := range s.Missing {
		if b >= first && b < end {
			out.Missing = append(out.Missing, b-first)
		}
	}
	return out
}

// Traffic is the traffic of a cluster over a span. It may be read by several
// goroutines at once, and gives the same records each time.
type Traffic interface {
	Topology() Topology
	Span() Span
	// Between gives the records of [from, to) in order of time. An error is the last
	// that it gives.
	Between(from, to time.Duration) iter.Seq2[Record, error]
}

// Part is traffic restricted to [from, to), whole bins of its span.
func Part(t Traffic, from, to time.Duration) Traffic { return part{t, t.Span().Between(from, to)} }

type part struct {
	Traffic
	span Span
}

func (p part) Span() Span { return p.span }

func (p part) Between(from, to time.Duration) iter.Seq2[Record, error] {
	return p.Traffic.Between(max(from, p.span.From), min(to, p.span.To))
}
