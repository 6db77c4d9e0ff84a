package figures

var ibenchHadoop = Experiment{
	ID: "ibench-2", Paper: "ibench", Where: "§5.5.1, figures 5.5 and 5.6", Title: "Hadoop on 40 nodes and best-effort work",
	Scenarios: []string{"ibench-scenario-2"}, Headline: of("ibench"),
	Quantities: []Quantity{
		metric("target reached by Hadoop", "%", "performance:hadoop").from(published{"ibench": about(93), "least-loaded": about(71)}),
		metric("best-effort work, harmonic mean", "%", "hmean:single-node").from(published{"ibench": about(91), "least-loaded": about(66)}),
		metric("best-effort work, mean", "%", "performance:single-node"),
		used.from(published{"ibench": about(79), "least-loaded": about(47)}),
	},
	Requires: []Requirement{
		ahead("Hadoop does better", metric("target reached", "%", "performance:hadoop"), 0, of("ibench"), of("least-loaded")),
		ahead("best-effort work does better", metric("best-effort work", "%", "performance:single-node"), 0, of("ibench"), of("least-loaded")),
		ahead("more cores are busy", used, 0, of("ibench"), of("least-loaded")),
	},
	Why:   whyPrograms + whyDurations + "A harmonic mean is 0 when one job never ends. ",
	Plots: append(maps(of("ibench"), of("least-loaded")), sorted(of("ibench"), of("least-loaded"), of("ibench-oracle"), of("nomad-binpack"), of("nomad-spread"))),
}
