package ibench

import (
	"context"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// newLLCBandwidth streams over a part of the last-level cache that the cache
// below cannot hold: a quarter of it, at least twice the cache below, at most
// half (Delimitrou 2015, §5.3, SoI7; shares chosen by us). A node that is
// calibrated uses the capacity found for llc_cap, as reported sizes lie.
func newLLCBandwidth(_ context.Context, s Setup) (*Load, error) {
	llc, ok := s.Machine.LLC()
	if !ok {
		return nil, errNoLLC
	}
	capacity := llc.SizeBytes
	if s.Calibration.CapacityBytes > 0 {
		capacity = s.Calibration.CapacityBytes
	}
	threads := s.threads(len(s.CPUs), len(s.CPUs))
	total := min(max(2*s.Machine.belowLLC()*int64(threads), capacity/4), capacity/2)
	perThread := max(s.bounded(total)/int64(threads), streamChunkBytes)
	load := &Load{
		Threads: threads,
		Worker: func(int) (Worker, error) {
			return newStreamer(perThread, llc.LineBytes, true)
		},
		ResidentBytes: func() int64 { return perThread * int64(threads) },
	}
	if below := s.Machine.belowLLC(); perThread <= below {
		load.Notes = append(load.Notes, "a thread's share is not larger than the cache below: part of the traffic stays there")
	}
	return load, nil
}

var llcBandwidth = Descriptor{
	Source:     interference.LLCBandwidth,
	Knob:       Rate,
	Means:      "share of the last-level cache bandwidth that the kernel's CPUs sustain",
	Loads:      "ports and ring of the last-level cache; half its capacity at most",
	Spares:     "memory bandwidth: the stream stays in the cache",
	Unit:       "bytes",
	Dwell:      levelDwell,
	Supported:  memoryBandwidth.Supported,
	New:        newLLCBandwidth,
	Knee:       llcKnee,
	MaxThreads: perCPU,
}
