package worth

import (
	"fmt"
	"math"

	"github.com/nomad-placer/nomad-placer/placer/predict"
)

// Beliefs are the scores of a workload, by column, in points, and what they would be after
// one more measurement (classify.Beliefs).
type Beliefs interface {
	Tolerated() (mean, deviation []float64, err error)
	Caused() (mean, deviation []float64, err error)
	// Given are the means of all columns if both scores of one were measured, with their
	// standard deviations.
	Given(column int, tolerated, toleratedDeviation, caused, causedDeviation float64) (t, c []float64, err error)
}

// Resident is a workload that runs on a node: what it tolerates, and what is exerted on it
// there, by column.
type Resident struct{ Tolerated, Pressure []float64 }

// Place is a node where the workload may run.
type Place struct {
	Speed     float64   // in isolation, of the best that is known, 0..1
	Pressure  []float64 // of the residents, by column
	Residents []Resident
}

// Question is a decision: which of the places is best.
type Question struct {
	Places []Place
	// Weight of its points in the worth of a measurement.
	Weight float64
	// Needs is the part of its best performance that the target needs: more is worth
	// nothing. 0: there is no target, and all of it counts.
	Needs float64
}

// value of a place in points: what the workload keeps there of what it needs, less what its
// residents lose.
func (p *Place) value(needs float64, tolerated, caused []float64, slowdown float64, scratch []float64) float64 {
	v := p.Speed * predict.Kept(tolerated, p.Pressure, slowdown)
	if needs > 0 {
		v = min(1, v/needs)
	}
	for i := range p.Residents {
		r := &p.Residents[i]
		for k, x := range r.Pressure {
			scratch[k] = x + caused[k]
		}
		v += predict.Kept(r.Tolerated, scratch, slowdown) - predict.Kept(r.Tolerated, r.Pressure, slowdown)
	}
	return 100 * v
}

// Measurement is one that may be made next.
type Measurement struct {
	Column int
	// Deviation is that of each of its scores if it is made, in points.
	Tolerated, Caused float64
	Seconds           float64
	Active            bool // it is under way: the kernel runs
}

// Worth of a measurement.
type Worth struct {
	Measurement
	Points float64 // that the decisions are expected to gain by it
	Change float64 // probability that it changes the first decision
}

// Rate is what it gains per second.
func (w Worth) Rate() float64 { return w.Points / w.Seconds }

// draws are where the results of a measurement are put, in standard deviations, with equal
// weights: the middles of fifths of a normal distribution, the caused score in another order
// than the tolerated one, so that the two do not go together.
var (
	drawsTolerated = [...]float64{-1.2816, -0.5244, 0, 0.5244, 1.2816}
	drawsCaused    = [...]float64{0.5244, -1.2816, 0, 1.2816, -0.5244}
)

// Of says what each measurement is worth: how much better the decisions are expected to be
// with its result than without.
func Of(b Beliefs, questions []Question, measurements []Measurement, slowdown float64) ([]Worth, error) {
	t, deviationT, err := b.Tolerated()
	if err != nil {
		return nil, fmt.Errorf("what is known of the tolerated scores: %w", err)
	}
	c, deviationC, err := b.Caused()
	if err != nil {
		return nil, fmt.Errorf("what is known of the caused scores: %w", err)
	}
	scratch := make([]float64, len(t))
	chosen := make([]int, len(questions))
	for i := range questions {
		chosen[i], _ = questions[i].best(t, c, slowdown, scratch)
	}
	var out []Worth
	for _, m := range measurements {
		w := Worth{Measurement: m}
		spreadT, spreadC := learnt(deviationT[m.Column], m.Tolerated), learnt(deviationC[m.Column], m.Caused)
		for i := range drawsTolerated {
			givenT, givenC, err := b.Given(m.Column,
				clip(t[m.Column]+drawsTolerated[i]*spreadT), m.Tolerated, clip(c[m.Column]+drawsCaused[i]*spreadC), m.Caused)
			if err != nil {
				return nil, fmt.Errorf("worth of column %d: %w", m.Column, err)
			}
			for q := range questions {
				at, gain := questions[q].gain(chosen[q], givenT, givenC, slowdown, scratch)
				w.Points += questions[q].Weight * gain / float64(len(drawsTolerated))
				if q == 0 && at != chosen[q] && gain > leastChange {
					w.Change += 1 / float64(len(drawsTolerated))
				}
			}
		}
		out = append(out, w)
	}
	return out, nil
}

// leastChange is the gain in points below which two nodes are as good as each other.
const leastChange = 0.5

// learnt is the standard deviation of the mean after a measurement, seen from before it.
func learnt(now, after float64) float64 { return math.Sqrt(max(0, now*now-after*after)) }

func (q *Question) best(t, c []float64, slowdown float64, scratch []float64) (at int, value float64) {
	value = math.Inf(-1)
	for i := range q.Places {
		if v := q.value(i, t, c, slowdown, scratch); v > value {
			at, value = i, v
		}
	}
	return at, value
}

// value of a place for the question.
func (q *Question) value(i int, t, c []float64, slowdown float64, scratch []float64) float64 {
	return q.Places[i].value(q.Needs, t, c, slowdown, scratch)
}

// gain of knowing t and c over having chosen a place before.
func (q *Question) gain(chosen int, t, c []float64, slowdown float64, scratch []float64) (at int, points float64) {
	if len(q.Places) < 2 {
		return chosen, 0
	}
	at, best := q.best(t, c, slowdown, scratch)
	return at, best - q.value(chosen, t, c, slowdown, scratch)
}

func clip(v float64) float64 { return min(100, max(0, v)) }
