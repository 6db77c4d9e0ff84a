package figures

var arqLow = Experiment{
	ID: "arq-low", Paper: "arq", Where: "§6.5", Title: "40 servers, low load",
	Scenarios: []string{"arq-low"}, Headline: of("arq"),
	Quantities: []Quantity{
		meanPerformance.from(published{"arq": pictured, "paragon": pictured, "least-loaded": pictured}),
		qos, performanceWaits, waitingShare,
	},
	Requires: []Requirement{
		alike("ARQ is within 1 point of Paragon alone", meanPerformance, 1, of("arq"), of("paragon")),
		atMost("it hardly queues: 1 % of a job's time", waitingShare, 1, of("arq")),
	},
	Why:   whyPrograms + whyDurations,
	Plots: []Plot{sorted(of("arq"), of("paragon"), of("least-loaded"), of("nomad-binpack"))},
}
