package worth

import (
	"cmp"
	"math"
	"slices"
)

// Options are what a sequence of measurements is chosen by.
type Options struct {
	// LeastPoints is the worth below which a measurement is not made (points of the
	// decisions, with their weights).
	LeastPoints float64
	// First and Step are how long a source is pressed on before it is judged, and how much
	// longer it is at the least where it goes on, in seconds.
	First, Step float64
	// FirstDeviation is the standard deviation of a score after First seconds, in points;
	// with more time it falls with the square root of it.
	FirstDeviation float64
}

// Default are the options of a live run. Its constants were chosen on calibration seeds of the
// simulator, see decision 0040, but for what the simulator's runs need for a first look at a source.
func Default() Options {
	return Options{LeastPoints: 1, First: 3, Step: 2, FirstDeviation: 8}
}

// LaterWeight is what the decisions in which a profile will be used again count next to the one
// that it is taken for, chosen likewise.
const LaterWeight = 2

// Column is how far the measurement of one source is.
type Column struct {
	Able      bool    // the node can press on it, and it is not finished
	Active    bool    // it is under way
	Seconds   float64 // that were spent on it
	Tolerated float64 // standard deviation of the measured score; NaN: it has none
	Caused    float64
}

// Step is what to measure next.
type Step struct {
	Leave    bool // the measurement under way is not worth going on with
	Order    []int
	Worths   []Worth // of what is left, the most worth a second first
	Finished bool    // nothing that is left is worth its seconds
}

// Next says what to do next in a run: go on with the source under way, or leave it for
// another, or end.
func Next(b Beliefs, questions []Question, columns []Column, slowdown float64, o Options) (Step, error) {
	var possible []Measurement
	for k, c := range columns {
		if !c.Able && !c.Active {
			continue
		}
		possible = append(possible, o.measurement(k, c))
	}
	worths, err := Of(b, questions, possible, slowdown)
	if err != nil {
		return Step{}, err
	}
	slices.SortStableFunc(worths, func(x, y Worth) int { return -cmp.Compare(x.Rate(), y.Rate()) })
	s := Step{Worths: worths, Order: []int{}, Finished: true}
	for _, w := range worths {
		switch {
		case w.Active:
			// Those before it gain more a second.
			s.Leave = len(s.Order) > 0 || w.Points < o.LeastPoints
			s.Finished = s.Finished && s.Leave
		case w.Points >= o.LeastPoints:
			s.Order = append(s.Order, w.Column)
			s.Finished = false
		}
	}
	return s, nil
}

// measurement is what one more step with a column would give.
func (o Options) measurement(k int, c Column) Measurement {
	if !c.Active {
		return Measurement{Column: k, Tolerated: o.FirstDeviation, Caused: o.FirstDeviation, Seconds: o.First}
	}
	longer := max(o.Step, c.Seconds/2)
	falls := math.Sqrt(max(c.Seconds, o.First) / (max(c.Seconds, o.First) + longer))
	after := func(now float64) float64 {
		if math.IsNaN(now) {
			return o.FirstDeviation
		}
		return now * falls
	}
	return Measurement{Column: k, Tolerated: after(c.Tolerated), Caused: after(c.Caused), Seconds: longer, Active: true}
}
