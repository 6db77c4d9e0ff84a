package figures

var arqAllocation = Experiment{
	ID: "arq-allocation", Paper: "arq", Where: "§6.5, figure 6.5a", Title: "40 servers, oversubscribed: required and allocated cores",
	Scenarios: []string{"arq-over"}, Headline: of("arq"),
	Quantities: []Quantity{
		against("paragon", "time of the scenario, against Paragon alone", "makespan").from(published{"arq": below(0)}),
		usedUntil90, allocated, makespan,
	},
	Requires: []Requirement{
		behind("the scenario is shorter than with Paragon alone", makespan, 0, of("arq"), of("paragon")),
		atMost("no more cores are allocated than there are", allocated, 100, of("arq")),
	},
	Why:   whyPrograms + whyDurations + "Allocated is the mean until the last submission, which is soon; the pictures show all of it. ",
	Plots: []Plot{usageOf(of("arq")), usageOf(of("paragon"))},
}
