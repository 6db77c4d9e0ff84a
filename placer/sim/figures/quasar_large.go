package figures

var quasarLarge = Experiment{
	ID: "quasar-q12", Paper: "quasar", Where: "figure 4.15a", Title: "1,200 workloads on 200 servers",
	Scenarios: []string{"quasar-large"}, Headline: of("quasar"),
	Quantities: []Quantity{
		meanPerformance.named("target reached").from(published{"quasar": n(98), "reservation-paragon": n(83), "reservation-ll": n(62)}),
		qos.from(published{"quasar": n(95)}),
		performanceWaits,
	},
	Requires: []Requirement{
		falling("Quasar, then reservations with Paragon, reservations on least-loaded servers", meanPerformance, of("quasar"), of("reservation-paragon"), of("reservation-ll")),
		atLeast("Quasar reaches 95 % of the targets on average", meanPerformance, 95, of("quasar")),
		ahead("10 points more than reservations with Paragon", meanPerformance, 10, of("quasar"), of("reservation-paragon")),
		ahead("which reach 15 points more than on least-loaded servers", meanPerformance, 15, of("reservation-paragon"), of("reservation-ll")),
	},
	Why:   whyPrograms + "Targets and the mix of types are ours. " + whyDurations,
	Plots: []Plot{sorted(of("quasar"), of("quasar-unadapted"), of("quasar-oracle"), of("reservation-paragon"), of("reservation-ll"), of("nomad-binpack"))},
}
