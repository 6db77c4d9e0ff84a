package figures

import "github.com/nomad-placer/nomad-placer/placer/sim/dataset"

var quasarClassification = Experiment{
	ID: "quasar-q15", Paper: "quasar", Where: "tables 4.2 and 4.3, figure 4.3", Title: "Classification, on real data, by the number of entries",
	Compute: classificationOnRealData, Headline: of("c3o by count, 2 and 8 shown, 2 shown: gauss"),
	Quantities: []Quantity{
		metric("mean error", "%", "mean").from(published{thePaper: n(5)}),
		metric("90th percentile of a workload's error", "%", "row-p90").from(published{thePaper: n(14.5)}),
		metric("largest", "%", "row-max").from(published{thePaper: n(17)}),
		metric("90th percentile of a cell's error", "%", "p90"),
	},
	Requires: []Requirement{
		atMost("scale-out of Spark: a mean error of 5 %", metric("mean error", "%", "mean"), 5, of("c3o by count, 2 and 8 shown, 2 shown: gauss")),
		atMost("scale-out of training: a mean error of 5 %", metric("mean error", "%", "mean"), 5, of("sia aws, 1 and 8 GPUs shown, 2 shown: gauss")),
		compared("two entries are better than one, and four than two", func(v []float64) bool { return v[0] > v[1] && v[1] > v[2] },
			uses(metric("mean error", "%", "mean"), of("c3o by machine and count, 1 shown: gauss"), of("c3o by machine and count, 2 shown: gauss"),
				of("c3o by machine and count, 4 shown: gauss"))...),
		atMost("all combinations at once, eight entries: 14.1 %", metric("mean error", "%", "mean"), 14.1, of("c3o by machine and count, 8 shown: gauss")),
	},
	Why: "The published row is Hadoop's scale-out; ours are Spark jobs (c3o) and distributed training (sia), other programs on other machines. Few workloads are known in every cell. ",
}

// classificationOnRealData shows one to eight cells of each workload: of numbers
// of nodes, and of machines and numbers together.
var classificationOnRealData = &Computation{
	Name: "classification on real data", Source: "c3o-spark and sia-gpu-profiles",
	run: (&classified{
		sets: public("c3o-spark", "sia-gpu-profiles"), kinds: []dataset.Kind{dataset.ScaleOut, dataset.Exhaustive}, entries: []int{1, 2, 4, 8}, classifiers: []string{"gauss", "mean"},
	}).run,
}
