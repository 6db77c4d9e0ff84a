package ibench

import (
	"context"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// floatWorker keeps independent chains of multiplications and additions: x/2 +
// 3/4 and 3x/4 + 3/8 in turn, whose fixed point is 3/2. Values stay in [1, 2),
// far from denormal numbers and from overflow, which would be slower than
// ordinary arithmetic. Twelve chains in assembly: a core that starts four such
// operations per cycle needs that many; eight otherwise.
type floatWorker struct {
	arithmetic
	chain [12]float64
}

func newFloatWorker() *floatWorker {
	return &floatWorker{chain: [12]float64{1, 1.05, 1.1, 1.15, 1.2, 1.3, 1.4, 1.6, 1.7, 1.8, 1.85, 1.9}}
}

// Work runs one quantum; an operation is one multiplication or addition.
func (w *floatWorker) Work(float64) (float64, error) {
	floatRounds(&w.chain, arithmeticRounds)
	return arithmeticRounds * floatOpsPerRound, nil
}

var floatingPoint = Descriptor{
	Source:    interference.FloatingPoint,
	Knob:      Duty,
	Means:     "share of time that the floating-point units of its CPUs are kept busy",
	Loads:     "scalar floating-point units; CPU time where it shares the workload's CPUs",
	Spares:    "caches and memory: it has no working set",
	Unit:      "instructions",
	Dwell:     levelDwell,
	Supported: func(Machine) error { return nil },
	New: func(_ context.Context, s Setup) (*Load, error) {
		return newArithmetic(s, func() Worker { return newFloatWorker() }), nil
	},
}
