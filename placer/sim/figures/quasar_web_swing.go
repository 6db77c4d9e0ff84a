package figures

var quasarWebSwing = Experiment{
	ID: "quasar-q8", Paper: "quasar", Where: "figures 4.11b and 4.11c", Title: "Web services under a load that swings",
	Scenarios: []string{"quasar-web-swing"}, Headline: of("quasar"),
	Quantities: []Quantity{
		metric("load served", "%", "performance:web").from(published{"quasar": about(100), "autoscale": n(82)}),
		metric("time in which it was", "%", "in_bound:web"),
		metric("performance of best-effort work", "%", "performance:single-node"),
		used,
	},
	Requires: []Requirement{
		atLeast("Quasar serves 95 % of the load", metric("load served", "%", "performance:web"), 95, of("quasar")),
		ahead("autoscaling serves 10 points less", metric("load served", "%", "performance:web"), 10, of("quasar"), of("autoscale")),
	},
	Why:   whyServices + "The paper's load is a picture; ours is a sine. ",
	Plots: []Plot{sorted(of("quasar"), of("quasar-oracle"), of("autoscale"), of("reservation-paragon"), of("reservation-ll"), of("nomad-binpack")), usageOf(of("quasar")), usageOf(of("autoscale"))},
}
