package figures

var ibenchMixed = Experiment{
	ID: "ibench-1", Paper: "ibench", Where: "§5.5.1, figures 5.5 and 5.6", Title: "200 applications on 40 nodes",
	Scenarios: []string{"ibench-scenario-1"}, Headline: of("ibench"),
	Quantities: []Quantity{
		against("least-loaded", "mean performance, against least-loaded", "performance").from(published{"ibench": n(15.7)}),
		against("least-loaded", "cores busy, against least-loaded", "used_until_90").from(published{"ibench": n(42)}),
		against("least-loaded", "time of the scenario, against least-loaded", "makespan").from(published{"ibench": about(-30)}),
		metric("worst job", "%", "worst").from(published{"ibench": about(82), "least-loaded": about(57)}),
		meanPerformance, usedUntil90,
	},
	Requires: []Requirement{
		ahead("mean performance is better", meanPerformance, 0, of("ibench"), of("least-loaded")),
		ahead("the worst job does better", metric("worst job", "%", "worst"), 0, of("ibench"), of("least-loaded")),
		ahead("more cores are busy", usedUntil90, 0, of("ibench"), of("least-loaded")),
		behind("the scenario is shorter", makespan, 0, of("ibench"), of("least-loaded")),
	},
	Why:   whyPrograms + whyDurations + "A job that is killed for memory counts as 0 and is the worst. ",
	Plots: append(maps(of("ibench"), of("least-loaded")), sorted(of("ibench"), of("least-loaded"), of("ibench-oracle"), of("nomad-binpack"), of("nomad-spread"))),
}
