package ibench

import (
	"context"
	"errors"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// The streamed memory: four times the last-level cache, so that it cannot
// live there, but at most a tenth of the memory, so that it is no capacity
// kernel (Delimitrou 2015, §5.3, SoI2).
const (
	streamLLCFactor      = 4
	streamMemoryFraction = 10
	streamBytesMin       = 1 << 20
)

func newMemoryBandwidth(_ context.Context, s Setup) (*Load, error) {
	llc, ok := s.Machine.LLC()
	if !ok {
		return nil, errNoLLC
	}
	total := min(streamLLCFactor*llc.SizeBytes, s.Machine.MemoryAvailableBytes/streamMemoryFraction)
	threads := s.threads(len(s.CPUs), len(s.CPUs))
	perThread := max(s.bounded(total)/int64(threads), streamBytesMin)
	load := &Load{
		Threads: threads,
		Worker: func(int) (Worker, error) {
			return newStreamer(perThread, llc.LineBytes, false)
		},
		ResidentBytes: func() int64 { return perThread * int64(threads) },
	}
	if perThread*int64(threads) < 2*llc.SizeBytes {
		load.Notes = append(load.Notes, "the memory bound leaves less than twice the last-level cache: part of the traffic stays in it")
	}
	return load, nil
}

var errNoLLC = errors.New("the machine reports no last-level cache")

var memoryBandwidth = Descriptor{
	Source: interference.MemoryBandwidth,
	Knob:   Rate,
	Means:  "share of the memory read bandwidth that the kernel's CPUs sustain",
	Loads:  "memory channels; evicts the last-level cache on the way",
	Spares: "memory capacity: a tenth of it at most",
	Unit:   "bytes",
	Dwell:  levelDwell,
	Supported: func(m Machine) error {
		if _, ok := m.LLC(); !ok {
			return errNoLLC
		}
		return nil
	},
	New:        newMemoryBandwidth,
	MaxThreads: perCPU,
}
