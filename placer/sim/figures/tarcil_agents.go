package figures

var tarcilAgents = Experiment{
	ID: "tarcil-7.10", Paper: "tarcil", Where: "figure 7.10", Title: "Number of scheduling agents",
	Scenarios: []string{"tarcil-agents"}, Headline: of("tarcil-12").load(0.8),
	Quantities: []Quantity{
		responseMean.from(published{"tarcil-1 at 0.8": pictured, "tarcil-12 at 0.8": pictured}),
		responseTail, qosWithWait, metric("plans refused", "%", "refused_plans"),
	},
	Requires: []Requirement{
		behind("fewer than three agents are too few at high load", responseMean, 0, of("tarcil-3").load(0.8), of("tarcil-1").load(0.8)),
		compared("three are within 10 % of the best", func(v []float64) bool { return v[2] <= 1.1*least(v) },
			uses(responseMean, of("tarcil-1").load(0.8), of("tarcil-2").load(0.8), of("tarcil-3").load(0.8), of("tarcil-6").load(0.8), of("tarcil-12").load(0.8), of("tarcil-24").load(0.8))...),
	},
	Why: whyTasks + whyDecisions + "Agents decide on the state of the moment, never on an older copy, so that many of them conflict less than in the paper. ",
	Plots: []Plot{
		sweep("Mean response by the number of agents", responseMean, "agents", "", true,
			sweepLine{"load 50 %", []sweepPoint{{1, of("tarcil-1").load(0.5)}, {2, of("tarcil-2").load(0.5)}, {3, of("tarcil-3").load(0.5)}, {6, of("tarcil-6").load(0.5)}, {12, of("tarcil-12").load(0.5)}, {24, of("tarcil-24").load(0.5)}}},
			sweepLine{"load 80 %", []sweepPoint{{1, of("tarcil-1").load(0.8)}, {2, of("tarcil-2").load(0.8)}, {3, of("tarcil-3").load(0.8)}, {6, of("tarcil-6").load(0.8)}, {12, of("tarcil-12").load(0.8)}, {24, of("tarcil-24").load(0.8)}}}),
	},
}
