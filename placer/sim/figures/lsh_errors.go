package figures

var lshErrorSensitivity = Experiment{
	ID: "lsh-1", Paper: "lsh", Where: "§II.B, figure 1", Title: "What errors of 20 points in one score cost the scheduler",
	Compute: lshComputed, Headline: of("mem_cap caused"),
	Rows: all(
		"mem_cap tolerated", "mem_cap caused", "mem_bw tolerated", "mem_bw caused", "storage_cap tolerated", "storage_cap caused", "storage_bw tolerated", "storage_bw caused",
		"net_bw tolerated", "net_bw caused", "llc_cap tolerated", "llc_cap caused", "llc_bw tolerated", "llc_bw caused", "tlb tolerated", "tlb caused", "int tolerated", "int caused", "fp tolerated", "fp caused",
	),
	Quantities: []Quantity{
		metric("lost by +20 points", "points", "loss_plus").from(published{"int caused": n(9), "mem_cap caused": n(11), "storage_cap caused": n(5)}),
		metric("lost by −20 points", "points", "loss_minus"),
	},
	Requires: []Requirement{
		compared("sources differ: memory bandwidth costs 3 points more than network bandwidth", func(v []float64) bool { return v[0]-v[1] >= 3 },
			uses(metric("lost by +20 points", "points", "loss_plus"), of("mem_bw caused"), of("net_bw caused"))...),
		atLeast("an error in the integer unit costs 5 points", metric("lost by +20 points", "points", "loss_plus"), 5, of("int caused")),
		atLeast("and in memory capacity", metric("lost by +20 points", "points", "loss_plus"), 5, of("mem_cap caused")),
		atLeast("and in storage capacity", metric("lost by +20 points", "points", "loss_plus"), 5, of("storage_cap caused")),
	},
	Why: whyPrograms + "Published are losses per source, of an unstated score and sign. What an error costs depends on how many programs press on a source at all: few of ours use the disk or the network. ",
}
