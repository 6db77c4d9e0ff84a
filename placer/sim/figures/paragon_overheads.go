package figures

var paragonOverheads = Experiment{
	ID: "paragon-e9", Paper: "paragon", Where: "§3.5.1, figure 3.9", Title: "Overheads",
	Scenarios: []string{"paragon-ec2-high"}, Headline: of("paragon"),
	Quantities: []Quantity{
		profilingShare.from(published{"paragon": n(1.2)}),
		decidingShare.from(published{"paragon": below(0.1)}),
		waitingShare,
	},
	Requires: []Requirement{
		atMost("profiling takes at most 2 % of a job's time", profilingShare, 2, of("paragon")),
		atMost("decisions take at most 0.1 %", decidingShare, 0.1, of("paragon")),
		cannot("classification takes 0.09 %", "classification takes no simulated time; that of the Go code stands in the benchmarks of placer/classify"),
	},
	Why: "Profiling is a minute, as in the text, of jobs whose durations are ours; decisions take the time of the stated model of a central search, which is that of a later paper. ",
}
