package predict

import "math"

// Relearning keeps a regression fit while the world changes (Chiang and Huang 2011,
// §4.6): every run that ends is an observation and tells an error; when the errors
// change, the model is learnt anew from the latest observations, again and again.
// It is for one goroutine.
type Relearning struct {
	options RelearnOptions
	current Regression
	window  []Observation // the latest
	errors  []float64     // of the last predictions, relative

	mean, variance float64 // of the errors on what was held out when it was learnt
	drifting       bool
	since          int // observations since the drift was seen
	failed         error
}

// RelearnOptions say how; a zero field is the default.
type RelearnOptions struct {
	Learner Learner // nlm
	// Window is the number of observations kept: 500.
	Window int
	// Every is after how many new observations it is learnt anew: 160.
	Every int
	// Early are further moments after a drift was seen, before the first Every; the
	// paper has none.
	Early []int
	// Bound keeps predictions within what can be; nil is as they come.
	Bound func(Regression) Regression
}

// The rules of drift; the paper says "predefined event" and these are ours: the mean of
// the last errors is three standard errors above that of the held-out ones and half as
// large again, or their variance has grown fourfold.
const (
	defaultRelearnWindow = 500
	defaultRelearnEvery  = 160
	driftErrors          = 32
	driftSigmas          = 3
	driftGrowth          = 1.5
	driftVariance        = 4
	holdOutEvery         = 5 // every fifth observation tests what the others taught
	settledRebuilds      = 3 // of defaultRelearnEvery replace the window
)

// Event is what an observation brought about.
type Event int

// The events.
const (
	Quiet     Event = iota
	Drift           // the errors have changed
	Relearned       // the model is a new one
)

// NewRelearning learns from the first observations.
func NewRelearning(first []Observation, o RelearnOptions) (*Relearning, error) {
	if o.Learner.Learn == nil {
		o.Learner = nlmLearner
	}
	if o.Window <= 0 {
		o.Window = defaultRelearnWindow
	}
	if o.Every <= 0 {
		o.Every = defaultRelearnEvery
	}
	if o.Bound == nil {
		o.Bound = func(r Regression) Regression { return r }
	}
	r := &Relearning{options: o}
	r.keep(first...)
	return r, r.learn()
}

func (r *Relearning) keep(all ...Observation) {
	r.window = append(r.window, all...)
	if over := len(r.window) - r.options.Window; over > 0 {
		r.window = append([]Observation(nil), r.window[over:]...)
	}
}

// learn replaces the model, and what its errors should be like.
func (r *Relearning) learn() error {
	var teaching, held []Observation
	for i, o := range r.window {
		if i%holdOutEvery == holdOutEvery-1 {
			held = append(held, o)
		} else {
			teaching = append(teaching, o)
		}
	}
	trial, err := r.options.Learner.Learn(teaching)
	if err != nil {
		return err
	}
	next, err := r.options.Learner.Learn(r.window)
	if err != nil {
		return err
	}
	trial = r.options.Bound(trial)
	var errors []float64
	for _, o := range held {
		if o.Response != 0 {
			errors = append(errors, RelativeError(trial.Predict(o.Own, o.CoRunners), o.Response))
		}
	}
	r.current, r.errors = r.options.Bound(next), r.errors[:0]
	r.mean, r.variance = moments(errors)
	return nil
}

// moments are mean and variance; 0 of nothing.
func moments(v []float64) (mean, variance float64) {
	if len(v) == 0 {
		return 0, 0
	}
	for _, x := range v {
		mean += x / float64(len(v))
	}
	for _, x := range v {
		variance += (x - mean) * (x - mean) / float64(len(v))
	}
	return mean, variance
}

// Predict implements Regression.
func (r *Relearning) Predict(own, coRunners []float64) float64 {
	return r.current.Predict(own, coRunners)
}

// Err is why the last attempt to learn failed; the model before it is kept.
func (r *Relearning) Err() error { return r.failed }

// Add takes an observation in. One of which the response is 0 or not a number has no
// relative error and is left out.
func (r *Relearning) Add(o Observation) Event {
	if !finite(o.Response) || o.Response == 0 {
		return Quiet
	}
	e := RelativeError(r.Predict(o.Own, o.CoRunners), o.Response)
	r.errors = append(r.errors, e)
	if over := len(r.errors) - driftErrors; over > 0 {
		r.errors = r.errors[over:]
	}
	r.keep(o)
	event := Quiet
	if !r.drifting && r.changed() {
		r.drifting, r.since, event = true, 0, Drift
	}
	if !r.drifting {
		return event
	}
	r.since++
	if !r.due() {
		return event
	}
	if r.failed = r.learn(); r.failed != nil {
		return event
	}
	if r.since >= settledRebuilds*r.options.Every {
		r.drifting = false
	}
	return Relearned
}

// changed: the errors are not what they were.
func (r *Relearning) changed() bool {
	if len(r.errors) < driftErrors {
		return false
	}
	mean, variance := moments(r.errors)
	above := mean > r.mean+driftSigmas*math.Sqrt(r.variance/driftErrors) && mean > driftGrowth*r.mean
	return above || variance > driftVariance*r.variance
}

func (r *Relearning) due() bool {
	if r.since%r.options.Every == 0 {
		return true
	}
	for _, n := range r.options.Early {
		if r.since == n {
			return true
		}
	}
	return false
}
