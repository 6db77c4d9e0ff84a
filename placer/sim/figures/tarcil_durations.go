package figures

var tarcilDurations = Experiment{
	ID: "tarcil-7.1", Paper: "tarcil", Where: "§7.1, figure 7.1", Title: "Short, medium and long jobs on 200 servers",
	Scenarios: []string{"tarcil-short", "tarcil-medium", "tarcil-long"}, Headline: of("tarcil").load(0.8).in("tarcil-short"),
	Rows: atLoad(0.8, across([]string{"tarcil-short", "tarcil-medium", "tarcil-long"}, "tarcil", "sparrow", "centralized", "tarcil-oracle", "least-loaded", "nomad-binpack", "nomad-spread")),
	Quantities: []Quantity{
		metric("median performance from submission", "%", "median_with_wait").from(published{
			"sparrow at 0.8, tarcil-short": between(80, 95), "sparrow at 0.8, tarcil-medium": between(30, 50), "sparrow at 0.8, tarcil-long": between(30, 50),
			"centralized at 0.8, tarcil-short": pictured, "centralized at 0.8, tarcil-medium": pictured, "centralized at 0.8, tarcil-long": pictured,
			"tarcil at 0.8, tarcil-short": pictured, "tarcil at 0.8, tarcil-medium": pictured, "tarcil at 0.8, tarcil-long": pictured,
		}),
		performanceWaits, qosWithWait,
	},
	Requires: []Requirement{
		ahead("sampling is fine for short jobs and poor for long ones", medianWithWait, 10, of("sparrow").load(0.8).in("tarcil-short"), of("sparrow").load(0.8).in("tarcil-long")),
		ahead("a central scheduler is the other way round", medianWithWait, 10, of("centralized").load(0.8).in("tarcil-long"), of("centralized").load(0.8).in("tarcil-short")),
		atLeast("Tarcil's median is 90 % for all three", medianWithWait, 90, of("tarcil").load(0.8).in("tarcil-short"), of("tarcil").load(0.8).in("tarcil-medium"), of("tarcil").load(0.8).in("tarcil-long")),
	},
	Why: whyTasks + whyPlatforms + whyDecisions + "Published is the range most jobs lie in. Which servers the 200 are is not said; ours are those of Quasar's evaluation. ",
	Plots: []Plot{
		sortedWithWait(atLoad(0.8, across([]string{"tarcil-short"}, "tarcil", "sparrow", "centralized"))...),
		sortedWithWait(atLoad(0.8, across([]string{"tarcil-medium"}, "tarcil", "sparrow", "centralized"))...),
		sortedWithWait(atLoad(0.8, across([]string{"tarcil-long"}, "tarcil", "sparrow", "centralized"))...),
	},
}

// medianWithWait is the median of what a job reached from submission on.
var medianWithWait = metric("median from submission", "%", "median_with_wait")
