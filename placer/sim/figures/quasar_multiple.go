package figures

var quasarMultiple = Experiment{
	ID: "quasar-q5", Paper: "quasar", Where: "figure 4.9", Title: "24 data-processing jobs and best-effort work",
	Scenarios: []string{"quasar-multiple"}, Headline: of("quasar"),
	Quantities: []Quantity{
		metric("performance of the jobs with targets", "%", "performance:hadoop"),
		metric("distance from the target", "%", "target_deviation").from(published{"quasar": n(5.3)}),
		metric("performance of best-effort work", "%", "performance:single-node").from(published{"quasar": n(92.2)}),
		metric("QoS kept of best-effort work", "%", "qos:single-node"),
	},
	Requires: []Requirement{
		ahead("jobs with targets do better than with reservations", metric("performance", "%", "performance:hadoop"), 0, of("quasar"), of("reservation-ll")),
		ahead("and so does best-effort work", metric("performance of best-effort work", "%", "performance:single-node"), 0, of("quasar"), of("reservation-ll")),
		atMost("jobs are within 10 % of their targets", metric("distance", "%", "target_deviation"), 10, of("quasar")),
		cannot("run times are cut by 27 %", "the mean over jobs with targets alone is not kept; their performance stands in its place"),
	},
	Why:   whyBaseline + "Best-effort work counts from its start, as killed where it was evicted for good. Hadoop, Storm and Spark are drawn as one class. ",
	Plots: []Plot{sorted(of("quasar"), of("quasar-oracle"), of("autoscale"), of("reservation-paragon"), of("reservation-ll"), of("nomad-binpack"))},
}
