package figures

var lotesPhi = Experiment{
	ID: "lotes-11", Paper: "lotes", Where: "§5.4.2, figure 11", Title: "Drawn classes: response by how much needs differ",
	Scenarios: phiScenarios, Headline: phiAt(5, "lotes"), Rows: atLoad(phiLoad, across(phiScenarios, "lotes", "tetris", "greedy-fit")),
	Quantities: []Quantity{waitMean.from(published{phiAt(5, "lotes").String(): pictured, phiAt(5, "tetris").String(): pictured}), waitTail, queueMean, queueGrowth},
	Requires: []Requirement{
		multiple("Greedy's queue grows without bound", queueGrowth, 10, phiAt(0, "greedy-fit"), phiAt(0, "lotes")),
		falling("LoTES waits less than Tetris at 0.006", waitMean, phiAt(2, "tetris"), phiAt(2, "lotes")),
		falling("LoTES waits less than Tetris at 0.015", waitMean, phiAt(5, "tetris"), phiAt(5, "lotes")),
		falling("Tetris waits longer the more needs differ", waitMean, phiAt(5, "tetris"), phiAt(0, "tetris")),
	},
	Why:   whyDrawn,
	Plots: []Plot{sweep("Mean response by how much needs differ", waitMean, "phi, thousandths", "", false, phiLine("lotes"), phiLine("tetris"), phiLine("greedy-fit"))},
}

const (
	phiLoad  = 0.97
	whyDrawn = "With 20 machines of a kind instead of 1,000 a queue has less to draw from, and 6 hours from an empty cluster are shorter than 100. The rate is a share of what bins of mean jobs serve; jobs of different sizes pack closer than that, so a policy that looks at sizes has room to spare. Under LoTES a job waits only where no machine has room for it: filling every machine alike towards its mix leaves a little everywhere, and none that holds a large job. Mean times are at least 0.02 of an hour, as they would otherwise hang on one class. "
)

var phiScenarios = []string{"lotes-a-phi-000", "lotes-a-phi-003", "lotes-a-phi-006", "lotes-a-phi-009", "lotes-a-phi-012", "lotes-a-phi-015"}

// phiAt is a policy in the scenario of that number.
func phiAt(i int, policy string) At { return of(policy).load(phiLoad).in(phiScenarios[i]) }

func phiLine(policy string) sweepLine {
	l := sweepLine{name: policy}
	for i := range phiScenarios {
		l.points = append(l.points, sweepPoint{3 * float64(i), phiAt(i, policy)})
	}
	return l
}
