package ibench

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// l1Burst is how the kernels of the level-1 caches put pressure on the workload's own
// CPU. A walk takes a few microseconds, but waking up for it costs up to 16 on
// a virtual machine (measured): a shorter beat would put pressure on the CPU and not
// on the cache. A line fetched from the levels below costs 4 to 20 times one
// that is there (measured): with 8 passes the kernel is 5 % slower when the
// workload has replaced between 2 and 10 % of the cache. Chosen by us.
var l1Burst = burst{beat: time.Millisecond, passes: 8}

// dataL1 returns the L1 data cache of a machine.
func dataL1(m Machine) (Cache, error) {
	l1, ok := m.DataCache(1)
	if !ok {
		return Cache{}, errors.New("the machine reports no L1 data cache")
	}
	return l1, nil
}

func newL1Data(_ context.Context, s Setup) (*Load, error) {
	l1, err := dataL1(s.Machine)
	if err != nil {
		return nil, err
	}
	capacity := l1.capacity(s)
	return newFootprintLoad(s, l1Burst, capacity, func(random *rand.Rand) (walk, error) {
		return newDataWalk(capacity, l1.LineBytes, l1.Sets, false, random)
	}), nil
}

// l1Knee sweeps from a third of the reported size to twice it.
func l1Knee(ctx context.Context, s Setup) (KneeSweep, error) {
	l1, err := dataL1(s.Machine)
	if err != nil {
		return KneeSweep{}, err
	}
	return kneeSweep(ctx, kneeRange{
		reported: l1.SizeBytes,
		first:    l1.SizeBytes / 3, last: 2 * l1.SizeBytes,
		line: l1.LineBytes, sets: l1.Sets, seed: s.Seed, cpus: s.CPUs,
	})
}

var l1Data = Descriptor{
	Source:    interference.L1Data,
	Knob:      Footprint,
	Means:     "share of the L1 data cache's lines kept occupied",
	Loads:     "L1 data cache of the CPUs it runs on",
	Spares:    "everything beyond the L1: the footprint fits into it",
	Unit:      "lines",
	Dwell:     levelDwell,
	Supported: needs(dataL1),
	New:       newL1Data,
	Knee:      l1Knee,
	Probe: func(s Setup) (probeSet, error) {
		l1, err := dataL1(s.Machine)
		if err != nil {
			return nil, err
		}
		return newDataProbe(l1.capacity(s), l1.LineBytes, l1.Sets, false, probeOrder(s))
	},
}
