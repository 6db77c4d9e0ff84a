package predict

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// Observation is one run of a workload with co-runners, as the models of Chiang
// and Huang 2011 learn from it.
type Observation struct {
	Own       []float64 // characteristics of the workload alone
	CoRunners []float64 // sum of the characteristics of its co-runners, each in isolation
	Response  float64   // runtime or IOPS
}

// Regression predicts a response. Characteristics are in the order and number of the
// observations it was learnt from. It may be used concurrently.
type Regression interface {
	Predict(own, coRunners []float64) float64
}

// Learner learns a regression from observations.
type Learner struct {
	Name    string
	Summary string
	Paper   string
	Learn   func(observations []Observation) (Regression, error)
}

// Learners lists what learns from observations, sorted by name.
func Learners() []Learner {
	return []Learner{
		lmLearner,
		nlmLearner,
		wmmLearner,
	}
}

// LookupLearner returns the learner of that name, or an error that lists the known
// ones.
func LookupLearner(name string) (Learner, error) {
	all := Learners()
	names := make([]string, len(all))
	for i, l := range all {
		if l.Name == name {
			return l, nil
		}
		names[i] = l.Name
	}
	return Learner{}, fmt.Errorf("unknown learner %q; known: %s", name, strings.Join(names, ", "))
}

// Errors of learning.
var (
	ErrObservations = errors.New("predict: the observations are too few or too alike to learn from")
	ErrResponse     = errors.New("predict: the response is the same in all observations")
)

// leastObservations is the fewest a model is learnt from: two would be explained by a
// line whatever they are (chosen by us).
const leastObservations = 5

// checkObservations says what is wrong with observations.
func checkObservations(all []Observation) error {
	if len(all) < leastObservations {
		return fmt.Errorf("%w: %d of them, %d are needed", ErrObservations, len(all), leastObservations)
	}
	varies := false
	for i, o := range all {
		if len(o.Own) != len(all[0].Own) || len(o.CoRunners) != len(all[0].CoRunners) {
			return fmt.Errorf("%w: number %d has %d and %d characteristics, the first %d and %d", ErrObservations,
				i, len(o.Own), len(o.CoRunners), len(all[0].Own), len(all[0].CoRunners))
		}
		for _, v := range append(append([]float64{o.Response}, o.Own...), o.CoRunners...) {
			if !finite(v) {
				return fmt.Errorf("%w: number %d holds %v", ErrObservations, i, v)
			}
		}
		varies = varies || o.Response != all[0].Response
	}
	if !varies {
		return fmt.Errorf("%w: %v", ErrResponse, all[0].Response)
	}
	return nil
}

// SumOfCoRunners sums the characteristics of co-runners: of one they are its own, which is
// the paper's pair. Without co-runners they are 0.
func SumOfCoRunners(characteristics int, coRunners ...[]float64) []float64 {
	out := make([]float64, characteristics)
	for _, n := range coRunners {
		for i, v := range n {
			out[i] += v
		}
	}
	return out
}

// standard is how columns are standardised before squares and distances are taken.
// A column that does not vary over the observations says nothing: it becomes 0.
type standard struct {
	mean, deviation []float64
	low, high       []float64 // seen
}

// constantShare is the standard deviation below which a column counts as constant, as
// a share of its mean: rounding.
const constantShare = 1e-9

func standardise(all []Observation) standard {
	first := all[0]
	width := len(first.Own) + len(first.CoRunners)
	s := standard{mean: make([]float64, width), deviation: make([]float64, width)}
	n := float64(len(all))
	row := make([]float64, width)
	s.low = append(s.low, join(row, first.Own, first.CoRunners)...)
	s.high = append(s.high, s.low...)
	for _, o := range all {
		for j, v := range join(row, o.Own, o.CoRunners) {
			s.mean[j] += v / n
			s.low[j], s.high[j] = min(s.low[j], v), max(s.high[j], v)
		}
	}
	for _, o := range all {
		for j, v := range join(row, o.Own, o.CoRunners) {
			s.deviation[j] += (v - s.mean[j]) * (v - s.mean[j]) / n
		}
	}
	for j, v := range s.deviation {
		s.deviation[j] = math.Sqrt(v)
		if s.deviation[j] <= constantShare*math.Abs(s.mean[j]) {
			s.deviation[j] = 0
		}
	}
	return s
}

func join(to []float64, own, coRunners []float64) []float64 {
	copy(to, own)
	copy(to[len(own):], coRunners)
	return to
}

// varying are the columns that are not constant.
func (s standard) varying() []int {
	var out []int
	for j, d := range s.deviation {
		if d > 0 {
			out = append(out, j)
		}
	}
	return out
}

// within is of, of a row moved into the range that was seen.
func (s standard) within(own, coRunners []float64) []float64 {
	row := join(make([]float64, len(s.mean)), own, coRunners)
	for j, v := range row {
		row[j] = min(s.high[j], max(s.low[j], v))
	}
	return s.of(row[:len(own)], row[len(own):])
}

// of standardises one row.
func (s standard) of(own, coRunners []float64) []float64 {
	out := join(make([]float64, len(s.mean)), own, coRunners)
	for j := range out {
		if s.deviation[j] > 0 {
			out[j] = (out[j] - s.mean[j]) / s.deviation[j]
		} else {
			out[j] = 0
		}
	}
	return out
}

// Bounded keeps predictions within what can be: see RuntimeOf and IOPSOf.
type Bounded struct {
	Regression
	Low, High float64
}

// Predict implements Regression.
func (b Bounded) Predict(own, coRunners []float64) float64 {
	return min(b.High, max(b.Low, b.Regression.Predict(own, coRunners)))
}

// What a co-runner can at most be thought to help by (chosen by us, as the paper does
// not bound its predictions).
const (
	leastRuntimeShare = 0.9
	mostIOPSShare     = 1.1
)

// RuntimeOf bounds a prediction of runtime by the runtime alone.
func RuntimeOf(r Regression, isolated float64) Bounded {
	return Bounded{r, leastRuntimeShare * isolated, math.Inf(1)}
}

// IOPSOf bounds a prediction of requests per second by those alone.
func IOPSOf(r Regression, isolated float64) Bounded { return Bounded{r, 0, mostIOPSShare * isolated} }

// RelativeError of a prediction, a share of what was measured.
func RelativeError(predicted, actual float64) float64 {
	return math.Abs(predicted-actual) / math.Abs(actual)
}
