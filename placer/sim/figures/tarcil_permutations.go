package figures

var tarcilPermutations = Experiment{
	ID: "tarcil-7.16", Paper: "tarcil", Where: "figure 7.16", Title: "Distribution of qualities over permutations",
	Missing: "a run does not keep qualities of candidates. TestSampledRankFollowsPower of placer/policy checks the distribution on random clusters.",
}
