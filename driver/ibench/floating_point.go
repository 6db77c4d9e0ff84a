package ibench

import (
	"context"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// floatOpsPerRound is 8 chains of two multiplications and two additions.
const floatOpsPerRound = 8 * 4

// floatWorker keeps eight independent chains of multiplications and additions.
// Their values stay in [1, 2), far from denormal numbers and from overflow,
// which would be slower than ordinary arithmetic.
type floatWorker struct{ chain [8]float64 }

// Tune keeps a share of the time busy.
func (w *floatWorker) Tune(u, peakPerThread float64) Pace { return dutyPace(u, peakPerThread) }

// Work runs one quantum; an operation is one multiplication or addition. The
// conversions forbid the compiler to fuse both into one instruction.
func (w *floatWorker) Work(float64) (float64, error) {
	a, b, c, d := w.chain[0], w.chain[1], w.chain[2], w.chain[3]
	e, f, g, h := w.chain[4], w.chain[5], w.chain[6], w.chain[7]
	// x/2 + 3/4 maps [1, 2) into itself with fixed point 3/2; so does 3x/4 + 3/8.
	const m, n, p, q = 0.5, 0.75, 0.75, 0.375
	for range arithmeticRounds {
		a = float64(a*m) + n
		b = float64(b*m) + n
		c = float64(c*m) + n
		d = float64(d*m) + n
		e = float64(e*m) + n
		f = float64(f*m) + n
		g = float64(g*m) + n
		h = float64(h*m) + n
		a = float64(a*p) + q
		b = float64(b*p) + q
		c = float64(c*p) + q
		d = float64(d*p) + q
		e = float64(e*p) + q
		f = float64(f*p) + q
		g = float64(g*p) + q
		h = float64(h*p) + q
	}
	w.chain = [8]float64{a, b, c, d, e, f, g, h}
	return arithmeticRounds * floatOpsPerRound, nil
}

// Close has nothing to free.
func (w *floatWorker) Close() error { return nil }

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
		return newArithmetic(s, func() Worker {
			return &floatWorker{chain: [8]float64{1, 1.1, 1.2, 1.3, 1.4, 1.6, 1.7, 1.8}}
		}), nil
	},
}
