package figures

var tarcilUtilisation = Experiment{
	ID: "tarcil-7.14b", Paper: "tarcil", Where: "figure 7.14b", Title: "7,200 mixed jobs on 400 servers: utilisation",
	Scenarios: []string{"tarcil-heterogeneous"}, Headline: of("tarcil"),
	Quantities: []Quantity{
		used.from(published{"tarcil": n(70)}), metric("cores busy in the middle", "%", "used_middle").from(published{"tarcil": about(75)}), makespan.from(published{"sparrow": about(35000)}),
	},
	Requires: []Requirement{
		atLeast("at least 65 % of the cores are busy in the middle", metric("cores busy in the middle", "%", "used_middle"), 65, of("tarcil")),
		behind("the scenario is shorter than with sampling", makespan, 0, of("tarcil"), of("sparrow")),
	},
	Why:   whyPrograms + whyDurations,
	Plots: append(maps(of("tarcil"), of("sparrow"), of("centralized")), usageOf(of("tarcil"))),
}
