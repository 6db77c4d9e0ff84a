package figures

var arqOverheads = Experiment{
	ID: "arq-overheads", Paper: "arq", Where: "§6.5, figure 6.4", Title: "Overheads",
	Scenarios: []string{"arq-over-ec2", "arq-low"}, Headline: of("arq"),
	Rows: append(all("arq", "paragon", "least-loaded", "nomad-binpack"), across([]string{"arq-low"}, "arq", "paragon", "least-loaded", "nomad-binpack")...),
	Quantities: []Quantity{
		metric("started within 5 % of their run time", "%", "overhead_under_5").from(published{"arq": above(50)}),
		metric("longest wait, of the run time", "%", "waiting_max").from(published{"arq": below(5)}),
		profilingShare, waitingShare, killed.from(published{"arq": n(0), "least-loaded": above(0)}),
	},
	Requires: []Requirement{
		atLeast("most jobs start within 5 % of their run time", metric("started within 5 %", "%", "overhead_under_5"), 50, of("arq")),
		atMost("at low load nobody waits for more than 5 % of its run time", metric("longest wait", "%", "waiting_max"), 5, of("arq").in("arq-low")),
		atMost("ARQ lets nobody run out of memory", killed, 0, of("arq")),
		atLeast("least-loaded does", killed, 0.01, of("least-loaded")),
	},
	Why:   "While there is no room at all, a window of 5 % cannot be kept by anybody, so the bound is checked at low load. A job whose memory peak is above what it asked for is killed wherever its node is full. " + whyDurations,
	Plots: []Plot{waits(of("arq"), of("paragon"), of("least-loaded"))},
}
