package figures

var pprtteInterference = Experiment{
	ID: "pprtte-2", Paper: "pprtte", Where: "table II", Title: "Deadlines under interference",
	Scenarios: []string{"pprtte-interference"}, Headline: of("pp-rtte"),
	Rows: all("pp-rtte", "obfit", "rtte", "rtte-headroom", "pp-rtte-oracle", "nomad-binpack", "nomad-spread", "least-loaded"),
	Quantities: []Quantity{
		onTime.from(published{"obfit": n(37.43), "rtte": n(12.25), "pp-rtte": n(96.49)}),
		workingEfficiency.from(published{"obfit": n(24.58), "rtte": n(9.21), "pp-rtte": n(75.27)}),
		workPerJoule.from(published{"obfit": n(0.0027), "rtte": n(0.0012), "pp-rtte": n(0.0368)}),
		against("obfit", "jobs on time over OBFIT", "on_time").from(published{"pp-rtte": n(157.8)}),
		unitsPerNode.from(published{"obfit": n(13.60), "rtte": n(15.94), "pp-rtte": n(16.13)}),
		slowdownTrue, slowdownEstimated, migrations,
	},
	Requires: []Requirement{
		atLeast("95 % of the jobs of PP-RTTE end in time", onTime, 95, of("pp-rtte")),
		compared("within 3 points of the published 96.5 %", within(96.49, 3), uses(onTime, of("pp-rtte"))...),
		multiple("at least twice as many as of OBFIT", onTime, 2, of("pp-rtte"), of("obfit")),
		multiple("at least 6 times as many as of RTTE", onTime, 6, of("pp-rtte"), of("rtte")),
		falling("PP-RTTE, OBFIT, RTTE", onTime, all("pp-rtte", "obfit", "rtte")...),
		falling("in useful work per watt too", workingEfficiency, all("pp-rtte", "obfit", "rtte")...),
		falling("and in work per joule", workPerJoule, all("pp-rtte", "obfit", "rtte")...),
		ahead("more than a fixed headroom of the mean slowdown", onTime, 20, of("pp-rtte"), of("rtte-headroom")),
		ahead("more than stock Nomad", onTime, 20, of("pp-rtte"), of("nomad-binpack"), of("nomad-spread"), of("least-loaded")),
		ahead("and more than all of them in work per joule", workPerJoule, 0, of("pp-rtte"), all("nomad-binpack", "nomad-spread", "least-loaded")...),
	},
	Why: whyDeadlines + whyJoules +
		"The interference generator was fitted to the published results of OBFIT and RTTE before PP-RTTE was run: that those two agree says nothing. " +
		"PP-RTTE packs fewer tasks to a node than published: against a slowdown each holds more cpu than the rate it makes, and on full nodes that leaves room for fewer; how the paper's packs more than without slowdown it does not say. " +
		"The oracle knows the slowdown of the moment and reserves for no other; an overestimate of a tenth is a reserve against neighbours that come later. ",
	Plots: []Plot{usageOf(of("pp-rtte")), usageOf(of("obfit"))},
}

// within so many points of a number, for all values.
func within(published, points float64) func(v []float64) bool {
	return func(v []float64) bool { return most(v) <= published+points && least(v) >= published-points }
}
