package main

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/numeric/student"
)

// everything is all that was measured so far.
type everything struct {
	Begun       *begun           `json:"begun,omitempty"`
	Alone       map[string]alone `json:"alone"`
	Profiles    []profiles       `json:"profiles"`
	Repetitions []repetition     `json:"repetitions"`
	Sweeps      []sweep          `json:"sweeps"`
	Adaptation  *adaptation      `json:"adaptation,omitempty"`
	// Programs by which the files were measured, by file.
	Programs map[string]string `json:"programs"`
}

// load reads a folder; what is not there is not in the answer.
func (r results) load() (everything, error) {
	out := everything{Alone: map[string]alone{}, Programs: map[string]string{}}
	var errs []error
	by := map[string]string{}
	noted, err := r.read(filePrograms, &by) // results of earlier programs have none
	errs = append(errs, err)
	get := func(name string, into any) bool {
		found, err := r.read(name, into)
		errs = append(errs, err)
		if found && noted && name != fileBegun {
			out.Programs[name] = cmp.Or(by[name], unknown)
		}
		return found && err == nil
	}
	var b begun
	if get(fileBegun, &b) {
		out.Begun = &b
	}
	get(fileAlone, &out.Alone)
	for n := 1; ; n++ {
		var one profiles
		if !get(fileProfiles(n), &one) {
			break
		}
		out.Profiles = append(out.Profiles, one)
	}
	for n := 1; ; n++ {
		var one repetition
		if !get(fileRepetition(n), &one) {
			break
		}
		out.Repetitions = append(out.Repetitions, one)
	}
	for _, a := range apps {
		var s sweep
		if get(fileSweep(a.name), &s) {
			out.Sweeps = append(out.Sweeps, s)
		}
	}
	var a adaptation
	if get(fileAdapt, &a) {
		out.Adaptation = &a
	}
	return out, errors.Join(errs...)
}

// estimate is a mean with its 95 % interval; without one for fewer than two values.
type estimate struct {
	Mean, Low, High float64
	N               int
}

// shareOf is meanOf for shares: the interval is cut at 0 and 1.
func shareOf(values []float64) estimate {
	out := meanOf(values)
	out.Low, out.High = max(0, out.Low), min(1, out.High) // NaN stays
	return out
}

// meanOf is the mean of independent repetitions with Student's interval.
func meanOf(values []float64) estimate {
	mean, half := student.Mean(values)
	return estimate{Mean: mean, Low: mean - half, High: mean + half, N: len(values)}
}

// withTarget are the compared applications that have one.
func withTarget() []app {
	return slices.DeleteFunc(compared(), func(a app) bool { return a.bestEffort() })
}

// share of the jobs with a target that met it, in one arm of a repetition.
func (r repetition) share(arm string) float64 {
	list, n := withTarget(), 0
	for _, a := range list {
		if r.Sides[arm].Jobs[a.name].Met {
			n++
		}
	}
	return float64(n) / float64(len(list))
}

// measuredArms are those that every repetition has.
func (e everything) measuredArms() []arm {
	return slices.DeleteFunc(slices.Clone(arms), func(a arm) bool {
		return slices.ContainsFunc(e.Repetitions, func(r repetition) bool { _, ok := r.Sides[a.name]; return !ok })
	})
}

// shares of an arm, by repetition.
func (e everything) shares(arm string) []float64 {
	out := make([]float64, len(e.Repetitions))
	for i, r := range e.Repetitions {
		out[i] = r.share(arm)
	}
	return out
}

// differences of an arm from another, by repetition.
func (e everything) differences(arm, from string) []float64 {
	out := e.shares(arm)
	for i, s := range e.shares(from) {
		out[i] -= s
	}
	return out
}

// bestEffort is the work of an arm's best-effort jobs as a share of what stock Nomad's do in the
// same repetition, the mean of the jobs; one that did not run did nothing. A repetition in which
// stock's were not measured is left out.
func (e everything) bestEffort(arm string) []float64 {
	var out []float64
	for _, r := range e.Repetitions {
		sum, n := 0.0, 0
		for _, a := range compared() {
			if of := r.Sides[stock].Jobs[a.name].RatePerSec; a.bestEffort() && of > 0 {
				sum, n = sum+r.Sides[arm].Jobs[a.name].RatePerSec/of, n+1
			}
		}
		if n > 0 {
			out = append(out, sum/float64(n))
		}
	}
	return out
}

// compareSize is one choice of the placer held against a sweep.
type compareSize struct {
	Job    string
	Chosen size
	Steps  int
	Known  bool // some size met the target, and the chosen one was swept
	Sized  bool // the placer chose at all
}

// sizings holds every decision on an idle cluster against the sweep of its job.
func (e everything) sizings() []compareSize {
	var out []compareSize
	for _, s := range e.Sweeps {
		for _, p := range e.Profiles {
			d, ok := p.Jobs[s.Job]
			if !ok {
				continue
			}
			c := compareSize{Job: s.Job, Chosen: d.Size, Sized: d.Sized}
			if s.Sizes[0].Size.MemoryMB == 0 {
				c.Chosen.MemoryMB = 0 // as reserved, whatever the count
			}
			c.Steps, c.Known = s.steps(d.Size)
			out = append(out, c)
		}
	}
	return out
}

// within is the share of jobs whose sizes were, in the median of their decisions,
// at most so many steps from the best; of is how many jobs could be compared.
func (e everything) within(most int) (share float64, of int) {
	steps := map[string][]int{}
	for _, c := range e.sizings() {
		if !c.Known {
			continue
		}
		off := c.Steps
		if off < 0 {
			off = -off
		}
		if !c.Sized {
			off = math.MaxInt // nothing was chosen
		}
		steps[c.Job] = append(steps[c.Job], off)
	}
	good := 0
	for _, list := range steps {
		slices.Sort(list)
		if list[len(list)/2] <= most {
			good++
		}
	}
	if len(steps) == 0 {
		return math.NaN(), 0
	}
	return float64(good) / float64(len(steps)), len(steps)
}
