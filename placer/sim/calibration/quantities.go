package calibration

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/nomad-placer/nomad-placer/placer/sim/estimator"
	"github.com/nomad-placer/nomad-placer/placer/sim/scenario"
	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

var infinite = math.Inf(1)

// Drawn is a shape under a seed: the world, and what is known of programs in it.
type Drawn struct {
	Seed   uint64
	Model  *truth.Model
	Judged []Judged
	// Classifier and Rows are what was learnt with.
	Classifier string
	Rows       int
}

// Judged is a program, what profiling and classification say of it, and what measuring all of it
// twice says.
type Judged struct {
	Application  *truth.Application
	Rows         estimator.Rows
	Cells, Again estimator.Cells
}

// draw what the statistics of a group are of.
func draw(s *scenario.Scenario, seed uint64, count int, g Group) (*Drawn, error) {
	if g == Pressures {
		m, err := s.Model()
		return &Drawn{Seed: seed, Model: m}, err
	}
	sample, err := s.Sample(seed, count, g.matrices())
	if err != nil {
		return nil, err
	}
	out := &Drawn{Seed: seed, Model: sample.Model, Classifier: sample.Classifier, Rows: sample.Rows}
	for i, a := range sample.Applications {
		rows, err := sample.Estimator.Rows(a, i)
		if err != nil {
			return nil, err
		}
		out.Judged = append(out.Judged, Judged{a, rows, sample.Estimator.Characterised(a, i, 0), sample.Estimator.Characterised(a, i, 1)})
	}
	return out, nil
}

// classes are the programs that a statistic is of: nil for all.
type classes []string

var all classes

func of(class string) classes { return classes{class} }

// each calls do for the programs of the classes.
func (c classes) each(d *Drawn, do func(j *Judged)) {
	for i := range d.Judged {
		if len(c) == 0 || slices.Contains(c, d.Judged[i].Application.Class) {
			do(&d.Judged[i])
		}
	}
}

// share of the programs for which is, in percent. ok is false for one that does not count.
func (c classes) share(is func(j *Judged) (yes, ok bool)) func(*Drawn) float64 {
	return func(d *Drawn) float64 {
		n, counted := 0, 0
		c.each(d, func(j *Judged) {
			if yes, ok := is(j); ok {
				counted++
				if yes {
					n++
				}
			}
		})
		return 100 * float64(n) / float64(counted) // NaN of none
	}
}

// near reports whether the configuration of the greatest known speed is within a loss of the best,
// where there is more than one.
func near(j *Judged, known []float64, loss float64) (yes, ok bool) {
	chosen := argmax(known)
	if chosen < 0 || len(known) < 2 {
		return false, false
	}
	return j.Application.Isolated[chosen] >= (1-loss)*slices.Max(j.Application.Isolated), true
}

// within: the configuration that is predicted to be the best is within a loss of it.
func (c classes) within(loss float64) func(*Drawn) float64 {
	return c.share(func(j *Judged) (yes, ok bool) { return near(j, j.Rows.Speed.Completed, loss) })
}

func (c classes) measuredWithin(loss float64) func(*Drawn) float64 {
	return c.share(func(j *Judged) (yes, ok bool) { return near(j, j.Cells.Speed, loss) })
}

// exchanges of neighbours that turn an order of configurations by known speeds into that by the
// true ones: the pairs that are in the other order.
func exchanges(known, real []float64) int {
	n := 0
	for i := range known {
		for j := range i {
			if (known[i] > known[j]) != (real[i] > real[j]) {
				n++
			}
		}
	}
	return n
}

// ranked: the order of all configurations is right but for so many exchanges of neighbours.
func (c classes) ranked(most int) func(*Drawn) float64 {
	return c.share(func(j *Judged) (yes, ok bool) {
		known := j.Rows.Speed.Completed
		return known != nil && exchanges(known, j.Application.Isolated) <= most, known != nil
	})
}

func (c classes) measuredRanked(most int) func(*Drawn) float64 {
	return c.share(func(j *Judged) (yes, ok bool) {
		known := j.Cells.Speed
		return len(known) > 1 && exchanges(known, j.Application.Isolated) <= most, len(known) > 1
	})
}

// bestWasMeasured: the best configuration is one of those that profiling ran on.
func (c classes) bestWasMeasured(d *Drawn) float64 {
	return c.share(func(j *Judged) (yes, ok bool) {
		if j.Rows.Speed.Completed == nil {
			return false, false
		}
		return !math.IsNaN(j.Rows.Speed.Measured[argmax(j.Application.Isolated)]), true
	})(d)
}

// gain of the configuration that is predicted to be the best over one by lot, mean over programs,
// in percent.
func (c classes) gain(d *Drawn) float64 {
	var gains []float64
	c.each(d, func(j *Judged) {
		if chosen := argmax(j.Rows.Speed.Completed); chosen >= 0 {
			gains = append(gains, 100*(j.Application.Isolated[chosen]/stat.Mean(j.Application.Isolated, nil)-1))
		}
	})
	return mean(gains)
}

// speedErrors are those of cells that were not measured, by program, in percent of the truth.
func (c classes) speedErrors(d *Drawn) (cells, programs []float64) {
	c.each(d, func(j *Judged) {
		var own []float64
		for i, v := range j.Rows.Speed.Completed {
			if real := j.Application.Isolated[i]; math.IsNaN(j.Rows.Speed.Measured[i]) && !math.IsNaN(v) {
				own = append(own, 100*math.Abs(v-real)/real)
			}
		}
		if len(own) > 0 {
			cells, programs = append(cells, own...), append(programs, mean(own))
		}
	})
	return cells, programs
}

func (c classes) speedError(d *Drawn) float64 {
	cells, _ := c.speedErrors(d)
	return mean(cells)
}

// ninthSpeedError is what nine of ten programs err by at most.
func (c classes) ninthSpeedError(d *Drawn) float64 {
	_, programs := c.speedErrors(d)
	if len(programs) == 0 {
		return math.NaN()
	}
	slices.Sort(programs)
	return stat.Quantile(0.9, stat.Empirical, programs, nil)
}

// side is one of the two scores of a source.
type side int

const (
	tolerated side = iota
	caused
)

func (s side) row(r *estimator.Rows) estimator.Row {
	if s == tolerated {
		return r.Tolerated
	}
	return r.Caused
}

func (s side) of(c *estimator.Cells) []float64 {
	if s == tolerated {
		return c.Tolerated
	}
	return c.Caused
}

// band of measured scores.
type band func(score float64) bool

func anyScore(float64) bool { return true }

func below(limit float64) band { return func(v float64) bool { return v < limit } }

func above(limit float64) band { return func(v float64) bool { return v > limit } }

// scoreErrors are those of the sources that were not measured, whose measured score is in the band.
func scoreErrors(j *Judged, s side, in band) []float64 {
	var out []float64
	row, measured := s.row(&j.Rows), s.of(&j.Cells)
	for k, v := range row.Completed {
		if math.IsNaN(row.Measured[k]) && in(measured[k]) {
			out = append(out, math.Abs(v-measured[k]))
		}
	}
	return out
}

// scoreError is the mean over sources and programs.
func (c classes) scoreError(s side, in band) func(*Drawn) float64 {
	return func(d *Drawn) float64 {
		var out []float64
		c.each(d, func(j *Judged) { out = append(out, scoreErrors(j, s, in)...) })
		return mean(out)
	}
}

// measuredScoreError is that of measuring again.
func (c classes) measuredScoreError(s side) func(*Drawn) float64 {
	return func(d *Drawn) float64 {
		var out []float64
		c.each(d, func(j *Judged) {
			again := s.of(&j.Again)
			for k, v := range s.of(&j.Cells) {
				out = append(out, math.Abs(v-again[k]))
			}
		})
		return mean(out)
	}
}

// hierarchyCorrelation is how alike the tolerated scores of the sources of the memory hierarchy are.
func (c classes) hierarchyCorrelation(d *Drawn) float64 {
	columns := d.Model.Columns()
	var rows [][]float64
	c.each(d, func(j *Judged) {
		var row []float64
		for k, column := range columns {
			if truth.InHierarchy(column) {
				row = append(row, j.Cells.Tolerated[k])
			}
		}
		rows = append(rows, row)
	})
	return meanCorrelation(rows)
}

// measuredCorrelation is that of the rows of profiler/training, held by a test.
const measuredCorrelation = 0.083

// leastTogether is how many rows must know both of two columns (chosen by us).
const leastTogether = 8

// meanCorrelation is Pearson's, over the pairs of columns that differ between the rows that know both;
// NaN marks what is not known.
func meanCorrelation(rows [][]float64) float64 {
	if len(rows) == 0 {
		return math.NaN()
	}
	var out []float64
	for i := range rows[0] {
		for j := range i {
			var x, y []float64
			for _, row := range rows {
				if !math.IsNaN(row[i]) && !math.IsNaN(row[j]) {
					x, y = append(x, row[i]), append(y, row[j])
				}
			}
			if len(x) < leastTogether {
				continue
			}
			if r := stat.Correlation(x, y, nil); !math.IsNaN(r) {
				out = append(out, r)
			}
		}
	}
	return mean(out)
}

// under is the share of programs whose tolerated scores err by less than that on average.
func (c classes) under(points float64) func(*Drawn) float64 {
	return c.share(func(j *Judged) (yes, ok bool) {
		errors := scoreErrors(j, tolerated, anyScore)
		return mean(errors) < points, len(errors) > 0
	})
}

// pressureByCores is the slope of the logarithm of what one program presses on what cores share, by
// that of the cores of the machine.
func pressureByCores(d *Drawn) float64 {
	m := d.Model
	probe := &truth.Application{Isolated: slices.Repeat([]float64{1}, len(m.Machines())), Phases: []truth.Phase{{}}}
	p := &probe.Phases[0]
	for range m.Columns() {
		p.Pressure, p.Response = append(p.Pressure, 1), append(p.Response, truth.Planted(100, 1))
	}
	var cores, presses []float64
	for i, machine := range m.Machines() {
		_, on := m.ScoresOn(probe, 0, i, 0.05)
		for k, column := range m.Columns() {
			if info, _ := interference.Info(column); info.Scope != interference.ScopeCore {
				cores, presses = append(cores, math.Log(machine.Cores)), append(presses, math.Log(on[k]))
			}
		}
	}
	_, slope := stat.LinearRegression(cores, presses, nil, false)
	return slope
}

// memcachedDrawn is how many are drawn for the median.
const memcachedDrawn = 200

// pressureOfMemcached is what the median of drawn ones presses on the network of a server of four
// cores.
func pressureOfMemcached(d *Drawn) float64 {
	m := d.Model
	at := slices.IndexFunc(m.Machines(), func(machine truth.Machine) bool { return machine.Cores == 4 })
	network := slices.Index(m.Columns(), interference.NetworkBandwidth)
	if at < 0 || network < 0 {
		return math.NaN()
	}
	drawn, err := truth.Population(m, truth.Spec{Classes: []string{"memcached"}, Count: memcachedDrawn, PeakShare: -1}, d.Seed)
	if err != nil {
		return math.NaN()
	}
	var presses []float64
	for _, a := range drawn {
		_, on := m.ScoresOn(a, 0, at, 0.05)
		presses = append(presses, on[network])
	}
	slices.Sort(presses)
	return presses[len(presses)/2]
}

// argmax is the place of the greatest known value; −1 where none is known.
func argmax(row []float64) int {
	best := -1
	for i, v := range row {
		if !math.IsNaN(v) && (best < 0 || v > row[best]) {
			best = i
		}
	}
	return best
}

// mean is NaN of nothing.
func mean(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	return stat.Mean(v, nil)
}
