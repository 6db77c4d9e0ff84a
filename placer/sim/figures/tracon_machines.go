package figures

var traconMachines = Experiment{
	ID: "tracon-11", Paper: "tracon", Where: "figures 11 and 12, §4.6", Title: "8 to 10,000 machines",
	Scenarios: []string{"tracon-machines-1024", "tracon-machines-8", "tracon-machines-64", "tracon-machines-10000"}, Headline: of("mibs-8").in("tracon-machines-10000"),
	Rows: append(across([]string{"tracon-machines-8", "tracon-machines-64", "tracon-machines-1024"}, "mios", "mibs-2", "mibs-4", "mibs-8", "mibs-8-oracle", "mix-8"),
		across([]string{"tracon-machines-10000"}, "mibs-8", "mibs-8-oracle")...),
	Quantities: []Quantity{throughput.from(published{"mibs-8, tracon-machines-10000": n(40)}), workRate, ioBoost, longestWait},
	Requires: []Requirement{
		atLeast("40 % more tasks on 10,000 machines", throughput, 40, of("mibs-8").in("tracon-machines-10000")),
		compared("MIX_8 and MIBS_8 beat MIOS on 1,024 machines", func(v []float64) bool { return min(v[0], v[1]) > v[2] }, uses(throughput, of("mix-8"), of("mibs-8"), of("mios"))...),
		neverFalling("a longer queue is not worse", throughput, 0.5, of("mibs-2"), of("mibs-4"), of("mibs-8")),
	},
	Why: whyTraconPairs + whyTraconNoise + "Twenty minutes, and ten on 10,000 machines, where the text has ten hours. ",
}
