package ibench

import (
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
	"unsafe"
)

// countingWalk notes how it was moved.
type countingWalk struct {
	n, capacity int
	asked       []int
}

func (w *countingWalk) resize(n int) { w.n = n }
func (w *countingWalk) size() int    { return w.n }
func (w *countingWalk) all() int     { return w.capacity }
func (w *countingWalk) Close() error { return nil }

func (w *countingWalk) advance(lines int) int {
	w.asked = append(w.asked, lines)
	return lines
}

// On the workload's CPU a burst touches as many lines at every intensity; only
// the footprint grows.
func TestFootprintBursts(t *testing.T) {
	t.Parallel()
	walk := &countingWalk{capacity: 512}
	w := newFootprintWorker(walk, true, burst{beat: time.Millisecond, passes: 4})
	for _, c := range []struct {
		u     float64
		lines int
	}{{0.01, 5}, {0.5, 256}, {1, 512}} {
		pace := w.Tune(c.u, 0)
		if walk.n != c.lines || pace.Window != time.Millisecond || pace.DemandPerSec != 4*512*1000 || pace.OpsPerSecond != pace.DemandPerSec {
			t.Errorf("at %v: %d lines, %+v", c.u, walk.n, pace)
		}
		walk.asked = nil
		ops, err := w.Work(pace.OpsPerSecond * pace.Window.Seconds())
		if err != nil || ops != 4*512 || !slices.Equal(walk.asked, []int{0, 4 * 512}) {
			t.Errorf("at %v: %v operations, %v, asked for %v", c.u, ops, err, walk.asked)
		}
	}
	if !w.Tune(0, 0).idle() {
		t.Error("intensity 0 presses")
	}
}

func TestFootprintBesideNeverRests(t *testing.T) {
	t.Parallel()
	walk := &countingWalk{capacity: 512}
	w := newFootprintWorker(walk, false, l1Burst)
	if pace := w.Tune(0.5, 0); !math.IsInf(pace.OpsPerSecond, 1) || pace.Busy != 1 || walk.n != 256 {
		t.Errorf("%+v over %d lines", pace, walk.n)
	}
	if ops, err := w.Work(math.Inf(1)); err != nil || ops != footprintQuantum {
		t.Errorf("%v operations, %v", ops, err)
	}
}

// One interrupted burst does not count as slow.
func TestFootprintBurstCountsAsTheMedian(t *testing.T) {
	t.Parallel()
	w := newFootprintWorker(&countingWalk{capacity: 512}, true, l1Burst)
	w.Tune(1, 0)
	for i, c := range []struct{ took, want time.Duration }{
		{10, 10}, {12, 12}, {11, 11}, {500, 12}, {11, 11}, {11, 11}, {12, 11}, {10, 11}, {11, 11}, {30, 11}, {30, 11}, {30, 12},
	} {
		if w.keep(c.took); w.Took() != c.want {
			t.Errorf("burst %d counts as %d, want %d", i, w.Took(), c.want)
		}
	}
	w.Tune(1, 0)
	if w.keep(40); w.Took() != 40 {
		t.Errorf("a new level remembers the one before: %d", w.Took())
	}
}

// A walk over n pages touches the first n pages, each once, and few lines.
func TestPageWalkTouchesItsPages(t *testing.T) {
	t.Parallel()
	const pages = 640
	w, err := newPageWalk(pages, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	defer closeQuietly(w)
	for _, n := range []int{4, 64, 100, 640, 5000} {
		w.resize(n)
		held := slices.Clone(w.order[:w.size()])
		slices.Sort(held)
		if len(slices.Compact(held)) != w.size() || w.size() > pages || w.size() < min(n, pages)/pageCursors*pageCursors {
			t.Errorf("asked for %d pages: %d, %d of them distinct", n, w.size(), len(held))
		}
		if got := w.advance(3*w.size() + 1); got < 3*w.size()+1 {
			t.Errorf("%d pages: advanced by %d", n, got)
		}
	}
}

func TestPageWalkRefusesSizes(t *testing.T) {
	t.Parallel()
	for _, pages := range []int{0, 3, 1 << 17} {
		if w, err := newPageWalk(pages, rand.New(rand.NewPCG(1, 1))); err == nil {
			t.Errorf("%d pages: %d", pages, w.size())
		}
	}
}

// The data and page probes go back the way they came.
func TestProbesRecallBackwards(t *testing.T) {
	t.Parallel()
	p, err := newDataProbe(64*64, 64, 16, false, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	defer closeQuietly(p)
	base := p.ring.region.base()
	for i := 1; i < len(p.ring.order); i++ {
		at := int(p.ring.order[i]) * p.ring.line
		if back := *(*uint64)(unsafe.Add(base, at+backOffset)); back != uint64(p.ring.order[i-1])*uint64(p.ring.line) {
			t.Fatalf("line %d leads back to %d", i, back)
		}
	}
	p.prime()
	p.recall()
	pages, err := newPageProbe(130, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	defer closeQuietly(pages)
	if pages.lines() != 128 || pages.back.order[0] != pages.forth.order[127] {
		t.Errorf("%d pages; forth ends at %d, back begins at %d", pages.lines(), pages.forth.order[127], pages.back.order[0])
	}
	pages.prime()
	pages.recall()
}

// Working sets are unmapped when they are closed. Not in parallel: another
// mapping could take the place of one that is gone.
func TestWorkingSetsAreUnmapped(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for name, open := range map[string]func() (io.Closer, unsafe.Pointer, error){
		"ring": func() (io.Closer, unsafe.Pointer, error) {
			r, err := newRing(1<<20, 64, 64, true, random)
			return r, r.region.base(), err
		},
		"pages": func() (io.Closer, unsafe.Pointer, error) {
			w, err := newPageWalk(3000, random)
			return w, w.base, err
		},
		"data probe": func() (io.Closer, unsafe.Pointer, error) {
			p, err := newDataProbe(1<<20, 64, 64, false, random)
			return p, p.ring.region.base(), err
		},
		"page probe": func() (io.Closer, unsafe.Pointer, error) {
			p, err := newPageProbe(3000, random)
			return p, p.forth.base, err
		},
	} {
		set, base, err := open()
		if err != nil {
			t.Fatal(err)
		}
		if protection(t, uintptr(base)) == "" {
			t.Errorf("%s: not mapped", name)
		}
		if err := set.Close(); err != nil {
			t.Error(err)
		}
		if flags := protection(t, uintptr(base)); flags != "" {
			t.Errorf("%s: still mapped as %q", name, flags)
		}
	}
}
