package dei

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/classify"
	"github.com/nomad-placer/nomad-placer/placer/numeric/kmeans"
	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// acceptedLoss is what an application may lose before a score says so.
const acceptedLoss = 0.05

// profileSeconds is the length of one profiling run.
const profileSeconds = 60

// Lab is applications measured in every score on every configuration, and what is
// true of them. The first ones may teach; the others are predicted and never taught.
type Lab struct {
	Sources        []interference.Source
	Configurations []int // worst first

	teach    int
	measured [][]float64 // by application: cells as Lab.cell numbers them
	truth    [][]float64
	seed     uint64
}

// NewLab draws and measures so many applications to teach, and so many to predict.
func NewLab(m *truth.Model, spec truth.Spec, teach, predict int, seed uint64) (*Lab, error) {
	spec.Count = teach + predict
	applications, err := truth.Population(m, spec, seed)
	if err != nil {
		return nil, err
	}
	l := &Lab{Sources: m.Columns(), teach: teach, seed: seed}
	machines := m.Machines()
	for c := range machines {
		l.Configurations = append(l.Configurations, c)
	}
	slices.SortStableFunc(l.Configurations, func(a, b int) int { return cmp.Compare(machines[a].Strength(), machines[b].Strength()) })
	for i, a := range applications {
		random := rand.New(rand.NewPCG(seed, uint64(i)))
		measured, real := l.unknown(), l.unknown()
		for c := range machines {
			t, q := m.ScoresOn(a, 0, c, acceptedLoss)
			for k := range l.Sources {
				at := l.cell(c, k, false)
				real[at], real[at+1] = t[k], q[k]
				measured[at], measured[at+1] = m.MeasureScoresOn(a, 0, c, k, profileSeconds, random)
			}
		}
		l.measured, l.truth = append(l.measured, measured), append(l.truth, real)
	}
	return l, nil
}

// cell is the place of a score in a row: configuration by configuration, tolerated
// and caused of one source after the other, as the paper orders them.
func (l *Lab) cell(configuration, source int, caused bool) int {
	at := 2 * (configuration*len(l.Sources) + source)
	if caused {
		at++
	}
	return at
}

func (l *Lab) unknown() []float64 {
	return slices.Repeat([]float64{math.NaN()}, 2*len(l.Sources)*len(l.Configurations))
}

// Profiled are the configurations a newcomer is measured on: the best, the median
// and the worst.
func (l *Lab) Profiled() []int {
	n := len(l.Configurations)
	return []int{l.Configurations[n-1], l.Configurations[(n-1)/2], l.Configurations[0]}
}

// Taught are the measured rows of n applications to learn from, drawn from k groups
// of like ones (Algorithm 1, lines 1 and 2). Groups are of the rows without the cells
// that could not be told apart.
func (l *Lab) Taught(k, n int) ([][]float64, error) {
	points := make([][]float64, l.teach)
	for i := range points {
		points[i] = slices.Clone(l.measured[i])
		for j, v := range points[i] {
			if math.IsNaN(v) {
				points[i][j] = 0
			}
		}
	}
	groups, err := kmeans.Fit(points, kmeans.Config{Clusters: k, Restarts: 2, Seed: l.seed})
	if err != nil {
		return nil, fmt.Errorf("dei: training set: %w", err)
	}
	var out [][]float64
	for _, i := range groups.Draw(n, rand.New(rand.NewPCG(l.seed, uint64(n)))) {
		out = append(out, l.measured[i])
	}
	return out, nil
}

// Predictor completes a row of scores.
type Predictor func(row []float64) ([]float64, error)

// Hashed is the paper's predictor: all scores together.
func (l *Lab) Hashed(rows [][]float64, o classify.LSHOptions) (Predictor, error) {
	o.Rows = -1 // chosen already
	every := func(int) bool { return true }
	return l.part(classify.NewLSH(o), rows, every)
}

// Factorised is the predictor of Paragon on the same rows: tolerated and caused
// scores are two utility matrices, their columns source × configuration.
func (l *Lab) Factorised(rows [][]float64, c classify.Classifier) (Predictor, error) {
	tolerated, err := l.part(c, rows, func(j int) bool { return j%2 == 0 })
	if err != nil {
		return nil, err
	}
	caused, err := l.part(c, rows, func(j int) bool { return j%2 == 1 })
	if err != nil {
		return nil, err
	}
	return func(row []float64) ([]float64, error) {
		first, err := tolerated(row)
		if err != nil {
			return nil, err
		}
		return caused(first)
	}, nil
}

// part completes some of the cells by a classifier of its own.
func (l *Lab) part(c classify.Classifier, rows [][]float64, mine func(cell int) bool) (Predictor, error) {
	var at []int
	m := classify.Matrix{}
	for j := range rows[0] {
		if mine(j) {
			at, m.Columns = append(at, j), append(m.Columns, fmt.Sprint(j))
		}
	}
	take := func(row []float64) []float64 {
		out := make([]float64, len(at))
		for i, j := range at {
			out[i] = row[j]
		}
		return out
	}
	for _, row := range rows {
		m.Rows = append(m.Rows, take(row))
	}
	model, err := c.Fit(m, l.seed)
	if err != nil {
		return nil, fmt.Errorf("dei: %w", err)
	}
	return func(row []float64) ([]float64, error) {
		cells, err := model.Complete(take(row), nil)
		if err != nil {
			return nil, err
		}
		out := slices.Clone(row)
		for i, j := range at {
			out[j] = min(100, max(0, cells[i].Value)) // NaN stays
		}
		return out, nil
	}, nil
}

// Draw are two sources for a newcomer at random, as Paragon(r) does, or the same for
// everybody.
type Draw func(application int) []interference.Source

// Same measures the same sources of everybody.
func Same(sources []interference.Source) Draw {
	return func(int) []interference.Source { return sources }
}

// AtRandom draws so many sources for each.
func (l *Lab) AtRandom(count int) Draw {
	return func(application int) []interference.Source {
		random := rand.New(rand.NewPCG(l.seed, uint64(application)^0x9e3779b9))
		var out []interference.Source
		for _, k := range random.Perm(len(l.Sources))[:count] {
			out = append(out, l.Sources[k])
		}
		return out
	}
}

// near is an error that is small by any account, in points.
const near = 10.0

// Counts are how many predictions are right, of scores that were not measured on any
// configuration; those of measured sources do not count.
type Counts struct {
	Predicted, Correct, Near float64
	// ByConfiguration and ByScore are the same for each configuration, and for each
	// score on the worst one.
	ByConfiguration, ByScore []Share
}

// Share of predictions that are correct.
type Share struct{ Predicted, Correct float64 }

// Of is the share, NaN where nothing was predicted.
func (s Share) Of() float64 { return s.Correct / s.Predicted }

// Count predicts every application that was not taught. intervals are those of the
// profiling run's scores, in the order of Scores.
func (l *Lab) Count(p Predictor, sources Draw, intervals []Interval) (Counts, error) {
	c := Counts{ByConfiguration: make([]Share, len(l.Configurations)), ByScore: make([]Share, 2*len(l.Sources))}
	for i := l.teach; i < len(l.truth); i++ {
		measured := sources(i)
		row := l.unknown()
		for k, s := range l.Sources {
			if !slices.Contains(measured, s) {
				continue
			}
			for _, configuration := range l.Profiled() {
				at := l.cell(configuration, k, false)
				row[at], row[at+1] = l.measured[i][at], l.measured[i][at+1]
			}
		}
		predicted, err := p(row)
		if err != nil {
			return c, err
		}
		l.judge(&c, i, predicted, measured, intervals)
	}
	return c, nil
}

func (l *Lab) judge(c *Counts, application int, predicted []float64, measured []interference.Source, intervals []Interval) {
	for place, configuration := range l.Configurations {
		for k, s := range l.Sources {
			if slices.Contains(measured, s) {
				continue
			}
			for kind := range 2 {
				at := l.cell(configuration, k, kind == 1)
				right := 0.0
				if intervals[2*k+kind].Holds(predicted[at], l.truth[application][at]) {
					right = 1
				}
				if math.Abs(predicted[at]-l.truth[application][at]) <= near {
					c.Near++
				}
				c.Predicted, c.Correct = c.Predicted+1, c.Correct+right
				c.ByConfiguration[place].Predicted++
				c.ByConfiguration[place].Correct += right
				if place == 0 {
					c.ByScore[2*k+kind].Predicted++
					c.ByScore[2*k+kind].Correct += right
				}
			}
		}
	}
}
