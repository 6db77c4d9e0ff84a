package figures

var quasarMultipleUtilisation = Experiment{
	ID: "quasar-q6", Paper: "quasar", Where: "figure 4.10", Title: "24 data-processing jobs and best-effort work: utilisation",
	Scenarios: []string{"quasar-multiple"}, Headline: of("quasar"),
	Quantities: []Quantity{
		used.from(published{"quasar": n(62), "reservation-ll": n(34)}),
		allocated, makespan,
	},
	Requires: []Requirement{
		ahead("10 points more cores are busy than with reservations", used, 10, of("quasar"), of("reservation-ll")),
		behind("the whole run is shorter", makespan, 0, of("quasar"), of("reservation-ll")),
	},
	Why:   whyBaseline + "Utilisation is the mean until the last submission. " + whyDurations,
	Plots: maps(of("quasar"), of("reservation-ll"), of("nomad-binpack")),
}
