package figures

// speedUp and ioBoost are a policy against FIFO, within each seed.
var (
	speedUp = perSeed("speedup over FIFO", "%", func(a At) []seedMetric {
		base := a
		base.Policy = "fifo"
		return []seedMetric{{base, "run_total"}, {a, "run_total"}}
	}, func(v []float64) float64 { return 100 * (v[0]/v[1] - 1) })
	ioBoost     = overFIFO("IOBoost over FIFO", "iops_total")
	throughput  = overFIFO("throughput over FIFO", "ended_count")
	workRate    = overFIFO("work done over FIFO", "work_done")
	longestWait = metric("longest wait", "s", "wait_max")
	tailWait    = metric("wait that 1 % exceed", "s", "wait_p99")
)

// overFIFO is a metric of a row by that of FIFO.
func overFIFO(name, of string) Quantity {
	return perSeed(name, "%", func(a At) []seedMetric {
		base := a
		base.Policy = "fifo"
		return []seedMetric{{a, of}, {base, of}}
	}, func(v []float64) float64 { return 100 * (v[0]/v[1] - 1) })
}

var traconModelsExperiment = Experiment{
	ID: "tracon-4", Paper: "tracon", Where: "figure 4", Title: "A scheduler with each model: 32 tasks on 16 machines",
	Scenarios: []string{"tracon-models"}, Headline: of("mibs-rt-nlm"),
	Quantities: []Quantity{speedUp.from(published{"mibs-rt-nlm": pictured}), ioBoost.from(published{"mibs-io-nlm": pictured})},
	Requires: []Requirement{
		compared("NLM gives the highest speedup", func(v []float64) bool { return v[0] > v[1] && v[0] > v[2] }, uses(speedUp, of("mibs-rt-nlm"), of("mibs-rt-lm"), of("mibs-rt-wmm"))...),
		compared("NLM gives the highest IOBoost", func(v []float64) bool { return v[0] > v[1] && v[0] > v[2] }, uses(ioBoost, of("mibs-io-nlm"), of("mibs-io-lm"), of("mibs-io-wmm"))...),
	},
	Why: whyTraconPairs + whyTraconNoise,
}

// whyTraconPairs is what bounds every scheduler on our pairs.
const whyTraconPairs = "What pairing can gain is a property of the pairs: of eight programs on one CPU of a machine of today, most take about twice as long beside whomever, and tracon-optimum tells what the best pairing of all would gain. The pairs of the paper shared a rotating disk, on which a reader beside another takes ten times as long. "
