package dei

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// Score is one of the two scores of a source.
type Score struct {
	Source interference.Source
	Caused bool
}

// String is how rows of tables are called.
func (s Score) String() string {
	if s.Caused {
		return string(s.Source) + " caused"
	}
	return string(s.Source) + " tolerated"
}

// Scores lists both of every source.
func Scores(sources []interference.Source) []Score {
	var out []Score
	for _, s := range sources {
		out = append(out, Score{s, false}, Score{s, true})
	}
	return out
}

// Quality is the share of applications that keep their quality of service, percent,
// by seed, when a score of all of them is wrong by so many points; 0 is exact.
type Quality func(ctx context.Context, s Score, points float64) ([]float64, error)

// The walk, in points of a score, and the loss that counts, in points of the
// population.
const (
	mostPoints = 50.0
	stepPoints = 10.0
	halvings   = 2
	shown      = 20.0 // an error that is always tried: the paper's figure 1
	lossPoints = 5.0
)

// Interval is the desired error interval of a score. A bound of ±50 points was not
// reached.
type Interval struct {
	Score Score
	// Low and High are of the mean over seeds, Low ≤ 0 ≤ High.
	Low, High float64
	// LossLow and LossHigh are what an error of −20 and +20 points costs, by seed.
	LossLow, LossHigh []float64
	// Widths are by seed, from the errors that were tried.
	Widths []float64
}

// Width is how wrong the score may be altogether.
func (i Interval) Width() float64 { return i.High - i.Low }

// Holds reports whether a predicted score counts as correct.
func (i Interval) Holds(predicted, truth float64) bool {
	e := predicted - truth
	return e >= i.Low && e <= i.High
}

// ErrSeeds: a quality has other seeds than the exact one.
var ErrSeeds = errors.New("dei: qualities of different seeds")

// Find returns the interval of every score.
func Find(ctx context.Context, scores []Score, quality Quality) ([]Interval, error) {
	exact, err := quality(ctx, Score{}, 0)
	if err != nil {
		return nil, err
	}
	var out []Interval
	for _, s := range scores {
		w := walk{ctx: ctx, score: s, quality: quality, exact: exact, tried: map[float64][]float64{0: make([]float64, len(exact))}}
		i := Interval{Score: s}
		if i.Low, err = w.bound(-1); err != nil {
			return nil, fmt.Errorf("%s: %w", s, err)
		}
		if i.High, err = w.bound(+1); err != nil {
			return nil, fmt.Errorf("%s: %w", s, err)
		}
		i.LossLow, i.LossHigh, i.Widths = w.tried[-shown], w.tried[shown], w.widths()
		out = append(out, i)
	}
	return out, nil
}

// walk looks for the bounds of one score.
type walk struct {
	ctx     context.Context
	score   Score
	quality Quality
	exact   []float64
	tried   map[float64][]float64 // losses by error and seed
}

// loss of an error, by seed.
func (w *walk) loss(points float64) ([]float64, error) {
	if known, ok := w.tried[points]; ok {
		return known, nil
	}
	with, err := w.quality(w.ctx, w.score, points)
	if err != nil {
		return nil, err
	}
	if len(with) != len(w.exact) {
		return nil, ErrSeeds
	}
	out := make([]float64, len(with))
	for i, v := range with {
		out[i] = w.exact[i] - v
	}
	w.tried[points] = out
	return out, nil
}

func (w *walk) fine(points float64) (bool, error) {
	losses, err := w.loss(points)
	return mean(losses) < lossPoints, err
}

// bound is the last error in a direction up to which all that were tried are fine.
func (w *walk) bound(sign float64) (float64, error) {
	if _, err := w.loss(sign * shown); err != nil {
		return 0, err
	}
	held, step := 0.0, stepPoints
	for held < mostPoints {
		ok, err := w.fine(sign * (held + step))
		if err != nil {
			return 0, err
		}
		if !ok {
			break
		}
		held += step
	}
	for range halvings {
		if held == mostPoints {
			break
		}
		step /= 2
		ok, err := w.fine(sign * (held + step))
		if err != nil {
			return 0, err
		}
		if ok {
			held += step
		}
	}
	return sign * held, nil
}

// widths are those of each seed by itself, over the errors that were tried; beyond
// those the bound of the mean allows.
func (w *walk) widths() []float64 {
	var errors []float64
	for e := range w.tried {
		errors = append(errors, e)
	}
	slices.Sort(errors)
	zero := slices.Index(errors, 0)
	out := make([]float64, len(w.exact))
	for seed := range out {
		low, high := 0.0, 0.0
		for i := zero + 1; i < len(errors) && w.tried[errors[i]][seed] < lossPoints; i++ {
			high = errors[i]
		}
		for i := zero - 1; i >= 0 && w.tried[errors[i]][seed] < lossPoints; i-- {
			low = errors[i]
		}
		out[seed] = high - low
	}
	return out
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x / float64(len(v))
	}
	return sum
}

// Rank lists the sources, narrowest first: those whose scores bear least error, and
// that are worth measuring. Ties keep the order of the intervals.
func Rank(intervals []Interval) []interference.Source {
	width := map[interference.Source]float64{}
	var out []interference.Source
	for _, i := range intervals {
		if old, ok := width[i.Score.Source]; !ok {
			out, width[i.Score.Source] = append(out, i.Score.Source), i.Width()
		} else {
			width[i.Score.Source] = min(old, i.Width())
		}
	}
	slices.SortStableFunc(out, func(a, b interference.Source) int { return cmp.Compare(width[a], width[b]) })
	return out
}
