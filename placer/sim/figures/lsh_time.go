package figures

var lshPredictionTime = Experiment{
	ID: "lsh-5", Paper: "lsh", Where: "§IV.D, figure 5", Title: "Time of a prediction by the size of the training set",
	Missing: "a report has no time of the host. BenchmarkLSH of placer/classify times predictions from 50 to 100,000 rows; placer/docs/lsh.md has what it says beside the published 13 ms at 150 rows.",
}
