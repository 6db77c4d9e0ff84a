package lsh

import "math"

// Costs are what the operations of a query take, in nanoseconds.
type Costs struct {
	Product float64 // one multiplication and addition, of a hash or a distance
	Lookup  float64 // one table
	Collect float64 // one entry of a bucket
	Examine float64 // one distinct point, besides its products
}

// DefaultCosts were measured by BenchmarkCosts on the virtual machine that the
// tables of placer/docs/lsh.md are of.
var DefaultCosts = Costs{Product: 1.5, Lookup: 100, Collect: 3.5, Examine: 6}

// Bounds of Choose, after the package of the LSH authors for k; the rest is
// chosen by us.
const (
	leastFunctions = 2
	mostFunctions  = 16
	trialPoints    = 500
	trialQueries   = 50
	// maxEntriesPerPoint bounds memory: a point is once in every table.
	maxEntriesPerPoint = 64
)

// Choice is a scheme with what a query is expected to cost.
type Choice struct {
	Config     Config
	IndexNanos float64
	ScanNanos  float64 // looking at every point instead
}

// Choose returns, of the schemes with 2, 4 … 16 functions, plain and with reuse,
// that find a neighbour with the wanted probability in the wanted memory, the one
// whose queries cost least when points of the sample are the queries and the index
// holds so many points. The sample is of what the index will hold. Every scheme is
// tried on at most 500 points, and what it collects there is scaled.
func Choose(c Config, sample [][]float64, points int, costs Costs) (Choice, error) {
	best := Choice{IndexNanos: math.Inf(1)}
	c.Tables = 0
	for functions := leastFunctions; functions <= mostFunctions; functions += 2 {
		for _, reuse := range []bool{false, true} {
			c.Functions, c.Reuse = functions, reuse
			tried, err := c.withDefaults()
			if err != nil {
				return Choice{}, err
			}
			if tried.Buckets() > maxEntriesPerPoint {
				continue
			}
			nanos, err := tried.trial(sample, points, costs)
			if err != nil {
				return Choice{}, err
			}
			if nanos < best.IndexNanos {
				best = Choice{Config: tried, IndexNanos: nanos}
			}
		}
	}
	best.ScanNanos = float64(points) * costs.perPoint(c.Dimensions)
	return best, nil
}

// perPoint is the cost of taking a distance.
func (c Costs) perPoint(dimensions int) float64 { return float64(dimensions)*c.Product + c.Examine }

// trial is what a query is expected to cost under the scheme.
func (c Config) trial(sample [][]float64, points int, costs Costs) (float64, error) {
	x, err := New(c)
	if err != nil {
		return 0, err
	}
	step := max(1, (len(sample)+trialPoints-1)/trialPoints)
	for i := 0; i < len(sample); i += step {
		if err := x.Insert(x.Len(), sample[i]); err != nil {
			return 0, err
		}
	}
	var collected, examined, queries float64
	for i := 0; i < len(sample); i += max(1, len(sample)/trialQueries) {
		_, w, err := x.Near(sample[i], 1, nil)
		if err != nil {
			return 0, err
		}
		collected, examined, queries = collected+float64(w.Collected), examined+float64(w.Examined), queries+1
	}
	groups, functions := c.keys()
	nanos := float64(groups*functions*c.Dimensions)*costs.Product + float64(c.Buckets())*costs.Lookup
	if queries > 0 {
		scale := float64(points) / float64(x.Len()) / queries
		nanos += scale * (collected*costs.Collect + examined*costs.perPoint(c.Dimensions))
	}
	return nanos, nil
}
