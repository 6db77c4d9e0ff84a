package model

import (
	"math/bits"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/workload/storage"
)

// Extent is how much a trace has: its I/Os, its time and its address spaces.
type Extent struct {
	IOs  int64
	Span time.Duration // to the last I/O
	ends []int64       // of the address spaces
}

// Add counts an I/O.
func (e *Extent) Add(r *storage.Record) {
	e.IOs++
	e.Span = r.At
	for int(r.Volume) >= len(e.ends) {
		e.ends = append(e.ends, 0)
	}
	e.ends[r.Volume] = max(e.ends[r.Volume], r.End())
}

// volumeAlignment is to what address spaces that are laid one behind the other are
// rounded up: partitions begin at whole MiB, too.
const volumeAlignment = 1 << 20

// Layout is one range of addresses for all volumes of a trace, one behind the other in
// the order in which they appear. The text's example of it is striping: what is modelled
// is the logical volume.
type Layout struct {
	begins []int64
	bytes  int64
}

// Layout lays the address spaces of a trace one behind the other. deviceBytes is the size
// of the device of a trace with one; 0 takes the end of its last I/O.
func (e *Extent) Layout(deviceBytes int64) Layout {
	var l Layout
	for _, end := range e.ends {
		l.begins = append(l.begins, l.bytes)
		l.bytes += (end + volumeAlignment - 1) / volumeAlignment * volumeAlignment
	}
	if len(e.ends) == 1 {
		l.bytes = max(e.ends[0], deviceBytes)
	}
	return l
}

// Bytes is the size of the range.
func (l Layout) Bytes() int64 { return l.bytes }

// Place puts an I/O into the range.
func (l Layout) Place(r *storage.Record) {
	if int(r.Volume) < len(l.begins) {
		r.Offset += l.begins[r.Volume]
	}
	r.Volume = 0
}

// Survey is what has to be known of a trace before its transitions can be counted: its
// extent, its threads and the sizes of its I/Os. Memory is bounded by the number of
// threads and sizes.
type Survey struct {
	Extent
	threads []threadSurvey
	sizes   map[Category]int64
	aligned int64 // I/Os that begin at a multiple of PageBytes
}

// NewSurvey starts a survey.
func NewSurvey() *Survey { return &Survey{sizes: map[Category]int64{}} }

// PageBytes is what a page has; there is no state worth having below one.
const PageBytes = 4096

const (
	sectorBytes = 512
	// alignedShare is from which part of the I/Os on addresses are taken as multiples of a
	// page (chosen by us).
	alignedShare = 0.9
	// maxSizes bounds the different sizes that are counted; what comes after is rounded up
	// to a power of two.
	maxSizes = 1 << 14
)

// Add counts an I/O.
func (s *Survey) Add(r *storage.Record) {
	s.Extent.Add(r)
	for int(r.Thread) >= len(s.threads) {
		s.threads = append(s.threads, threadSurvey{})
	}
	kind := s.threads[r.Thread].add(r)
	if r.Offset%PageBytes == 0 {
		s.aligned++
	}
	c := Category{Op: r.Op, Kind: kind, Bytes: r.Bytes}
	if _, known := s.sizes[c]; !known && len(s.sizes) >= maxSizes {
		c.Bytes = 1 << bits.Len64(uint64(r.Bytes-1))
	}
	s.sizes[c]++
}

// sector is what addresses are a multiple of.
func (s *Survey) sector() int64 {
	if float64(s.aligned) >= alignedShare*float64(s.IOs) {
		return PageBytes
	}
	return sectorBytes
}
