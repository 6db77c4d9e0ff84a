package figures

var arqOver = Experiment{
	ID: "arq-over", Paper: "arq", Where: "§6.5, figure 6.3", Title: "40 servers, oversubscribed",
	Scenarios: []string{"arq-over"}, Headline: of("arq"),
	Quantities: []Quantity{
		qos.from(published{"arq": n(88), "paragon": n(64)}),
		qosWithWait, meanPerformance, makespan, killed,
	},
	Requires: []Requirement{
		ahead("ARQ keeps the QoS of 20 points more than Paragon alone", qos, 20, of("arq"), of("paragon")),
		behind("the backlog drains earlier", makespan, 0, of("arq"), of("paragon")),
	},
	Why:   "The paper counts from submission on. With more required than there is, a job that waits for its turn has lost 5 % of its time soon, whoever chooses: both are shown. " + whyNoRoom + whyPrograms + whyDurations,
	Plots: []Plot{sorted(of("arq"), of("paragon"), of("least-loaded"), of("nomad-binpack")), sortedWithWait(of("arq"), of("paragon"), of("least-loaded"), of("nomad-binpack")), waits(of("arq"), of("paragon"), of("least-loaded"), of("nomad-binpack"))},
}
