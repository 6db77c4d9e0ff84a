package figures

var arqPhases = Experiment{
	ID: "arq-phases", Paper: "arq", Where: "§6.5, figure 6.3", Title: "40 servers, workloads with phases",
	Scenarios: []string{"arq-phases"}, Headline: of("arq"),
	Quantities: []Quantity{
		qos.from(published{"arq": n(91), "paragon": n(66)}),
		meanPerformance.from(published{"arq": n(99.3)}),
		qosWithWait,
	},
	Requires: []Requirement{
		ahead("ARQ keeps the QoS of 20 points more than Paragon alone", qos, 20, of("arq"), of("paragon")),
		atLeast("mean performance is at least 97 %", meanPerformance, 97, of("arq")),
	},
	Why:   "The paper counts from submission on; a minute of profiling alone is more than 5 % of jobs of some minutes, so that the share while running stands first here. " + whyNoRoom + whyPrograms + whyDurations,
	Plots: []Plot{sorted(of("arq"), of("paragon"), of("least-loaded"), of("nomad-binpack")), sortedWithWait(of("arq"), of("paragon"), of("least-loaded"), of("nomad-binpack"))},
}
