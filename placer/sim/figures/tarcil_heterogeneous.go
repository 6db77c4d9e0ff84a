package figures

var tarcilHeterogeneous = Experiment{
	ID: "tarcil-7.14a", Paper: "tarcil", Where: "figure 7.14a", Title: "7,200 mixed jobs on 400 servers",
	Scenarios: []string{"tarcil-heterogeneous"}, Headline: of("tarcil"),
	Quantities: []Quantity{
		qosWithWait.named("near-optimal jobs").from(published{"tarcil": n(92), "sparrow": n(22), "centralized": n(48)}),
		performanceWaits.from(published{"tarcil": n(97), "centralized": n(82)}),
		metric("worst job from submission", "%", "worst_with_wait").from(published{"tarcil": n(92)}),
		qos,
	},
	Requires: []Requirement{
		atLeast("at least 88 % of the jobs are near-optimal", qosWithWait, 88, of("tarcil")),
		atLeast("mean performance is at least 95 %", performanceWaits, 95, of("tarcil")),
		atLeast("nobody loses more than 10 %", metric("worst job", "%", "worst_with_wait"), 90, of("tarcil")),
		multiple("three times as many near-optimal jobs as with sampling", qosWithWait, 3, of("tarcil"), of("sparrow")),
		multiple("1.5 times as many as with a central scheduler", qosWithWait, 1.5, of("tarcil"), of("centralized")),
	},
	Why:   whyPrograms + whyDecisions + "Jobs run on one server each; Spark, Hadoop and Storm of the paper on several. ",
	Plots: []Plot{sortedWithWait(of("tarcil"), of("sparrow"), of("centralized"), of("least-loaded"), of("nomad-binpack"))},
}
