package figures

import "github.com/nomad-placer/nomad-placer/placer/sim/dataset"

// classificationOnRealData shows one to eight cells of each workload: of numbers
// of nodes, and of machines and numbers together.
var classificationOnRealData = &Computation{
	Name: "classification on real data", Source: "c3o-spark and sia-gpu-profiles",
	run: (&classified{
		sets: public("c3o-spark", "sia-gpu-profiles"), kinds: []dataset.Kind{dataset.ScaleOut, dataset.Exhaustive}, entries: []int{1, 2, 4, 8}, classifiers: []string{"gauss", "mean"},
	}).run,
}

// quasarExperiments are those of the paper, in its order.
var quasarExperiments = []Experiment{
	{
		ID: "quasar-batch", Paper: "quasar", Where: "figure 4.6", Title: "Ten Hadoop jobs, one at a time",
		Scenarios: []string{"quasar-batch"}, Headline: of("quasar"),
		Quantities: []Quantity{
			against("reservation-ll", "run time, against reservations on least-loaded servers", "run_mean").from(published{"quasar": n(-29)}),
			deviation.from(published{"quasar": n(5.8), "reservation-ll": n(23)}),
			metric("mean run time", "s", "run_mean"),
		},
		Requires: []Requirement{
			atMost("run times are cut by at least 20 %", against("reservation-ll", "run time", "run_mean"), -20, of("quasar")),
			compared("the distance from the target is under a third of the baseline's", func(v []float64) bool { return v[0] < v[1]/3 },
				uses(metric("distance", "%", "target_deviation"), of("quasar"), of("reservation-ll"))...),
		},
		Why:   whyBaseline + "A target is what the job's own size reaches on a configuration of stated rank, not the best of a sweep: a job may be faster than its target, which counts as distance too. ",
		Plots: []Plot{sorted(of("quasar"), of("quasar-oracle"), of("autoscale"), of("reservation-paragon"), of("reservation-ll"), of("nomad-binpack"))},
	},
	{
		ID: "quasar-parameters", Paper: "quasar", Where: "figure 4.7", Title: "Parameters of a framework",
		Missing: "jobs of the simulated world have a size and a count, and no parameters of a framework.",
	},
	{
		ID: "quasar-stragglers", Paper: "quasar", Where: "figure 4.8", Title: "Straggler detection",
		Missing: "a scenario cannot slow a single task down, and without injected stragglers there is no time of detection. The rule itself is checked by TestStragglersStartElsewhere of placer/adapt.",
	},
	{
		ID: "quasar-phases", Paper: "quasar", Where: "§4.3.4", Title: "Detection of phases",
		Missing: "a run counts classifications made anew, but not which change of phase each of them answers. The rules are checked by TestBelowTargetThreeTimes and TestAFifthIsProbed of placer/adapt.",
	},
	{
		ID: "quasar-multiple", Paper: "quasar", Where: "figure 4.9", Title: "24 data-processing jobs and best-effort work",
		Scenarios: []string{"quasar-multiple"}, Headline: of("quasar"),
		Quantities: []Quantity{
			metric("performance of the jobs with targets", "%", "performance:hadoop"),
			deviation.from(published{"quasar": n(5.3)}),
			metric("performance of best-effort work", "%", "performance:single-node").from(published{"quasar": n(92.2)}),
			metric("QoS kept of best-effort work", "%", "qos:single-node"),
		},
		Requires: []Requirement{
			ahead("jobs with targets do better than with reservations", metric("performance", "%", "performance:hadoop"), 0, of("quasar"), of("reservation-ll")),
			ahead("and so does best-effort work", metric("performance of best-effort work", "%", "performance:single-node"), 0, of("quasar"), of("reservation-ll")),
			atMost("jobs are within 10 % of their targets", metric("distance", "%", "target_deviation"), 10, of("quasar")),
			cannot("run times are cut by 27 %", "a run keeps no mean of run times over the jobs with targets only; their performance is compared instead"),
		},
		Why:   whyBaseline + "Best-effort work counts from its start, as killed where it was evicted for good. Hadoop, Storm and Spark are drawn as one class. ",
		Plots: []Plot{sorted(of("quasar"), of("quasar-oracle"), of("autoscale"), of("reservation-paragon"), of("reservation-ll"), of("nomad-binpack"))},
	},
	{
		ID: "quasar-multiple-utilisation", Paper: "quasar", Where: "figure 4.10", Title: "24 data-processing jobs and best-effort work: utilisation",
		Scenarios: []string{"quasar-multiple"}, Headline: of("quasar"),
		Quantities: []Quantity{
			used.from(published{"quasar": n(62), "reservation-ll": n(34)}),
			allocated, makespan,
		},
		Requires: []Requirement{
			ahead("10 points more cores are busy than with reservations", used, 10, of("quasar"), of("reservation-ll")),
			behind("the whole run is shorter", makespan, 0, of("quasar"), of("reservation-ll")),
		},
		Why:   whyBaseline + "Utilisation is the mean until the last submission. " + whyDurations,
		Plots: maps(of("quasar"), of("reservation-ll"), of("nomad-binpack")),
	},
	{
		ID: "quasar-web-flat", Paper: "quasar", Where: "figure 4.11a", Title: "Web services under a flat load",
		Scenarios: []string{"quasar-web-flat"}, Headline: of("quasar"),
		Quantities: []Quantity{
			metric("load served", "%", "performance:web").from(published{"quasar": about(100)}),
			metric("time in which it was", "%", "in_bound:web"),
			metric("performance of best-effort work", "%", "performance:single-node").from(published{"quasar": n(95), "autoscale": n(76)}),
			used,
		},
		Requires: []Requirement{
			atLeast("Quasar serves 98 % of the load", metric("load served", "%", "performance:web"), 98, of("quasar")),
			ahead("best-effort work does better than with autoscaling", metric("performance of best-effort work", "%", "performance:single-node"), 0, of("quasar"), of("autoscale")),
			cannot("queries per second over time", "a run keeps the share of the load that was served, not its course"),
		},
		Why:   whyServices + "Several services instead of one, so that a seed is not one draw. ",
		Plots: []Plot{sorted(of("quasar"), of("quasar-oracle"), of("autoscale"), of("reservation-paragon"), of("reservation-ll"), of("nomad-binpack")), usageOf(of("quasar")), usageOf(of("autoscale"))},
	},
	{
		ID: "quasar-web-swing", Paper: "quasar", Where: "figures 4.11b and 4.11c", Title: "Web services under a load that swings",
		Scenarios: []string{"quasar-web-swing"}, Headline: of("quasar"),
		Quantities: []Quantity{
			metric("load served", "%", "performance:web").from(published{"quasar": about(100), "autoscale": n(82)}),
			metric("time in which it was", "%", "in_bound:web"),
			metric("performance of best-effort work", "%", "performance:single-node"),
			used,
		},
		Requires: []Requirement{
			atLeast("Quasar serves 95 % of the load", metric("load served", "%", "performance:web"), 95, of("quasar")),
			ahead("autoscaling serves 10 points less", metric("load served", "%", "performance:web"), 10, of("quasar"), of("autoscale")),
		},
		Why:   whyServices + "The paper's load is a picture; ours is a sine. ",
		Plots: []Plot{sorted(of("quasar"), of("quasar-oracle"), of("autoscale"), of("reservation-paragon"), of("reservation-ll"), of("nomad-binpack")), usageOf(of("quasar")), usageOf(of("autoscale"))},
	},
	{
		ID: "quasar-web-spike", Paper: "quasar", Where: "figure 4.12", Title: "Web services under a spike",
		Scenarios: []string{"quasar-web-spike"}, Headline: of("quasar"),
		Quantities: []Quantity{
			metric("load served", "%", "performance:web").from(published{"quasar": above(96), "autoscale": pictured}),
			metric("time in which it was", "%", "in_bound:web"),
			metric("performance of best-effort work", "%", "performance:single-node"),
			used,
		},
		Requires: []Requirement{
			atLeast("Quasar serves 96 % of the load", metric("load served", "%", "performance:web"), 96, of("quasar")),
			atLeast("and nearly all of the time in bound", metric("time in bound", "%", "in_bound:web"), 95, of("quasar")),
			ahead("autoscaling is in bound for less", metric("time in bound", "%", "in_bound:web"), 0, of("quasar"), of("autoscale")),
			cannot("with autoscaling more than 20 % of the requests around the spike are late", whyNoLatency),
		},
		Why:   whyServices + "The spike lasts for a sixth of the run; the paper's is a picture. Load changes once a minute. ",
		Plots: []Plot{usageOf(of("quasar")), usageOf(of("autoscale"))},
	},
	{
		ID: "quasar-services", Paper: "quasar", Where: "figure 4.13", Title: "Services with state over a day",
		Scenarios: []string{"quasar-services"}, Headline: of("quasar"),
		Quantities: []Quantity{
			metric("time in which the load was served", "%", "in_bound:memcached").from(published{"quasar": n(98.8), "autoscale": n(80)}),
			metric("load served", "%", "performance:memcached").from(published{"quasar": about(100), "autoscale": n(76)}),
			metric("performance of best-effort work", "%", "performance:single-node"),
			used,
		},
		Requires: []Requirement{
			atLeast("Quasar is in bound for 97 % of the time", metric("time in bound", "%", "in_bound:memcached"), 97, of("quasar")),
			ahead("autoscaling 10 points less", metric("time in bound", "%", "in_bound:memcached"), 10, of("quasar"), of("autoscale")),
			cannot("Cassandra in bound for 98.6 % of the time", "the truth has no Cassandra, nor another service on disks"),
			cannot("latencies at the 99th percentile", whyNoLatency),
		},
		Why:   whyServices + "The published numbers are memcached's. ",
		Plots: []Plot{usageOf(of("quasar")), usageOf(of("autoscale")), heatOf(of("quasar"))},
	},
	{
		ID: "quasar-services-resources", Paper: "quasar", Where: "figure 4.14", Title: "Services with state: use of resources by workload",
		Missing: "use is kept by node and moment, not by workload and resource.",
	},
	{
		ID: "quasar-large", Paper: "quasar", Where: "figure 4.15a", Title: "1,200 workloads on 200 servers",
		Scenarios: []string{"quasar-large"}, Headline: of("quasar"),
		Quantities: []Quantity{
			targetReached.from(published{"quasar": n(98), "reservation-paragon": n(83), "reservation-ll": n(62)}),
			qos.from(published{"quasar": n(95)}),
			performanceWaits,
		},
		Requires: []Requirement{
			falling("Quasar, then reservations with Paragon, reservations on least-loaded servers", meanPerformance, of("quasar"), of("reservation-paragon"), of("reservation-ll")),
			atLeast("Quasar reaches 95 % of the targets on average", meanPerformance, 95, of("quasar")),
			ahead("10 points more than reservations with Paragon", meanPerformance, 10, of("quasar"), of("reservation-paragon")),
			ahead("which reach 15 points more than on least-loaded servers", meanPerformance, 15, of("reservation-paragon"), of("reservation-ll")),
		},
		Why:   whyPrograms + "Targets and the mix of types are ours. " + whyDurations,
		Plots: []Plot{sorted(of("quasar"), of("quasar-unadapted"), of("quasar-oracle"), of("reservation-paragon"), of("reservation-ll"), of("nomad-binpack"))},
	},
	{
		ID: "quasar-large-overheads", Paper: "quasar", Where: "figure 4.15b", Title: "1,200 workloads on 200 servers: overheads",
		Scenarios: []string{"quasar-large"}, Headline: of("quasar"),
		Quantities: []Quantity{
			metric("before the start, of a job's time", "%", "overhead_share").from(published{"quasar": n(4.1)}),
			profilingShare, decidingShare, waitingShare,
		},
		Requires: []Requirement{
			atMost("Quasar's overheads are at most 5 % on average", metric("before the start", "%", "overhead_share"), 5, of("quasar")),
			ahead("reservations on least-loaded servers wait longer", waitingShare, 0, of("reservation-ll"), of("quasar")),
		},
		Why: "Profiling takes a stated quarter of a minute of jobs whose durations are ours: jobs long enough for the published share would want nearly twice the 77 % of the cores that these need, more than there are, where in the text none of Quasar's jobs waits for room. Adaptation is charged as restarts and moves, inside the run. " + whyDecisions,
	},
	{
		ID: "quasar-large-utilisation", Paper: "quasar", Where: "figure 4.16", Title: "1,200 workloads on 200 servers: utilisation",
		Scenarios: []string{"quasar-large"}, Headline: of("quasar"),
		Quantities: []Quantity{
			used.from(published{"quasar": n(62), "reservation-ll": n(15)}),
			difference("allocated and not busy", "points", "allocated", "used").from(published{"quasar": about(10)}),
			metric("reserved", "%", "reserved").from(published{"reservation-ll": above(100)}),
		},
		Requires: []Requirement{
			multiple("Quasar keeps twice as many cores busy as reservations on least-loaded servers", used, 2, of("quasar"), of("reservation-ll")),
			atMost("at most 15 points of what it allocates are idle", difference("allocated and not busy", "points", "allocated", "used"), 15, of("quasar")),
		},
		Why:   whyPrograms + "Utilisation is the mean until the last submission, and includes the time in which the cluster fills. " + whyDurations,
		Plots: append(maps(of("quasar"), of("reservation-ll")), usageOf(of("quasar")), usageOf(of("reservation-ll"))),
	},
	{
		ID: "quasar-classification", Paper: "quasar", Where: "tables 4.2 and 4.3, figure 4.3", Title: "Classification, on real data, by the number of entries",
		Compute: classificationOnRealData, Headline: of("c3o by count, 2 and 8 shown, 2 shown: gauss"),
		Quantities: []Quantity{
			metric("mean error", "%", "mean").from(published{thePaper: n(5)}),
			metric("90th percentile of a workload's error", "%", "row-p90").from(published{thePaper: n(14.5)}),
			metric("largest", "%", "row-max").from(published{thePaper: n(17)}),
			metric("90th percentile of a cell's error", "%", "p90"),
		},
		Requires: []Requirement{
			atMost("scale-out of Spark: a mean error of 5 %", metric("mean error", "%", "mean"), 5, of("c3o by count, 2 and 8 shown, 2 shown: gauss")),
			atMost("scale-out of training: a mean error of 5 %", metric("mean error", "%", "mean"), 5, of("sia aws, 1 and 8 GPUs shown, 2 shown: gauss")),
			compared("two entries are better than one, and four than two", func(v []float64) bool { return v[0] > v[1] && v[1] > v[2] },
				uses(metric("mean error", "%", "mean"), of("c3o by machine and count, 1 shown: gauss"), of("c3o by machine and count, 2 shown: gauss"),
					of("c3o by machine and count, 4 shown: gauss"))...),
			atMost("all combinations at once, eight entries: 14.1 %", metric("mean error", "%", "mean"), 14.1, of("c3o by machine and count, 8 shown: gauss")),
		},
		Why: "The published row is Hadoop's scale-out; ours are Spark jobs (c3o) and distributed training (sia), other programs on other machines. Few workloads are known in every cell. ",
	},
	{
		ID: "quasar-causes", Paper: "quasar", Where: "§4.3, §4.4", Title: "What decides, 1,200 workloads on 200 servers",
		Scenarios: []string{"quasar-causes"}, Headline: of("quasar"),
		Quantities: []Quantity{targetReached, qos, deviation, performanceWaits, allocated, metric("mean wait", "s", "wait_mean")},
		Requires: []Requirement{
			ahead("each classification is needed: without it a point less of the targets is reached", targetReached, 1, of("quasar"), all("quasar-scale-up-ignored", "quasar-scale-out-ignored", "quasar-speeds-ignored", "quasar-scores-ignored")...),
			ahead("so it is where nothing is adapted", targetReached, 1, of("quasar-unadapted"),
				all("quasar-unadapted-scale-up-ignored", "quasar-unadapted-scale-out-ignored", "quasar-unadapted-speeds-ignored", "quasar-unadapted-scores-ignored")...),
			ahead("adaptation helps", targetReached, 0, of("quasar"), of("quasar-unadapted")),
			ahead("sizes decide: ten points more than where users reserve", targetReached, 10, of("quasar"), of("quasar-reserved")),
			compared("two entries are enough: four gain a point at most", gainsAtMost(1), uses(targetReached, all("quasar", "quasar-entries-4")...)...),
		},
		Why: fromTable("quasar-causes", performanceWaits, "Choosing sizes decides most, by the queue: where the same policy places what users reserve, %s %% of the targets is reached from submission on instead of %s %%,", "quasar-reserved", "quasar") +
			fromTable("quasar-causes", targetReached, "and %s %% instead of %s %% once jobs run.", "quasar-reserved", "quasar") +
			fromTable("quasar-causes", targetReached, "Of the classifications that of configurations is worth most: %s %% are reached without it; without interference it is %s %%, and %s %% without scale-up or scale-out (%s %%).", "quasar-speeds-ignored", "quasar-scores-ignored", "quasar-scale-up-ignored", "quasar-scale-out-ignored") +
			fromTable("quasar-causes", allocated, "Scale-up is worth cores instead of targets: without it jobs get more than they need, %s %% of the cores instead of %s %%,", "quasar-scale-up-ignored", "quasar") +
			fromTable("quasar-causes", deviation, "and end %s %% away from their target instead of %s %%; scale-out changes nothing, for few of these workloads run on several nodes.", "quasar-scale-up-ignored", "quasar") +
			fromTable("quasar-causes", targetReached, "Adaptation makes up for what is not known: without it %s %% are reached, %s %% without scores and %s %% without speeds.", "quasar-unadapted", "quasar-unadapted-scores-ignored", "quasar-unadapted-speeds-ignored") +
			fromTable("quasar-causes", targetReached, "One entry is too few (%s %%), four are no better than two (%s %%), and the truth of all adds little (%s %%).", "quasar-entries-1", "quasar-entries-4", "quasar-oracle"),
		Plots: []Plot{byPart(targetReached, all(
			"quasar",
			"quasar-scale-up-ignored",
			"quasar-scale-out-ignored",
			"quasar-speeds-ignored",
			"quasar-scores-ignored",
			"quasar-scale-up-exact",
			"quasar-scale-out-exact",
			"quasar-speeds-exact",
			"quasar-scores-exact",
			"quasar-oracle",
			"quasar-entries-1",
			"quasar-entries-4",
			"quasar-reserved",
			"reservation-ll",
			"quasar-unadapted",
			"quasar-unadapted-scale-up-ignored",
			"quasar-unadapted-scale-out-ignored",
			"quasar-unadapted-speeds-ignored",
			"quasar-unadapted-scores-ignored",
			"quasar-unadapted-oracle",
		)...)},
	},
}

// How much of a job's target was reached, and how far from it the job ended, on either side.
var (
	targetReached = meanPerformance.named("target reached")
	deviation     = metric("distance from the target", "%", "target_deviation")
)
