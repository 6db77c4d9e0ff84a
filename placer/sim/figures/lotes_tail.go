package figures

var lotesTail = Experiment{
	ID: "lotes-9", Paper: "lotes", Where: "§5.3.3, figure 9", Title: "Jobs like those of Google's trace: the tail of the waits",
	Scenarios: []string{"lotes-google"}, Headline: of("lotes").load(lotesTraceLoad),
	Quantities: []Quantity{
		waitLaterTail.from(published{"lotes at 0.93": below(3600), "tetris at 0.93": about(25200), "greedy-fit at 0.93": above(61200)}),
		waitTail, waitedHour.from(published{"lotes at 0.93": below(1)}),
	},
	Requires: []Requirement{
		atMost("under LoTES less than 1 % of the jobs wait more than an hour", waitedHour, 1, of("lotes").load(lotesTraceLoad)),
		multiple("1 % of the jobs wait seven times as long under Tetris", waitLaterTail, 7, of("tetris").load(lotesTraceLoad), of("lotes").load(lotesTraceLoad)),
		multiple("and seventeen times as long under Greedy", waitLaterTail, 17, of("greedy-fit").load(lotesTraceLoad), of("lotes").load(lotesTraceLoad)),
	},
	Why:   whyLoTESTrace + "Tetris prefers jobs of little work, which lets large ones wait: its mean and its tail differ in kind. ",
	Plots: []Plot{waits(atLoad(lotesTraceLoad, all("lotes", "tetris", "greedy-fit"))...)},
}
