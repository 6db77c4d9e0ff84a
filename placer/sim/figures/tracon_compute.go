package figures

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/predict"
	"github.com/nomad-placer/nomad-placer/placer/sim/estimator"
	"github.com/nomad-placer/nomad-placer/placer/sim/report"
	"github.com/nomad-placer/nomad-placer/profiler/training/backgrounds"
)

// characteristics are the four that a model learns from.
type characteristics func(backgrounds.Characteristics) []float64

// withoutHost leaves the CPU time of the host out.
func withoutHost(c backgrounds.Characteristics) []float64 { return c.Learnt()[:3] }

// learnt is an application's two models, and what they are tested on.
type learnt struct {
	name      string
	of        characteristics
	settings  bool // a background is described by the generator's settings
	set       *backgrounds.Set
	own       []float64
	coRunners map[string][]float64 // by application
}

// responses are the two that are predicted.
var responses = []string{"runtime", "iops"}

const traconFolds = 5

// folded are the errors on backgrounds that were held out, a fifth at a time.
func folded(l predict.Learner, all []predict.Observation) ([]float64, error) {
	var out []float64
	for fold := range traconFolds {
		var teaching, held []predict.Observation
		for i, o := range all {
			if i%traconFolds == fold {
				held = append(held, o)
			} else {
				teaching = append(teaching, o)
			}
		}
		r, err := l.Learn(teaching)
		if err != nil {
			return nil, err
		}
		for _, o := range held {
			if o.Response != 0 {
				out = append(out, 100*predict.RelativeError(bounded(r, teaching).Predict(o.Own, o.CoRunners), o.Response))
			}
		}
	}
	return out, nil
}

// bounded keeps predictions within what the observations hold: a runtime below all
// of them, or fewer requests than none, is no answer.
func bounded(r predict.Regression, all []predict.Observation) predict.Regression {
	low, high := math.Inf(1), 0.0
	for _, o := range all {
		low, high = min(low, o.Response), max(high, o.Response)
	}
	return predict.Bounded{Regression: r, Low: 0.9 * low, High: 1.1 * high}
}

// onPairs are the errors on real co-runners, of what was learnt next to backgrounds.
func (a *learnt) onPairs(l predict.Learner, response string, all []predict.Observation) ([]float64, error) {
	r, err := l.Learn(all)
	if err != nil {
		return nil, err
	}
	var out []float64
	for _, p := range a.set.Pairs {
		if y := measuredResponse(p, response); p.Application == a.name && y > 0 {
			out = append(out, 100*predict.RelativeError(bounded(r, all).Predict(a.own, a.coRunners[p.CoRunner]), y))
		}
	}
	return out, nil
}

// floor are the errors of the mean of the other repeats of the same pair: how well the
// same measurement made again would predict it.
func (a *learnt) floor(response string) []float64 {
	repeats := map[string][]float64{}
	for _, p := range a.set.Pairs {
		if y := measuredResponse(p, response); p.Application == a.name && y > 0 {
			repeats[p.CoRunner] = append(repeats[p.CoRunner], y)
		}
	}
	var out []float64
	for _, p := range a.set.Applications() {
		all := repeats[p]
		for i, y := range all {
			others := 0.0
			for j, v := range all {
				if j != i {
					others += v / float64(len(all)-1)
				}
			}
			if len(all) > 1 {
				out = append(out, 100*predict.RelativeError(others, y))
			}
		}
	}
	return out
}

func measuredResponse(p backgrounds.Pair, response string) float64 {
	if response == "iops" {
		return p.IOPS()
	}
	return 1 / p.RatePerSec
}

// traconApplications reads a set.
func traconApplications(environment string, of characteristics) ([]*learnt, error) {
	set, err := backgrounds.Load(environment)
	if err != nil {
		return nil, err
	}
	coRunners := map[string][]float64{}
	for _, name := range set.Applications() {
		own, err := set.Isolated(name)
		if err != nil {
			return nil, err
		}
		coRunners[name] = of(own)
	}
	var out []*learnt
	for _, name := range set.Applications() {
		out = append(out, &learnt{name: name, of: of, set: set, own: coRunners[name], coRunners: coRunners})
	}
	return out, nil
}

// bySettings ends the names of rows whose backgrounds are described by what was set.
const bySettings = ", the generator's settings in place of requests"

// settings describe a background by what the generator was set to.
func settings(l backgrounds.Level, _ backgrounds.Characteristics) []float64 {
	return []float64{float64(l.Read), float64(l.Write), float64(l.CPU)}
}

// observations of a response.
func (a *learnt) observations(response string) ([]predict.Observation, error) {
	background := func(_ backgrounds.Level, isolated backgrounds.Characteristics) []float64 { return a.of(isolated) }
	if a.settings {
		background = settings
	}
	runtime, iops, err := estimator.Observations(a.set, a.name, a.of, background)
	if response == "iops" {
		return iops, err
	}
	return runtime, err
}

// spreadOf is mean and deviation, and the median.
func spreadOf(v []float64) map[string]report.Figure {
	mean, squares := 0.0, 0.0
	for _, x := range v {
		mean += x / float64(len(v))
	}
	for _, x := range v {
		squares += (x - mean) * (x - mean) / float64(len(v))
	}
	return map[string]report.Figure{
		"mean": {Name: "mean", Mean: mean}, "deviation": {Name: "deviation", Mean: math.Sqrt(squares)}, "median": {Name: "median", Mean: medianOf(v)},
	}
}

// errorsOf fills the rows of a learner: per application and the mean over them.
func errorsOf(t *Table, label string, apps []*learnt, l predict.Learner, response string, test func(*learnt, predict.Learner, []predict.Observation) ([]float64, error)) error {
	sums, n := map[string]float64{}, 0.0
	for _, a := range apps {
		all, err := a.observations(response)
		if err != nil {
			return err
		}
		found, err := test(a, l, all)
		if errors.Is(err, predict.ErrResponse) || err == nil && len(found) == 0 {
			continue // it makes no requests
		}
		if err != nil {
			return fmt.Errorf("%s: %w", a.name, err)
		}
		figures := spreadOf(found)
		t.Rows = append(t.Rows, TableRow{label + ": " + a.name, figures})
		for name, f := range figures {
			sums[name] += f.Mean
		}
		n++
	}
	all := map[string]report.Figure{}
	for name, sum := range sums {
		all[name] = report.Figure{Name: name, Mean: sum / n}
	}
	t.Rows = append(t.Rows, TableRow{label, all})
	return nil
}

// traconErrors are the errors of the three models.
var traconErrors = &Computation{
	Name: "prediction errors", Source: "profiler/training/backgrounds", Metrics: []string{"mean", "deviation", "median"},
	run: func(context.Context, environment) (*Table, error) {
		t := &Table{Seeds: 1}
		apps, err := traconApplications(backgrounds.Local, backgrounds.Characteristics.Learnt)
		if err != nil {
			return nil, err
		}
		variants := []struct {
			suffix   string
			of       characteristics
			settings bool // which real co-runners have none of
		}{
			{"", backgrounds.Characteristics.Learnt, false},
			{", without the host's CPU", withoutHost, false},
			{", bytes in place of requests", backgrounds.Characteristics.Volume, false},
			{bySettings, backgrounds.Characteristics.Learnt, true},
		}
		for _, response := range responses {
			for _, l := range predict.Learners() {
				for _, v := range variants {
					if v.suffix != "" && !v.settings && l.Name != "nlm" {
						continue
					}
					if apps, err = traconApplications(backgrounds.Local, v.of); err != nil {
						return nil, err
					}
					for _, a := range apps {
						a.settings = v.settings
					}
					label := fmt.Sprintf("%s of %s%s", response, l.Name, v.suffix)
					if err := errorsOf(t, label+", held-out backgrounds", apps, l, response, func(_ *learnt, l predict.Learner, all []predict.Observation) ([]float64, error) {
						return folded(l, all)
					}); err != nil {
						return nil, err
					}
					if v.settings {
						continue
					}
					if err := errorsOf(t, label+", real co-runners", apps, l, response, func(a *learnt, l predict.Learner, all []predict.Observation) ([]float64, error) {
						return a.onPairs(l, response, all)
					}); err != nil {
						return nil, err
					}
				}
			}
			if err := errorsOf(t, response+" of other repeats, real co-runners", apps, predict.Learner{}, response, func(a *learnt, _ predict.Learner, _ []predict.Observation) ([]float64, error) {
				return a.floor(response), nil
			}); err != nil {
				return nil, err
			}
		}
		return t, nil
	},
}

func medianOf(v []float64) float64 {
	ascending := slices.Sorted(slices.Values(v))
	n := len(ascending)
	if n == 0 {
		return math.NaN()
	}
	return (ascending[(n-1)/2] + ascending[n/2]) / 2
}
