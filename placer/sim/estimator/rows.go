package estimator

import (
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
)

// Row is what profiling measured of an application, NaN where nothing, and what classification
// makes of it, in the same unit; nil where it could make nothing.
type Row struct{ Measured, Completed []float64 }

// Rows are what is known of an application.
type Rows struct {
	Speed             Row // by configuration
	Tolerated, Caused Row // by column, percent
}

// Rows profiles an application as Know does a job of that number in its first phase, and says
// what of it was measured. A matrix that is not learnt gives no row. It is for an estimator
// without Sources.
func (e *Estimator) Rows(a *truth.Application, number int) (Rows, error) {
	var out Rows
	var err error
	if e.options.learns(Speeds) {
		if out.Speed.Measured, err = e.measuredSpeeds(a, e.options.Entries, e.stream(number, 0, streamSpeeds)); err != nil {
			return out, err
		}
		if out.Speed.Completed, err = completeRatio(e.speed, slices.Clone(out.Speed.Measured), e.reference); err != nil {
			return out, err
		}
	}
	if !e.options.learns(Scores) {
		return out, nil
	}
	if out.Tolerated.Measured, out.Caused.Measured, err = e.measuredScores(a, 0, e.options.Entries, e.stream(number, 0, streamScores)); err != nil {
		return out, err
	}
	if out.Tolerated.Completed, err = completeScores(e.tolerated, slices.Clone(out.Tolerated.Measured), cluster.AssumedToleratedPercent); err != nil {
		return out, err
	}
	out.Caused.Completed, err = completeScores(e.caused, slices.Clone(out.Caused.Measured), cluster.AssumedCausedPercent)
	return out, err
}

// Cells are all of an application, as runs of the same length find them.
type Cells struct{ Speed, Tolerated, Caused []float64 }

// Characterised measures every cell, in runs that Rows did not see: what a paper compares its
// estimates with. Each time gives other runs.
func (e *Estimator) Characterised(a *truth.Application, number, time int) Cells {
	random := e.stream(number, time, streamAgain)
	var out Cells
	if e.options.learns(Speeds) {
		for _, v := range a.Isolated {
			out.Speed = append(out.Speed, e.run(a, v, random))
		}
	}
	if e.options.learns(Scores) {
		out.Tolerated, out.Caused = e.everyScore(a, 0, random)
	}
	return out
}
