package ibench

import (
	"context"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// arithmeticRounds is a quantum of the arithmetic kernels: 5 to 20 microseconds.
const arithmeticRounds = 2048

// integerWorker keeps eight independent chains of integer operations, so that
// the units and not the latency of one chain are the limit: add, multiply,
// shift and exclusive or. In assembly where there is one, as the compiler's
// choice of instructions is not constant.
type integerWorker struct {
	arithmetic
	chain [8]uint64
}

func newIntegerWorker() *integerWorker {
	return &integerWorker{chain: [8]uint64{1, 2, 3, 4, 5, 6, 7, 8}}
}

// Work runs one quantum; an operation is one integer instruction of a chain.
func (w *integerWorker) Work(float64) (float64, error) {
	integerRounds(&w.chain, arithmeticRounds)
	return arithmeticRounds * integerOpsPerRound, nil
}

// arithmetic is what workers without a working set have in common.
type arithmetic struct{}

// Tune keeps a share of the time busy.
func (arithmetic) Tune(u, peakPerThread float64) Pace { return dutyPace(u, peakPerThread) }

// Close has nothing to free.
func (arithmetic) Close() error { return nil }

// newArithmetic makes the load of a kernel without a working set.
func newArithmetic(s Setup, worker func() Worker) *Load {
	return &Load{
		Threads:       len(s.CPUs),
		Worker:        func(int) (Worker, error) { return worker(), nil },
		ResidentBytes: func() int64 { return 0 },
	}
}

var integer = Descriptor{
	Source:    interference.Integer,
	Knob:      Duty,
	Means:     "share of time that the integer units of its CPUs are kept busy",
	Loads:     "integer units; CPU time where it shares the workload's CPUs",
	Spares:    "caches and memory: it has no working set",
	Unit:      "instructions",
	Dwell:     levelDwell,
	Supported: func(Machine) error { return nil },
	New: func(_ context.Context, s Setup) (*Load, error) {
		return newArithmetic(s, func() Worker { return newIntegerWorker() }), nil
	},
}
