package ibench

import (
	"context"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// vectorRounds is one way to keep the vector units busy.
type vectorRounds struct {
	name        string
	opsPerRound int
	run         func(lanes *[48]float64, rounds int)
	note        string
}

// vectorWorker keeps twelve independent chains of vector operations in
// registers: it reads and writes no memory in between. Their lanes stay in
// [1, 2), as those of floatWorker.
type vectorWorker struct {
	arithmetic
	unit  vectorRounds
	lanes [48]float64
}

// Work runs one quantum; an operation is one vector instruction of a chain.
func (w *vectorWorker) Work(float64) (float64, error) {
	w.unit.run(&w.lanes, arithmeticRounds)
	return float64(arithmeticRounds * w.unit.opsPerRound), nil
}

func newVector(_ context.Context, s Setup) (*Load, error) {
	unit, err := vectorUnit()
	if err != nil {
		return nil, err
	}
	load := newArithmetic(s, func() Worker {
		w := &vectorWorker{unit: unit}
		for i := range w.lanes {
			w.lanes[i] = 1 + float64(i)/float64(len(w.lanes))
		}
		return w
	})
	if unit.note != "" {
		load.Notes = append(load.Notes, unit.note)
	}
	return load, nil
}

var vector = Descriptor{
	Source: interference.Vector,
	Knob:   Duty,
	Means:  "share of time that the vector units of its CPUs are kept busy",
	Loads:  "vector units, 256 bits wide where there are such; on some processors the clock of the core; CPU time where it shares the workload's CPUs",
	Spares: "caches and memory: its data are in registers",
	Unit:   "instructions",
	Dwell:  levelDwell,
	Supported: func(Machine) error {
		_, err := vectorUnit()
		return err
	},
	New: newVector,
}
