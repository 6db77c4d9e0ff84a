package figures

var paragonStatistical = Experiment{
	ID: "paragon-e17", Paper: "paragon", Where: "§3.4.2, figure 3.3", Title: "Distribution of the best of R candidates",
	Missing: "a run keeps what was placed, not the qualities of candidates. The test TestStatisticalRankFollowsPower of placer/policy compares the rank of the best of 16, 64 and 128 of 1,000 nodes with x^R; results of the statistical selection stand beside the greedy one in the scenarios of 1,000 servers.",
}
