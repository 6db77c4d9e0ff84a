package figures

var tarcilMixed = Experiment{
	ID: "tarcil-7.12c", Paper: "tarcil", Where: "figure 7.12c and §7.1", Title: "Short jobs on servers of five configurations",
	Scenarios: []string{"tarcil-mixed"}, Headline: of("tarcil").load(0.8),
	Quantities: []Quantity{
		against("sparrow", "mean performance, against Sparrow", "performance_with_wait").from(published{"tarcil at 0.8": n(41)}),
		performanceWaits, qosWithWait, responseMean, responseTail,
	},
	Requires: []Requirement{
		atLeast("Tarcil is 30 % better than Sparrow on average", against("sparrow", "mean performance, against Sparrow", "performance_with_wait"), 30, of("tarcil").load(0.8)),
		behind("its tail is better too", responseTail, 0, of("tarcil").load(0.8), of("sparrow").load(0.8)),
	},
	Why:   whyTasks + whyPlatforms + whyDecisions,
	Plots: []Plot{sortedWithWait(of("tarcil").load(0.8), of("sparrow").load(0.8), of("centralized").load(0.8), of("tarcil-oracle").load(0.8), of("least-loaded").load(0.8), of("nomad-binpack").load(0.8))},
}
