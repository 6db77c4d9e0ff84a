package figures

var traconDynamic = Experiment{
	ID: "tracon-9", Paper: "tracon", Where: "figures 9 and 10", Title: "Tasks keep coming to 64 machines",
	Scenarios: []string{"tracon-dynamic-medium", "tracon-dynamic-light", "tracon-dynamic-heavy"}, Headline: of("mibs-8").load(60),
	Rows: append(loaded([]float64{10, 20, 30, 60}, "fifo", "mios", "mibs-2", "mibs-4", "mibs-8", "mibs-8-io", "mibs-8-oracle", "mix-8"),
		append(atLoad(60, across([]string{"tracon-dynamic-light"}, "mios", "mibs-8", "mix-8")), atLoad(60, across([]string{"tracon-dynamic-heavy"}, "mios", "mibs-8", "mix-8"))...)...),
	Quantities: []Quantity{throughput.from(published{"mibs-8 at 60": pictured}), workRate, speedUp, ioBoost, tailWait, longestWait},
	Requires: []Requirement{
		alike("equal while tasks are few", throughput, 2, of("mios").load(10), of("mibs-8").load(10), of("mix-8").load(10)),
		compared("under load MIX_8 and MIBS_8 beat MIOS", func(v []float64) bool { return min(v[0], v[1]) > v[2] }, uses(throughput, of("mix-8").load(60), of("mibs-8").load(60), of("mios").load(60))...),
		compared("a queue of 8 beats 4 and 2 by a tenth", func(v []float64) bool { return v[0] >= 10+max(v[1], v[2]) }, uses(throughput, of("mibs-8").load(60), of("mibs-4").load(60), of("mibs-2").load(60))...),
		compared("the gain is largest on medium", func(v []float64) bool { return v[0] > v[1] && v[0] > v[2] },
			uses(throughput, of("mibs-8").load(60), of("mibs-8").load(60).in("tracon-dynamic-light"), of("mibs-8").load(60).in("tracon-dynamic-heavy"))...),
	},
	Why: whyTraconPairs + whyTraconNoise + "Two hours and three seeds, where the text has ten hours. ",
}
