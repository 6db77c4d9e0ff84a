package ibench

import (
	"context"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// newL2Bandwidth streams over half of the L2: more than twice the L1, which
// therefore holds none of it when the stream comes round, and little enough to
// stay in the L2 (our §2.4, SoI7').
func newL2Bandwidth(_ context.Context, s Setup) (*Load, error) {
	l2, err := middleCache(s.Machine)
	if err != nil {
		return nil, err
	}
	l1, _ := s.Machine.DataCache(1)
	perThread := max(s.bounded(l2.capacity(s)/2), streamChunkBytes)
	load := newStreamLoad(len(s.CPUs), perThread, l2.LineBytes, stream)
	if perThread <= 2*l1.SizeBytes {
		load.Notes = append(load.Notes, "half of the L2 is not larger than twice the L1: part of the traffic stays there")
	}
	return load, nil
}

var l2Bandwidth = Descriptor{
	Source:    interference.L2Bandwidth,
	Knob:      Rate,
	Means:     "share of the L2 cache bandwidth of each of its CPUs",
	Loads:     "L2 cache of the CPUs it runs on, and half its capacity",
	Spares:    "last-level cache and memory: the stream stays in the L2",
	Unit:      "bytes",
	Dwell:     levelDwell,
	Supported: needs(middleCache),
	New:       newL2Bandwidth,
	Knee:      l2Knee,
}
