package ibench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// Pages are aliases of few physical ones, so that they cost entries of the TLB
// and hardly any cache: one line in each of 64 pages, each in another set.
const (
	aliasedPages  = 64
	aliasedStride = 64 // bytes between the lines of neighbouring pages
)

// pageCursors walk at once. Each waits for its last access, as a workload that
// follows pointers does; several together keep the page walkers busy.
const pageCursors = 4

// tlbPagesAssumed is the size of a TLB about which nothing is known: that of
// the smaller server cores of the last ten years.
const tlbPagesAssumed = 1536

// tlbBurst is how the TLB is taken on the workload's own CPU. A burst walks
// some thousand pages, at up to ten nanoseconds each: half a percent of the CPU
// at this beat. Chosen by us.
var tlbBurst = burst{beat: 4 * time.Millisecond, passes: 4}

// pageWalk touches pages in an order that no prefetcher follows.
type pageWalk struct {
	region  []byte
	base    unsafe.Pointer
	page    uintptr  // bytes
	order   []uint16 // page numbers, in the order they join
	quarter int      // pages per cursor
	at      int      // of each cursor, in its quarter
	zero    [pageCursors]uintptr
}

// newPageWalk maps the pages.
func newPageWalk(pages int, random *rand.Rand) (*pageWalk, error) {
	const most = 1 << 16 // that page numbers can say
	if pages < pageCursors || pages > most {
		return nil, fmt.Errorf("a TLB of %d pages cannot be walked: between %d and %d can", pages, pageCursors, most)
	}
	page := unix.Getpagesize()
	region, err := mapAliases(pages, page, random)
	if err != nil {
		return nil, fmt.Errorf("map %d pages: %w", pages, err)
	}
	w := &pageWalk{region: region, base: unsafe.Pointer(unsafe.SliceData(region)), page: uintptr(page)}
	for _, i := range layers(pages, aliasedPages, random) {
		w.order = append(w.order, uint16(i))
	}
	w.resize(pages)
	return w, nil
}

// mapAliases maps the same few pages of memory again and again.
func mapAliases(pages, page int, random *rand.Rand) (region []byte, err error) {
	fd, err := unix.MemfdCreate("tlb", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	if err := unix.Ftruncate(fd, int64(aliasedPages*page)); err != nil {
		return nil, err
	}
	// In random order: some processors keep neighbouring pages of neighbouring
	// memory in one entry.
	for _, i := range random.Perm(aliasedPages) {
		if _, err := unix.Pwrite(fd, []byte{0}, int64(i*page)); err != nil {
			return nil, err
		}
	}
	region, err = unix.Mmap(-1, 0, pages*page, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
	if err != nil {
		return nil, err
	}
	for first := 0; first < pages; first += aliasedPages {
		bytes := uintptr(min(aliasedPages, pages-first) * page)
		at := unsafe.Pointer(&region[first*page])
		if _, err := unix.MmapPtr(fd, 0, at, bytes, unix.PROT_READ, unix.MAP_SHARED|unix.MAP_FIXED|unix.MAP_POPULATE); err != nil {
			return nil, errors.Join(err, unix.Munmap(region))
		}
	}
	return region, nil
}

// resize makes the walk cover the first n pages: neighbouring ones, which
// spread evenly over the sets of any TLB.
func (w *pageWalk) resize(n int) {
	w.quarter = min(max(n/pageCursors, 1), len(w.order)/pageCursors)
	w.at = 0
}

func (w *pageWalk) size() int { return w.quarter * pageCursors }

func (w *pageWalk) all() int { return len(w.order) / pageCursors * pageCursors }

func (w *pageWalk) advance(pages int) int {
	steps := (pages + pageCursors - 1) / pageCursors
	for left := steps; left > 0; {
		run := min(left, w.quarter-w.at)
		w.touch(w.at, w.at+run)
		left -= run
		if w.at += run; w.at == w.quarter {
			w.at = 0
		}
	}
	return steps * pageCursors
}

// touch moves every cursor through a part of its quarter. The pages hold zeros,
// which only the next access of the cursor depends on.
func (w *pageWalk) touch(from, to int) {
	a, b, c, d := w.zero[0], w.zero[1], w.zero[2], w.zero[3]
	q := w.quarter
	p0, p1, p2, p3 := w.order[from:to], w.order[q+from:q+to], w.order[2*q+from:2*q+to], w.order[3*q+from:3*q+to]
	for i := range p0 {
		a = w.load(p0[i], a)
		b = w.load(p1[i], b)
		c = w.load(p2[i], c)
		d = w.load(p3[i], d)
	}
	w.zero = [pageCursors]uintptr{a, b, c, d}
}

func (w *pageWalk) load(page uint16, last uintptr) uintptr {
	offset := uintptr(page)*w.page + uintptr(page%aliasedPages)*aliasedStride
	return *(*uintptr)(unsafe.Add(w.base, offset+last))
}

func (w *pageWalk) Close() error {
	if err := unix.Munmap(w.region); err != nil {
		return fmt.Errorf("unmap pages: %w", err)
	}
	return nil
}

func newTLB(_ context.Context, s Setup) (*Load, error) {
	page := int64(unix.Getpagesize())
	pages := int64(s.Machine.TLB.pages())
	var notes []string
	if pages == 0 && s.Calibration.CapacityBytes == 0 {
		pages = tlbPagesAssumed
		notes = append(notes, fmt.Sprintf("not calibrated, and the processor does not report the size of its TLB: %d pages assumed", pages))
	}
	pages = Cache{SizeBytes: pages * page}.capacity(s) / page
	load := newFootprintLoad(s, tlbBurst, aliasedPages*page, func(random *rand.Rand) (walk, error) {
		return newPageWalk(int(pages), random)
	})
	load.Notes = notes
	return load, nil
}

// The sweep for the TLB's knee: from twice the first level, whose own knee is
// not looked for, to twice what the processor reports.
const (
	tlbSweepFirstPages = 256
	tlbSweepLastPages  = 8192
)

func tlbKnee(ctx context.Context, s Setup) (KneeSweep, error) {
	page, first, last := int64(unix.Getpagesize()), int64(tlbSweepFirstPages), int64(tlbSweepLastPages)
	reported := int64(s.Machine.TLB.pages())
	if reported > 0 {
		first, last = max(2*int64(s.Machine.TLB.L1DataPages), reported/8), 2*reported
	}
	return kneeSweep(ctx, kneeRange{
		reported: reported * page,
		first:    first * page, last: last * page,
		line: int(page), cpus: s.CPUs,
		open: func(pages int) (walk, error) {
			return newPageWalk(pages, rand.New(rand.NewPCG(s.Seed, 0)))
		},
	})
}

var tlb = Descriptor{
	Source:    interference.TLB,
	Knob:      Footprint,
	Means:     "share of the data TLB's entries for small pages kept occupied",
	Loads:     "data TLB of the CPUs it runs on, and the page walkers",
	Spares:    "data caches: all its pages are aliases of 64 lines, and page tables take eight bytes per page",
	Unit:      "pages",
	Dwell:     levelDwell,
	Supported: func(Machine) error { return nil },
	New:       newTLB,
	Knee:      tlbKnee,
	Probe: func(s Setup) (probeSet, error) {
		return newPageProbe(int(s.Calibration.CapacityBytes)/unix.Getpagesize(), probeOrder(s))
	},
}
