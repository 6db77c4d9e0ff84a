package figures

var pprtteQuiet = Experiment{
	ID: "pprtte-1", Paper: "pprtte", Where: "table I", Title: "Deadlines without interference",
	Scenarios: []string{"pprtte-quiet"}, Headline: of("pp-rtte"),
	Quantities: []Quantity{
		onTime.from(published{"obfit": n(100), "rtte": n(100), "pp-rtte": n(100)}),
		workingEfficiency.from(published{"obfit": n(73.57), "rtte": n(74.82), "pp-rtte": n(74.82)}),
		workPerJoule.from(published{"obfit": n(0.0524), "rtte": n(0.0531), "pp-rtte": n(0.0531)}),
		against("obfit", "work per joule over OBFIT", "work_per_joule").from(published{"rtte": n(1.3), "pp-rtte": n(1.3)}),
		unitsPerNode.from(published{"obfit": n(14.51), "rtte": n(15.70), "pp-rtte": n(15.70)}),
		against("obfit", "tasks per node over OBFIT", "units_per_node").from(published{"rtte": n(8.2), "pp-rtte": n(8.2)}),
		migrations,
	},
	Requires: []Requirement{
		atLeast("all end in time", onTime, 99.9, of("pp-rtte"), of("rtte"), of("obfit")),
		alike("RTTE and PP-RTTE are one: on time", onTime, 0, of("pp-rtte"), of("rtte")),
		alike("and in work per joule", workPerJoule, 0, of("pp-rtte"), of("rtte")),
		alike("and in moves", migrations, 0, of("pp-rtte"), of("rtte")),
		ahead("more tasks on a node than OBFIT", unitsPerNode, 0, of("pp-rtte"), of("obfit")),
		ahead("more useful work per watt than OBFIT", workingEfficiency, 0, of("pp-rtte"), of("obfit")),
		ahead("more work per joule than OBFIT", workPerJoule, 0, of("pp-rtte"), of("obfit")),
	},
	Why: whyDeadlines + whyJoules +
		"What is held at just the needed rate ends at its deadline and not a tenth earlier, so that RTTE runs each task longer on a smaller share; that it then also saves energy takes nodes that fall asleep with the tasks, and ours are emptied by moves that cost 8 to 12 s each. ",
	Plots: []Plot{usageOf(of("pp-rtte")), usageOf(of("obfit"))},
}

// The quantities of jobs with deadlines.
var (
	onTime            = metric("jobs on time", "%", "on_time")
	workingEfficiency = metric("efficiency times jobs on time", "%", "working_efficiency")
	workPerJoule      = metric("work per joule", "Mflop/J", "work_per_joule")
	unitsPerNode      = metric("tasks per node in use", "tasks", "units_per_node")
	slowdownEstimated = metric("estimated slowdown", "%", "estimated_slowdown")
	slowdownTrue      = metric("true slowdown", "%", "true_slowdown")
	slowdownError     = metric("error of the estimate", "%", "slowdown_error")
	migrations        = metric("moves of tasks", "moves", "migrations")
	capChanges        = metric("changes of caps in place", "changes", "cap_changes")
)

// Causes of differences that the experiments on deadlines share.
const (
	whyDeadlines = "The trace is not published with its parameters; ours is drawn to what is stated of it, and the size of tasks was chosen once so that OBFIT packs about as many to a machine. RTTE and OBFIT are not explained in the text and are reconstructed. "
	whyJoules    = "Work per joule is 45 times the published figure: at 250 W and 800 Mflop/s a machine cannot do less at this load than 2.4 Mflop/J, so that the printed scale is of something else and only ratios compare. "
)
