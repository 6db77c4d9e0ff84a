package figures

var arqSJF = Experiment{
	ID: "arq-sjf", Paper: "arq", Where: "§6.7, table 6.2", Title: "The shortest first: time above the expected one",
	Scenarios: []string{"arq-sjf"}, Headline: of("arq-sjf"),
	Quantities: []Quantity{
		metric("all", "%", "late_100").from(published{"arq-sjf": n(2.28)}),
		metric("shortest 5 %", "%", "late_5").from(published{"arq-sjf": n(0.2)}),
		metric("10 %", "%", "late_10").from(published{"arq-sjf": n(0.3)}),
		metric("25 %", "%", "late_25").from(published{"arq-sjf": n(1.2)}),
		metric("50 %", "%", "late_50").from(published{"arq-sjf": n(1.45)}),
		metric("75 %", "%", "late_75").from(published{"arq-sjf": n(1.78)}),
		metric("90 %", "%", "late_90").from(published{"arq-sjf": n(2.31)}),
		metric("95 %", "%", "late_95").from(published{"arq-sjf": n(2.32)}),
	},
	Requires: []Requirement{
		compared("it rises with the length of jobs", func(v []float64) bool { return v[0] < v[1] && v[1] < v[2] },
			use{metric("shortest 5 %", "%", "late_5"), of("arq-sjf")}, use{metric("50 %", "%", "late_50"), of("arq-sjf")}, use{metric("all", "%", "late_100"), of("arq-sjf")}),
		atMost("all are within 5 %", metric("all", "%", "late_100"), 5, of("arq-sjf")),
		behind("the shortest quarter waits less than in order of arrival", metric("25 %", "%", "late_25"), 0, of("arq-sjf"), of("arq")),
	},
	Why: "The paper's means are harmonic, which the best jobs decide; ours are arithmetic, and count from when a job was profiled. With more required than there is, a queue of tens of minutes cannot be within 5 %. " + whyDurations,
}
