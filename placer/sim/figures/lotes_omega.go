package figures

var omegaScenarios = []string{"lotes-b-omega-00", "lotes-b-omega-10", "lotes-b-omega-20", "lotes-b-omega-30"}

// omegaAt is a policy in the scenario of that number.
func omegaAt(i int, load float64, policy string) At {
	return of(policy).load(load).in(omegaScenarios[i])
}

func omegaLine(load float64, policy string) sweepLine {
	l := sweepLine{name: policy}
	for i := range omegaScenarios {
		l.points = append(l.points, sweepPoint{float64(i) / 10, omegaAt(i, load, policy)})
	}
	return l
}

const whyOmega = whyDrawn + "The paper splits arrivals by the stock of jobs in place; lotes by their flow, lotes-stock as printed. "

var lotesOmega90 = Experiment{
	ID: "lotes-12", Paper: "lotes", Where: "§5.4.3, figure 12", Title: "Drawn classes whose rates differ between machines, load 0.90",
	Scenarios: omegaScenarios, Headline: omegaAt(3, 0.9, "lotes"), Rows: atLoad(0.9, append(across(omegaScenarios, "lotes", "tetris"), of("lotes-stock").in(omegaScenarios[3]))),
	Quantities: []Quantity{waitMean.from(published{omegaAt(3, 0.9, "lotes").String(): pictured, omegaAt(3, 0.9, "tetris").String(): pictured}), waitTail, queueMean, queueGrowth},
	Requires: []Requirement{
		atMost("LoTES starts nearly everything at once: less than 10 s on average", waitMean, 10, omegaAt(0, 0.9, "lotes"), omegaAt(1, 0.9, "lotes"), omegaAt(2, 0.9, "lotes"), omegaAt(3, 0.9, "lotes")),
		falling("Tetris waits longer the more rates differ", waitMean, omegaAt(3, 0.9, "tetris"), omegaAt(1, 0.9, "tetris"), omegaAt(0, 0.9, "tetris")),
	},
	Why:   whyOmega,
	Plots: []Plot{sweep("Mean response by how much rates differ", waitMean, "omega", "", false, omegaLine(0.9, "lotes"), omegaLine(0.9, "tetris"))},
}

var lotesOmega95 = Experiment{
	ID: "lotes-13", Paper: "lotes", Where: "§5.4.3, figure 13", Title: "Drawn classes whose rates differ between machines, load 0.95",
	Scenarios: omegaScenarios, Headline: omegaAt(3, 0.95, "lotes"), Rows: atLoad(0.95, append(across(omegaScenarios, "lotes", "tetris"), of("lotes-stock").in(omegaScenarios[3]))),
	Quantities: []Quantity{waitMean.from(published{omegaAt(3, 0.95, "lotes").String(): pictured, omegaAt(3, 0.95, "tetris").String(): pictured}), waitTail, queueMean, queueGrowth},
	Requires: []Requirement{
		falling("LoTES waits less than Tetris at 0.2", waitMean, omegaAt(2, 0.95, "tetris"), omegaAt(2, 0.95, "lotes")),
		falling("LoTES waits longer the more rates differ", waitMean, omegaAt(3, 0.95, "lotes"), omegaAt(0, 0.95, "lotes")),
		multiple("beyond 0.1 the queue of Tetris grows without bound", queueGrowth, 10, omegaAt(2, 0.95, "tetris"), omegaAt(0, 0.95, "tetris")),
	},
	Why:   whyOmega,
	Plots: []Plot{sweep("Mean response by how much rates differ", waitMean, "omega", "", false, omegaLine(0.95, "lotes"), omegaLine(0.95, "tetris"))},
}
