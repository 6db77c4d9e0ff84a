package figures

var pprtteDetectors = Experiment{
	ID: "pprtte-3", Paper: "pprtte", Where: "figure 2a to 2c", Title: "Detectors that drive PP-RTTE",
	Scenarios: []string{"pprtte-interference"}, Headline: of("pp-rtte"),
	Rows: all("pp-rtte", "pp-rtte-lr", "pp-rtte-std", "pp-rtte-atd", "pp-rtte-etd", "pp-rtte-oracle"),
	Quantities: []Quantity{
		onTime.from(published{"pp-rtte": above(96), "pp-rtte-lr": about(90), "pp-rtte-std": about(63.5), "pp-rtte-atd": pictured, "pp-rtte-etd": pictured}),
		workPerJoule.from(published{"pp-rtte": pictured, "pp-rtte-lr": pictured, "pp-rtte-std": pictured, "pp-rtte-atd": pictured, "pp-rtte-etd": pictured}),
		workingEfficiency.from(published{"pp-rtte": pictured, "pp-rtte-lr": pictured, "pp-rtte-std": pictured, "pp-rtte-atd": pictured, "pp-rtte-etd": pictured}),
		against("pp-rtte", "moves over KFLR", "migrations").from(published{"pp-rtte-std": about(50), "pp-rtte-atd": about(50)}),
		migrations, capChanges,
	},
	Requires: []Requirement{
		falling("KFLR, LR, STD: on time", onTime, all("pp-rtte", "pp-rtte-lr", "pp-rtte-std")...),
		ahead("KFLR 5 points over LR", onTime, 5, of("pp-rtte"), of("pp-rtte-lr")),
		allAhead("KFLR and LR over the thresholds", onTime, all("pp-rtte", "pp-rtte-lr"), all("pp-rtte-std", "pp-rtte-atd", "pp-rtte-etd")),
		behind("ETD reacts too late", onTime, 0, of("pp-rtte-etd"), all("pp-rtte-std", "pp-rtte-atd")...),
		allAhead("STD and ATD move more than KFLR", migrations, all("pp-rtte-std", "pp-rtte-atd"), all("pp-rtte")),
		ahead("KFLR has the most work per joule", workPerJoule, 0, of("pp-rtte"), all("pp-rtte-lr", "pp-rtte-std", "pp-rtte-atd", "pp-rtte-etd")...),
		ahead("and the best efficiency", workingEfficiency, 0, of("pp-rtte"), all("pp-rtte-lr", "pp-rtte-std", "pp-rtte-atd", "pp-rtte-etd")...),
	},
	Why: whyDeadlines +
		"A raw sample that is too high raises a cap at once, and an alarm never takes one away: LR ratchets up to the worst of its samples. That costs energy and moves, and no deadline where 40 of 50 machines are asleep; the text does not say what its false alarms cost. " +
		"STD, ATD and ETD need 5 or 7 samples, a minute or more, before they say anything; until then a task has what its neighbours' mean slowdown asks for, which is why they lose fewer jobs than published and, silent at first, move less. ",
	Plots: []Plot{usageOf(of("pp-rtte")), usageOf(of("pp-rtte-lr"))},
}
