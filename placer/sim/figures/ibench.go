package figures

// ibenchExperiments are those of the paper, in its order.
var ibenchExperiments = []Experiment{
	{
		ID: "ibench-1", Paper: "ibench", Where: "§5.5.1, figures 5.5 and 5.6", Title: "200 applications on 40 nodes",
		Scenarios: []string{"ibench-1"}, Headline: of("ibench"),
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
	},
	{
		ID: "ibench-2", Paper: "ibench", Where: "§5.5.1, figures 5.5 and 5.6", Title: "Hadoop on 40 nodes and best-effort work",
		Scenarios: []string{"ibench-2"}, Headline: of("ibench"),
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
	},
	{
		ID: "ibench-3", Paper: "ibench", Where: "§5.5.1, figures 5.5 and 5.6", Title: "memcached on 40 nodes and best-effort work",
		Scenarios: []string{"ibench-3"}, Headline: of("ibench"),
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
	},
}
