package figures

var tarcilLengths = Experiment{
	ID: "tarcil-7.11b", Paper: "tarcil", Where: "figure 7.11b", Title: "Response by the length of tasks",
	Scenarios: []string{"tarcil-short", "tarcil-medium", "tarcil-long"}, Headline: of("tarcil").load(0.8).in("tarcil-long"),
	Rows: atLoad(0.8, across([]string{"tarcil-short", "tarcil-medium", "tarcil-long"}, "tarcil", "tarcil-oracle", "least-loaded", "nomad-binpack", "nomad-spread")),
	Quantities: []Quantity{
		performanceWaits.from(published{"tarcil at 0.8, tarcil-long": about(100), "tarcil at 0.8, tarcil-short": pictured}),
		decidingShare, waitingShare,
	},
	Requires: []Requirement{
		atLeast("long tasks take about their target", performanceWaits, 90, of("tarcil").load(0.8).in("tarcil-long")),
		ahead("short ones are dominated by overheads", decidingShare, 1, of("tarcil").load(0.8).in("tarcil-short"), of("tarcil").load(0.8).in("tarcil-long")),
	},
	Why:   whyTasks + whyDecisions,
	Plots: []Plot{sortedWithWait(of("tarcil").load(0.8).in("tarcil-short"), of("tarcil").load(0.8).in("tarcil-medium"), of("tarcil").load(0.8).in("tarcil-long"))},
}
