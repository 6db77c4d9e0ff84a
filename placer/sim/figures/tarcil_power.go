package figures

var tarcilPower = Experiment{
	ID: "tarcil-7.4", Paper: "tarcil", Where: "figures 7.3 and 7.4", Title: "Distribution of the best of R units",
	Missing: "a run does not keep qualities of candidates. TestSampledRankFollowsPower of placer/policy bounds the Kolmogorov distance from x^R for 8 to 64 candidates by 0.05.",
}
