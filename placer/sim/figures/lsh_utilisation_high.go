package figures

var lshUtilisationHigh = Experiment{
	ID: "lsh-3b", Paper: "lsh", Where: "§IV.B, figures 3b and 3c", Title: "Default data centre, high load: utilisation",
	Scenarios: []string{"lsh-default-high"}, Headline: of("lsh"),
	Quantities: []Quantity{used.from(published{"lsh": n(62), "paragon": n(57)}), usedUntil90, allocated, makespan},
	Requires: []Requirement{
		ahead("more cores are busy with LSH than with Paragon", used, 0, of("lsh"), of("paragon")),
		behind("it is done earlier", makespan, 0, of("lsh"), of("paragon")),
	},
	Why:   whyLSHCluster + "What waits uses no cores until the last submission; that LSH ends earlier is because nobody runs as slowly as Paragon's worst. ",
	Plots: append(maps(of("lsh"), of("paragon")), usageOf(of("lsh")), usageOf(of("paragon"))),
}
