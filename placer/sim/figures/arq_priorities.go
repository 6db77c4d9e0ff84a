package figures

var arqPriorities = Experiment{
	ID: "arq-priorities", Paper: "arq", Where: "§6.7, table 6.3", Title: "Priorities: time above the expected one",
	Scenarios: []string{"arq-priorities"}, Headline: of("arq-priorities"),
	Quantities: []Quantity{
		metric("high priority, a fifth", "%", "late:80").from(published{"arq-priorities": n(0.8)}),
		metric("low priority", "%", "late:50").from(published{"arq-priorities": n(2.74)}),
		qos,
	},
	Requires: []Requirement{
		compared("high priority comes first", func(v []float64) bool { return v[0] < v[1] },
			use{metric("high", "%", "late:80"), of("arq-priorities")}, use{metric("low", "%", "late:50"), of("arq-priorities")}),
		behind("and gains from it", metric("high priority", "%", "late:80"), 0, of("arq-priorities"), of("arq")),
		atMost("high priority is within 2 %", metric("high priority", "%", "late:80"), 2, of("arq-priorities")),
		atMost("low priority is within 5 %", metric("low priority", "%", "late:50"), 5, of("arq-priorities")),
	},
	Why: "The paper's means are harmonic, ours arithmetic, from when a job was profiled. With more required than there is, a queue cannot be within 5 %. " + whyDurations,
}
