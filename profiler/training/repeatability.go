package training

import (
	"math"
	"slices"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/stat"
)

// Agreement compares the scores of two independent runs. Shares are in [0, 1];
// differences are in points, NaN where nothing can be compared.
type Agreement struct {
	Source    interference.Source // empty is all sources
	Scores    int                 // of both sides in both runs, known or not
	Known     int                 // scores known in both
	KnownOnce int                 // known in one of the two only
	Median    float64             // of |Δ|
	P90       float64             // 90th percentile of |Δ|
	// Covered is the share of known scores that lie in the other run's interval,
	// both ways.
	Covered float64
}

// comparison collects the scores of one source.
type comparison struct {
	scores, known, once int
	gaps                []float64
	inside, intervals   int
}

// Repeatability compares rows with their repeats, by key: one line per source,
// in the sources' order, and one for all of them at the end.
func Repeatability(rows, repeats []profile.Profile) []Agreement {
	second := map[string]profile.Profile{}
	for _, r := range repeats {
		second[r.Key] = r
	}
	var all comparison
	bySource := map[interference.Source]*comparison{}
	for _, row := range rows {
		again, ok := second[row.Key]
		if !ok {
			continue
		}
		for _, info := range interference.Sources() {
			c := bySource[info.Source]
			if c == nil {
				c = &comparison{}
				bySource[info.Source] = c
			}
			for _, side := range [][2]interference.Scores{
				{row.Sensitivity.Tolerated, again.Sensitivity.Tolerated},
				{row.Sensitivity.Caused, again.Sensitivity.Caused},
			} {
				c.add(side[0], side[1], info.Source)
				all.add(side[0], side[1], info.Source)
			}
		}
	}
	var out []Agreement
	for _, info := range interference.Sources() {
		if c := bySource[info.Source]; c != nil && c.scores > 0 {
			out = append(out, c.agreement(info.Source))
		}
	}
	return append(out, all.agreement(""))
}

// add compares one score; a source that neither run had a kernel for does not
// count.
func (c *comparison) add(first, second interference.Scores, source interference.Source) {
	a, inFirst := first[source]
	b, inSecond := second[source]
	if !inFirst || !inSecond {
		return
	}
	c.scores++
	x, knownX := a.Score.Percent()
	y, knownY := b.Score.Percent()
	switch {
	case knownX && knownY:
		c.known++
		c.gaps = append(c.gaps, math.Abs(x-y))
		c.cover(x, b)
		c.cover(y, a)
	case knownX || knownY:
		c.once++
	}
}

func (c *comparison) cover(v float64, other interference.Estimate) {
	low, ok := other.Low.Percent()
	high, ok2 := other.High.Percent()
	if !ok || !ok2 {
		return
	}
	c.intervals++
	if low <= v && v <= high {
		c.inside++
	}
}

func (c *comparison) agreement(source interference.Source) Agreement {
	sorted := slices.Sorted(slices.Values(c.gaps))
	out := Agreement{
		Source: source, Scores: c.scores, Known: c.known, KnownOnce: c.once,
		Median: stat.Quantile(sorted, 0.5), P90: stat.Quantile(sorted, 0.9), Covered: math.NaN(),
	}
	if c.intervals > 0 {
		out.Covered = float64(c.inside) / float64(c.intervals)
	}
	return out
}
