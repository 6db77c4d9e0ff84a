package figures

var quasarWebSpike = Experiment{
	ID: "quasar-q9", Paper: "quasar", Where: "figure 4.12", Title: "Web services under a spike",
	Scenarios: []string{"quasar-web-spike"}, Headline: of("quasar"),
	Quantities: []Quantity{
		metric("load served", "%", "performance:web").from(published{"quasar": above(96), "autoscale": pictured}),
		metric("time in which it was", "%", "in_bound:web"),
		metric("performance of best-effort work", "%", "performance:single-node"),
		used,
	},
	Requires: []Requirement{
		atLeast("Quasar serves 96 % of the load", metric("load served", "%", "performance:web"), 96, of("quasar")),
		atLeast("and nearly all of the time in bound", metric("time in bound", "%", "in_bound:web"), 95, of("quasar")),
		ahead("autoscaling is in bound for less", metric("time in bound", "%", "in_bound:web"), 0, of("quasar"), of("autoscale")),
		cannot("with autoscaling more than 20 % of the requests around the spike are late", whyNoLatency),
	},
	Why:   whyServices + "The spike lasts for a sixth of the run; the paper's is a picture. Load changes once a minute. ",
	Plots: []Plot{usageOf(of("quasar")), usageOf(of("autoscale"))},
}
