package ibench

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"unsafe"

	"golang.org/x/sys/unix"
)

// hugePageBytes is the size of a huge page on x86-64, and on arm64 with 4 KiB
// pages.
const hugePageBytes = 2 << 20

// region is memory outside the Go heap. Its pages are written once, so that
// none of them is the kernel's shared zero page.
type region struct {
	all  []byte // as mapped
	data []byte // as used
}

// newRegion maps bytes of memory; huge asks for huge pages, which spread
// evenly over the sets of a physically indexed cache.
func newRegion(bytes int64, huge bool) (*region, error) {
	mapped := bytes
	if huge { // the last page whole as well: part of a mapping gets no huge page
		mapped = (bytes+hugePageBytes-1)/hugePageBytes*hugePageBytes + hugePageBytes
	}
	all, err := unix.Mmap(-1, 0, int(mapped), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return nil, fmt.Errorf("map %d bytes of memory: %w", mapped, err)
	}
	r := &region{all: all, data: all[:bytes:bytes]}
	advice := unix.MADV_NOHUGEPAGE
	if huge {
		start := int(-uintptr(unsafe.Pointer(&all[0])) & (hugePageBytes - 1))
		r.data = all[start : int64(start)+bytes : int64(start)+bytes]
		advice = unix.MADV_HUGEPAGE
	}
	// A kernel without huge pages refuses the advice; small pages do as well.
	_ = unix.Madvise(all, advice)
	r.populate()
	return r, nil
}

// populate makes every page present: in one call where the kernel has it
// (Linux 5.14), else by one store per page.
func (r *region) populate() {
	if unix.Madvise(r.data, unix.MADV_POPULATE_WRITE) == nil {
		return
	}
	for i := 0; i < len(r.data); i += unix.Getpagesize() {
		r.data[i] = 1
	}
}

func (r *region) base() unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(r.data)) }

func (r *region) Close() error {
	if err := unix.Munmap(r.all); err != nil {
		return fmt.Errorf("unmap memory: %w", err)
	}
	return nil
}

// ring is a cyclic walk over the lines of a region in an order that no
// prefetcher follows. Each line holds the offset of the next one. The walk
// covers the first n lines of a fixed order, so a new footprint is one patched
// link, whatever its size: the prebuilt ring for every level at once.
type ring struct {
	region *region
	order  []uint32 // line numbers, in the order they join the walk
	line   int      // bytes
	n      int      // lines in the walk; 0 before the first resize
}

// newRing lays a ring over lines of a region. Lines join in layers of sets
// lines: each layer takes every set of the cache once, in random order, so
// that any footprint is spread evenly over the sets (sets of 0 is one layer).
func newRing(bytes int64, lineBytes, sets int, huge bool, random *rand.Rand) (*ring, error) {
	lines := int(bytes) / lineBytes
	if lines < ringCursors {
		return nil, fmt.Errorf("a footprint of %d bytes is too small to walk", bytes)
	}
	region, err := newRegion(int64(lines)*int64(lineBytes), huge)
	if err != nil {
		return nil, err
	}
	r := &ring{region: region, order: layers(lines, sets, random), line: lineBytes}
	for i := range lines - 1 {
		r.link(i, i+1)
	}
	r.resize(lines)
	return r, nil
}

// layers returns the numbers of lines in random order within layers of sets
// lines each; sets of 0 is one layer.
func layers(lines, sets int, random *rand.Rand) []uint32 {
	if sets <= 0 {
		sets = lines
	}
	order := make([]uint32, lines)
	for i := range order {
		order[i] = uint32(i)
	}
	for start := 0; start < lines; start += sets {
		layer := order[start:min(start+sets, lines)]
		random.Shuffle(len(layer), func(i, j int) { layer[i], layer[j] = layer[j], layer[i] })
	}
	return order
}

// link makes the i-th line of the order lead to the j-th.
func (r *ring) link(i, j int) {
	*(*uint64)(unsafe.Add(r.region.base(), int(r.order[i])*r.line)) = uint64(r.order[j]) * uint64(r.line)
}

// resize makes the walk cover the first n lines, at least one per cursor.
func (r *ring) resize(n int) {
	n = min(max(n, ringCursors), len(r.order))
	if r.n > 0 && r.n < len(r.order) {
		r.link(r.n-1, r.n)
	}
	r.link(n-1, 0)
	r.n = n
}

// ringCursors walk the ring at once, so that their misses overlap: a single
// pointer chase would be too slow to hold a large cache.
const ringCursors = 8

// cursors are positions on a ring, spread evenly.
type cursors [ringCursors]uint64

func (r *ring) spread() cursors {
	var c cursors
	for i := range c {
		c[i] = uint64(r.order[i*r.n/ringCursors]) * uint64(r.line)
	}
	return c
}

// walk moves every cursor on by steps lines.
func (r *ring) walk(c *cursors, steps int) { walkLinks(r.region.base(), c, steps) }

// walkLinks moves every cursor on by steps links: offsets from base to the
// next one.
func walkLinks(base unsafe.Pointer, c *cursors, steps int) {
	a, b, d, e, f, g, h, k := c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]
	for range steps {
		a = *(*uint64)(unsafe.Add(base, a))
		b = *(*uint64)(unsafe.Add(base, b))
		d = *(*uint64)(unsafe.Add(base, d))
		e = *(*uint64)(unsafe.Add(base, e))
		f = *(*uint64)(unsafe.Add(base, f))
		g = *(*uint64)(unsafe.Add(base, g))
		h = *(*uint64)(unsafe.Add(base, h))
		k = *(*uint64)(unsafe.Add(base, k))
	}
	*c = cursors{a, b, d, e, f, g, h, k}
}

func (r *ring) Close() error { return r.region.Close() }

// streamPass goes once over bytes of memory at p, line by line. What it returns
// keeps the compiler from dropping its loads.
type streamPass func(p unsafe.Pointer, bytes, lineBytes int) uint64

// stream reads one word of every line of bytes of memory at p, with four
// accumulators so that the loads do not wait for each other. One word fetches
// the whole line: plain Go reaches the bandwidth of vector code. bytes is a
// multiple of four lines.
func stream(p unsafe.Pointer, bytes, lineBytes int) uint64 {
	var a, b, c, d uint64
	for i := 0; i < bytes; i += 4 * lineBytes {
		a += *(*uint64)(unsafe.Add(p, i))
		b += *(*uint64)(unsafe.Add(p, i+lineBytes))
		c += *(*uint64)(unsafe.Add(p, i+2*lineBytes))
		d += *(*uint64)(unsafe.Add(p, i+3*lineBytes))
	}
	return a + b + c + d
}

// streamWrite writes one word of every line of bytes of memory at p: each line
// is fetched, changed and written back.
func streamWrite(p unsafe.Pointer, bytes, lineBytes int) uint64 {
	for i := 0; i < bytes; i += lineBytes {
		*(*uint64)(unsafe.Add(p, i)) = uint64(i)
	}
	return 0
}

// streamChunkBytes is one quantum of a streaming kernel.
const streamChunkBytes = 64 << 10

// streamer streams over a region of its own, one chunk per quantum.
type streamer struct {
	region *region
	line   int
	offset int
	pass   streamPass
	sum    uint64 // of what the passes returned
}

// newStreamLoad makes the load of a kernel whose threads stream over that many bytes
// each.
func newStreamLoad(threads int, bytes int64, lineBytes int, pass streamPass) *Load {
	return &Load{
		Threads:       threads,
		Worker:        func(int) (Worker, error) { return newStreamer(bytes, lineBytes, pass) },
		ResidentBytes: func() int64 { return bytes * int64(threads) },
	}
}

// newStreamer makes a streamer over bytes, rounded down to whole chunks.
func newStreamer(bytes int64, lineBytes int, pass streamPass) (Worker, error) {
	bytes = bytes / streamChunkBytes * streamChunkBytes
	if bytes == 0 {
		return nil, errors.New("the memory bound is too small to stream over")
	}
	region, err := newRegion(bytes, true)
	if err != nil {
		return nil, err
	}
	return &streamer{region: region, line: lineBytes, pass: pass}, nil
}

// Tune keeps a share of the peak.
func (s *streamer) Tune(u, peakPerThread float64) Pace { return ratePace(u, peakPerThread) }

// Work streams one chunk; an operation is a byte of a line read or written.
func (s *streamer) Work(float64) (float64, error) {
	s.sum += s.pass(unsafe.Add(s.region.base(), s.offset), streamChunkBytes, s.line)
	s.offset += streamChunkBytes
	if s.offset == len(s.region.data) {
		s.offset = 0
	}
	return streamChunkBytes, nil
}

// Close frees the memory.
func (s *streamer) Close() error { return s.region.Close() }
