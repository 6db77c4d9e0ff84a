package ibench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// touchShare is the share of the time that the held memory is touched at
// intensity 100, in proportion below: touching at random all the time would
// take one thread's part of the memory bandwidth, so this takes a twentieth of
// it at most (our §2.4). Every page is touched equally often at any level.
const touchShare = 0.05

// memoryBytesBrief bounds the memory while calibrating: what matters is how
// the goal is followed, not how far.
const memoryBytesBrief = 256 << 20

func newMemoryCapacity(_ context.Context, s Setup) (*Load, error) {
	room := newMemoryRoom("/")
	capacity, err := memoryCapacityOf(room, s)
	if err != nil {
		return nil, err
	}
	before, err := residentAnonymous("/")
	if err != nil {
		return nil, err
	}
	hold, err := newMemoryHold(capacity, room.bytes)
	if err != nil {
		return nil, err
	}
	return &Load{
		Threads:       1,
		Worker:        func(int) (Worker, error) { return &memoryToucher{hold: hold, random: s.Seed}, nil },
		ResidentBytes: hold.held.Load,
		Occupied: func() (float64, error) {
			now, err := residentAnonymous("/")
			return min(1, float64(max(now-before, 0))/float64(capacity)), err
		},
		Measures: func() map[string]float64 {
			out := hold.measures()
			out["major_faults"] = float64(majorFaults())
			return out
		},
		Alerts: hold.short.list,
		Close:  hold.Close,
	}, nil
}

// memoryCapacityOf is what intensity 100 holds: what is available now without
// the reserves, and without the dead band of the hold.
func memoryCapacityOf(room memoryRoom, s Setup) (int64, error) {
	free, err := room.bytes()
	if err != nil {
		return 0, err
	}
	if free < holdBytesMin {
		return 0, fmt.Errorf("the kernel has no memory to use: %d MiB less than the reserve are available", -free>>20)
	}
	return pageFloor(s.bounded(free - int64(min(holdSlackBytes, holdSlackFraction*float64(free))))), nil
}

// majorFaults counts pages of this process that had to be read from a disk:
// swapped out while it held them. Asking for oneself cannot fail.
func majorFaults() int64 {
	var usage unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &usage)
	return usage.Majflt
}

// memoryToucher keeps the held pages hot.
type memoryToucher struct {
	hold   *memoryHold
	sum    [touchAccumulators]uint64 // keeps the compiler from dropping the loads
	random uint64
}

// touchAccumulators is the number of independent updates of the published
// listing: none waits for another's miss (Delimitrou 2015, §5.3, SoI1).
const touchAccumulators = 32

// Tune asks for the share u of the capacity; the hold follows on its own.
func (m *memoryToucher) Tune(u, _ float64) Pace {
	m.hold.setGoal(int64(u * float64(len(m.hold.data))))
	if u <= 0 {
		return Pace{}
	}
	return Pace{OpsPerSecond: math.Inf(1), Busy: touchShare * u, DemandPerSec: math.Inf(1), Window: windowSame}
}

// Work touches lines at random; an operation is one line touched.
func (m *memoryToucher) Work(float64) (float64, error) {
	const rounds, lineBytes = 4, 64
	// The generator of Knuth's MMIX: its upper bits choose the line.
	const multiply, add = 6364136223846793005, 1442695040888963407
	base := unsafe.Pointer(unsafe.SliceData(m.hold.data))
	lines := uint64(m.hold.held.Load()) / lineBytes
	x := m.random
	for range rounds {
		for i := range m.sum {
			x = x*multiply + add
			line, _ := bits.Mul64(x, lines)
			m.sum[i] += *(*uint64)(unsafe.Add(base, line*lineBytes)) << 1
		}
	}
	m.random = x
	return rounds * touchAccumulators, nil
}

// Close has nothing to free: the hold belongs to the load.
func (m *memoryToucher) Close() error { return nil }

var memoryCapacity = Descriptor{
	Source: interference.MemoryCapacity,
	Knob:   Footprint,
	Means:  "share of the memory that is available beyond the reserve when the kernel starts, kept resident",
	Loads:  "memory capacity; the page cache shrinks",
	Spares: "memory bandwidth: pages are touched at random a twentieth of the time at most",
	Unit:   "lines",
	Dwell:  levelDwell,
	Supported: func(m Machine) error {
		if m.MemoryAvailableBytes-memoryReserve(m.MemoryTotalBytes) < holdBytesMin {
			return errors.New("no memory is available beyond the reserve")
		}
		return nil
	},
	New:        newMemoryCapacity,
	BriefBytes: memoryBytesBrief,
}
