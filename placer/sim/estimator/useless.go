package estimator

import (
	"errors"
	"math/rand/v2"

	"github.com/nomad-placer/nomad-placer/placer/sim"
	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
)

// Useless says of every job what was measured of another application, drawn for it: it is as
// sure as any profile, and tells nothing of the job but how long it runs. What a policy loses
// by it is what it risks where profiles are wrong.
type Useless struct {
	estimator *Estimator
	others    []*truth.Application
	seed      uint64
}

var (
	_ sim.Estimator = (*Useless)(nil)
	_ sim.Assumer   = (*Useless)(nil)
)

// NewUseless measures the training applications as NewEstimator does, and takes what it says
// of a job from one of them.
func NewUseless(m *truth.Model, o Options) (*Useless, error) {
	e, err := NewEstimator(m, o)
	if err != nil {
		return nil, err
	}
	if len(o.Training) < 2 {
		return nil, errors.Join(ErrTraining, errors.New("one application is no other one"))
	}
	return &Useless{e, o.Training, o.Seed}, nil
}

// Know implements sim.Estimator.
func (u *Useless) Know(j *sim.Job, phase, again int) (sim.Estimate, error) {
	other := *j
	other.App = u.others[rand.New(rand.NewPCG(u.seed, uint64(j.Number))).IntN(len(u.others))]
	return u.estimator.Know(&other, min(phase, len(other.App.Phases)-1), again)
}

// Assume implements sim.Assumer: it needs nothing of the job.
func (u *Useless) Assume(j *sim.Job, phase int) (sim.Estimate, error) {
	return u.estimator.Assume(j, phase)
}
