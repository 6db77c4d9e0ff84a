package figures

var arqScaling = Experiment{
	ID: "arq-scaling", Paper: "arq", Where: "§6.5", Title: "Overheads on 40 and on 1,000 servers",
	Scenarios: []string{"arq-over", "arq-over-ec2"}, Headline: of("arq"),
	Rows: append(all("arq", "paragon"), across([]string{"arq-over-ec2"}, "arq", "paragon")...),
	Quantities: []Quantity{
		metric("mean decision time", "ms", "deciding_mean").from(published{"arq": pictured, "arq, arq-over-ec2": pictured}),
		decidingShare, profilingShare, waitingShare,
	},
	Requires: []Requirement{
		atMost("decisions take under 1 % of a job's time on both", decidingShare, 1, of("arq"), of("arq").in("arq-over-ec2")),
		alike("and differ by at most a point", decidingShare, 1, of("arq"), of("arq").in("arq-over-ec2")),
	},
	Why:   whyDecisions + "The model of a central search grows with the number of servers; the Go code is measured in the benchmarks of placer/policy and placer/sim/admission. ",
	Plots: []Plot{decisionTimes(of("arq"), of("arq").in("arq-over-ec2"))},
}
