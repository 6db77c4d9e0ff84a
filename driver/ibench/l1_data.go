package ibench

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// l1Burst is the beat on which the kernel takes the cache when it shares the
// workload's CPU: both cannot run at once there, so it presses by replacing
// the workload's lines, once over the footprint per beat. A walk takes a few
// microseconds, but waking up for it costs up to 16 on a virtual machine
// (measured): a shorter beat would press on the CPU and not on the cache.
const l1Burst = time.Millisecond

type l1Walker struct {
	ring *ring
	at   cursors
	same bool
}

var errNoL1 = errors.New("the machine reports no L1 data cache")

func newL1Data(_ context.Context, s Setup) (*Load, error) {
	l1, ok := s.Machine.DataCache(1)
	if !ok {
		return nil, errNoL1
	}
	capacity := l1.SizeBytes
	if s.Calibration.CapacityBytes > 0 {
		capacity = s.Calibration.CapacityBytes
	}
	threads := len(s.CPUs)
	return &Load{
		Threads: threads,
		Worker: func(thread int) (Worker, error) {
			r, err := newRing(capacity, l1.LineBytes, l1.Sets, false, rand.New(rand.NewPCG(s.Seed, uint64(thread))))
			if err != nil {
				return nil, err
			}
			return &l1Walker{ring: r, same: s.Same}, nil
		},
		ResidentBytes: func() int64 { return capacity * int64(threads) },
	}, nil
}

// Tune makes the walk cover the share u of the cache.
func (w *l1Walker) Tune(u, _ float64) Pace {
	if u <= 0 {
		return Pace{}
	}
	w.ring.resize(int(u * float64(len(w.ring.order))))
	w.at = w.ring.spread()
	if w.same {
		perSecond := float64(w.ring.n) / l1Burst.Seconds()
		return Pace{OpsPerSecond: perSecond, Busy: 1, DemandPerSec: perSecond, Window: l1Burst}
	}
	return Pace{OpsPerSecond: math.Inf(1), Busy: 1, DemandPerSec: math.Inf(1)}
}

// Work walks on; an operation is a line of the footprint touched.
func (w *l1Walker) Work(maxOps float64) (float64, error) {
	const steps = 1024
	n := int(min(steps, math.Ceil(maxOps/ringCursors)))
	w.ring.walk(&w.at, n)
	return float64(n * ringCursors), nil
}

// Close frees the memory.
func (w *l1Walker) Close() error { return w.ring.Close() }

// l1Knee sweeps from an eighth of the reported size to twice it.
func l1Knee(ctx context.Context, s Setup) (KneeSweep, error) {
	l1, ok := s.Machine.DataCache(1)
	if !ok {
		return KneeSweep{}, errNoL1
	}
	return kneeSweep(ctx, kneeRange{
		reported: l1.SizeBytes,
		first:    l1.SizeBytes / 8, last: 2 * l1.SizeBytes,
		line: l1.LineBytes, sets: l1.Sets, seed: s.Seed, cpus: s.CPUs,
	})
}

var l1Data = Descriptor{
	Source: interference.L1Data,
	Knob:   Footprint,
	Means:  "share of the L1 data cache's lines kept occupied",
	Loads:  "L1 data cache of the CPUs it runs on",
	Spares: "everything beyond the L1: the footprint fits into it",
	Unit:   "lines",
	Dwell:  levelDwell,
	Supported: func(m Machine) error {
		if _, ok := m.DataCache(1); !ok {
			return errNoL1
		}
		return nil
	},
	New:  newL1Data,
	Knee: l1Knee,
}
