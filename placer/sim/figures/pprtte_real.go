package figures

var pprtteReal = Experiment{
	ID: "pprtte-6", Paper: "pprtte", Where: "§VI, cost", Title: "Operational cost lower by about 12 %",
	Missing: "the figure follows from none of the paper's tables, and a price is not published. Energy and work per joule of every policy stand in pprtte-1 to pprtte-3; TestADeadlineInDangerIsSeen of e2e/placement has a deadline in danger seen, and acted on, on a real Nomad.",
}
