package figures

var lshUtilisationLow = Experiment{
	ID: "lsh-3e", Paper: "lsh", Where: "§IV.B, figures 3e and 3f", Title: "Default data centre, low load: utilisation",
	Scenarios: []string{"lsh-default-low"}, Headline: of("lsh"),
	Quantities: []Quantity{used.from(published{"lsh": n(59), "paragon": n(54)}), usedUntil90, allocated, makespan},
	Requires: []Requirement{
		ahead("more cores are busy with LSH than with Paragon", used, 0, of("lsh"), of("paragon")),
		behind("it is done earlier", makespan, 0, of("lsh"), of("paragon")),
	},
	Why:   whyLSHCluster + "What waits uses no cores until the last submission. ",
	Plots: append(maps(of("lsh"), of("paragon")), usageOf(of("lsh"))),
}
