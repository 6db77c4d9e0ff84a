package figures

var lotesQueue = Experiment{
	ID: "lotes-10", Paper: "lotes", Where: "§5.3.3, figure 10", Title: "Jobs like those of Google's trace: queues over time",
	Scenarios: []string{"lotes-google"}, Headline: of("lotes").load(lotesTraceLoad),
	Quantities: []Quantity{queueMean.from(published{"lotes at 0.93": pictured, "tetris at 0.93": pictured, "greedy-fit at 0.93": pictured}), queueGrowth},
	Requires: []Requirement{
		falling("Greedy has the longest queues, LoTES the shortest", queueMean, atLoad(lotesTraceLoad, all("greedy-fit", "tetris", "lotes"))...),
		cannot("LoTES has next to none most of the month", "the published series is a picture over a month; ours is a shorter run whose series is drawn in the report"),
	},
	Why: whyLoTESTrace,
	Plots: []Plot{
		usageOf(of("lotes").load(lotesTraceLoad)), usageOf(of("tetris").load(lotesTraceLoad)), usageOf(of("greedy-fit").load(lotesTraceLoad)),
	},
}
