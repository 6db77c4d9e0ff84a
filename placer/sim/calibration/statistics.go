package calibration

import (
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/sim/estimator"
)

// Side says which of the numbers next to a published one are as published.
type Side int

// The sides.
const (
	About   Side = iota // within the tolerance
	AtMost              // the text says "less than", or it is an error
	AtLeast             // a share of successes
)

// Use is what a statistic is for.
type Use int

// The uses.
const (
	Bound  Use = iota // fitted to, and a world without it is refused
	Fitted            // fitted to, as far as the bounds and each other allow
	Shown             // printed: Why says why it is no more
)

// String is the use in a word.
func (u Use) String() string { return [...]string{"bound", "fitted", "shown"}[u] }

// Group is what a statistic is of, and what is drawn and learnt for it. A parameter is in one group.
type Group string

// The groups, in the order in which they are fitted: what a program leans on decides what it presses,
// and not the other way.
const (
	Speeds    Group = "speeds"
	Scores    Group = "scores"
	Pressures Group = "pressures" // nothing is learnt
)

func groups() []Group { return []Group{Speeds, Scores, Pressures} }

// matrices are what is learnt for a group.
func (g Group) matrices() estimator.Matrices {
	if g == Speeds {
		return estimator.Speeds
	}
	return estimator.Scores
}

// Statistic is a number that a paper publishes of its inputs.
type Statistic struct {
	Name   string
	Source string // paper and table
	Unit   string
	// Published is the number. Tolerance is what its own precision and the number of workloads
	// that it is of leave open: two standard errors of a share of 426, the span between the
	// classes of the table, or what can be read off a plot.
	Published, Tolerance float64
	Side                 Side
	Use                  Use
	Why                  string   // it is only shown
	On                   []string // shapes; nil: all
	Group                Group
	Of                   func(*Drawn) float64 // NaN: the shape has nothing of the kind
	// Measured is the same of whoever measures every cell once, in place of predicting it; nil
	// where that has no meaning.
	Measured func(*Drawn) float64
}

// The tables.
const (
	table31 = "Delimitrou 2015, table 3.1"
	table32 = "Delimitrou 2015, table 3.2"
	table42 = "Delimitrou 2015, table 4.2"
)

// Why some are only shown.
const (
	whyTies    = "where configurations are many, the best of a program are within the noise of a run of each other: who measures all of them once misses it too"
	whyPressed = "how hard programs press is fitted to what is printed of it"
	whyFew     = "of few programs"
	// Delimitrou 2015, §4.3.2: "it tailors classifications to different workload types".
	whyTypes = "the text has matrices for each type of workload, our scenarios one for all"
)

// Programs that compute or lean on memory: the text used no others to judge scores, and explains the
// small errors of storage and network by that (§3.2.3).
var computing = classes{"ST", "MT", "MP", "single-node"}

// Statistics lists all that a world is fitted to, or shown with.
func Statistics() []Statistic {
	paragon, quasar := []string{paragonLocal}, []string{quasarLocal}
	single := of("single-node")
	var elsewhere []string
	for _, c := range Cases() {
		if c.Shape != paragonLocal {
			elsewhere = append(elsewhere, c.Shape)
		}
	}
	return []Statistic{
		{Name: "within 5 % of the best", Source: table31, Unit: "%", Published: 90, Tolerance: 2, Side: AtLeast, Group: Speeds, Of: all.within(0.05), Measured: all.measuredWithin(0.05)},
		{Name: "mean error, speed", Source: "Delimitrou 2015, §3.2.2", Unit: "%", Published: 3.8, Tolerance: 0.4, Side: AtMost, Group: Speeds, Of: all.speedError},
		{Name: "gain over a configuration by lot", Source: "Delimitrou 2015, §3.2.2: 24 % of ST, 20 of MT, 38 of MP, 40 of IO, weighted by their numbers; over what is not said", Unit: "%", Published: 36, Tolerance: 5, Use: Fitted, On: paragon, Group: Speeds, Of: all.gain},
		{Name: "mean error, speed, single-node", Source: table42, Unit: "%", Published: 3.5, Tolerance: 0.4, Side: AtMost, Use: Fitted, On: quasar, Group: Speeds, Of: single.speedError},
		{Name: "mean error, speed, Hadoop", Source: table42, Unit: "%", Published: 4.1, Tolerance: 0.4, Side: AtMost, Use: Shown, Why: whyFew, On: quasar, Group: Speeds, Of: of("hadoop").speedError},
		{Name: "nine of ten errors, speed, single-node", Source: table42, Unit: "%", Published: 6.9, Tolerance: 0.5, Side: AtMost, Use: Shown, Why: "it follows from the mean error and the noise of a run, which is measured", On: quasar, Group: Speeds, Of: single.ninthSpeedError},
		{Name: "best found", Source: table31, Unit: "%", Published: 84, Tolerance: 3.6, Side: AtLeast, Use: Shown, Why: whyTies, Group: Speeds, Of: all.within(0), Measured: all.measuredWithin(0)},
		{Name: "ranking right", Source: table31, Unit: "%", Published: 58, Tolerance: 4.8, Side: AtLeast, Use: Shown, Why: whyTies, On: paragon, Group: Speeds, Of: all.ranked(0), Measured: all.measuredRanked(0)},
		{Name: "ranking right but for one exchange", Source: table31, Unit: "%", Published: 65, Tolerance: 4.7, Side: AtLeast, Use: Shown, Why: whyTies, On: paragon, Group: Speeds, Of: all.ranked(1), Measured: all.measuredRanked(1)},
		{Name: "best was measured", Source: table31, Unit: "%", Published: 20, Tolerance: 3.9, Use: Shown, Why: "it follows from the numbers of servers of the shape", On: paragon, Group: Speeds, Of: all.bestWasMeasured},

		// No bound: at the ends of what may be moved it is 5.3 and a little, and the noise of the draw
		// decides on which side (decision 0058).
		{Name: "mean error, tolerated", Source: table32, Unit: "points", Published: 5.3, Tolerance: 0.6, Side: AtMost, Use: Fitted, On: paragon, Group: Scores, Of: computing.scoreError(tolerated, anyScore), Measured: computing.measuredScoreError(tolerated)},
		{Name: "mean error, tolerated, elsewhere", Source: table32 + ", of the local cluster of Paragon", Unit: "points", Published: 5.3, Tolerance: 0.6, Side: AtMost, Use: Shown, Why: "printed for one cluster; and " + whyTypes, On: elsewhere, Group: Scores, Of: computing.scoreError(tolerated, anyScore), Measured: computing.measuredScoreError(tolerated)},
		{Name: "mean error, tolerated, under 30", Source: table32, Unit: "points", Published: 7.1, Tolerance: 1, Side: AtMost, Use: Fitted, On: paragon, Group: Scores, Of: computing.scoreError(tolerated, below(30))},
		{Name: "mean error, tolerated, under 60", Source: table32, Unit: "points", Published: 5.6, Tolerance: 1, Side: AtMost, Use: Fitted, On: paragon, Group: Scores, Of: computing.scoreError(tolerated, below(60))},
		{Name: "mean error, tolerated, over 60", Source: table32, Unit: "points", Published: 3.4, Tolerance: 1, Side: AtMost, Use: Fitted, On: paragon, Group: Scores, Of: computing.scoreError(tolerated, above(60))},
		{Name: "mean error, tolerated, single-node", Source: table42, Unit: "points", Published: 4.4, Tolerance: 0.6, Side: AtMost, Use: Shown, Why: whyTypes, On: quasar, Group: Scores, Of: single.scoreError(tolerated, anyScore)},
		{Name: "mean error, caused", Source: table32, Unit: "points", Published: 5.3, Tolerance: 0.6, Side: AtMost, Use: Shown, Why: whyPressed, Group: Scores, Of: computing.scoreError(caused, anyScore), Measured: computing.measuredScoreError(caused)},
		{Name: "error under 5, tolerated, ST", Source: table32, Unit: "%", Published: 65, Tolerance: 5, Side: AtLeast, Use: Shown, Why: whyFew, On: paragon, Group: Scores, Of: of("ST").under(5)},
		{Name: "error under 5, tolerated, MT", Source: table32, Unit: "%", Published: 58, Tolerance: 5, Side: AtLeast, Use: Shown, Why: whyFew, On: paragon, Group: Scores, Of: of("MT").under(5)},
		{Name: "error under 20, tolerated, ST", Source: table32, Unit: "%", Published: 90, Tolerance: 5, Side: AtLeast, Use: Shown, Why: whyFew, On: paragon, Group: Scores, Of: of("ST").under(20)},
		{Name: "error under 20, tolerated, MT", Source: table32, Unit: "%", Published: 89, Tolerance: 5, Side: AtLeast, Use: Shown, Why: whyFew, On: paragon, Group: Scores, Of: of("MT").under(20)},
		{Name: "correlation of tolerated scores in the memory hierarchy", Source: "the rows of profiler/training (ours)", Published: measuredCorrelation, Tolerance: 0.1,
			Use: Shown, Why: "measured on virtual machines whose CPUs share nothing but time", On: paragon, Group: Scores, Of: computing.hierarchyCorrelation},

		{Name: "pressure by cores, exponent", Source: "Delimitrou 2015, table 4.1: memory of ten platforms by their cores, least squares of logarithms", Published: -1.02, Tolerance: 0.1, On: quasar, Group: Pressures, Of: pressureByCores},
		{Name: "memcached on the network of 4 cores", Source: "Delimitrou 2015, figure 5.7a, read off", Unit: "points", Published: 60, Tolerance: 5, On: quasar, Group: Pressures, Of: pressureOfMemcached},
	}
}

// applies reports whether a statistic is of a shape.
func (s *Statistic) applies(c Case) bool { return s.On == nil || slices.Contains(s.On, c.Shape) }

// accepted are the numbers that are as published.
func (s *Statistic) accepted() (low, high float64) {
	switch s.Side {
	case AtMost:
		return -infinite, s.Published
	case AtLeast:
		return s.Published, infinite
	default:
		return s.Published - s.Tolerance, s.Published + s.Tolerance
	}
}

// aim is what a fit makes for: one tolerance inside of a bound.
func (s *Statistic) aim() float64 {
	switch s.Side {
	case AtMost:
		return s.Published - s.Tolerance
	case AtLeast:
		return s.Published + s.Tolerance
	default:
		return s.Published
	}
}

// boundWeight is how much more it counts that a bound is broken than that an aim is missed (chosen by
// us: what is only fitted gives way to a bound).
const boundWeight = 100

// misfit of a number, in squared tolerances.
func (s *Statistic) misfit(v float64) float64 {
	off := (v - s.aim()) / s.Tolerance
	out := off * off
	if low, high := s.accepted(); s.Use == Bound {
		outside := max(0, low-v, v-high) / s.Tolerance
		out += boundWeight * (outside + outside*outside) // even a little is too much
	}
	return out
}

// holds reports whether a number is as published.
func (s *Statistic) holds(v float64) bool {
	low, high := s.accepted()
	return v >= low && v <= high
}

// Near reports whether it is, or misses it by its tolerance at most.
func (s *Statistic) Near(v float64) bool {
	low, high := s.accepted()
	return v >= low-s.Tolerance && v <= high+s.Tolerance
}
