package predict

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/numeric/regress"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/stat"
)

// Party is one of the workloads that are to meet on a set of CPUs.
type Party struct {
	Curves *Curves
	Caused []float64 // by column of the curves, percent; NaN is unknown, and then counts as nothing
	Demand TimeDemand
}

// Meeting is what is expected of one workload among others before they meet: the share of
// the CPU time that it wants which it gets, which is computed, and what follows from its
// response curves and the pressure of the others on all that is not shared by time.
type Meeting struct {
	Time    float64 // of the CPU time that it wants, 0..1 (TimeShares)
	Delayed float64 // the same where it waits for its turn whenever it works (Stretched); at most Time
	// Waits: someone there does not want all the CPU time that it could have. Then who is
	// delayed by whom matters, and predictions are less certain.
	Waits bool
	// Overlap: they run at the same time, on different CPUs.
	Overlap bool
	Kept    []float64 // by column, 0..1: of its speed, under the pressure of the others; 1 where CPU time is shared through the column
}

// Meet is what is expected of a workload next to others on so many CPUs.
func Meet(own Party, others []Party, cpus float64) Meeting {
	demands := make([]TimeDemand, 0, len(others)+1)
	wanted := 0.0
	for _, p := range others {
		demands = append(demands, p.Demand)
	}
	demands = append(demands, own.Demand)
	m := Meeting{Time: 1}
	for _, d := range demands {
		most := TimeDemand{Amount: math.NaN(), Limit: d.Limit}.wants(cpus)
		m.Waits = m.Waits || d.wants(cpus) < waitsBelow*most
		wanted += d.wants(cpus)
	}
	m.Overlap = wanted <= cpus
	if wants := own.Demand.wants(cpus); wants > 0 {
		m.Time = TimeShares(cpus, demands)[len(others)] / wants
		left := 1 - TimeTaken(cpus, max(leastWeight, own.Demand.Weight), demands[:len(others)])/cpus
		most := TimeDemand{Amount: math.NaN(), Limit: own.Demand.Limit}.wants(cpus)
		m.Delayed = min(m.Time, Stretched(wants/most, min(1, left*cpus/most)))
	}
	if own.Curves != nil {
		m.Kept = own.Curves.keptBy(others)
	}
	return m
}

// waitsBelow is the share of the CPU time it could have from which a workload counts as one
// that always runs (chosen by us: less is noise of a reading).
const waitsBelow = 0.9

// keptBy is what the curves leave under the sum of what others cause, column by column.
func (p *Curves) keptBy(others []Party) []float64 {
	kept := make([]float64, len(p.columns))
	for k, s := range p.columns {
		kept[k] = 1
		if interference.TimeShared(s) || !p.at[k].known() {
			continue
		}
		pressure := 0.0
		for _, o := range others {
			if c := o.Caused[k]; c > 0 {
				pressure += c
			}
		}
		if pressure > 0 {
			kept[k] = p.at[k].under(pressure).Value
		}
	}
	return kept
}

// leastKept keeps logarithms finite (chosen by us).
const leastKept = 0.01

// scarcest and product are the two ways to combine sources that need no learning: the
// scarcest decides (Delimitrou 2015, §5.4), or each costs its part.
func (m Meeting) scarcest() float64 {
	least := 1.0
	for _, v := range m.Kept {
		least = min(least, v)
	}
	return math.Log(max(leastKept, least))
}

func (m Meeting) product() float64 {
	sum := 0.0
	for _, v := range m.Kept {
		sum += math.Log(max(leastKept, v))
	}
	return sum
}

// delay is the logarithm of what waiting for its turn costs at most, apart from the time itself.
func (m Meeting) delay() float64 {
	if !(m.Time > 0) || !(m.Delayed > 0) {
		return 0
	}
	return math.Log(m.Delayed / m.Time)
}

// Rule estimates what contention costs apart from the sharing of CPU time: the logarithm
// of the share kept is that of the time share plus terms, each with its weight.
type Rule struct {
	Name, Summary string
	// Learnt: weights are fitted on measured meetings, towards those below, and so is a
	// constant, for meetings on the same CPU and on neighbouring ones.
	Learnt bool
	terms  func(Meeting) []float64
	weight float64 // of each term before anything is learnt: 1 is the physical model
}

// Rules lists the ways to combine sources, simplest first.
func Rules() []Rule {
	return []Rule{
		{Name: "time", Summary: "sharing of CPU time alone", terms: func(Meeting) []float64 { return nil }},
		{Name: "scarcest", Summary: "time, and the source on which it keeps least", terms: func(m Meeting) []float64 { return []float64{m.scarcest()} }, weight: 1},
		{Name: "product", Summary: "time, and every source its part", terms: func(m Meeting) []float64 { return []float64{m.product()} }, weight: 1},
		{Name: "constant", Summary: "time, and what contention costs others", Learnt: true, terms: func(Meeting) []float64 { return nil }},
		{Name: "delay", Summary: "the same, and waiting for its turn", Learnt: true, terms: func(m Meeting) []float64 { return []float64{m.delay()} }},
		{Name: "learnt-scarcest", Summary: "the same, and the scarcest source, weighed", Learnt: true, terms: func(m Meeting) []float64 { return []float64{m.delay(), m.scarcest()} }},
		{Name: "learnt", Summary: "the same, and every source by its weight", Learnt: true, terms: func(m Meeting) []float64 { return append([]float64{m.delay()}, logs(m.Kept)...) }},
	}
}

// LookupRule returns the rule of that name, or an error that lists the known ones.
func LookupRule(name string) (Rule, error) {
	var names []string
	for _, r := range Rules() {
		if r.Name == name {
			return r, nil
		}
		names = append(names, r.Name)
	}
	return Rule{}, fmt.Errorf("unknown rule of contention %q; known: %v", name, names)
}

func logs(kept []float64) []float64 {
	out := make([]float64, len(kept))
	for k, v := range kept {
		out[k] = math.Log(max(leastKept, v))
	}
	return out
}

// Met is a meeting that was measured.
type Met struct {
	Meeting
	Ratio     float64 // speed together over speed in isolation
	Deviation float64 // standard deviation of its logarithm; 0: exact
	Group     string  // meetings with a common workload are not left out apart; see LearnContention
	With      string
}

// ErrMeetings: contention cannot be learnt from so few.
var ErrMeetings = errors.New("predict: too few measured meetings to learn contention from")

// leastMeetings is the fewest from which a 95 % interval can be taken: of 39 one is outside
// on average, on either side (chosen by us).
const leastMeetings = 40

// Contention predicts the share that a workload keeps among others.
type Contention struct {
	rule      Rule
	constants [2]float64 // apart, overlapping
	weights   []float64
	residuals map[kind][]float64 // logarithms of measured over predicted, sorted
	all       []float64
}

// kind are meetings whose predictions are equally certain.
type kind struct{ overlap, waits bool }

func kindOf(m Meeting) kind { return kind{m.Overlap, m.Waits} }

// LearnContention fits a rule to measured meetings. Weights are fitted by ridge regression
// (Hoerl and Kennard 1970) towards those of the rule, as far as leaving out workloads with
// all their meetings bears it, and less by meetings that were measured less exactly or lie
// apart (Huber 1964). O(meetings · terms²).
func LearnContention(rule Rule, all []Met) (*Contention, error) {
	all = slices.DeleteFunc(slices.Clone(all), func(m Met) bool { return !(m.Ratio > 0) || !(m.Time > 0) })
	if len(all) < leastMeetings {
		return nil, fmt.Errorf("%w: %d of them, %d are needed", ErrMeetings, len(all), leastMeetings)
	}
	c := &Contention{rule: rule, residuals: map[kind][]float64{}}
	c.weights = make([]float64, len(rule.terms(all[0].Meeting)))
	for j := range c.weights {
		c.weights[j] = rule.weight
	}
	if rule.Learnt {
		if err := c.fit(all, c.bestFreedom(all)); err != nil {
			return nil, err
		}
	}
	for _, m := range all {
		left := math.Log(m.Ratio) - c.log(m.Meeting)
		c.all = append(c.all, left)
		c.residuals[kindOf(m.Meeting)] = append(c.residuals[kindOf(m.Meeting)], left)
	}
	slices.Sort(c.all)
	for _, r := range c.residuals {
		slices.Sort(r)
	}
	return c, nil
}

// freedoms are how far a weight may be from where it started, as standard deviations of a
// prior: from nearly fixed to nearly free.
var freedoms = []float64{0.03, 0.1, 0.3}

// folds is in how many parts workloads are left out to choose among freedoms.
const folds = 4

// bestFreedom leaves out workloads with all their meetings.
func (c *Contention) bestFreedom(all []Met) float64 {
	if len(c.weights) == 0 {
		return freedoms[0]
	}
	best, least := freedoms[0], math.Inf(1)
	for _, f := range freedoms {
		if wrong := c.heldOut(all, f); wrong < least {
			best, least = f, wrong
		}
	}
	return best
}

// heldOut is the mean absolute error of shares of workloads that were left out.
func (c *Contention) heldOut(all []Met, freedom float64) float64 {
	part := map[string]int{}
	for _, name := range namesOf(all) {
		part[name] = len(part) % folds
	}
	sum, count := 0.0, 0
	for fold := range folds {
		var train, test []Met
		for _, m := range all {
			if part[m.Group] == fold || part[m.With] == fold {
				test = append(test, m)
			} else {
				train = append(train, m)
			}
		}
		one := Contention{rule: c.rule, weights: slices.Clone(c.weights)}
		if len(train) < leastMeetings || one.fit(train, freedom) != nil {
			continue
		}
		for _, m := range test {
			sum, count = sum+math.Abs(math.Exp(one.log(m.Meeting))-m.Ratio), count+1
		}
	}
	if count == 0 {
		return math.Inf(1)
	}
	return sum / float64(count)
}

func namesOf(all []Met) []string {
	var names []string
	for _, m := range all {
		names = append(names, m.Group, m.With)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

const (
	rounds = 3 // of weighing anew; more move no prediction by a point
	// leastSpread is what no prediction is more exact than (chosen by us: the share of a
	// slice that a switch takes).
	leastSpread = 0.01
	// apart is from how many standard deviations on a meeting counts less (Huber 1964: 1.5
	// costs 4 % where errors are normal).
	apart = 1.5
)

// fit solves for constants and weights.
func (c *Contention) fit(all []Met, freedom float64) error {
	start := slices.Clone(c.weights)
	spread := make([]float64, len(all))
	for i, m := range all {
		spread[i] = math.Hypot(0.05, m.Deviation)
	}
	for range rounds {
		rows, y := c.design(all, spread, start, freedom)
		fit, err := regress.LeastSquares(rows, y)
		if err != nil {
			return fmt.Errorf("predict: contention: %w", err)
		}
		c.constants = [2]float64(fit.Coefficients[:2])
		for j := range c.weights {
			c.weights[j] = start[j] + fit.Coefficients[2+j]
		}
		c.reweigh(all, spread)
	}
	return nil
}

// design are the rows of the regression: of each meeting, and of the prior.
func (c *Contention) design(all []Met, spread, start []float64, freedom float64) (rows [][]float64, y []float64) {
	width := 2 + len(start)
	for i, m := range all {
		row := make([]float64, width)
		row[index(m.Overlap)] = 1 / spread[i]
		left := math.Log(m.Ratio) - math.Log(m.Time)
		for j, v := range c.rule.terms(m.Meeting) {
			row[2+j] = v / spread[i]
			left -= start[j] * v
		}
		rows, y = append(rows, row), append(y, left/spread[i])
	}
	for j := range width {
		row := make([]float64, width)
		row[j] = 1 / freedom
		if j < 2 {
			row[j] = 1 // a constant may be anything that contention is
		}
		rows, y = append(rows, row), append(y, 0)
	}
	return rows, y
}

func index(overlap bool) int {
	if overlap {
		return 1
	}
	return 0
}

// reweigh gives each meeting the spread of predictions of its kind, apart from the
// error of its own measurement, and more if it lies apart.
func (c *Contention) reweigh(all []Met, spread []float64) {
	left := make([]float64, len(all))
	sizes := map[kind][]float64{}
	for i, m := range all {
		left[i] = math.Abs(math.Log(m.Ratio) - c.log(m.Meeting))
		sizes[kindOf(m.Meeting)] = append(sizes[kindOf(m.Meeting)], left[i])
	}
	typical := map[kind]float64{}
	for k, v := range sizes {
		const normal = 1.4826 // standard deviation by median absolute deviation
		typical[k] = max(leastSpread, normal*stat.Median(v))
	}
	for i, m := range all {
		spread[i] = math.Hypot(typical[kindOf(m.Meeting)], m.Deviation)
		if far := left[i] / (apart * spread[i]); far > 1 {
			spread[i] *= math.Sqrt(far)
		}
	}
}

// log is the logarithm of the share kept.
func (c *Contention) log(m Meeting) float64 {
	sum := math.Log(m.Time)
	if c.rule.Learnt {
		sum += c.constants[index(m.Overlap)]
	}
	for j, v := range c.rule.terms(m) {
		sum += c.weights[j] * v
	}
	return sum
}

// Expected is a predicted share of performance in isolation, as two numbers that multiply.
type Expected struct {
	Time       float64 // by the sharing of CPU time
	Contention float64 // by contention inside the machine
	center     float64 // logarithm of the product
	residuals  []float64
}

// Predict is the share of its performance in isolation that a workload keeps in a meeting,
// which is never more than 1.
func (c *Contention) Predict(m Meeting) Expected {
	if !(m.Time > 0) {
		return Expected{Contention: 1, center: math.Inf(-1), residuals: c.all}
	}
	k := Expected{Time: m.Time, center: min(0, c.log(m)), residuals: c.residuals[kindOf(m)]}
	if len(k.residuals) < leastMeetings {
		k.residuals = c.all
	}
	k.Contention = math.Exp(k.center) / m.Time
	return k
}

// Value is the product.
func (k Expected) Value() float64 { return math.Exp(k.center) }

// Interval holds what is measured with a probability of level, 0..1: by how much the
// measured meetings of its kind were away from their prediction (conformal prediction: Vovk,
// Gammerman and Shafer 2005, §2; here from the same meetings that the few weights were
// fitted on).
func (k Expected) Interval(level float64) (low, high float64) {
	n := float64(len(k.residuals))
	tail := (1 - level) / 2 * (n + 1) / n // the one that is predicted counts among them
	low = math.Exp(k.center + stat.Quantile(k.residuals, tail-1/n))
	high = math.Exp(k.center + stat.Quantile(k.residuals, 1-tail+1/n))
	return min(low, k.Value()), max(high, k.Value())
}
