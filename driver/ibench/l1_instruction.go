package ibench

import (
	"context"
	"errors"
	"math/rand/v2"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

var errNoL1I = errors.New("the machine reports no L1 instruction cache")

// instructionCache returns the L1 instruction cache of a machine on which
// kernels can make instructions.
func instructionCache(m Machine) (Cache, error) {
	l1, ok := m.InstructionCache()
	if !ok {
		return Cache{}, errNoL1I
	}
	if !machineCode {
		return Cache{}, errNoMachineCode
	}
	if l1.LineBytes != codeLineBytes {
		return Cache{}, errOddLine
	}
	return l1, nil
}

var errOddLine = errors.New("the machine's instruction cache lines are not of 64 bytes")

func newL1Instruction(_ context.Context, s Setup) (*Load, error) {
	l1, err := instructionCache(s.Machine)
	if err != nil {
		return nil, err
	}
	lines := int(l1.capacity(s)) / codeLineBytes
	return newFootprintLoad(s, l1Burst, int64(lines*codeLineBytes), func(random *rand.Rand) (walk, error) {
		return newCodeWalk(lines, l1.Sets, random)
	}), nil
}

// l1InstructionKnee sweeps from a third of the reported size to twice it.
func l1InstructionKnee(ctx context.Context, s Setup) (KneeSweep, error) {
	l1, err := instructionCache(s.Machine)
	if err != nil {
		return KneeSweep{}, err
	}
	return kneeSweep(ctx, kneeRange{
		reported: l1.SizeBytes,
		first:    l1.SizeBytes / 3, last: 2 * l1.SizeBytes,
		line: codeLineBytes, cpus: s.CPUs,
		open: func(lines int) (walk, error) {
			return newCodeWalk(lines, l1.Sets, rand.New(rand.NewPCG(s.Seed, 0)))
		},
	})
}

var l1Instruction = Descriptor{
	Source:    interference.L1Instruction,
	Knob:      Footprint,
	Means:     "share of the L1 instruction cache's lines kept occupied by code",
	Loads:     "L1 instruction cache of the CPUs it runs on; branch targets in part",
	Spares:    "data caches and everything beyond: its code fits into the L1 and touches no memory",
	Unit:      "lines",
	Dwell:     levelDwell,
	Supported: needs(instructionCache),
	New:       newL1Instruction,
	Knee:      l1InstructionKnee,
	Probe: func(s Setup) (probeSet, error) {
		l1, err := instructionCache(s.Machine)
		if err != nil {
			return nil, err
		}
		return newCodeProbe(int(l1.capacity(s))/codeLineBytes, l1.Sets, probeOrder(s))
	},
}
