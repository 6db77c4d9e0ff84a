package figures

var tarcilOverheads = Experiment{
	ID: "tarcil-7.14d", Paper: "tarcil", Where: "figure 7.14d", Title: "7,200 mixed jobs on 400 servers: scheduling overheads",
	Scenarios: []string{"tarcil-heterogeneous"}, Headline: of("tarcil"),
	Quantities: []Quantity{
		metric("decided within 150 ms", "%", "decided_150ms").from(published{"tarcil": above(80), "sparrow": above(80)}),
		metric("mean decision time", "ms", "deciding_mean").from(published{"centralized": about(1000)}),
		metric("99th percentile", "ms", "deciding_p99"),
	},
	Requires: []Requirement{
		atLeast("Tarcil decides within 150 ms for 80 % of the jobs", metric("decided within 150 ms", "%", "decided_150ms"), 80, of("tarcil")),
		atLeast("so does sampling", metric("decided within 150 ms", "%", "decided_150ms"), 80, of("sparrow")),
		atLeast("a central scheduler takes about a second", metric("mean decision time", "ms", "deciding_mean"), 500, of("centralized")),
	},
	Why:   whyDecisions + "The model is derived from these very totals: this shows that it is applied, not that it is true. ",
	Plots: []Plot{decisionTimes(of("tarcil"), of("sparrow"), of("centralized"))},
}
