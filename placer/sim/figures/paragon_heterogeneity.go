package figures

import "github.com/nomad-placer/nomad-placer/placer/sim/dataset"

var paragonHeterogeneity = Experiment{
	ID: "paragon-e19a", Paper: "paragon", Where: "§3.2.2, table 3.1", Title: "Classification of heterogeneity, on real data",
	Compute: heterogeneityOnRealData, Headline: of("spec 2006, machine: gauss"),
	Quantities: []Quantity{
		metric("best configuration found", "%", "best-found").from(published{thePaper: n(84)}),
		metric("within 5 % of it", "%", "within-5").from(published{thePaper: n(90)}),
		metric("mean error", "%", "mean").from(published{thePaper: n(3.8)}),
		metric("errors under 5 %", "%", "under-5"), metric("under 10 %", "%", "under-10"), metric("under 20 %", "%", "under-20"),
	},
	Requires: []Requirement{
		atLeast("SPEC on six machines: the best found for 84 %", metric("best found", "%", "best-found"), 84, of("spec 2006, machine: gauss")),
		atLeast("SPEC on six machines: within 5 % of the best for 90 %", metric("within 5 %", "%", "within-5"), 90, of("spec 2006, machine: gauss")),
		atLeast("clouds: within 5 % of the best for 90 %", metric("within 5 %", "%", "within-5"), 90,
			of("lumos alibaba, 1 s: gauss"), of("lumos alibaba, 5 s: gauss"), of("lumos huawei, 1 s: gauss"), of("lumos huawei, 5 s: gauss")),
		repeats("Alibaba, first campaign", "lumos alibaba, 1 s"), repeats("Alibaba, second campaign", "lumos alibaba, 5 s"),
		repeats("Huawei, first campaign", "lumos huawei, 1 s"), repeats("Huawei, second campaign", "lumos huawei, 5 s"),
	},
	Why: "These are other programs and machines than the paper's: public measurements with two entries shown. Several machine types of a cloud are alike, so that the best one changes when all is measured again " +
		"on another day (repeat), and no predictor can name it more often than a second measurement does. The paper's 3.8 % is on machines that differ more than the noise. ",
}

// heterogeneityOnRealData shows two runs of each workload.
var heterogeneityOnRealData = &Computation{
	Name: "heterogeneity on real data", Source: "lumos-cloud-perf and spec-cpu-machine-matrix",
	run: (&classified{
		sets: public("lumos-cloud-perf", "spec-cpu-machine-matrix"), kinds: []dataset.Kind{dataset.Heterogeneity}, entries: []int{2}, classifiers: []string{"cf", "gauss", "mean"},
	}).run,
}

// repeats bounds the mean error by the published one, or by that of measuring
// all over again on another day.
func repeats(name, set string) Requirement {
	q := metric("mean error", "%", "mean")
	return compared(name+": a mean error of 3.8 %, or of measuring again", func(v []float64) bool { return v[0] <= max(3.8, v[1]) },
		use{q, of(set + ": gauss")}, use{q, of(set + ": repeat")})
}
