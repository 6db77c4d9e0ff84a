package figures

import "github.com/nomad-placer/nomad-placer/placer/sim/dataset"

var paragonScores = Experiment{
	ID: "paragon-e19b", Paper: "paragon", Where: "§3.2.3, table 3.2", Title: "Classification of interference, on measured scores",
	Compute: interferenceOnOwnScores, Headline: of("tolerated scores: gauss"),
	Quantities: []Quantity{
		metric("mean error", "points", "mean").from(published{thePaper: n(5.3)}),
		metric("of scores under 30", "points", "mean-low").from(published{thePaper: n(7.1)}),
		metric("from 30 to 60", "points", "mean-middle").from(published{thePaper: n(5.6)}),
		metric("over 60", "points", "mean-high").from(published{thePaper: n(3.4)}),
		metric("errors under 5", "%", "under-5").from(published{thePaper: n(58)}),
		metric("under 10", "%", "under-10").from(published{thePaper: n(63)}),
		metric("under 20", "%", "under-20").from(published{thePaper: n(89)}),
	},
	Requires: []Requirement{
		atMost("the mean error of tolerated scores is at most 5.3 points", metric("mean error", "points", "mean"), 5.3, of("tolerated scores: gauss")),
		atMost("and of caused scores", metric("mean error", "points", "mean"), 5.3, of("caused scores: gauss")),
		atLeast("at least 60 % of tolerated scores are wrong by less than 5 points", metric("errors under 5", "%", "under-5"), 60, of("tolerated scores: gauss")),
	},
	Why: "Scores are those our kernels measured of real applications on a small virtual machine, where a score has an interval of some points by itself; the paper's are of physical servers with counters. " +
		"The published shares are of multi-threaded applications. ",
}

// interferenceOnOwnScores shows two sources of each application of the training
// set that is shipped.
var interferenceOnOwnScores = &Computation{
	Name: "interference on own scores", Source: "the shipped training set",
	run: (&classified{sets: shipped, kinds: []dataset.Kind{dataset.Interference}, entries: []int{2}, classifiers: []string{"cf", "gauss", "mean"}}).run,
}
