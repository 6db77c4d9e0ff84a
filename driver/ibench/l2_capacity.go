package ibench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
	"unsafe"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// l2Burst is how the L2 is taken on the workload's own CPU. There the kernel
// goes over its lines in sequence, which the prefetchers make several times
// cheaper than a random walk: what it takes from a workload should be lines and
// not time. 1 MiB comes from the level below in some 30 microseconds, and takes
// a third of that to walk when it is there. At this beat that is 1 to 2 % of the
// CPU, while a workload that lives in the L2 loses up to 5 %. With 4 passes the
// kernel is 5 % slower when the workload has replaced about a tenth of the cache.
// Chosen by us.
var l2Burst = burst{beat: 4 * time.Millisecond, passes: 4}

// middleCache returns the L2 of a machine where it is not the last level. A
// cache shared by all is the last-level kernels' to put pressure on.
func middleCache(m Machine) (Cache, error) {
	l2, ok := m.DataCache(2)
	if !ok {
		return Cache{}, errors.New("the machine reports no L2 cache")
	}
	if llc, _ := m.LLC(); llc.Level == l2.Level {
		return Cache{}, fmt.Errorf("the L2 is the last level here: use %s and %s instead", interference.LLCCapacity, interference.LLCBandwidth)
	}
	return l2, nil
}

func newL2Capacity(_ context.Context, s Setup) (*Load, error) {
	l2, err := middleCache(s.Machine)
	if err != nil {
		return nil, err
	}
	capacity := s.bounded(l2.capacity(s))
	return newFootprintLoad(s, l2Burst, capacity, func(random *rand.Rand) (walk, error) {
		if s.Same {
			return newSequence(capacity, l2.LineBytes)
		}
		// On other CPUs at random: prefetched lines would not be held.
		return newDataWalk(capacity, l2.LineBytes, l2.Sets, true, random)
	}), nil
}

// sequence is a walk over lines that follow each other: every way of a cache is
// filled before the next.
type sequence struct {
	region *region
	line   int // bytes
	n, at  int // lines
	sum    uint64
}

// sequenceUnit is how many lines a pass goes at once.
const sequenceUnit = 4

func newSequence(bytes int64, lineBytes int) (*sequence, error) {
	unit := int64(sequenceUnit * lineBytes)
	if bytes < unit {
		return nil, fmt.Errorf("a footprint of %d bytes is too small to walk", bytes)
	}
	r, err := newRegion(bytes/unit*unit, true)
	if err != nil {
		return nil, err
	}
	w := &sequence{region: r, line: lineBytes}
	w.resize(w.all())
	return w, nil
}

func (w *sequence) resize(n int) {
	w.n = max(min(n, w.all())/sequenceUnit, 1) * sequenceUnit
	w.at = 0
}

func (w *sequence) size() int { return w.n }

func (w *sequence) all() int { return len(w.region.data) / w.line }

func (w *sequence) advance(lines int) int {
	wanted := (lines + sequenceUnit - 1) / sequenceUnit * sequenceUnit
	for left := wanted; left > 0; {
		part := min(left, w.n-w.at)
		w.sum += stream(unsafe.Add(w.region.base(), w.at*w.line), part*w.line, w.line)
		left -= part
		if w.at += part; w.at == w.n {
			w.at = 0
		}
	}
	return wanted
}

func (w *sequence) Close() error { return w.region.Close() }

// capacity is the calibrated size of a cache, else the one reported.
func (c Cache) capacity(s Setup) int64 {
	if s.Calibration.CapacityBytes > 0 {
		return s.Calibration.CapacityBytes
	}
	return c.SizeBytes
}

// l2Knee sweeps from twice the L1 to four times the reported size.
func l2Knee(ctx context.Context, s Setup) (KneeSweep, error) {
	l2, err := middleCache(s.Machine)
	if err != nil {
		return KneeSweep{}, err
	}
	l1, _ := s.Machine.DataCache(1)
	sweep, err := kneeSweep(ctx, kneeRange{
		reported: l2.SizeBytes,
		first:    2 * max(l1.SizeBytes, int64(l2.LineBytes)*ringCursors), last: 4 * l2.SizeBytes,
		line: l2.LineBytes, sets: l2.Sets, huge: true, seed: s.Seed, cpus: s.CPUs,
	})
	sweep.Shared = true // with the core's other thread, which may be another machine's
	return sweep, err
}

var l2Capacity = Descriptor{
	Source:    interference.L2Capacity,
	Knob:      Footprint,
	Means:     "share of the L2 cache's lines kept occupied, spread evenly over its sets",
	Loads:     "L2 cache of the CPUs it runs on, and the L1 data cache on the way",
	Spares:    "last-level cache and memory: the footprint fits into the L2",
	Unit:      "lines",
	Dwell:     levelDwell,
	Supported: needs(middleCache),
	New:       newL2Capacity,
	Knee:      l2Knee,
	Probe: func(s Setup) (probeSet, error) {
		l2, err := middleCache(s.Machine)
		if err != nil {
			return nil, err
		}
		return newDataProbe(s.bounded(l2.capacity(s)), l2.LineBytes, l2.Sets, true, probeOrder(s))
	},
}
