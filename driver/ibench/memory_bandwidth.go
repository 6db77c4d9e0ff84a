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

// The variants of mem_bw. Reading evicts the last-level cache on the way, and
// so does writing, which fetches each line before; "nt" writes past the caches.
const (
	streamRead        = "read"
	streamNontemporal = "nt"
	streamWriteBack   = "write"
)

// passOf returns how a variant goes over memory.
func passOf(variant string) (streamPass, error) {
	switch variant {
	case streamNontemporal:
		return nontemporalPass()
	case streamWriteBack:
		return streamWrite, nil
	}
	return stream, nil
}

func newMemoryBandwidth(_ context.Context, s Setup) (*Load, error) {
	llc, err := lastLevelCache(s.Machine)
	if err != nil {
		return nil, err
	}
	pass, err := passOf(s.Variant)
	if err != nil {
		return nil, err
	}
	total := min(streamLLCFactor*llc.SizeBytes, s.Machine.MemoryAvailableBytes/streamMemoryFraction)
	threads := s.threads(len(s.CPUs), len(s.CPUs))
	perThread := max(s.bounded(total)/int64(threads), streamBytesMin)
	load := newStreamLoad(threads, perThread, llc.LineBytes, pass)
	if perThread*int64(threads) < 2*llc.SizeBytes {
		load.Notes = append(load.Notes, "the memory bound leaves less than twice the last-level cache: part of the traffic stays in it")
	}
	return load, nil
}

// lastLevelCache returns the last-level cache of a machine.
func lastLevelCache(m Machine) (Cache, error) {
	llc, ok := m.LLC()
	if !ok {
		return Cache{}, errors.New("the machine reports no last-level cache")
	}
	return llc, nil
}

var memoryBandwidth = Descriptor{
	Source:     interference.MemoryBandwidth,
	Knob:       Rate,
	Means:      "share of the memory bandwidth, by default for reading, that the kernel's CPUs sustain",
	Loads:      "memory channels; evicts the last-level cache on the way, but for the variant nt",
	Spares:     "memory capacity: a tenth of it at most",
	Unit:       "bytes",
	Variants:   []string{streamRead, streamNontemporal, streamWriteBack},
	Dwell:      levelDwell,
	Shares:     2,
	Supported:  needs(lastLevelCache),
	New:        newMemoryBandwidth,
	MaxThreads: perCPU,
}
