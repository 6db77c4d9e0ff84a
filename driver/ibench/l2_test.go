package ibench

import (
	"strings"
	"testing"
	"unsafe"
)

func TestL2NeedsAMiddleCache(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		levels []int
		want   string // empty is supported
	}{
		"three levels": {[]int{1, 2, 3}, ""},
		"four levels":  {[]int{1, 2, 3, 4}, ""},
		"two levels":   {[]int{1, 2}, "the L2 is the last level here"},
		"one level":    {[]int{1}, "reports no L2"},
		"no L2":        {[]int{1, 3}, "reports no L2"},
	} {
		var m Machine
		for _, level := range c.levels {
			m.Caches = append(m.Caches, Cache{Level: level, Type: CacheUnified, SizeBytes: 1 << 20, LineBytes: 64})
		}
		for _, d := range []Descriptor{l2Capacity, l2Bandwidth} {
			err := d.Supported(m)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%s on %s: %v, want %q", d.Source, name, err, c.want)
			}
			if _, newErr := d.New(t.Context(), Setup{Machine: m, CPUs: []int{0}}); (newErr == nil) != (err == nil) {
				t.Errorf("%s on %s: supported %v, made %v", d.Source, name, err, newErr)
			}
		}
	}
}

// The L2 stream is half of the L2, within the calibrated size.
func TestL2StreamSize(t *testing.T) {
	t.Parallel()
	m := readMachine(t, "server") // 1 MiB of L2
	for capacity, want := range map[int64]int64{0: 512 << 10, 768 << 10: 384 << 10} {
		load, err := newL2Bandwidth(t.Context(), Setup{Machine: m, CPUs: []int{0, 1}, Calibration: SourceCalibration{CapacityBytes: capacity}})
		if err != nil || load.ResidentBytes() != 2*want || len(load.Notes) > 0 {
			t.Errorf("capacity %d: %d bytes, %v", capacity, load.ResidentBytes(), err)
		}
	}
}

// The walk in sequence covers exactly its footprint, whatever was asked before.
func TestSequenceCoversItsFootprint(t *testing.T) {
	t.Parallel()
	const line, lines = 64, 256
	w, err := newSequence(line*lines, line)
	if err != nil {
		t.Fatal(err)
	}
	defer closeQuietly(w)
	clear(w.region.data)
	for i := 0; i < lines; i++ {
		*(*uint64)(unsafe.Add(w.region.base(), i*line)) = uint64(i)
	}
	sumTo := func(n int) uint64 { return uint64(n * (n - 1) / 2) }
	for _, n := range []int{256, 4, 100, 256} {
		w.resize(n)
		before := w.sum
		if got := w.advance(3 * n); got != 3*n || w.size() != n || w.sum-before != 3*sumTo(n) {
			t.Errorf("%d lines: walked %d, sum %d, want %d", n, got, w.sum-before, 3*sumTo(n))
		}
	}
	if w.resize(0); w.size() != sequenceUnit || w.advance(0) != 0 {
		t.Errorf("nothing is %d lines", w.size())
	}
	if _, err := newSequence(line, line); err == nil {
		t.Error("a walk of nothing")
	}
}
