package worker

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mapMemory maps and fills memory outside the Go heap; unmapMemory frees it. huge
// asks for huge pages, so that a walk is not one over the TLB, nor over the few
// sets that scattered pages happen to share.
func mapMemory(size int64, huge bool) ([]byte, error) {
	if size <= 0 {
		return nil, errors.New("a working set of no bytes")
	}
	advice, align := unix.MADV_NOHUGEPAGE, int64(smallPage)
	if huge { // whole ones: part of a mapping gets none
		advice, align = unix.MADV_HUGEPAGE, hugePage
	}
	room := (size + align - 1) / align * align
	at, err := unix.MmapPtr(-1, 0, nil, uintptr(room+align), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return nil, fmt.Errorf("map %d bytes: %w", size, err)
	}
	// What lies before the first and after the last whole page goes back.
	head := -uintptr(at) & uintptr(align-1)
	first := unsafe.Add(at, head)
	if head > 0 {
		err = unix.MunmapPtr(at, head)
	}
	if tail := uintptr(align) - head; tail > 0 {
		err = errors.Join(err, unix.MunmapPtr(unsafe.Add(first, room), tail))
	}
	if err != nil {
		return nil, fmt.Errorf("map %d bytes: %w", size, err)
	}
	all := unsafe.Slice((*byte)(first), room)
	_ = unix.Madvise(all, advice) // small pages do as well
	mem := all[:size]
	for i := 0; i < len(mem); i += smallPage {
		mem[i] = 1
	}
	return mem, nil
}

// unmapMemory frees what mapMemory returned.
func unmapMemory(mem []byte) error {
	if err := unix.MunmapPtr(unsafe.Pointer(unsafe.SliceData(mem)), uintptr(cap(mem))); err != nil {
		return fmt.Errorf("unmap memory: %w", err)
	}
	return nil
}

const hugePage = 2 << 20

const smallPage = 4096

// hugeFrom is the working set from which huge pages are asked for: below it a
// part of one would do.
const hugeFrom = 256 << 10

// hop is a walk over places of a memory region in random order: each place
// holds the address of the next as an index.
type hop struct {
	mem   []byte
	at    uint64
	first uint64
	steps int // of one round
}

// newHop links every place of the region into one cycle (Sattolo 1986). With
// small pages each place of a page walk is on another line of its page, so that
// they do not fall into the same cache set.
func newHop(size int64, stride int, seed uint64) (*hop, error) {
	places := int(size) / stride
	if places < 2 {
		return nil, fmt.Errorf("%d bytes hold no two places %d bytes apart", size, stride)
	}
	mem, err := mapMemory(size, size >= hugeFrom && stride < smallPage)
	if err != nil {
		return nil, err
	}
	random := rand.New(rand.NewPCG(seed, 1))
	order := make([]int, places)
	for i := range order {
		order[i] = i
	}
	for i := places - 1; i > 0; i-- {
		j := random.IntN(i)
		order[i], order[j] = order[j], order[i]
	}
	place := func(i int) uint64 {
		at := i * stride
		if stride >= smallPage {
			at += i * lineBytes % smallPage
		}
		return uint64(at)
	}
	for i, next := range order {
		*(*uint64)(unsafe.Pointer(&mem[place(i)])) = place(next)
	}
	return &hop{mem: mem, at: place(0), first: place(0), steps: places}, nil
}

const lineBytes = 64

// walk goes on by n places. The index of each is the value of the last, so
// nothing can be fetched ahead.
func (h *hop) walk(n int) {
	base, at := unsafe.Pointer(unsafe.SliceData(h.mem)), h.at
	for range n {
		at = *(*uint64)(unsafe.Add(base, at))
	}
	h.at = at
}

func (h *hop) close() error { return unmapMemory(h.mem) }

// chaser chases pointers through its working set.
type chaser struct{ *hop }

const chaseQuantum = 4096

func (c chaser) step() (count, error) {
	c.walk(chaseQuantum)
	return count{ops: chaseQuantum}, nil
}

func openChase(o Spec, thread int, _ *commons) (loop, error) {
	h, err := newHop(o.Bytes, max(o.Stride, lineBytes), o.Seed+uint64(thread))
	if err != nil {
		return nil, err
	}
	return chaser{h}, nil
}

var chaseKind = Kind{Name: "chase", Unit: "lines", Does: "chases pointers through its working set, one load after the other", open: openChase}

// round walks once over all places.
func (h *hop) round() { h.walk(h.steps) }

func (h *hop) lines() int { return h.steps }

var probeKind = Kind{
	Name: "probe", Unit: "lines", Threads: 1, Does: "walks its working set, keeps still, and times the walk after",
	open: func(o Spec, _ int, _ *commons) (loop, error) {
		seed := o.Seed
		return newProber(o, func(bytes int64) (unit, error) {
			seed++
			return newHop(bytes, max(o.Stride, lineBytes), seed-1)
		})
	},
}

// memchr reads its working set with the vector search of the Go library.
type memchr struct {
	mem []byte
	at  int
}

const streamQuantum = 256 << 10

func (m *memchr) step() (count, error) {
	end := min(m.at+streamQuantum, len(m.mem))
	if bytes.IndexByte(m.mem[m.at:end], 0xff) >= 0 {
		return count{}, errors.New("the memory changed")
	}
	n := end - m.at
	if m.at = end; m.at == len(m.mem) {
		m.at = 0
	}
	return count{ops: uint64(n)}, nil
}

func (m *memchr) close() error { return unmapMemory(m.mem) }

var memchrKind = Kind{
	Name: "memchr", Unit: "bytes", Does: "reads its working set in sequence, every byte, with the Go library's vector search",
	open: func(o Spec, _ int, _ *commons) (loop, error) {
		mem, err := mapMemory(o.Bytes, true)
		if err != nil {
			return nil, err
		}
		return &memchr{mem: mem}, nil
	},
}

// copier copies one half of its working set to the other.
type copier struct {
	mem []byte
	at  int
}

func (c *copier) step() (count, error) {
	half := len(c.mem) / 2
	end := min(c.at+streamQuantum, half)
	n := copy(c.mem[half+c.at:half+end], c.mem[c.at:end])
	if c.at = end; c.at == half {
		c.at = 0
	}
	return count{ops: 2 * uint64(n)}, nil
}

func (c *copier) close() error { return unmapMemory(c.mem) }

var copyKind = Kind{
	Name: "copy", Unit: "bytes", Does: "STREAM copy with the Go library's copy; bytes read plus bytes written",
	open: func(o Spec, _ int, _ *commons) (loop, error) {
		mem, err := mapMemory(o.Bytes, true)
		if err != nil {
			return nil, err
		}
		return &copier{mem: mem}, nil
	},
}

// triad is McCalpin's: a = b + s·c.
type triad struct {
	mem     []byte
	a, b, c []float64
	at      int
}

func (t *triad) step() (count, error) {
	const quantum = streamQuantum / 8
	end := min(t.at+quantum, len(t.a))
	a, b, c := t.a[t.at:end], t.b[t.at:end], t.c[t.at:end]
	for i := range a {
		a[i] = b[i] + 3*c[i]
	}
	n := end - t.at
	if t.at = end; t.at == len(t.a) {
		t.at = 0
	}
	return count{ops: 3 * 8 * uint64(n)}, nil
}

func (t *triad) close() error { return unmapMemory(t.mem) }

var triadKind = Kind{
	Name: "triad", Unit: "bytes", Does: "STREAM triad in plain Go; 24 bytes for each element, as STREAM counts",
	open: func(o Spec, _ int, _ *commons) (loop, error) {
		mem, err := mapMemory(o.Bytes, true)
		if err != nil {
			return nil, err
		}
		n := len(mem) / 24
		all := unsafe.Slice((*float64)(unsafe.Pointer(&mem[0])), 3*n)
		clear(all) // what mapMemory left is no number one would add
		return &triad{mem: mem, a: all[:n:n], b: all[n : 2*n : 2*n], c: all[2*n:]}, nil
	},
}
