package figures

var arqUtilisationEC2 = Experiment{
	ID: "arq-utilisation-ec2", Paper: "arq", Where: "§6.5", Title: "1,000 servers, oversubscribed: utilisation",
	Scenarios: []string{"arq-over-ec2"}, Headline: of("arq"),
	Quantities: []Quantity{
		against("least-loaded", "cores busy, against least-loaded", "used_until_90").from(published{"arq": n(46)}),
		usedUntil90, makespan,
	},
	Requires: []Requirement{
		atLeast("at least 30 % more than least-loaded", against("least-loaded", "cores busy, against least-loaded", "used_until_90"), 30, of("arq")),
	},
	Why:   "Least-loaded fills every core as soon as a job comes; what it wastes is time, not cores. " + whyPrograms,
	Plots: maps(of("arq"), of("least-loaded")),
}
