package figures

var arqOverEC2 = Experiment{
	ID: "arq-over-ec2", Paper: "arq", Where: "§6.5, figure 6.6", Title: "1,000 servers, oversubscribed",
	Scenarios: []string{"arq-over-ec2"}, Headline: of("arq"),
	Quantities: []Quantity{
		qos.from(published{"arq": n(83), "paragon": n(61)}),
		within10.from(published{"arq": n(99), "paragon": n(79)}),
		qosWithWait, meanPerformance,
	},
	Requires: []Requirement{
		ahead("ARQ keeps the QoS of 15 points more than Paragon alone", qos, 15, of("arq"), of("paragon")),
		atLeast("at least 95 % lose at most 10 %", within10, 95, of("arq")),
	},
	Why:   "The paper counts from submission on; both are shown. " + whyPrograms + whyDurations + whyDecisions,
	Plots: []Plot{sorted(of("arq"), of("paragon"), of("least-loaded"), of("nomad-binpack")), sortedWithWait(of("arq"), of("paragon"), of("least-loaded"), of("nomad-binpack"))},
}
