package figures

var ibenchMemcached = Experiment{
	ID: "ibench-3", Paper: "ibench", Where: "§5.5.1, figures 5.5 and 5.6", Title: "memcached on 40 nodes and best-effort work",
	Scenarios: []string{"ibench-scenario-3"}, Headline: of("ibench"),
	Quantities: []Quantity{
		metric("load that memcached served", "%", "performance:memcached").from(published{"ibench": about(89), "least-loaded": about(55)}),
		metric("time in which it did", "%", "in_bound:memcached"),
		metric("best-effort work, mean", "%", "performance:single-node"),
		used.from(published{"ibench": about(72), "least-loaded": about(48)}),
	},
	Requires: []Requirement{
		atLeast("memcached serves at least 85 %", metric("load served", "%", "performance:memcached"), 85, of("ibench")),
		ahead("more than on least-loaded servers", metric("load served", "%", "performance:memcached"), 0, of("ibench"), of("least-loaded")),
		ahead("more cores are busy", used, 0, of("ibench"), of("least-loaded")),
	},
	Why:   whyServices + whyPrograms + whyDurations,
	Plots: append(maps(of("ibench"), of("least-loaded")), sorted(of("ibench"), of("least-loaded"), of("ibench-oracle"), of("nomad-binpack"), of("nomad-spread"))),
}
