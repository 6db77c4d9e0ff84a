package estimator

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/predict"
	"github.com/nomad-placer/nomad-placer/placer/sim"
	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
	"github.com/nomad-placer/nomad-placer/profiler/training/backgrounds"
)

// Colocated knows of applications what a model says that was learnt next to background
// workloads: their characteristics as the scores of what they cause, and a response.
// It is for one run.
type Colocated struct {
	estimates map[*truth.Application]sim.Estimate
}

var _ sim.Estimator = (*Colocated)(nil)

// OracleKnowledge is the name of knowing the measured pairs themselves.
const OracleKnowledge = "oracle"

// NewColocated learns with a learner of placer/predict, or knows the pairs. runtime is
// that of every application alone.
func NewColocated(w *truth.Colocated, set *backgrounds.Set, learner string, runtime time.Duration) (*Colocated, error) {
	c := &Colocated{estimates: map[*truth.Application]sim.Estimate{}}
	solo := map[*truth.Application][]float64{}
	for _, a := range w.Applications() {
		own, err := set.Isolated(a.Name)
		if err != nil {
			return nil, err
		}
		solo[a] = own.Learnt()
	}
	for _, a := range w.Applications() {
		r, err := response(w, set, a, solo, learner, runtime)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.Name, err)
		}
		c.estimates[a] = sim.Estimate{
			Tolerated: []float64{100, 100, 100, 100}, Caused: solo[a], Speed: a.Isolated, Expected: runtime,
			Response: &remembered{response: r, seen: map[[4]float64][2]float64{}},
		}
	}
	return c, nil
}

// Know implements sim.Knower.
func (c *Colocated) Know(j *sim.Job, _, _ int) (sim.Estimate, error) {
	e, ok := c.estimates[j.App]
	if !ok {
		return e, fmt.Errorf("%w: %s has no estimate", ErrTraining, j.App.Name)
	}
	return e, nil
}

func response(w *truth.Colocated, set *backgrounds.Set, a *truth.Application, solo map[*truth.Application][]float64, learner string, runtime time.Duration) (board.Response, error) {
	rate, iops := w.Isolated(a)
	if learner == OracleKnowledge {
		o := oracleResponse{}
		for b, x := range solo {
			nextToRate, nextToIOPS := w.NextTo(a, b)
			o[[4]float64(x)] = [2]float64{runtime.Seconds() * rate / nextToRate, nextToIOPS}
		}
		o[[4]float64{}] = [2]float64{runtime.Seconds(), iops}
		return o, nil
	}
	l, err := predict.LookupLearner(learner)
	if err != nil {
		return nil, err
	}
	seconds, requests, err := Observations(set, a.Name, backgrounds.Characteristics.Learnt, byRequests)
	if err != nil {
		return nil, err
	}
	out := &learnt{own: solo[a], seconds: runtime.Seconds() * rate}
	model, err := l.Learn(seconds)
	if err != nil {
		return nil, fmt.Errorf("runtime: %w", err)
	}
	out.runtime = predict.RuntimeOf(model, 1/rate)
	switch model, err = l.Learn(requests); {
	case errors.Is(err, predict.ErrResponse):
		out.iops = predict.IOPSOf(constant(iops), iops) // it makes as many next to any co-runner
	case err != nil:
		return nil, fmt.Errorf("iops: %w", err)
	default:
		out.iops = predict.IOPSOf(model, iops)
	}
	return out, nil
}

type constant float64

// Predict implements predict.Regression.
func (c constant) Predict(_, _ []float64) float64 { return float64(c) }

// learnt is a response of two regressions, of one unit of work.
type learnt struct {
	own     []float64
	seconds float64 // units of work of a job: its runtime alone by that of one
	runtime predict.Regression
	iops    predict.Regression
}

// Runtime implements board.Response.
func (l *learnt) Runtime(coRunners []float64) float64 {
	return l.seconds * l.runtime.Predict(l.own, coRunners)
}

// IOPS implements board.Response.
func (l *learnt) IOPS(coRunners []float64) float64 { return l.iops.Predict(l.own, coRunners) }

// oracleResponse knows runtime and IOPS next to each single co-runner, by its
// characteristics.
type oracleResponse map[[4]float64][2]float64

// Runtime implements board.Response.
func (o oracleResponse) Runtime(coRunners []float64) float64 { return o.at(coRunners)[0] }

// IOPS implements board.Response.
func (o oracleResponse) IOPS(coRunners []float64) float64 { return o.at(coRunners)[1] }

// at finds a co-runner again after sums and differences: to rounding.
func (o oracleResponse) at(coRunners []float64) [2]float64 {
	best, least := [2]float64{math.NaN(), math.NaN()}, math.Inf(1)
	for x, v := range o {
		d := 0.0
		for k := range x {
			d += math.Abs(x[k] - coRunners[k])
		}
		if d < least {
			best, least = v, d
		}
	}
	return best
}

// remembered keeps what was predicted: co-runners are few.
type remembered struct {
	response board.Response
	seen     map[[4]float64][2]float64
}

func (r *remembered) at(coRunners []float64) [2]float64 {
	var key [4]float64 // in isolation nobody exerts anything
	copy(key[:], coRunners)
	out, ok := r.seen[key]
	if !ok {
		out = [2]float64{r.response.Runtime(key[:]), r.response.IOPS(key[:])}
		r.seen[key] = out
	}
	return out
}

// Runtime implements board.Response.
func (r *remembered) Runtime(coRunners []float64) float64 { return r.at(coRunners)[0] }

// IOPS implements board.Response.
func (r *remembered) IOPS(coRunners []float64) float64 { return r.at(coRunners)[1] }

// byRequests describes a background as a co-runner is described: by what it does in isolation.
func byRequests(_ backgrounds.Level, isolated backgrounds.Characteristics) []float64 {
	return isolated.Learnt()
}

// Observations of an application next to background workloads: its runtime per unit of
// work, and its IOPS, by its own characteristics and by those of the background. own says
// which of the application's, background which of a background, by its settings and by what it
// does in isolation.
func Observations(set *backgrounds.Set, application string, own func(backgrounds.Characteristics) []float64, background func(backgrounds.Level, backgrounds.Characteristics) []float64) (runtime, iops []predict.Observation, err error) {
	isolated, err := set.Isolated(application)
	if err != nil {
		return nil, nil, err
	}
	levels, err := set.Background()
	if err != nil {
		return nil, nil, err
	}
	characteristics := own(isolated)
	for _, r := range set.Rows[application] {
		alone := backgrounds.Characteristics{}
		if r.Sweep != backgrounds.SoloSweep {
			alone = levels[r.Level]
		}
		if r.RatePerSec > 0 {
			coRunners := background(r.Level, alone)
			runtime = append(runtime, predict.Observation{Own: characteristics, CoRunners: coRunners, Response: r.RuntimeSeconds()})
			iops = append(iops, predict.Observation{Own: characteristics, CoRunners: coRunners, Response: r.IOPS()})
		}
	}
	return runtime, iops, nil
}
