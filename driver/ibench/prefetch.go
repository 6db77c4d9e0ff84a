package ibench

import (
	"context"
	"fmt"
	"unsafe"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// The variants of the prefetch kernel: Delimitrou 2015, §5.3, SoI13, puts pressure on
// the prefetching of instructions; data is ours.
const (
	prefetchInstr = "instr"
	prefetchData  = "data"
)

// prefetchCodeFraction is the part of the L1 instruction cache that the code
// takes: a quarter, so that it is no capacity kernel (chosen by us).
const prefetchCodeFraction = 4

// prefetchQuantum is how many blocks or strides are run between two looks at
// the clock, at about ten nanoseconds each.
const prefetchQuantum = 1024

// instructionMisleader runs blocks of code that follow each other at random:
// what the processor fetches ahead is wrong nearly every time.
type instructionMisleader struct{ maze *maze }

// Tune keeps a share of the time busy.
func (w *instructionMisleader) Tune(u, peakPerThread float64) Pace {
	return dutyPace(u, peakPerThread)
}

// Work runs one quantum; an operation is one block.
func (w *instructionMisleader) Work(float64) (float64, error) {
	w.maze.run(prefetchQuantum)
	return prefetchQuantum, nil
}

// Close frees the code.
func (w *instructionMisleader) Close() error { return w.maze.Close() }

// dataMisleader begins to stride through a random page and stops as soon as a
// prefetcher follows. Its buffer is small enough for any L2 cache.
type dataMisleader struct {
	region *region
	random uint64
	sum    uint64 // keeps the compiler from dropping the loads
}

const (
	misleadBytes     = 256 << 10
	misleadPageBytes = 4096
	misleadAccesses  = 3 // after which prefetchers follow a stride
	misleadStrides   = 8 // strides of 1 to 8 lines
)

// Tune keeps a share of the time busy.
func (w *dataMisleader) Tune(u, peakPerThread float64) Pace { return dutyPace(u, peakPerThread) }

// Work runs one quantum; an operation is one broken stride.
func (w *dataMisleader) Work(float64) (float64, error) {
	x, sum, base := w.random, w.sum, w.region.base()
	for range prefetchQuantum {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		const room = misleadPageBytes - (misleadAccesses-1)*misleadStrides*defaultLineBytes
		at := x % (misleadBytes / misleadPageBytes) * misleadPageBytes
		at += x >> 16 % (room / defaultLineBytes) * defaultLineBytes
		stride := (1 + x>>32%misleadStrides) * defaultLineBytes
		for range misleadAccesses {
			sum += *(*uint64)(unsafe.Add(base, at))
			at += stride
		}
	}
	w.random, w.sum = x, sum
	return prefetchQuantum, nil
}

// Close frees the memory.
func (w *dataMisleader) Close() error { return w.region.Close() }

func newPrefetch(_ context.Context, s Setup) (*Load, error) {
	load := &Load{Threads: len(s.CPUs)}
	if s.Variant == prefetchData {
		load.ResidentBytes = func() int64 { return misleadBytes * int64(load.Threads) }
		load.Worker = func(thread int) (Worker, error) {
			region, err := newRegion(misleadBytes, false)
			if err != nil {
				return nil, err
			}
			return &dataMisleader{region: region, random: s.Seed + uint64(thread) + 1}, nil
		}
		return load, nil
	}
	l1, err := instructionCache(s.Machine)
	if err != nil {
		return nil, fmt.Errorf("%w; the variant %s does without", err, prefetchData)
	}
	bytes := l1.SizeBytes / prefetchCodeFraction
	load.ResidentBytes = func() int64 { return bytes * int64(load.Threads) }
	load.Worker = func(thread int) (Worker, error) {
		m, err := newMaze(int(bytes), s.Seed+uint64(thread)<<1)
		if err != nil {
			return nil, err
		}
		return &instructionMisleader{maze: m}, nil
	}
	return load, nil
}

// prefetchVariants are those that the architecture has; the first is the
// default.
func prefetchVariants() []string {
	if machineCode {
		return []string{prefetchInstr, prefetchData}
	}
	return []string{prefetchData}
}

var prefetch = Descriptor{
	Source:   interference.Prefetcher,
	Knob:     Duty,
	Means:    "share of time that code runs whose next block cannot be guessed; variant data: memory whose next line cannot",
	Loads:    "instruction prefetching and branch prediction of the CPUs it runs on; variant data: data prefetchers and the L2 cache; CPU time where it shares the workload's CPUs",
	Spares:   "caches and memory: a quarter of the L1 instruction cache, or 256 KiB of data",
	Unit:     "blocks",
	Variants: prefetchVariants(),
	Dwell:    levelDwell,
	Supported: func(m Machine) error {
		if !machineCode {
			return nil
		}
		_, err := instructionCache(m)
		return err
	},
	New: newPrefetch,
}
