package figures

var arqUtilisation = Experiment{
	ID: "arq-utilisation", Paper: "arq", Where: "§6.5", Title: "40 servers, oversubscribed: utilisation",
	Scenarios: []string{"arq-over"}, Headline: of("arq"),
	Quantities: []Quantity{
		against("least-loaded", "cores busy, against least-loaded", "used_until_90").from(published{"arq": n(45.5), "paragon": n(47)}),
		usedUntil90, makespan,
	},
	Requires: []Requirement{
		alike("ARQ gives up at most 2 points of what Paragon gains", against("least-loaded", "cores busy, against least-loaded", "used_until_90"), 2, of("arq"), of("paragon")),
		atLeast("at least 30 % more than least-loaded", against("least-loaded", "cores busy, against least-loaded", "used_until_90"), 30, of("arq")),
	},
	Why:   "Least-loaded fills every core as soon as a job comes, in ours as in a real cluster; what it wastes is time, not cores. Utilisation is the mean until 90 % of the jobs have ended. " + whyPrograms,
	Plots: maps(of("arq"), of("paragon"), of("least-loaded")),
}
