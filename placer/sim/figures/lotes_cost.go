package figures

var lotesCost = Experiment{
	ID: "lotes-cost", Paper: "lotes", Where: "§5.3.3", Title: "Cost of both programs, of the bins, and of rounding",
	Missing: "it is time of the host and no time of the simulated world; BenchmarkMake of placer/predict/lotes measures it, and the paper tests there check both optima, the number of bins and the loss by rounding",
}
