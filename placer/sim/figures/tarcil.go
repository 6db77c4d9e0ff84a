package figures

// medianWithWait is the median of what a job reached from submission on.
var medianWithWait = metric("median from submission", "%", "median_with_wait")

// The response of a job: from submission to its end.
var (
	responseMean = thousandfold("mean response", "stay_mean")
	responseTail = thousandfold("95th percentile of the response", "stay_p95")
)

// tarcilExperiments are those of the paper, in its order.
var tarcilExperiments = []Experiment{
	{
		ID: "tarcil-lengths", Paper: "tarcil", Where: "§7.1, figure 7.1", Title: "Short, medium and long jobs on 200 servers",
		Scenarios: []string{"tarcil-short", "tarcil-medium", "tarcil-long"}, Headline: of("tarcil").load(0.8).in("tarcil-short"),
		Rows: atLoad(0.8, across([]string{"tarcil-short", "tarcil-medium", "tarcil-long"}, "tarcil", "sparrow", "centralized", "tarcil-oracle", "least-loaded", "nomad-binpack", "nomad-spread")),
		Quantities: []Quantity{
			metric("median performance from submission", "%", "median_with_wait").from(published{
				"sparrow at 0.8, tarcil-short": between(80, 95), "sparrow at 0.8, tarcil-medium": between(30, 50), "sparrow at 0.8, tarcil-long": between(30, 50),
				"centralized at 0.8, tarcil-short": pictured, "centralized at 0.8, tarcil-medium": pictured, "centralized at 0.8, tarcil-long": pictured,
				"tarcil at 0.8, tarcil-short": pictured, "tarcil at 0.8, tarcil-medium": pictured, "tarcil at 0.8, tarcil-long": pictured,
			}),
			performanceWaits, qosWithWait,
		},
		Requires: []Requirement{
			ahead("sampling is fine for short jobs and poor for long ones", medianWithWait, 10, of("sparrow").load(0.8).in("tarcil-short"), of("sparrow").load(0.8).in("tarcil-long")),
			ahead("a central scheduler is the other way round", medianWithWait, 10, of("centralized").load(0.8).in("tarcil-long"), of("centralized").load(0.8).in("tarcil-short")),
			atLeast("Tarcil's median is 90 % for all three", medianWithWait, 90, of("tarcil").load(0.8).in("tarcil-short"), of("tarcil").load(0.8).in("tarcil-medium"), of("tarcil").load(0.8).in("tarcil-long")),
		},
		Why: whyTasks + whyPlatforms + whyDecisions + "Published is the range most jobs lie in. Which servers the 200 are is not said; ours are those of Quasar's evaluation. ",
		Plots: []Plot{
			sortedWithWait(atLoad(0.8, across([]string{"tarcil-short"}, "tarcil", "sparrow", "centralized"))...),
			sortedWithWait(atLoad(0.8, across([]string{"tarcil-medium"}, "tarcil", "sparrow", "centralized"))...),
			sortedWithWait(atLoad(0.8, across([]string{"tarcil-long"}, "tarcil", "sparrow", "centralized"))...),
		},
	},
	{
		ID: "tarcil-7.2", Paper: "tarcil", Where: "figure 7.2", Title: "Qualities of resource units",
		Missing: "qualities of units are a policy's own and are not kept by a run. TestGoodShare of placer/policy counts units that are good for a target.",
	},
	{
		ID: "tarcil-7.4", Paper: "tarcil", Where: "figures 7.3 and 7.4", Title: "Distribution of the best of R units",
		Missing: "a run does not keep qualities of candidates. TestSampledRankFollowsPower of placer/policy bounds the Kolmogorov distance from x^R for 8 to 64 candidates by 0.05.",
	},
	{
		ID: "tarcil-7.6", Paper: "tarcil", Where: "figure 7.6", Title: "Estimated waiting times",
		Missing: "a run does not keep the controller's estimates. TestWaitEstimate of placer/sim/admission compares them with what is observed.",
	},
	{
		ID: "tarcil-candidates", Paper: "tarcil", Where: "figure 7.9", Title: "Number of candidates",
		Scenarios: []string{"tarcil-candidates"}, Headline: of("tarcil-8").load(0.6),
		Quantities: []Quantity{
			responseMean.from(published{"tarcil-8 at 0.6": pictured, "tarcil-8 at 0.9": pictured}),
			responseTail, metric("plans refused", "%", "refused_plans"), metric("mean decision time", "ms", "deciding_mean"),
		},
		Requires: []Requirement{
			compared("up to 32 candidates cost at most 10 % of the response time", func(v []float64) bool { return v[1] <= 1.1*v[0] },
				uses(responseMean, of("tarcil-8").load(0.6), of("tarcil-32").load(0.6))...),
			compared("128 cost more than that", func(v []float64) bool { return v[1] > 1.1*v[0] },
				uses(responseMean, of("tarcil-8").load(0.6), of("tarcil-128").load(0.6))...),
			compared("at high load, 4, 8 or 16 are the best", func(v []float64) bool { return min(v[1], v[2], v[3]) <= min(v[0], v[4], v[5], v[6]) },
				uses(responseMean, of("tarcil-2").load(0.9), of("tarcil-4").load(0.9), of("tarcil-8").load(0.9), of("tarcil-16").load(0.9), of("tarcil-32").load(0.9), of("tarcil-64").load(0.9), of("tarcil-128").load(0.9))...),
		},
		Why: whyTasks + whyDecisions,
		Plots: []Plot{
			sweep("Mean response by the number of candidates", responseMean, "candidates", "", true,
				sweepLine{"load 30 %", []sweepPoint{{2, of("tarcil-2").load(0.3)}, {4, of("tarcil-4").load(0.3)}, {8, of("tarcil-8").load(0.3)}, {16, of("tarcil-16").load(0.3)}, {32, of("tarcil-32").load(0.3)}, {64, of("tarcil-64").load(0.3)}, {128, of("tarcil-128").load(0.3)}}},
				sweepLine{"load 60 %", []sweepPoint{{2, of("tarcil-2").load(0.6)}, {4, of("tarcil-4").load(0.6)}, {8, of("tarcil-8").load(0.6)}, {16, of("tarcil-16").load(0.6)}, {32, of("tarcil-32").load(0.6)}, {64, of("tarcil-64").load(0.6)}, {128, of("tarcil-128").load(0.6)}}},
				sweepLine{"load 90 %", []sweepPoint{{2, of("tarcil-2").load(0.9)}, {4, of("tarcil-4").load(0.9)}, {8, of("tarcil-8").load(0.9)}, {16, of("tarcil-16").load(0.9)}, {32, of("tarcil-32").load(0.9)}, {64, of("tarcil-64").load(0.9)}, {128, of("tarcil-128").load(0.9)}}}),
		},
	},
	{
		ID: "tarcil-agents", Paper: "tarcil", Where: "figure 7.10", Title: "Number of scheduling agents",
		Scenarios: []string{"tarcil-agents"}, Headline: of("tarcil-12").load(0.8),
		Quantities: []Quantity{
			responseMean.from(published{"tarcil-1 at 0.8": pictured, "tarcil-12 at 0.8": pictured}),
			responseTail, qosWithWait, metric("plans refused", "%", "refused_plans"),
		},
		Requires: []Requirement{
			behind("fewer than three agents are too few at high load", responseMean, 0, of("tarcil-3").load(0.8), of("tarcil-1").load(0.8)),
			compared("three are within 10 % of the best", func(v []float64) bool { return v[2] <= 1.1*least(v) },
				uses(responseMean, of("tarcil-1").load(0.8), of("tarcil-2").load(0.8), of("tarcil-3").load(0.8), of("tarcil-6").load(0.8), of("tarcil-12").load(0.8), of("tarcil-24").load(0.8))...),
		},
		Why: whyTasks + whyDecisions + "Agents decide on the state of the moment, never on an older copy, so that many of them conflict less than in the paper. ",
		Plots: []Plot{
			sweep("Mean response by the number of agents", responseMean, "agents", "", true,
				sweepLine{"load 50 %", []sweepPoint{{1, of("tarcil-1").load(0.5)}, {2, of("tarcil-2").load(0.5)}, {3, of("tarcil-3").load(0.5)}, {6, of("tarcil-6").load(0.5)}, {12, of("tarcil-12").load(0.5)}, {24, of("tarcil-24").load(0.5)}}},
				sweepLine{"load 80 %", []sweepPoint{{1, of("tarcil-1").load(0.8)}, {2, of("tarcil-2").load(0.8)}, {3, of("tarcil-3").load(0.8)}, {6, of("tarcil-6").load(0.8)}, {12, of("tarcil-12").load(0.8)}, {24, of("tarcil-24").load(0.8)}}}),
		},
	},
	{
		ID: "tarcil-loads", Paper: "tarcil", Where: "figure 7.11a", Title: "Response by load",
		Scenarios: []string{"tarcil-loads"}, Headline: of("tarcil").load(0.8),
		Quantities: []Quantity{
			responseMean.from(published{"tarcil at 0.8": pictured}), responseTail.from(published{"tarcil at 0.7": below(250), "tarcil at 0.9": above(250)}), qosWithWait,
		},
		Requires: []Requirement{
			compared("the mean is flat up to 80 %, within 15 %", func(v []float64) bool { return v[1] <= 1.15*v[0] },
				uses(responseMean, of("tarcil").load(0.3), of("tarcil").load(0.8))...),
			atMost("up to 70 %, 95 % end within 250 ms", responseTail, 250, of("tarcil").load(0.3), of("tarcil").load(0.5), of("tarcil").load(0.7)),
		},
		Why: whyTasks + whyDecisions,
		Plots: []Plot{
			overLoads("Mean response by load", responseMean, []float64{0.3, 0.5, 0.7, 0.8, 0.9}, "tarcil", "sparrow", "centralized", "least-loaded", "nomad-binpack"),
			decisionTimes(of("tarcil").load(0.8), of("sparrow").load(0.8), of("centralized").load(0.8)),
		},
	},
	{
		ID: "tarcil-lengths-response", Paper: "tarcil", Where: "figure 7.11b", Title: "Response by the length of tasks",
		Scenarios: []string{"tarcil-short", "tarcil-medium", "tarcil-long"}, Headline: of("tarcil").load(0.8).in("tarcil-long"),
		Rows: atLoad(0.8, across([]string{"tarcil-short", "tarcil-medium", "tarcil-long"}, "tarcil", "tarcil-oracle", "least-loaded", "nomad-binpack", "nomad-spread")),
		Quantities: []Quantity{
			performanceWaits.from(published{"tarcil at 0.8, tarcil-long": about(100), "tarcil at 0.8, tarcil-short": pictured}),
			decidingShare, waitingShare,
		},
		Requires: []Requirement{
			atLeast("long tasks take about their target", performanceWaits, 90, of("tarcil").load(0.8).in("tarcil-long")),
			ahead("short ones are dominated by overheads", decidingShare, 1, of("tarcil").load(0.8).in("tarcil-short"), of("tarcil").load(0.8).in("tarcil-long")),
		},
		Why:   whyTasks + whyDecisions,
		Plots: []Plot{sortedWithWait(of("tarcil").load(0.8).in("tarcil-short"), of("tarcil").load(0.8).in("tarcil-medium"), of("tarcil").load(0.8).in("tarcil-long"))},
	},
	{
		ID: "tarcil-7.12a", Paper: "tarcil", Where: "figure 7.12a", Title: "TPC-H queries on an idle cluster",
		Missing: "jobs of the simulated world have one stage; queries are graphs of them, pinned to their data.",
	},
	{
		ID: "tarcil-resident", Paper: "tarcil", Where: "figures 7.12b and 7.13", Title: "Short tasks next to resident services",
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
		Plots: []Plot{sorted(of("tarcil").load(0.35), of("sparrow").load(0.35), of("centralized").load(0.35)), keptOfCoRunners(of("tarcil").load(0.35), of("sparrow").load(0.35), of("centralized").load(0.35))},
	},
	{
		ID: "tarcil-mixed", Paper: "tarcil", Where: "figure 7.12c and §7.1", Title: "Short jobs on servers of five configurations",
		Scenarios: []string{"tarcil-mixed"}, Headline: of("tarcil").load(0.8),
		Quantities: []Quantity{
			against("sparrow", "mean performance, against Sparrow", "performance_with_wait").from(published{"tarcil at 0.8": n(41)}),
			performanceWaits, qosWithWait, responseMean, responseTail,
		},
		Requires: []Requirement{
			atLeast("Tarcil is 30 % better than Sparrow on average", against("sparrow", "mean performance, against Sparrow", "performance_with_wait"), 30, of("tarcil").load(0.8)),
			behind("its tail is better too", responseTail, 0, of("tarcil").load(0.8), of("sparrow").load(0.8)),
		},
		Why:   whyTasks + whyPlatforms + whyDecisions,
		Plots: []Plot{sortedWithWait(of("tarcil").load(0.8), of("sparrow").load(0.8), of("centralized").load(0.8), of("tarcil-oracle").load(0.8), of("least-loaded").load(0.8), of("nomad-binpack").load(0.8))},
	},
	{
		ID: "tarcil-heterogeneous", Paper: "tarcil", Where: "figure 7.14a", Title: "7,200 mixed jobs on 400 servers",
		Scenarios: []string{"tarcil-heterogeneous"}, Headline: of("tarcil"),
		Quantities: []Quantity{
			nearOptimal.from(published{"tarcil": n(92), "sparrow": n(22), "centralized": n(48)}),
			performanceWaits.from(published{"tarcil": n(97), "centralized": n(82)}),
			metric("worst job from submission", "%", "worst_with_wait").from(published{"tarcil": n(92)}),
			qos,
		},
		Requires: []Requirement{
			atLeast("at least 88 % of the jobs are near-optimal", qosWithWait, 88, of("tarcil")),
			atLeast("mean performance is at least 95 %", performanceWaits, 95, of("tarcil")),
			atLeast("no job loses more than 10 %", metric("worst job", "%", "worst_with_wait"), 90, of("tarcil")),
			multiple("three times as many near-optimal jobs as with sampling", qosWithWait, 3, of("tarcil"), of("sparrow")),
			multiple("1.5 times as many as with a central scheduler", qosWithWait, 1.5, of("tarcil"), of("centralized")),
		},
		Why:   whyPrograms + whyDecisions + "Jobs run on one server each; Spark, Hadoop and Storm of the paper on several. ",
		Plots: []Plot{sortedWithWait(of("tarcil"), of("sparrow"), of("centralized"), of("least-loaded"), of("nomad-binpack"))},
	},
	{
		ID: "tarcil-heterogeneous-utilisation", Paper: "tarcil", Where: "figure 7.14b", Title: "7,200 mixed jobs on 400 servers: utilisation",
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
	},
	{
		ID: "tarcil-heterogeneous-overheads", Paper: "tarcil", Where: "figure 7.14d", Title: "7,200 mixed jobs on 400 servers: scheduling overheads",
		Scenarios: []string{"tarcil-heterogeneous"}, Headline: of("tarcil"),
		Quantities: []Quantity{
			metric("decided within 150 ms", "%", "decided_150ms").from(published{"tarcil": above(80), "sparrow": above(80)}),
			metric("mean decision time", "ms", "deciding_mean").from(published{"centralized": about(1000)}),
			metric("99th percentile", "ms", "deciding_p99"),
		},
		Requires: []Requirement{
			atLeast("Tarcil decides within 150 ms for 80 % of the jobs", metric("decided within 150 ms", "%", "decided_150ms"), 80, of("tarcil")),
			atLeast("so does sampling", metric("decided within 150 ms", "%", "decided_150ms"), 80, of("sparrow")),
			atLeast("a central scheduler takes about a second", metric("mean decision time", "ms", "deciding_mean"), 500, of("centralized")),
		},
		Why:   whyDecisions + "The model is derived from these very totals: this shows that it is applied, not that it is true. ",
		Plots: []Plot{decisionTimes(of("tarcil"), of("sparrow"), of("centralized"))},
	},
	{
		ID: "tarcil-7.15", Paper: "tarcil", Where: "figure 7.15", Title: "Quality of the units in use over time",
		Missing: "qualities of units are a policy's own and are not kept by a run.",
	},
	{
		ID: "tarcil-7.16", Paper: "tarcil", Where: "figure 7.16", Title: "Distribution of qualities over permutations",
		Missing: "a run does not keep qualities of candidates. TestSampledRankFollowsPower of placer/policy checks the distribution on random clusters.",
	},
	{
		ID: "tarcil-causes", Paper: "tarcil", Where: "§7.2, §7.3", Title: "What decides, a third of the mixed jobs on 400 servers",
		Scenarios: []string{"tarcil-causes", "tarcil-causes-light"}, Headline: of("tarcil"),
		Rows: append(all(tarcilParts...), across([]string{"tarcil-causes-light"}, tarcilParts[:7]...)...),
		Quantities: []Quantity{
			nearOptimal, performanceWaits, qos, bestPlatform, undisturbed, metric("mean wait", "s", "wait_mean"), metric("mean decision time", "ms", "deciding_mean"),
		},
		Requires: []Requirement{
			ahead("both preferences are needed: more jobs are near-optimal than with either alone", nearOptimal, 0, of("tarcil"), of("tarcil-scores-ignored"), of("tarcil-speeds-ignored")),
			alike("as many candidates as the wanted quality asks for are as good as 32, within two points", nearOptimal, 2, of("tarcil"), of("tarcil-candidates-32")),
			ahead("and better than eight", nearOptimal, 0, of("tarcil"), of("tarcil-candidates-8")),
			ahead("waiting for suitable servers pays, a point", nearOptimal, 1, of("tarcil"), of("tarcil-unqueued")),
			ahead("a central scheduler loses a point by the time of its decisions", nearOptimal, 1, of("centralized-free"), of("centralized")),
		},
		Why: fromTable("tarcil-causes", nearOptimal, "The gain over a sample that is not judged is owed to configurations: by them alone %s %% are near-optimal, by interference alone %s %%, without either %s %% (sparrow).", "tarcil-scores-ignored", "tarcil-speeds-ignored", "sparrow") +
			fromTable("tarcil-causes", undisturbed, "The scores cost more than they give, for the quality prefers servers that are as full as a job is said to tolerate: with them %s %% of the jobs lose at most 5 %% to co-runners, without them %s %%, and where fewer candidates leave less to choose from %s %% (candidates-8).", "tarcil", "tarcil-scores-ignored", "tarcil-candidates-8") +
			fromTable("tarcil-causes", nearOptimal, "The difference is larger at half of the load, where emptier servers are there to be taken: %s %% near-optimal with scores, %s %% without.", "tarcil, tarcil-causes-light", "tarcil-scores-ignored, tarcil-causes-light") +
			fromTable("tarcil-causes", nearOptimal, "It is not what is unknown of jobs: with the truth %s %% are near-optimal, with estimates %s %%.", "tarcil-oracle", "tarcil") +
			fromTable("tarcil-causes", nearOptimal, "For jobs of ten minutes and more neither the time of decisions nor the queue for suitable servers matters: %s %% in no time, %s %% without the queue, and a central scheduler %s %%, in no time %s %%.", "tarcil-free", "tarcil-unqueued", "centralized", "centralized-free"),
		Plots: []Plot{byPart(nearOptimal, all(tarcilParts...)...)},
	},
}

// nearOptimal is what the paper calls jobs that keep their QoS from submission on.
var nearOptimal = qosWithWait.named("near-optimal jobs")

// tarcilParts are Tarcil, and Tarcil with a part taken away or known better; the first seven are
// run at a lower load, too.
var tarcilParts = []string{
	"tarcil", "tarcil-scores-ignored", "tarcil-speeds-ignored", "sparrow", "tarcil-oracle", "tarcil-candidates-8", "tarcil-candidates-32",
	"tarcil-unqueued", "tarcil-measured", "tarcil-free", "centralized", "centralized-free",
}
