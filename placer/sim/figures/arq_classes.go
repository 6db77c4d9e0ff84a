package figures

var arqClasses = Experiment{
	ID: "arq-classes", Paper: "arq", Where: "§6.6, figure 6.5b", Title: "Number of classes",
	Scenarios: []string{"arq-classes"}, Headline: of("arq-10"),
	Quantities: []Quantity{
		meanPerformance.from(published{"arq-1": pictured, "arq-2": pictured, "arq-5": pictured, "arq-10": pictured, "arq-20": pictured, "arq-50": pictured}),
		against("arq-10", "against ten classes", "performance"),
		usedUntil90.from(published{"arq-1": pictured, "arq-2": pictured, "arq-5": pictured, "arq-10": pictured, "arq-20": pictured, "arq-50": pictured}),
		against("arq-10", "against ten classes", "used_until_90"),
		qos,
	},
	Requires: []Requirement{
		neverFalling("performance rises with the number of classes, within a point", meanPerformance, 1, of("arq-1"), of("arq-2"), of("arq-5"), of("arq-10"), of("arq-20"), of("arq-50")),
		neverFalling("utilisation falls with it, within a point", usedUntil90, 1, of("arq-50"), of("arq-20"), of("arq-10"), of("arq-5"), of("arq-2"), of("arq-1")),
		alike("one class is a single queue", meanPerformance, 0.1, of("arq-1"), of("paragon")),
	},
	Why: whyPrograms + "With few servers a class of quality soon has none; an item then waits, and leaves for another class at the end of its window. ",
	Plots: []Plot{
		sweep("Mean performance by the number of classes", meanPerformance, "classes", "", true, sweepLine{"performance", []sweepPoint{{1, of("arq-1")}, {2, of("arq-2")}, {5, of("arq-5")}, {10, of("arq-10")}, {20, of("arq-20")}, {50, of("arq-50")}}}),
		sweep("Cores busy by the number of classes", usedUntil90, "classes", "", true, sweepLine{"cores busy", []sweepPoint{{1, of("arq-1")}, {2, of("arq-2")}, {5, of("arq-5")}, {10, of("arq-10")}, {20, of("arq-20")}, {50, of("arq-50")}}}),
	},
}
