package figures

var lshDesiredIntervals = Experiment{
	ID: "lsh-2f", Paper: "lsh", Where: "§II.B and figure 2f", Title: "Desired error intervals",
	Compute: lshComputed, Headline: of("mem_bw"),
	Rows: all(
		"mem_cap", "mem_bw", "storage_cap", "storage_bw", "net_bw", "llc_cap", "llc_bw", "tlb", "int", "fp",
		"mem_cap tolerated", "mem_cap caused", "mem_bw tolerated", "mem_bw caused", "storage_cap tolerated", "storage_cap caused", "storage_bw tolerated", "storage_bw caused",
		"net_bw tolerated", "net_bw caused", "llc_cap tolerated", "llc_cap caused", "llc_bw tolerated", "llc_bw caused", "tlb tolerated", "tlb caused", "int tolerated", "int caused", "fp tolerated", "fp caused",
	),
	Quantities: []Quantity{
		metric("width", "points", "width").from(published{"mem_bw": pictured, "tlb": pictured}),
		metric("tolerated underestimate", "points", "low").from(published{"mem_cap caused": n(-20)}),
		metric("tolerated overestimate", "points", "high").from(published{"mem_cap caused": n(10)}),
	},
	Requires: []Requirement{
		behind("memory bandwidth is among the narrowest: no wider than network and storage", metric("width", "points", "width"), 0, of("mem_bw"), of("net_bw"), of("storage_bw"), of("storage_cap"), of("mem_cap")),
		behind("so is the TLB", metric("width", "points", "width"), 0, of("tlb"), of("net_bw"), of("storage_bw"), of("storage_cap"), of("mem_cap")),
		compared("intervals are asymmetric: an overestimate of what is caused costs sooner", func(v []float64) bool { return v[0] < -v[1] },
			use{metric("tolerated overestimate", "points", "high"), of("mem_bw caused")}, use{metric("tolerated underestimate", "points", "low"), of("mem_bw caused")}),
	},
	Why: whyPrograms + "The example of the text names memory capacity and neither of its two scores. Intervals of a width are of the same walk within each seed, where the loss of a single run counts; the value is of the mean. A bound of 50 points was not reached. ",
}
