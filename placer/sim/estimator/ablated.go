package estimator

import (
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/sim"
)

// Part is one of what is known of a job.
type Part string

// The parts.
const (
	PartSpeeds   Part = "speeds" // on each configuration
	PartScores   Part = "scores" // tolerated and caused
	PartScaleUp  Part = "scale_up"
	PartScaleOut Part = "scale_out"
)

// PartNames are what scenarios may name.
func PartNames() []string {
	return []string{string(PartSpeeds), string(PartScores), string(PartScaleUp), string(PartScaleOut)}
}

// Ablated is an estimator of which some parts are the truth, and others are not looked at: then
// all configurations are as fast as the reference, nobody presses on anybody, and a job is faster
// in proportion to its cores and nodes. What a policy gains or loses by it is owed to that part.
type Ablated struct {
	inner          sim.Estimator
	oracle         *Oracle
	exact, ignored []Part
}

var _ sim.Estimator = (*Ablated)(nil)

// NewAblated changes what an estimator says.
func NewAblated(inner sim.Estimator, oracle *Oracle, exact, ignored []Part) *Ablated {
	return &Ablated{inner, oracle, exact, ignored}
}

// Know implements sim.Estimator.
func (a *Ablated) Know(j *sim.Job, phase, again int) (sim.Estimate, error) {
	out, err := a.inner.Know(j, phase, again)
	if err != nil {
		return out, err
	}
	real, err := a.oracle.Know(j, phase, again)
	if err != nil {
		return out, err
	}
	for _, part := range a.ignored {
		a.ignore(part, &out)
	}
	for _, part := range a.exact {
		tell(part, &out, &real)
	}
	return out, nil
}

// tell has a part replaced by the truth.
func tell(part Part, to, real *sim.Estimate) {
	switch part {
	case PartSpeeds:
		to.Speed, to.Expected = real.Speed, real.Expected
	case PartScores:
		to.Tolerated, to.Caused = real.Tolerated, real.Caused
	case PartScaleUp:
		to.Sizes = real.Sizes
	case PartScaleOut:
		to.ScaleOut = real.ScaleOut
	}
}

// ignore has a part replaced by what holds of a job of which it tells nothing. Estimates are
// shared: what is changed is another list.
func (a *Ablated) ignore(part Part, to *sim.Estimate) {
	switch part {
	case PartSpeeds:
		if to.Speed != nil {
			to.Speed = slices.Repeat([]float64{to.Speed[a.oracle.model.Reference()]}, len(to.Speed))
		}
	case PartScores:
		to.Tolerated, to.Caused = slices.Repeat([]float64{100}, len(to.Tolerated)), make([]float64, len(to.Caused))
	case PartScaleUp:
		to.Sizes = a.inProportion(to.Sizes)
	case PartScaleOut:
		to.ScaleOut = slices.Clone(to.ScaleOut)
		for i := range to.ScaleOut {
			to.ScaleOut[i] = float64(i + 1)
		}
	}
}

// inProportion are sizes whose speed is that of the measured one, by their cores.
func (a *Ablated) inProportion(sizes []board.SizeOption) []board.SizeOption {
	o := &a.oracle.options
	at := slices.IndexFunc(sizes, func(s board.SizeOption) bool { return s.Size.Cores == o.Cores[o.referenceSize()] })
	if at < 0 {
		return sizes // it works on none that was measured
	}
	out := slices.Clone(sizes)
	for i := range out {
		out[i].Speed = sizes[at].Speed * float64(out[i].Size.Cores) / float64(sizes[at].Size.Cores)
	}
	return out
}
