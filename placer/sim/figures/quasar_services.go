package figures

var quasarServices = Experiment{
	ID: "quasar-q10", Paper: "quasar", Where: "figure 4.13", Title: "Services with state over a day",
	Scenarios: []string{"quasar-services"}, Headline: of("quasar"),
	Quantities: []Quantity{
		metric("time in which the load was served", "%", "in_bound:memcached").from(published{"quasar": n(98.8), "autoscale": n(80)}),
		metric("load served", "%", "performance:memcached").from(published{"quasar": about(100), "autoscale": n(76)}),
		metric("performance of best-effort work", "%", "performance:single-node"),
		used,
	},
	Requires: []Requirement{
		atLeast("Quasar is in bound for 97 % of the time", metric("time in bound", "%", "in_bound:memcached"), 97, of("quasar")),
		ahead("autoscaling 10 points less", metric("time in bound", "%", "in_bound:memcached"), 10, of("quasar"), of("autoscale")),
		cannot("Cassandra in bound for 98.6 % of the time", "the truth has no Cassandra, nor another service on disks"),
		cannot("latencies at the 99th percentile", whyNoLatency),
	},
	Why:   whyServices + "The published numbers are memcached's. ",
	Plots: []Plot{usageOf(of("quasar")), usageOf(of("autoscale")), heatOf(of("quasar"))},
}
