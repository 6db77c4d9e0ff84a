package figures

var tarcilLoads = Experiment{
	ID: "tarcil-7.11a", Paper: "tarcil", Where: "figure 7.11a", Title: "Response by load",
	Scenarios: []string{"tarcil-loads"}, Headline: of("tarcil").load(0.8),
	Quantities: []Quantity{
		responseMean.from(published{"tarcil at 0.8": pictured}), responseTail.from(published{"tarcil at 0.7": below(250), "tarcil at 0.9": above(250)}), qosWithWait,
	},
	Requires: []Requirement{
		compared("the mean is flat up to 80 %, within 15 %", func(v []float64) bool { return v[1] <= 1.15*v[0] },
			uses(responseMean, of("tarcil").load(0.3), of("tarcil").load(0.8))...),
		atMost("up to 70 %, 95 % end within 250 ms", responseTail, 250, of("tarcil").load(0.3), of("tarcil").load(0.5), of("tarcil").load(0.7)),
	},
	Why: whyTasks + whyDecisions,
	Plots: []Plot{
		overLoads("Mean response by load", responseMean, []float64{0.3, 0.5, 0.7, 0.8, 0.9}, "tarcil", "sparrow", "centralized", "least-loaded", "nomad-binpack"),
		decisionTimes(of("tarcil").load(0.8), of("sparrow").load(0.8), of("centralized").load(0.8)),
	},
}
