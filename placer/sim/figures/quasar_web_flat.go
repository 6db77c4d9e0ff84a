package figures

var quasarWebFlat = Experiment{
	ID: "quasar-q7", Paper: "quasar", Where: "figure 4.11a", Title: "Web services under a flat load",
	Scenarios: []string{"quasar-web-flat"}, Headline: of("quasar"),
	Quantities: []Quantity{
		metric("load served", "%", "performance:web").from(published{"quasar": about(100)}),
		metric("time in which it was", "%", "in_bound:web"),
		metric("performance of best-effort work", "%", "performance:single-node").from(published{"quasar": n(95), "autoscale": n(76)}),
		used,
	},
	Requires: []Requirement{
		atLeast("Quasar serves 98 % of the load", metric("load served", "%", "performance:web"), 98, of("quasar")),
		ahead("best-effort work does better than with autoscaling", metric("performance of best-effort work", "%", "performance:single-node"), 0, of("quasar"), of("autoscale")),
		cannot("queries per second over time", "a run keeps the share of the load that was served, not its course"),
	},
	Why:   whyServices + "Several services instead of one, so that a seed is not one draw. ",
	Plots: []Plot{sorted(of("quasar"), of("quasar-oracle"), of("autoscale"), of("reservation-paragon"), of("reservation-ll"), of("nomad-binpack")), usageOf(of("quasar")), usageOf(of("autoscale"))},
}
