package production

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// # Drift
//
// A workload has drifted where it behaves differently from what its profile and production
// say of it. It is looked for for as long as it runs, so the rule bounds false alarms however
// often it is asked (Shiryaev–Roberts; Pollak 1985): each experiment multiplies the odds of
// another behaviour by
//
//	e = p(y | any share is alike) / p(y | what is known),   R ← (1 + R) · e
//
// While nothing has changed e is 1 on average, so R is n on average after n experiments, and
// has ever been oddsOfDrift by the n-th with a probability of at most n/oddsOfDrift (Doob).
// An outlier bounds e at 20: four experiments that contradict all that is known give the
// alarm, three do not.
//
// What is known is, in equal parts, what the model says; what was achieved in the same
// situation before, with the spread of that, so that an error of the model counts once; and,
// next to co-runners, anything between what the model says and the performance in isolation,
// for their load may be less than what they can exert.
//
// Co-runners of which nothing is known, or of another namespace, may do anything: next to
// them less says nothing, and more than in isolation still does, for no co-runner makes a
// workload faster.

// Constants of the rule (chosen by us).
const (
	oddsOfDrift     = 10_000.0
	setAside        = 5.0 // odds from which on a contradiction teaches nothing
	contradicts     = 2.0 // a factor from which on an experiment does
	priorOfSpread   = 2.0 // experiments for which the assumed spread counts
	leastGain       = 0.25
	mostCompared    = 1 / leastGain
	unlikelyShare   = 0.025
	forgetsOddsFrom = 1e9 // bounds what is stored
)

// Seen is what was achieved in a situation before.
type Seen struct {
	Ratio       float64
	Variance    float64 // of an experiment around it, without its own noise
	Experiments float64 // that were compared; 0: none
}

// expectation is what is known of an experiment.
type expectation struct {
	expected    float64
	density     float64 // at what was achieved; where that is a lower bound, its probability
	more        float64 // probability of more than expected
	anyPressure bool    // co-runners may do anything
}

// part of what is known: that an experiment would give some shares, each as probable, or as
// the weights say.
type part struct {
	at      func(f func(share, p float64))
	noise   float64
	density float64
}

// expect what is known. pressed: there are co-runners.
func expect(e Evidence, noise float64, level gaussian, shares, likelihood [bins]float64, pressed, anyPressure bool) expectation {
	model := part{noise: noise, at: func(f func(share, p float64)) {
		for s, p := range shares {
			if p > 0 {
				level.each(func(l, pl float64) { f(shareAt(s)*math.Exp(l), p*pl) })
			}
		}
	}}
	mean := 0.0
	for s, p := range shares {
		model.density += p * likelihood[s]
	}
	model.at(func(share, p float64) { mean += p * share })
	parts, x := []part{model}, expectation{expected: min(mean, mostShare), anyPressure: anyPressure}
	if e.Before.Experiments > 0 {
		spread := math.Sqrt(e.Noise*e.Noise + e.Before.variance(noise*noise-e.Noise*e.Noise)*(1+1/e.Before.Experiments))
		parts = append(parts, evenly(e, e.Before.Ratio, e.Before.Ratio, spread))
		x.expected = min(e.Before.Ratio, mostShare)
	}
	isolated := math.Exp(level.mean)
	if anyPressure {
		x.expected = min(isolated, mostShare)
	}
	if pressed {
		least := shareQuantile(&shares, unlikelyShare) * isolated
		if anyPressure {
			least = 0
		}
		parts = append(parts, evenly(e, least, isolated, math.Hypot(noise, level.deviation)))
	}
	for _, p := range parts {
		x.density += p.density / float64(len(parts))
		p.at(func(share, ps float64) { x.more += ps * exceeds(x.expected, share, p.noise) / float64(len(parts)) })
	}
	return x
}

// evenly is any share between two.
func evenly(e Evidence, low, high, noise float64) part {
	const points = 21
	p := part{noise: noise, at: func(f func(share, p float64)) {
		for i := range points {
			f(low+(high-low)*(float64(i)+0.5)/points, 1.0/points)
		}
	}}
	p.at(func(share, ps float64) { p.density += ps * e.given(share, noise) })
	return p
}

// factor is e of the experiment, and whether it did less than expected.
func (x expectation) factor(e Evidence) (factor float64, less bool) {
	y := min(mostShare, max(0, e.Ratio))
	less = y < x.expected
	switch {
	case x.anyPressure && (less || e.AtLeast):
		return 1, less
	case x.anyPressure: // another behaviour only differs where more is achieved
		return x.more / max(mostShare-x.expected, 1/mostShare) / x.density, less
	case e.AtLeast: // that it keeps up with the demand, for any performance and for the known one
		return (1 - y/mostShare) / x.density, less
	default:
		return 1 / mostShare / x.density, less
	}
}

// exceeds is the probability of more than x where a share is expected, as Evidence.given has it.
func exceeds(x, expected, noise float64) float64 {
	return outliers*(1-x/mostShare) + (1-outliers)*below((expected-x)/noise)
}

// variance of an experiment around the mean of its situation; assumed is that of the model.
func (s Seen) variance(assumed float64) float64 {
	n := min(s.Experiments, mostCompared)
	return (priorOfSpread*assumed + n*s.Variance) / (priorOfSpread + n)
}

// with a further experiment: old ones fade, so that a load that changes slowly is followed.
func (s Seen) with(e Evidence) Seen {
	if e.AtLeast {
		return s
	}
	gain := max(leastGain, 1/(s.Experiments+1))
	d := e.Ratio - s.Ratio
	out := Seen{Ratio: rounded(s.Ratio + gain*d), Variance: s.Variance, Experiments: min(s.Experiments+1, mostCompared)}
	if s.Experiments > 0 {
		out.Variance = rounded(s.Variance + gain*(max(0, d*d-e.Noise*e.Noise)-s.Variance))
	}
	return out
}

// Suspect lets an experiment change the odds of another behaviour. aside: it contradicts
// what is known, and what it would teach is set aside until it is known which is right.
// reason says why the workload is taken to have drifted; "" while it is not.
func Suspect(said *profile.Production, f Finding, e Evidence, coRunners []string, at time.Time) (aside bool, reason string) {
	was := said.Suspicion
	if was == nil {
		was = &profile.Suspicion{}
	}
	odds := (1 + was.Odds) * f.Factor
	if f.Factor >= contradicts {
		is := &profile.Suspicion{Odds: rounded(min(odds, forgetsOddsFrom)), Since: was.Since, Experiments: was.Experiments + 1, Less: was.Less, CoRunners: coRunners}
		if was.Experiments == 0 {
			is.Since = at
		} else {
			is.CoRunners = slices.DeleteFunc(slices.Clone(coRunners), func(c string) bool { return !slices.Contains(was.CoRunners, c) })
		}
		if f.Less {
			is.Less++
		}
		said.Suspicion = is
		if odds >= oddsOfDrift {
			return true, reasonOf(*is, e, f)
		}
		return odds >= setAside, ""
	}
	if odds < 1 {
		said.Suspicion = nil
		return false, ""
	}
	is := *was
	is.Odds = rounded(odds)
	said.Suspicion = &is
	return false, ""
}

func reasonOf(s profile.Suspicion, e Evidence, f Finding) string {
	words := "less"
	switch {
	case s.Less == 0:
		words = "more"
	case s.Less < s.Experiments:
		words = "less at times and more at others"
	}
	text := fmt.Sprintf("since %s it did %s than its profile and production say, in %d experiments, in the newest %.2f of its performance in isolation instead of %.2f; that it behaves differently now explains them %.0f times as well",
		s.Since.UTC().Format("2006-01-02 15:04 UTC"), words, s.Experiments, e.Ratio, f.Expected, s.Odds)
	if s.Less > 0 && len(s.CoRunners) > 0 {
		text += fmt.Sprintf(" (each time next to %s, which may have changed instead)", s.CoRunners[0])
	}
	return text
}

// SeenIn is what was achieved in a situation so far, and how many experiments have counted.
func SeenIn(said *profile.Production, situation string) (Seen, int) {
	i := slices.IndexFunc(said.Situations, func(s profile.SituationOf) bool { return s.Situation == situation })
	if i < 0 {
		return Seen{}, 0
	}
	s := said.Situations[i]
	return Seen{Ratio: s.Ratio, Variance: s.Variance, Experiments: s.Compared}, s.Experiments
}

// Note counts an experiment of a situation, if it teaches. What contradicts is not what the
// next ones are compared with, but the first in a situation is: there is nothing else.
func Note(said *profile.Production, situation string, e Evidence, f Finding, teaches bool, at time.Time) {
	seen, counted := SeenIn(said, situation)
	if teaches {
		counted++
	}
	if f.Factor < contradicts || seen.Experiments == 0 {
		seen = seen.with(e)
	}
	said.Situations = slices.DeleteFunc(said.Situations, func(s profile.SituationOf) bool { return s.Situation == situation })
	said.Situations = append(said.Situations, profile.SituationOf{
		Situation: situation, Experiments: counted, At: at, Ratio: seen.Ratio, Variance: seen.Variance, Compared: seen.Experiments,
	})
	if n := len(said.Situations); n > situationsKept {
		said.Situations = slices.Clone(said.Situations[n-situationsKept:])
	}
}

// situationsKept bounds what is remembered of situations (chosen by us).
const situationsKept = 32

// Recalibrate drops what is relative to a profile that is there no more.
func Recalibrate(said *profile.Production) {
	said.Levels, said.Suspicion, said.Distrust = nil, nil, nil
	said.Situations = slices.Clone(said.Situations)
	for i, s := range said.Situations {
		said.Situations[i] = profile.SituationOf{Situation: s.Situation, Experiments: s.Experiments, At: s.At}
	}
}

// SetAside is what to do of a workload that has drifted: what was learnt is of another
// behaviour, and its profile is not trusted any more.
func SetAside(said *profile.Production, reason string, at time.Time) {
	said.Distrust = &profile.Distrust{At: at, Reason: reason}
	if said.Suspicion != nil {
		said.Distrust.CoRunners = said.Suspicion.CoRunners
	}
	said.Tolerated, said.Caused, said.Levels, said.Situations, said.Suspicion = nil, nil, nil, nil, nil
	said.Since = at
}
