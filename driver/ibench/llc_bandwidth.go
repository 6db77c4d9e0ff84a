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
	llc, err := lastLevelCache(s.Machine)
	if err != nil {
		return nil, err
	}
	capacity := llc.capacity(s)
	threads := s.threads(len(s.CPUs), len(s.CPUs))
	total := min(max(2*s.Machine.belowLLC()*int64(threads), capacity/4), capacity/2)
	perThread := max(s.bounded(total)/int64(threads), streamChunkBytes)
	load := newStreamLoad(threads, perThread, llc.LineBytes, stream)
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
	Supported:  needs(lastLevelCache),
	New:        newLLCBandwidth,
	Knee:       llcKnee,
	MaxThreads: perCPU,
}
