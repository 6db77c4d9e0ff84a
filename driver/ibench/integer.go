package ibench

import (
	"context"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// A quantum of the arithmetic kernels: about twenty microseconds.
const arithmeticRounds = 2048

// integerOpsPerRound is 8 chains of four instructions: add, multiply, shift
// and exclusive or.
const integerOpsPerRound = 8 * 4

// integerWorker keeps eight independent chains of integer operations, so that
// the units and not the latency of one chain are the limit.
type integerWorker struct{ chain [8]uint64 }

// Tune keeps a share of the time busy.
func (w *integerWorker) Tune(u, peakPerThread float64) Pace { return dutyPace(u, peakPerThread) }

// Work runs one quantum; an operation is one integer instruction of a chain.
func (w *integerWorker) Work(float64) (float64, error) {
	a, b, c, d := w.chain[0], w.chain[1], w.chain[2], w.chain[3]
	e, f, g, h := w.chain[4], w.chain[5], w.chain[6], w.chain[7]
	const add, multiply = 0x9e3779b9, 0x2545f491 // odd constants with mixed bits: no chain falls to zero
	for range arithmeticRounds {
		a = (a + add) * multiply
		b = (b + add) * multiply
		c = (c + add) * multiply
		d = (d + add) * multiply
		e = (e + add) * multiply
		f = (f + add) * multiply
		g = (g + add) * multiply
		h = (h + add) * multiply
		a ^= a >> 7
		b ^= b >> 7
		c ^= c >> 7
		d ^= d >> 7
		e ^= e >> 7
		f ^= f >> 7
		g ^= g >> 7
		h ^= h >> 7
	}
	w.chain = [8]uint64{a, b, c, d, e, f, g, h}
	return arithmeticRounds * integerOpsPerRound, nil
}

// Close has nothing to free.
func (w *integerWorker) Close() error { return nil }

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
		return newArithmetic(s, func() Worker {
			return &integerWorker{chain: [8]uint64{1, 2, 3, 4, 5, 6, 7, 8}}
		}), nil
	},
}
