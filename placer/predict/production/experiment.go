package production

import (
	"math"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/predict"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// The noise of an experiment (chosen by us).
const (
	modelError         = 0.05 // of a share: what the model says is off by so much
	outliers           = 0.05 // of experiments say nothing
	mostShare          = 1.5
	unknownNeighbour   = 3.0 // times the noise with a co-runner of which nothing is known
	leastIsolated      = 0.02
	mostIsolated       = 0.5 // deviation of the logarithm where the interval says nothing
	spanOfExperiment   = 5.0 // of a log-likelihood
	spanOfOwn          = 12.0
	spanOfForeign      = 1.0
	bins               = 101 // of shares, by percent
	pressureLevels     = 41  // 0 to 200 points
	pointsOfTheLevel   = 9
	deviationsOfALevel = 2.5
)

// Subject is the workload that was observed, as it is known without what production says.
type Subject struct {
	Knowledge       *cluster.Knowledge
	SlowdownPercent float64
	Said            *profile.Production // nil: nothing so far
}

// CoRunner is one that ran next to it.
type CoRunner struct {
	Caused      interference.Scores // as known without what production says
	Known       bool                // false: nothing of it was measured or predicted, and Caused is assumed
	Foreign     bool                // of another namespace
	Allocations int
	Demand      float64 // demand factor on this node; 0 is 1
	Activity    *Activity
	Said        *profile.Production
}

// Activity is how busy a co-runner was in the same windows, as a share of what it does in
// isolation. A nil one is unknown: anything from idle to busy.
type Activity struct{ Least, Most float64 }

// Evidence is what was achieved.
type Evidence struct {
	Ratio         float64 // achieved, by the performance in isolation
	Noise         float64 // deviation of the mean of the windows, as a share
	AtLeast       bool    // there may have been no demand for more
	Isolated      float64 // deviation of the logarithm of the performance in isolation
	Configuration string
	Earlier       int // experiments that counted in the same situation
	Before        Seen
}

// Finding is what an experiment says: log-likelihoods by source, the best at 0.
type Finding struct {
	Predicted predict.Share       // before; Known where all co-runners were
	Tolerated map[int][]float64   // by column
	Caused    []map[int][]float64 // by co-runner and column
	Level     Level
	Factor    float64 // how much better any other behaviour explains it
	Expected  float64 // share, by what is known
	Less      bool    // than expected
	Weight    float64
}

// IsolatedDeviation of the logarithm of a measurement's value.
func IsolatedDeviation(m profile.Measurement) float64 {
	if !(m.Low > 0) || !(m.High >= m.Value) || !(m.Low <= m.Value) {
		return mostIsolated
	}
	return min(mostIsolated, max(leastIsolated, math.Log(m.High/m.Low)/(2*1.96)))
}

// Learn says what an experiment tells of the workload and of each co-runner.
func Learn(columns []interference.Source, s Subject, coRunners []CoRunner, e Evidence) Finding {
	in := inference{columns: columns, subject: s, shares: sharesOf(columns, s)}
	in.coRunners(coRunners)
	noise := math.Hypot(e.Noise, modelError)
	for _, c := range coRunners {
		if !c.Known {
			noise = math.Hypot(e.Noise, unknownNeighbour*modelError)
		}
	}
	level := levelOf(e, s.Said)
	own := in.tolerated()
	of := in.shareDistribution(own)
	out := Finding{
		Predicted: summary(of.least(), level), Weight: weight(e, noise, level),
		Tolerated: map[int][]float64{}, Caused: make([]map[int][]float64, len(coRunners)),
	}
	out.Predicted.Known = noise <= math.Hypot(e.Noise, modelError)
	likelihood := likelihoodOf(e, noise, level)
	out.Level = narrowed(e, noise, level, of.least()).times(out.Weight)
	for k := range columns {
		if in.total[k][0] >= 1-1e-9 {
			continue // no pressure
		}
		given := of.given(k, likelihood)
		tolerated, causes := in.explain(k, own[k], given)
		if l := bounded(tolerated[:], out.Weight, spanOfExperiment); l != nil {
			out.Tolerated[k] = l
		}
		for j := range coRunners {
			if l := bounded(in.caused(j, k, causes), out.Weight, spanOfExperiment); l != nil {
				if out.Caused[j] == nil {
					out.Caused[j] = map[int][]float64{}
				}
				out.Caused[j][k] = l
			}
		}
	}
	x := expect(e, noise, level, of.least(), likelihood, len(coRunners) > 0, !out.Predicted.Known || foreign(coRunners))
	out.Expected = x.expected
	out.Factor, out.Less = x.factor(e)
	return out
}

// weight of a further experiment in a situation: what n of them tell, of which the error of
// the model is the same in each, less what the first n−1 told.
func weight(e Evidence, noise float64, level gaussian) float64 {
	same := noise*noise - e.Noise*e.Noise + level.deviation*level.deviation
	own := max(e.Noise*e.Noise, 1e-6)
	told := func(n int) float64 {
		if n == 0 {
			return 0
		}
		return 1 / (same + own/float64(n))
	}
	return (same + own) * (told(e.Earlier+1) - told(e.Earlier))
}

// bounded is the logarithm of a likelihood, the best at 0, none below -span; nil where all
// scores are alike.
func bounded(likelihood []float64, weight, span float64) []float64 {
	best := 0.0
	for _, v := range likelihood {
		best = max(best, v)
	}
	if !(best > 0) || math.IsInf(best, 0) {
		return nil
	}
	out, least := make([]float64, len(likelihood)), 0.0
	for i, v := range likelihood {
		out[i] = max(-span, weight*math.Log(max(v/best, math.SmallestNonzeroFloat64)))
		least = min(least, out[i])
	}
	if least > -saysNothing {
		return nil
	}
	return out
}

// saysNothing: odds that differ by less.
const saysNothing = 0.01

type inference struct {
	columns []interference.Source
	subject Subject
	shares  [2]*shareTable // of sources through which CPU time is not shared, and is
	each    [][]pressure   // by co-runner and column
	total   []pressure     // by column
	rest    [][]pressure   // by co-runner and column: of all others
	demands [][]demand     // by co-runner and column
}

// shareTable is the share kept by tolerated score, pressure and share at full pressure, in
// bins.
type shareTable [levels][pressureLevels][responses]uint8

func sharesOf(columns []interference.Source, s Subject) [2]*shareTable {
	var out [2]*shareTable
	for _, source := range columns {
		i := 0
		if interference.TimeShared(source) {
			i = 1
		}
		if out[i] == nil {
			out[i] = tableOf(source, s)
		}
	}
	return out
}

func tableOf(source interference.Source, s Subject) *shareTable {
	t := &shareTable{}
	for i := range t {
		for x := range t[i] {
			for f, full := range predict.SharesAtFullPressure() {
				share := predict.ShareIf(s.Knowledge, source, float64(i)*step, full, float64(x)*step, s.SlowdownPercent)
				t[i][x][f] = binOf(share)
			}
		}
	}
	return t
}

func (in *inference) table(k int) *shareTable {
	if interference.TimeShared(in.columns[k]) {
		return in.shares[1]
	}
	return in.shares[0]
}

// tolerated are the beliefs of the workload's own responses.
func (in *inference) tolerated() []response {
	out := make([]response, len(in.columns))
	for k, source := range in.columns {
		out[k] = responseOf(prior(in.subject.Knowledge.Sensitivity.Tolerated[source], distrusted(in.subject.Said)))
		if in.subject.Said != nil {
			out[k] = out[k].given(in.subject.Said.Tolerated[source])
		}
	}
	return out
}

func foreign(all []CoRunner) bool {
	return slices.ContainsFunc(all, func(c CoRunner) bool { return c.Foreign })
}

// pressure is the probability of each pressure on a source.
type pressure [pressureLevels]float64

// demand of a co-runner: what one point of its score may exert.
type demand []exertion

type exertion struct{ perPoint, probability float64 }

// pointsOfActivity that may have been, equally likely (chosen by us).
const pointsOfActivity = 5

// activities that a co-runner may have had. Its caused score is of what it does in isolation,
// and it exerts in proportion: a first approximation. A rate beyond that of its profile exerts
// no more than the profile says, for nothing beyond it was measured.
func (c CoRunner) activities() []float64 {
	least, most := 0.0, 1.0
	if c.Activity != nil {
		least, most = min(1, max(0, c.Activity.Least)), min(1, max(0, c.Activity.Most))
	}
	if !(most > least) {
		return []float64{least}
	}
	out := make([]float64, pointsOfActivity)
	for i := range out {
		out[i] = least + (most-least)*float64(i)/(pointsOfActivity-1)
	}
	return out
}

func (in *inference) coRunners(all []CoRunner) {
	n := len(in.columns)
	in.each, in.total, in.rest = make([][]pressure, len(all)), make([]pressure, n), make([][]pressure, len(all))
	for j, c := range all {
		in.demands = append(in.demands, make([]demand, n))
		in.each[j], in.rest[j] = make([]pressure, n), make([]pressure, n)
		for k, source := range in.columns {
			in.demands[j][k] = c.demandOn(source)
			in.each[j][k] = in.demands[j][k].of(causedBelief(c, source))
		}
	}
	for k := range n {
		before := make([]pressure, len(all)+1)
		before[0][0] = 1
		for j := range all {
			before[j+1] = before[j].plus(&in.each[j][k])
		}
		in.total[k] = before[len(all)]
		after := pressure{1}
		for j := len(all) - 1; j >= 0; j-- {
			in.rest[j][k] = before[j].plus(&after)
			after = after.plus(&in.each[j][k])
		}
	}
}

// demandOn is with the demand factor where the source is shared by time.
func (c CoRunner) demandOn(source interference.Source) demand {
	most := float64(max(1, c.Allocations))
	if interference.TimeShared(source) {
		most *= max(1, c.Demand)
	}
	of := c.activities()
	d := make(demand, len(of))
	for i, activity := range of {
		d[i] = exertion{activity * most, 1 / float64(len(of))}
	}
	return d
}

func distrusted(said *profile.Production) bool { return said != nil && said.Distrust != nil }

func causedBelief(c CoRunner, source interference.Source) belief {
	e := c.Caused[source]
	b := prior(e, distrusted(c.Said))
	if c.Said != nil {
		b = b.given(c.Said.Caused[source])
	}
	return b
}

// at is where a score of the grid comes to lie among the pressures, between two of them.
func (e exertion) at(score int) (below int, above float64) {
	x := float64(score) * e.perPoint
	if x >= pressureLevels-1 {
		return pressureLevels - 1, 0
	}
	return int(x), x - math.Floor(x)
}

func (d demand) of(b belief) pressure {
	var out pressure
	for _, e := range d {
		for i, v := range b {
			at, above := e.at(i)
			out[at] += e.probability * v * (1 - above)
			if above > 0 {
				out[at+1] += e.probability * v * above
			}
		}
	}
	return out
}

// plus is the sum of two independent pressures; what is beyond the last level is there.
func (p *pressure) plus(o *pressure) pressure {
	var out pressure
	for i, v := range p {
		if v == 0 {
			continue
		}
		for j, w := range o {
			out[min(pressureLevels-1, i+j)] += v * w
		}
	}
	return out
}

// shareDistributions are, by column, the probability of each share.
type shareDistributions [][bins]float64

func (in *inference) shareDistribution(tolerated []response) shareDistributions {
	out := make(shareDistributions, len(in.columns))
	for k := range in.columns {
		table := in.table(k)
		for x, px := range in.total[k] {
			if px == 0 {
				continue
			}
			for i, p := range tolerated[k] {
				out[k][table[i/responses][x][i%responses]] += p * px
			}
		}
	}
	return out
}

// atLeast is, for one column, the probability of that share or more, by share.
func atLeast(of *[bins]float64) (out [bins + 1]float64) {
	for i := bins - 1; i >= 0; i-- {
		out[i] = out[i+1] + of[i]
	}
	return out
}

// leastBut is the distribution of the least share over all columns but one; -1: over all.
func (d shareDistributions) leastBut(except int) [bins]float64 {
	var all [bins + 1]float64
	for i := range bins {
		all[i] = 1
	}
	for k := range d {
		if k == except {
			continue
		}
		of := atLeast(&d[k])
		for i := range all {
			all[i] *= of[i]
		}
	}
	var out [bins]float64
	for i := range out {
		out[i] = all[i] - all[i+1]
	}
	return out
}

func (d shareDistributions) least() [bins]float64 { return d.leastBut(-1) }

// given is p(y | share of column k).
func (d shareDistributions) given(k int, likelihood [bins]float64) [bins]float64 {
	others := d.leastBut(k)
	var out [bins]float64
	below, above := 0.0, 0.0 // Σ over m < s of P(m)·p(y|m), and P(m ≥ s)
	for _, p := range others {
		above += p
	}
	for s := range out {
		out[s] = below + above*likelihood[s]
		below += others[s] * likelihood[s]
		above = max(0, above-others[s])
	}
	return out
}

// explain is p(y | response to source k), and p(y | X_k).
func (in *inference) explain(k int, own response, given [bins]float64) (byResponse response, byPressure pressure) {
	table := in.table(k)
	for x, px := range in.total[k] {
		for i, p := range own {
			v := given[table[i/responses][x][i%responses]]
			byResponse[i] += px * v
			byPressure[x] += p * v
		}
	}
	return byResponse, byPressure
}

// caused is p(y | c_jk).
func (in *inference) caused(j, k int, byPressure pressure) []float64 {
	out := make([]float64, levels)
	for _, e := range in.demands[j][k] {
		for i := range out {
			at, above := e.at(i)
			for r, pr := range in.rest[j][k] {
				if pr == 0 {
					continue
				}
				x := byPressure[min(pressureLevels-1, r+at)]
				if above > 0 {
					x += above * (byPressure[min(pressureLevels-1, r+at+1)] - x)
				}
				out[i] += e.probability * pr * x
			}
		}
	}
	return out
}
