package figures

var quasarBatch = Experiment{
	ID: "quasar-q1", Paper: "quasar", Where: "figure 4.6", Title: "Ten Hadoop jobs, one at a time",
	Scenarios: []string{"quasar-batch"}, Headline: of("quasar"),
	Quantities: []Quantity{
		against("reservation-ll", "run time, against reservations on least-loaded servers", "run_mean").from(published{"quasar": n(-29)}),
		metric("distance from the target", "%", "target_deviation").from(published{"quasar": n(5.8), "reservation-ll": n(23)}),
		metric("mean run time", "s", "run_mean"),
	},
	Requires: []Requirement{
		atMost("run times are cut by at least 20 %", against("reservation-ll", "run time", "run_mean"), -20, of("quasar")),
		compared("the distance from the target is under a third of the baseline's", func(v []float64) bool { return v[0] < v[1]/3 },
			uses(metric("distance", "%", "target_deviation"), of("quasar"), of("reservation-ll"))...),
	},
	Why:   whyBaseline + "A target is what the job's own size reaches on a configuration of stated rank, not the best of a sweep: a job may be faster than its target, which counts as distance too. ",
	Plots: []Plot{sorted(of("quasar"), of("quasar-oracle"), of("autoscale"), of("reservation-paragon"), of("reservation-ll"), of("nomad-binpack"))},
}
