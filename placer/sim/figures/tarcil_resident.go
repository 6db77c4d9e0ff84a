package figures

var tarcilResident = Experiment{
	ID: "tarcil-7.13", Paper: "tarcil", Where: "figures 7.12b and 7.13", Title: "Short tasks beside resident services",
	Scenarios: []string{"tarcil-resident"}, Headline: of("tarcil").load(0.35),
	Quantities: []Quantity{
		metric("time in which memcached served its load", "%", "in_bound:memcached").from(published{"tarcil at 0.35": pictured, "sparrow at 0.35": pictured, "centralized at 0.35": pictured}),
		metric("load that memcached served", "%", "performance:memcached"),
		metric("performance of tasks of one program", "%", "performance:ST"), metric("of another", "%", "performance:IO"), responseMean,
	},
	Requires: []Requirement{
		atLeast("with Tarcil services are in bound for 95 % of the time", metric("time in bound", "%", "in_bound:memcached"), 95, of("tarcil").load(0.35)),
		atLeast("with a central scheduler too", metric("time in bound", "%", "in_bound:memcached"), 95, of("centralized").load(0.35)),
		ahead("with Sparrow 5 points less", metric("time in bound", "%", "in_bound:memcached"), 5, of("tarcil").load(0.35), of("sparrow").load(0.35)),
	},
	Why:   whyTasks + whyServices + whyDecisions,
	Plots: []Plot{sorted(of("tarcil").load(0.35), of("sparrow").load(0.35), of("centralized").load(0.35)), keptOfNeighbours(of("tarcil").load(0.35), of("sparrow").load(0.35), of("centralized").load(0.35))},
}
