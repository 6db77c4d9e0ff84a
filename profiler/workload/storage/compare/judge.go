package compare

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"
)

// The limits of a row. The text reaches the first two (§A.4.2); the others are targets of
// ours where it leads with IOPS.
const (
	featureLimit = 5.0  // %
	weightLimit  = 0.05 // % of all I/Os
	latencyLimit = 6.7  // %, the largest difference that the text reports
	missLimit    = 5.0  // points
	correlation  = 0.95 // at least, of the rates of 30 minutes
	rateLimit    = 5.0  // %
	// leastShare is below which share of the I/Os a difference is in points: of a rare thing
	// a relative one says nothing (chosen by us).
	leastShare = 0.05
	// leastIntervals is how many rates can be correlated at all.
	leastIntervals = 3
)

// Row is one comparison. A difference that is not known (nil) is not judged.
type Row struct {
	Name       string   `json:"name"`
	Original   *float64 `json:"original,omitempty"`
	Synthetic  *float64 `json:"synthetic,omitempty"`
	Difference *float64 `json:"difference,omitempty"`
	Unit       string   `json:"unit"` // of the difference
	Limit      float64  `json:"limit"`
	AtLeast    bool     `json:"at_least,omitempty"` // the limit is a lower one
	Met        *bool    `json:"met,omitempty"`
	// Cause is why a limit was missed, where that can be told.
	Cause string `json:"cause,omitempty"`

	leftOut string // what the model leaves out that this row depends on
}

// What the model leaves out.
const (
	leftOutReuse = "inside a range addresses are drawn anew, and no range remembers: what is read again, and after how long, is in the model only as far as ranges are small"
	leftOutBurst = "gaps are drawn one by one: bursts of many I/Os that are shorter than the model's intervals are not in it, and shorter intervals keep them"
)

func (r Row) without(what string) Row {
	r.leftOut = what
	return r
}

func newRow(name, unit string, limit float64) Row { return Row{Name: name, Unit: unit, Limit: limit} }

// of sets both values and the difference.
func (r Row) of(original, synthetic, difference float64) Row {
	r.Original, r.Synthetic = known(original), known(synthetic)
	return r.by(difference)
}

// by sets the difference.
func (r Row) by(difference float64) Row {
	if r.Difference = known(difference); r.Difference != nil {
		met := difference <= r.Limit
		if r.AtLeast {
			met = difference >= r.Limit
		}
		r.Met = &met
	}
	return r
}

// known is a number, or nil where it is none.
func known(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// relative is a difference in percent of the original.
func relative(original, synthetic float64) float64 {
	return 100 * math.Abs(synthetic-original) / math.Abs(original)
}

// shareRow compares shares: in percent of the original, or of a rare one in points.
func shareRow(name string, original, synthetic float64) Row {
	if original < leastShare {
		return newRow(name, "points", featureLimit).of(100*original, 100*synthetic, 100*math.Abs(synthetic-original))
	}
	return newRow(name, "%", featureLimit).of(100*original, 100*synthetic, relative(original, synthetic))
}

// judge compares a stream with the original.
func judge(original, synthetic *Measured) []Row {
	a, b := original.Features, synthetic.Features
	rows := []Row{
		shareRow("reads, % of the I/Os", a.ReadShare, b.ReadShare),
		shareRow("random, % of the I/Os", a.RandomShare, b.RandomShare),
		shareRow("near-sequential, % of the I/Os", a.NearShare, b.NearShare),
		newRow("mean size, bytes", "%", featureLimit).of(a.MeanBytes, b.MeanBytes, relative(a.MeanBytes, b.MeanBytes)),
		newRow("mix of sizes", "%", featureLimit).by(sizesApart(a.Sizes, b.Sizes)),
		newRow("64 ranges of addresses", "%", featureLimit).by(apart(original.States, synthetic.States)),
		newRow("mean gap, ms", "%", featureLimit).of(a.MeanGapMilliseconds, b.MeanGapMilliseconds, relative(a.MeanGapMilliseconds, b.MeanGapMilliseconds)),
	}
	for i, p := range original.MissRatio {
		q := synthetic.MissRatio[i]
		rows = append(rows, newRow(fmt.Sprintf("misses of a cache of %s of what is touched, %%", partText(cacheParts[i])), "points", missLimit).
			of(100*p.MissRatio, 100*q.MissRatio, 100*math.Abs(q.MissRatio-p.MissRatio)).without(leftOutReuse))
	}
	rows = append(rows,
		newRow("IOPS of the reference disk", "%", featureLimit).of(original.Disk.IOPS, synthetic.Disk.IOPS, relative(original.Disk.IOPS, synthetic.Disk.IOPS)),
		newRow("mean latency of the reference disk, ms", "%", latencyLimit).of(original.Disk.MeanMilliseconds, synthetic.Disk.MeanMilliseconds, relative(original.Disk.MeanMilliseconds, synthetic.Disk.MeanMilliseconds)).without(leftOutBurst),
	)
	return append(rows, rateRows(original.Rates, synthetic.Rates)...)
}

func partText(part float64) string {
	if part == 1 {
		return "all"
	}
	return fmt.Sprintf("1/%.0f", 1/part)
}

// rateRows compare the rates of 30 minutes, where there are enough.
func rateRows(original, synthetic []float64) []Row {
	together := newRow("correlation of the rates of 30 minutes", "", correlation)
	together.AtLeast = true
	deviation := newRow("rates of 30 minutes, mean deviation", "%", rateLimit)
	n := min(len(original), len(synthetic))
	if n < leastIntervals {
		return []Row{together, deviation}
	}
	original, synthetic = original[:n], synthetic[:n]
	sum := 0.0
	for i := range original {
		sum += math.Abs(synthetic[i] - original[i])
	}
	return []Row{
		together.by(stat.Correlation(original, synthetic, nil)),
		deviation.by(100 * sum / float64(n) / stat.Mean(original, nil)),
	}
}

// againstFlat compares two walks: the flat diagram's is taken as the original.
func againstFlat(flat, hierarchical *Measured) []Row {
	a, b := flat.Disk, hierarchical.Disk
	hits := func(m *Measured) float64 {
		sum := 0.0
		for _, p := range m.MissRatio {
			sum += 1 - p.MissRatio
		}
		return 100 * sum / float64(len(m.MissRatio))
	}
	return []Row{
		newRow("IOPS of the reference disk", "%", featureLimit).of(a.IOPS, b.IOPS, relative(a.IOPS, b.IOPS)),
		newRow("mean latency of the reference disk, ms", "%", featureLimit).of(a.MeanMilliseconds, b.MeanMilliseconds, relative(a.MeanMilliseconds, b.MeanMilliseconds)),
		newRow("hits of a cache, mean of six sizes, %", "points", featureLimit).of(hits(flat), hits(hierarchical), math.Abs(hits(flat)-hits(hierarchical))),
		newRow("64 ranges of addresses", "%", featureLimit).by(apart(flat.States, hierarchical.States)),
	}
}

// weightRow compares the weights of transitions.
func weightRow(difference float64, ios int64) Row {
	return newRow(fmt.Sprintf("largest difference of a weight at %d I/Os", ios), "% of the I/Os", weightLimit).by(100 * difference)
}

// explain says of what is missed whether an exact replay of the fitted part misses it,
// too: then it is the trace that changed.
func explain(rows, replay []Row) {
	for i := range rows {
		r := &rows[i]
		if r.Met == nil || *r.Met || i >= len(replay) || replay[i].Difference == nil {
			continue
		}
		again := fmt.Sprintf("an exact replay of the fitted part differs by %.3g %s", *replay[i].Difference, r.Unit)
		switch {
		case replay[i].Met != nil && !*replay[i].Met:
			r.Cause = "the trace changed: " + again
		case r.leftOut != "":
			r.Cause = r.leftOut + "; " + again
		default:
			r.Cause = "the stream, not the trace: " + again
		}
	}
}
