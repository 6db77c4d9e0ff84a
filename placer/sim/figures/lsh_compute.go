package figures

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/classify"
	"github.com/nomad-placer/nomad-placer/placer/sim/dei"
	"github.com/nomad-placer/nomad-placer/placer/sim/report"
	"github.com/nomad-placer/nomad-placer/placer/sim/scenario"
	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// lshComputed is what the LSH paper shows without a cluster in operation: how wrong
// scores may be, and how many are predicted right. Its rows:
//
//	a score                    what errors of ±20 points cost, and its interval
//	a source                   the lesser width of its two scores
//	lsh, 2 sources             scores predicted right, of 16, when so many are measured
//	lsh, 150 rows              … when so many applications teach
//	lsh, 5 neighbours          … when the median is of so many nearest ones
//	lsh, configuration 10      … on that configuration, the best one; 1 is the worst
//	on the worst: a score      right for LSH and for Paragon
var lshComputed = &Computation{
	Name: "LSH's intervals and predictions", Source: "the simulated world",
	Metrics: []string{"loss_minus", "loss_plus", "low", "high", "width", "correct", "near", "times", "times_near", "lsh", "paragon", "ahead", "wins", "ties", "losses"},
	run:     runLSH,
}

const (
	lshErrors = "lsh-errors" // the scenario
	// Applications of a seed that may teach, and that are predicted.
	lshTeach, lshPredict = 300, 100
	// unknownScores of ten sources when two are measured: what counts are normed to.
	unknownScores = 16.0
	lshClusters   = 10
	lshRows       = 150
	lshSources    = 2
)

var (
	lshSeeds      = []uint64{1, 2, 3}
	lshAlphas     = []int{2, 3, 4, 6, 8}
	lshTraining   = []int{10, 20, 35, 50, 100, 150, 200}
	lshNeighbours = []int{1, 2, 3, 4, 5, 7, 10, 15}
)

func runLSH(ctx context.Context, env environment) (*Table, error) {
	s, err := scenario.Open(env.scenarios, lshErrors+".hcl", ".")
	if err != nil {
		return nil, err
	}
	intervals, err := lshIntervals(ctx, env, s)
	if err != nil {
		return nil, err
	}
	t := &Table{Seeds: len(lshSeeds), Notes: append(slices.Clone(s.Notes),
		fmt.Sprintf("intervals over %d seeds of the scenario %s; predictions over %d seeds, each of %d applications that may teach and %d others, measured with the noise of runs", len(s.Seeds), lshErrors, len(lshSeeds), lshTeach, lshPredict),
		fmt.Sprintf("sources, narrowest interval first: %v", dei.Rank(intervals)))}
	t.addIntervals(s.Columns, intervals)
	counted, err := lshCounts(ctx, env, s, intervals)
	if err != nil {
		return nil, err
	}
	counted.rows(t, s.Columns)
	return t, nil
}

// lshIntervals takes the kept intervals, or finds them. What they are with exact
// scores is part of the key.
func lshIntervals(ctx context.Context, env environment, s *scenario.Scenario) ([]dei.Interval, error) {
	quality := dei.Simulated(s, "paragon")
	exact, err := quality(ctx, dei.Score{}, 0)
	if err != nil {
		return nil, err
	}
	key := keyOf("dei", s.Identity(), fmt.Sprint(exact))
	var out []dei.Interval
	if env.store.get(key, &out) && len(out) == 2*len(s.Columns) {
		return out, nil
	}
	out, err = dei.Find(ctx, dei.Scores(s.Columns), func(ctx context.Context, score dei.Score, points float64) ([]float64, error) {
		env.tell(fmt.Sprintf("error of %+.1f points in %s", points, score))
		return quality(ctx, score, points)
	})
	if err != nil {
		return nil, err
	}
	return out, env.store.put(key, out)
}

func (t *Table) addIntervals(sources []interference.Source, intervals []dei.Interval) {
	widths := map[interference.Source][]float64{}
	least := map[interference.Source]float64{}
	for _, i := range intervals {
		t.Rows = append(t.Rows, TableRow{i.Score.String(), map[string]report.Figure{
			"loss_minus": report.Interval("", i.LossLow), "loss_plus": report.Interval("", i.LossHigh),
			"low": {Mean: i.Low}, "high": {Mean: i.High}, "width": around(i.Width(), i.Widths),
		}})
		s := i.Score.Source
		if widths[s] == nil {
			widths[s], least[s] = slices.Clone(i.Widths), i.Width()
			continue
		}
		least[s] = min(least[s], i.Width())
		for seed, w := range i.Widths {
			widths[s][seed] = min(widths[s][seed], w)
		}
	}
	for _, s := range sources {
		t.Rows = append(t.Rows, TableRow{string(s), map[string]report.Figure{"width": around(least[s], widths[s])}})
	}
}

// around is the value over all seeds with the interval of those by seed.
func around(value float64, bySeed []float64) report.Figure {
	f := report.Interval("", bySeed)
	f.Mean = value
	return f
}

// lshCount is one prediction of a seed: who, at which setting.
type lshCount struct {
	Who, Setting string
	BySeed       []dei.Counts
}

type lshCounted struct{ All []lshCount }

// lshCounts takes the kept counts, or makes them.
func lshCounts(ctx context.Context, env environment, s *scenario.Scenario, intervals []dei.Interval) (*lshCounted, error) {
	m, err := s.Model()
	if err != nil {
		return nil, err
	}
	mark, err := json.Marshal(intervals)
	if err != nil {
		return nil, fmt.Errorf("figures: %w", err)
	}
	sample, err := lshSample(m, intervals)
	if err != nil {
		return nil, err
	}
	key := keyOf("lsh counts", string(mark), sample, fmt.Sprint(lshSeeds, lshAlphas, lshTraining, lshNeighbours, lshTeach, lshPredict))
	out := &lshCounted{}
	if env.store.get(key, out) && len(out.All) > 0 {
		return out, nil
	}
	for _, seed := range lshSeeds {
		env.tell(fmt.Sprintf("predictions of seed %d", seed))
		if err := out.seed(ctx, m, seed, intervals); err != nil {
			return nil, err
		}
	}
	return out, env.store.put(key, out)
}

// lshSample says whether the predictors still predict what they did: it takes
// little, and is part of the key of all counts.
func lshSample(m *truth.Model, intervals []dei.Interval) (string, error) {
	l, err := dei.NewLab(m, lshSpec, 20, few, 1)
	if err != nil {
		return "", err
	}
	rows, err := l.Taught(4, 20)
	if err != nil {
		return "", err
	}
	out := ""
	for _, who := range []string{"lsh", "cf"} {
		p, err := lshPredictor(l, rows, who, classify.LSHOptions{})
		if err != nil {
			return "", err
		}
		c, err := l.Count(p, dei.Same(dei.Rank(intervals)[:lshSources]), intervals)
		if err != nil {
			return "", err
		}
		out += fmt.Sprintf("%+v", c)
	}
	return out, nil
}

// lshSpec are applications as those of the scenarios, the classes in equal parts.
var lshSpec = truth.Spec{Classes: []string{"ST", "MT", "MP", "IO"}}

func lshPredictor(l *dei.Lab, rows [][]float64, who string, o classify.LSHOptions) (dei.Predictor, error) {
	if who == "lsh" {
		return l.Hashed(rows, o)
	}
	d, err := classify.Lookup(who)
	if err != nil {
		return nil, err
	}
	return l.Factorised(rows, d.New())
}

// seed makes all predictions of one seed. The predictors of Paragon are fitted to
// the same rows as those of LSH.
func (c *lshCounted) seed(ctx context.Context, m *truth.Model, seed uint64, intervals []dei.Interval) error {
	l, err := dei.NewLab(m, lshSpec, lshTeach, lshPredict, seed)
	if err != nil {
		return err
	}
	ranked := dei.Rank(intervals)
	narrowest := func(alpha int) dei.Draw { return dei.Same(ranked[:alpha]) }
	for _, n := range lshTraining {
		if err := ctx.Err(); err != nil {
			return err
		}
		rows, err := l.Taught(lshClusters, n)
		if err != nil {
			return err
		}
		for _, who := range []string{"lsh", "cf"} {
			p, err := lshPredictor(l, rows, who, classify.LSHOptions{})
			if err != nil {
				return err
			}
			if err := c.count(l, p, narrowest(lshSources), intervals, who, fmt.Sprintf("%d rows", n)); err != nil {
				return err
			}
			if n != lshRows {
				continue
			}
			for _, alpha := range lshAlphas {
				setting := fmt.Sprintf("%d sources", alpha)
				if err := c.count(l, p, narrowest(alpha), intervals, who, setting); err != nil {
					return err
				}
				if who == "cf" {
					if err := c.count(l, p, l.AtRandom(alpha), intervals, "random", setting); err != nil {
						return err
					}
				}
			}
		}
		if n == lshRows {
			if err := c.others(l, rows, narrowest(lshSources), intervals); err != nil {
				return err
			}
		}
	}
	return nil
}

// others are the numbers of nearest neighbours, and the other classifiers.
func (c *lshCounted) others(l *dei.Lab, rows [][]float64, draw dei.Draw, intervals []dei.Interval) error {
	for _, n := range lshNeighbours {
		p, err := lshPredictor(l, rows, "lsh", classify.LSHOptions{Neighbours: n})
		if err != nil {
			return err
		}
		if err := c.count(l, p, draw, intervals, "lsh", fmt.Sprintf("%d neighbours", n)); err != nil {
			return err
		}
	}
	for _, who := range []string{"cf-bias", "gauss", "mean"} {
		p, err := lshPredictor(l, rows, who, classify.LSHOptions{})
		if err != nil {
			return err
		}
		if err := c.count(l, p, draw, intervals, who, fmt.Sprintf("%d sources", lshSources)); err != nil {
			return err
		}
	}
	return nil
}

func (c *lshCounted) count(l *dei.Lab, p dei.Predictor, draw dei.Draw, intervals []dei.Interval, who, setting string) error {
	counts, err := l.Count(p, draw, intervals)
	if err != nil {
		return err
	}
	for i := range c.All {
		if c.All[i].Who == who && c.All[i].Setting == setting {
			c.All[i].BySeed = append(c.All[i].BySeed, counts)
			return nil
		}
	}
	c.All = append(c.All, lshCount{who, setting, []dei.Counts{counts}})
	return nil
}

// lshNames are how rows call the predictors.
var lshNames = map[string]string{"lsh": "lsh", "cf": "paragon", "random": "paragon-r", "cf-bias": "paragon with offsets", "gauss": "gauss", "mean": "scaled mean"}

func (c *lshCounted) of(who, setting string) []dei.Counts {
	for _, k := range c.All {
		if k.Who == who && k.Setting == setting {
			return k.BySeed
		}
	}
	return nil
}

// rows puts the counts into the table.
func (c *lshCounted) rows(t *Table, sources []interference.Source) {
	for _, k := range c.All {
		var correct, near, times, timesNear []float64
		hashed := c.of("lsh", k.Setting)
		for seed, counts := range k.BySeed {
			correct, near = append(correct, unknownScores*counts.Correct/counts.Predicted), append(near, unknownScores*counts.Near/counts.Predicted)
			if k.Who != "lsh" && seed < len(hashed) {
				times, timesNear = append(times, hashed[seed].Correct/counts.Correct), append(timesNear, hashed[seed].Near/counts.Near)
			}
		}
		row := TableRow{lshNames[k.Who] + ", " + k.Setting, map[string]report.Figure{"correct": report.Interval("", correct), "near": report.Interval("", near)}}
		if len(times) > 0 {
			row.Figures["times"], row.Figures["times_near"] = report.Interval("", times), report.Interval("", timesNear)
		}
		t.Rows = append(t.Rows, row)
	}
	setting := fmt.Sprintf("%d sources", lshSources)
	hashed, factorised := c.of("lsh", setting), c.of("cf", setting)
	for place := range hashed[0].ByConfiguration {
		for _, who := range []string{"lsh", "cf"} {
			var correct []float64
			for _, counts := range c.of(who, setting) {
				correct = append(correct, unknownScores*counts.ByConfiguration[place].Of())
			}
			t.Rows = append(t.Rows, TableRow{fmt.Sprintf("%s, configuration %d", lshNames[who], place+1), map[string]report.Figure{"correct": report.Interval("", correct)}})
		}
	}
	wins, ties, losses := 0.0, 0.0, 0.0
	for i, score := range dei.Scores(sources) {
		if hashed[0].ByScore[i].Predicted == 0 {
			continue // measured
		}
		var a, b, ahead []float64
		for seed := range hashed {
			x, y := 100*hashed[seed].ByScore[i].Of(), 100*factorised[seed].ByScore[i].Of()
			a, b, ahead = append(a, x), append(b, y), append(ahead, x-y)
		}
		switch by := report.Interval("", ahead).Mean; {
		case by > tieBand:
			wins++
		case by < -tieBand:
			losses++
		default:
			ties++
		}
		t.Rows = append(t.Rows, TableRow{"on the worst: " + score.String(), map[string]report.Figure{
			"lsh": report.Interval("", a), "paragon": report.Interval("", b), "ahead": report.Interval("", ahead),
		}})
	}
	t.Rows = append(t.Rows, TableRow{"on the worst", map[string]report.Figure{"wins": {Mean: wins}, "ties": {Mean: ties}, "losses": {Mean: losses}}})
}

// tieBand is how far apart two shares of correct predictions are alike, in points.
const tieBand = 5
