package ibench

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
	"unsafe"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// llcSweep is the time in which every line of the footprint is touched once:
// often enough to keep the lines from being evicted, seldom enough not to
// become a bandwidth kernel (3 GB/s for 32 MiB). Chosen by us.
const llcSweep = 10 * time.Millisecond

// llcStepsPerTouch is how many steps each cursor goes between two touches of
// the sweep buffer, which keeps the cache below busy with other lines so that
// the walk is served by the last level (Delimitrou 2015, §5.3, SoI6).
const llcStepsPerTouch = 16

// llcKneeOvershoot is how far beyond the reported size the knee is looked for.
const llcKneeOvershoot = 1.5

type llcWalker struct {
	ring    *ring
	at      cursors
	extra   int     // lines that the cache below holds besides
	sweep   *region // of the size of the cache below
	touched int
	sum     byte
}

func newLLCCapacity(_ context.Context, s Setup) (*Load, error) {
	llc, err := lastLevelCache(s.Machine)
	if err != nil {
		return nil, err
	}
	capacity := s.bounded(llc.capacity(s))
	below := max(s.Machine.belowLLC(), int64(llc.LineBytes))
	// What the cache below holds, a cache that is not inclusive need not.
	extra := int64(0)
	if s.Machine.LLCInclusion == NonInclusive {
		extra = below
	}
	load := &Load{
		Threads: 1,
		Worker: func(int) (Worker, error) {
			return newLLCWalker(capacity, below, extra, llc, s.Seed)
		},
		ResidentBytes: func() int64 { return capacity + extra + below },
	}
	if s.Calibration.CapacityBytes == 0 && s.Machine.Virtual {
		load.Notes = append(load.Notes, "not calibrated: the capacity is the one reported, which virtual machines often overstate")
	}
	return load, nil
}

func newLLCWalker(capacity, below, extra int64, llc Cache, seed uint64) (*llcWalker, error) {
	r, err := newRing(capacity+extra, llc.LineBytes, llc.Sets, true, rand.New(rand.NewPCG(seed, 0)))
	if err != nil {
		return nil, err
	}
	sweep, err := newRegion(below, false)
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return &llcWalker{ring: r, extra: int(extra) / llc.LineBytes, sweep: sweep}, nil
}

// Tune makes the walk cover the share u of the capacity.
func (w *llcWalker) Tune(u, _ float64) Pace {
	if u <= 0 {
		return Pace{}
	}
	w.ring.resize(w.extra + int(u*float64(len(w.ring.order)-w.extra)))
	w.at = w.ring.spread()
	perSecond := float64(w.ring.n) / llcSweep.Seconds()
	return Pace{OpsPerSecond: perSecond, Busy: 1, DemandPerSec: perSecond}
}

// Work walks on; an operation is a line of the footprint touched.
func (w *llcWalker) Work(maxOps float64) (float64, error) {
	const rounds = 16
	ops := 0.0
	for range rounds {
		if ops >= maxOps {
			break
		}
		w.ring.walk(&w.at, llcStepsPerTouch)
		ops += llcStepsPerTouch * ringCursors
		w.sum += *(*byte)(unsafe.Add(w.sweep.base(), w.touched))
		if w.touched += w.ring.line; w.touched >= len(w.sweep.data) {
			w.touched = 0
		}
	}
	return ops, nil
}

// Close frees the memory.
func (w *llcWalker) Close() error {
	return errors.Join(w.ring.Close(), w.sweep.Close())
}

// llcKnee sweeps from twice the cache below to beyond the reported size.
func llcKnee(ctx context.Context, s Setup) (KneeSweep, error) {
	llc, err := lastLevelCache(s.Machine)
	if err != nil {
		return KneeSweep{}, err
	}
	last := s.bounded(int64(llcKneeOvershoot * float64(llc.SizeBytes)))
	sweep, err := kneeSweep(ctx, kneeRange{
		reported: llc.SizeBytes,
		first:    2 * max(s.Machine.belowLLC(), int64(llc.LineBytes)*ringCursors), last: last,
		line: llc.LineBytes, sets: llc.Sets, huge: true, seed: s.Seed, cpus: s.CPUs,
	})
	sweep.Shared = true
	return sweep, err
}

var llcCapacity = Descriptor{
	Source:    interference.LLCCapacity,
	Knob:      Footprint,
	Means:     "share of the last-level cache's lines kept occupied, spread evenly over its sets",
	Loads:     "capacity of the last-level cache",
	Spares:    "cache and memory bandwidth: each line is touched a hundred times a second",
	Unit:      "lines",
	Dwell:     levelDwell,
	Shares:    3,
	Supported: needs(lastLevelCache),
	New:       newLLCCapacity,
	Knee:      llcKnee,
	Probe: func(s Setup) (probeSet, error) {
		llc, err := lastLevelCache(s.Machine)
		if err != nil {
			return nil, err
		}
		below := max(s.Machine.belowLLC(), int64(llc.LineBytes)*ringCursors)
		return newScreenedProbe(s.bounded(llc.capacity(s)), below, llc, probeOrder(s))
	},
}
