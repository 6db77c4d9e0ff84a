package figures

var quasarLargeUtilisation = Experiment{
	ID: "quasar-q14", Paper: "quasar", Where: "figure 4.16", Title: "1,200 workloads on 200 servers: utilisation",
	Scenarios: []string{"quasar-large"}, Headline: of("quasar"),
	Quantities: []Quantity{
		used.from(published{"quasar": n(62), "reservation-ll": n(15)}),
		difference("allocated and not busy", "points", "allocated", "used").from(published{"quasar": about(10)}),
		metric("reserved", "%", "reserved").from(published{"reservation-ll": above(100)}),
	},
	Requires: []Requirement{
		multiple("Quasar keeps twice as many cores busy as reservations on least-loaded servers", used, 2, of("quasar"), of("reservation-ll")),
		atMost("at most 15 points of what it allocates are idle", difference("allocated and not busy", "points", "allocated", "used"), 15, of("quasar")),
	},
	Why:   whyPrograms + "Utilisation is the mean until the last submission, and includes the time in which the cluster fills. " + whyDurations,
	Plots: append(maps(of("quasar"), of("reservation-ll")), usageOf(of("quasar")), usageOf(of("reservation-ll"))),
}
