package figures

// whyTraconNoise is what keeps models from the published error.
const whyTraconNoise = "A point is a window of some seconds on a virtual machine whose processor others use; the rows of other repeats say how wrong another measurement of the very same pair is. "

var traconMean = metric("mean error", "%", "mean")

// bestPairing knows all pairs and all tasks: a bound of what a static schedule can gain.
const bestPairing = "mibs-best-oracle"

// What a policy gains over FIFO, within each seed. A static schedule is judged by whole lives, as
// is a measured pair (Chiang and Huang 2011, §4.2): both of a machine run next to each other until
// the end. Where tasks keep coming, what remains of one goes on next to whoever comes.
var (
	speedUp     = faster("speedup over FIFO", "life_total")
	realSpeedUp = faster("speedup over FIFO of real times", "run_total")
	captured    = perSeed("of what the best pairing gains", "%", func(a At) []seedMetric {
		base, best := a, a
		base.Policy, best.Policy = "fifo", bestPairing
		return []seedMetric{{base, "life_total"}, {a, "life_total"}, {best, "life_total"}}
	}, func(v []float64) float64 { return 100 * (v[0]/v[1] - 1) / (v[0]/v[2] - 1) })
	lifeOfFIFO = perSeed("run time of all tasks, of FIFO's", "%", func(a At) []seedMetric {
		base := a
		base.Policy = "fifo"
		return []seedMetric{{a, "life_total"}, {base, "life_total"}}
	}, func(v []float64) float64 { return 100 * v[0] / v[1] })
	ioBoost     = overFIFO("IOBoost over FIFO", "iops_total")
	throughput  = overFIFO("throughput over FIFO", "ended_count")
	workRate    = overFIFO("work done over FIFO", "work_done")
	longestWait = metric("longest wait", "s", "wait_max")
	tailWait    = metric("wait that 1 % exceed", "s", "wait_p99")
)

// whyTraconPairs is what bounds every scheduler on our pairs.
const whyTraconPairs = "What pairing can gain is a property of the pairs: mibs-best-oracle is the best pairing of all. Algorithm 2 as printed asks how a task does next to the first of the queue, and not what it does to that: who loses least next to others is often who makes others lose most, and with the truth the rule gains no more. Where the losses of both count, as in the objective (equation 3), the truth gains most of what there is; what the models lack is how wrong they are about real co-runners (tracon-3). "

// traconExperiments are those of the paper, in its order.
var traconExperiments = []Experiment{
	{
		ID: "tracon-3", Paper: "tracon", Where: "figure 3a and 3b", Title: "Prediction errors of WMM, LM and NLM",
		Compute: traconErrors, Headline: of("runtime of nlm, held-out backgrounds"),
		Quantities: []Quantity{
			traconMean.from(published{thePaper: about(10)}), metric("standard deviation", "%", "deviation"), metric("median error", "%", "median"),
		},
		Requires: append(append(traconModels("runtime"), traconModels("iops")...),
			atMost("NLM is wrong by 10 %", traconMean, 10, of("runtime of nlm, held-out backgrounds"), of("iops of nlm, held-out backgrounds")),
			atMost("NLM is wrong by 10 % where a background is described by its settings", traconMean, 10, of("runtime of nlm"+bySettings+", held-out backgrounds"), of("iops of nlm"+bySettings+", held-out backgrounds")),
			compared("without the CPU of the host the error of NLM about doubles (at least half as much again)", func(v []float64) bool { return v[1] >= 1.5*v[0] },
				uses(traconMean, of("runtime of nlm, held-out backgrounds"), of("runtime of nlm, without the host's CPU, held-out backgrounds"))...)),
		Why: whyTraconNoise + "What a background does alone does not say how much it presses: one that reads and writes at once is slowed by its own seeks and makes the fewest requests of all, and leaves others the least. Described by the generator's settings in place of its requests NLM is wrong by what was published, and WMM hardly more, LM by a third or more. Real co-runners have no settings, and threads that read small files anywhere on a disk occupy it with few requests: next to those all three models are about as wrong; of backgrounds or of real co-runners, the text does not say which figure 3 shows. The CPU time of the host adds little here: the kernel spends it on requests and bytes alone. Programs, disk and processor are others. ",
	},
	{
		ID: "tracon-models", Paper: "tracon", Where: "figure 4", Title: "A scheduler with each model: 32 tasks on 16 machines",
		Scenarios: []string{"tracon-models"}, Headline: of("mibs-rt-nlm"),
		Quantities: []Quantity{speedUp.from(published{"mibs-rt-nlm": pictured}), ioBoost.from(published{"mibs-io-nlm": pictured})},
		Requires: []Requirement{
			compared("NLM gives the highest speedup", func(v []float64) bool { return v[0] > v[1] && v[0] > v[2] }, uses(speedUp, of("mibs-rt-nlm"), of("mibs-rt-lm"), of("mibs-rt-wmm"))...),
			compared("NLM gives the highest IOBoost", func(v []float64) bool { return v[0] > v[1] && v[0] > v[2] }, uses(ioBoost, of("mibs-io-nlm"), of("mibs-io-lm"), of("mibs-io-wmm"))...),
		},
		Why: whyTraconPairs + whyTraconNoise,
	},
	{
		ID: "tracon-5", Paper: "tracon", Where: "figures 5 and 6", Title: "The best co-runner as NLM predicts it",
		Compute: &Computation{
			Name: "best co-runners", Source: "profiler/training/backgrounds", Metrics: []string{"predicted", "chosen", "mean", "worst", "within"}, run: extremesTable,
		}, Headline: of("runtime: all"),
		Quantities: []Quantity{
			metric("predicted for the chosen, of the best", "%", "predicted").from(published{thePaper: pictured}),
			metric("measured next to the chosen, of the best", "%", "chosen"), metric("measured mean, of the best", "%", "mean"), metric("measured worst, of the best", "%", "worst"),
			metric("not worse than the mean", "%", "within"),
		},
		Requires: []Requirement{
			atLeast("what is chosen for runtime is never worse than the mean co-runner", metric("not worse than the mean", "%", "within"), 100, of("runtime: all")),
			atLeast("what is chosen for IOPS is never worse than the mean co-runner", metric("not worse than the mean", "%", "within"), 100, of("iops: all")),
		},
		Why: whyTraconNoise + "Where the chosen co-runner is the worst, it is web, whose few requests occupy the disk (tracon-3). ",
	},
	{
		ID: "tracon-7", Paper: "tracon", Where: "figure 7", Title: "The disk becomes another: errors until models are learnt anew",
		Compute: &Computation{
			Name: "drift", Source: "profiler/training/backgrounds", Metrics: []string{"before", "part0", "part1", "part2", "part3", "seen", "floor"}, run: driftTable,
		}, Headline: of("runtime, the disk changes"),
		Quantities: []Quantity{
			metric("before", "%", "before").from(published{thePaper: n(12)}),
			metric("after the change, before a rebuild", "%", "part0").from(published{thePaper: n(160)}),
			metric("after the first rebuild", "%", "part1"), metric("after the second", "%", "part2"),
			metric("after the third", "%", "part3").from(published{thePaper: about(10)}),
			metric("seen after", "points", "seen"), metric("floor, by other repeats", "%", "floor"),
		},
		Requires: []Requirement{
			atMost("errors of runtime return to 12 % within 480 points", metric("after the third", "%", "part3"), 12, of("runtime, the disk changes")),
			atMost("errors of IOPS return to 12 % within 480 points", metric("after the third", "%", "part3"), 12, of("iops, the disk changes")),
			atMost("errors of runtime return to 12 % where backgrounds are described by their settings", metric("after the third", "%", "part3"), 12, of("runtime, the disk changes"+bySettings)),
			atMost("errors of IOPS return to 12 % where backgrounds are described by their settings", metric("after the third", "%", "part3"), 12, of("iops, the disk changes"+bySettings)),
			compared("the change is seen within the window of errors", func(v []float64) bool { return v[0] >= 0 && v[0] <= 64 },
				uses(metric("seen after", "points", "seen"), of("runtime, the disk changes"))...),
			compared("runtime: rebuilding ends with smaller errors than not rebuilding", func(v []float64) bool { return v[0] < v[1] },
				use{metric("after the third", "%", "part3"), of("runtime, the disk changes")}, use{metric("after the third", "%", "part3"), of("runtime, the disk changes, no rebuild")}),
		},
		Why: "Errors are medians over a part, of " + traconDrifting + ", of which 500 points are drawn from one sweep of the backgrounds on each disk; the text has 500 measured ones. The other disk is the same one behind a network. Described by their requests, backgrounds are told apart so badly that the error of the run time is as large before the change as after it (tracon-3); described by their settings the errors rise with the change and come back as rebuilds follow, those of IOPS to what was published. How well repeats agree on the other disk is not known yet: a second sweep is to come. ",
	},
	{
		ID: "tracon-static-light", Paper: "tracon", Where: "figure 8", Title: "All tasks at once, light on the disk",
		Scenarios: []string{"tracon-static-light", "tracon-static-light-1024"}, Headline: of("mibs-rt"),
		Rows: append(all("fifo", "mios", "mibs-rt", "mibs-io", "mibs-alg2", "mibs-paired", "mibs-minmin", "mibs-both", "mibs-rt-oracle", "mibs-io-oracle", "mibs-both-oracle", "mibs-best", bestPairing, "mix"),
			across([]string{"tracon-static-light-1024"}, "mibs-rt", "mibs-io", "mibs-rt-oracle", "mibs-io-oracle")...),
		Quantities: []Quantity{
			speedUp.from(published{"mibs-rt": about(30), "mibs-io": about(30)}), captured, realSpeedUp, ioBoost,
		},
		Requires: []Requirement{
			atLeast("both MIBS gain about 30 %", speedUp, 30, of("mibs-rt"), of("mibs-io")),
			atLeast("MIBS_RT gains about 30 % where the losses of both tasks count", speedUp, 30, of("mibs-both")),
			atLeast("the best pairing of all gains 30 %", speedUp, 30, of(bestPairing)),
		},
		Why: whyTraconPairs + whyTraconNoise,
	},
	{
		ID: "tracon-static-medium", Paper: "tracon", Where: "figure 8", Title: "All tasks at once, medium on the disk",
		Scenarios: []string{"tracon-static-medium", "tracon-static-medium-1024"}, Headline: of("mibs-rt"),
		Rows: append(all("fifo", "mios", "mibs-rt", "mibs-io", "mibs-alg2", "mibs-paired", "mibs-minmin", "mibs-both", "mibs-rt-oracle", "mibs-io-oracle", "mibs-both-oracle", "mibs-best", bestPairing, "mix"),
			across([]string{"tracon-static-medium-1024"}, "mibs-rt", "mibs-io", "mibs-rt-oracle", "mibs-io-oracle")...),
		Quantities: []Quantity{
			speedUp.from(published{"mibs-rt": above(40), "mibs-io": above(40)}), captured, realSpeedUp, ioBoost,
		},
		Requires: []Requirement{
			atLeast("both MIBS gain more than 40 %", speedUp, 40, of("mibs-rt"), of("mibs-io")),
			atLeast("MIBS_RT gains more than 40 % where the losses of both tasks count", speedUp, 40, of("mibs-both")),
			atLeast("the best pairing of all gains 40 %", speedUp, 40, of(bestPairing)),
			compared("MIBS_IO beats MIBS_RT in requests", func(v []float64) bool { return v[0] > v[1] }, uses(ioBoost, of("mibs-io"), of("mibs-rt"))...),
			atLeast("MIBS_IO gains 50 % at 1,024 machines", speedUp, 50, of("mibs-io").in("tracon-static-medium-1024")),
		},
		Why: whyTraconPairs + whyTraconNoise,
	},
	{
		ID: "tracon-static-heavy", Paper: "tracon", Where: "figure 8", Title: "All tasks at once, heavy on the disk",
		Scenarios: []string{"tracon-static-heavy", "tracon-static-heavy-1024"}, Headline: of("mibs-rt"),
		Rows: append(all("fifo", "mios", "mibs-rt", "mibs-io", "mibs-alg2", "mibs-paired", "mibs-minmin", "mibs-both", "mibs-rt-oracle", "mibs-io-oracle", "mibs-both-oracle", "mibs-best", bestPairing, "mix"),
			across([]string{"tracon-static-heavy-1024"}, "mibs-rt", "mibs-io", "mibs-rt-oracle", "mibs-io-oracle")...),
		Quantities: []Quantity{
			speedUp.from(published{"mibs-rt": pictured, "mibs-io": pictured}), captured, realSpeedUp, ioBoost,
		},
		Requires: []Requirement{
			atLeast("MIBS gains something: a hundredth", speedUp, 1, of("mibs-rt")),
			compared("MIBS_RT beats MIBS_IO", func(v []float64) bool { return v[0] > v[1] }, uses(speedUp, of("mibs-rt"), of("mibs-io"))...),
		},
		Why: whyTraconPairs + whyTraconNoise,
	},
	{
		ID: "tracon-dynamic", Paper: "tracon", Where: "figures 9 and 10", Title: "Tasks keep coming to 64 machines",
		Scenarios: []string{"tracon-dynamic-medium", "tracon-dynamic-light", "tracon-dynamic-heavy"}, Headline: of("mibs-8").load(60),
		Rows: append(loaded([]float64{10, 20, 30, 60}, "fifo", "mios", "mibs-2", "mibs-4", "mibs-8", "mibs-8-io", "mibs-8-oracle", "mix-8"),
			append(atLoad(60, across([]string{"tracon-dynamic-light"}, "mios", "mibs-8", "mix-8")), atLoad(60, across([]string{"tracon-dynamic-heavy"}, "mios", "mibs-8", "mix-8"))...)...),
		Quantities: []Quantity{throughput.from(published{"mibs-8 at 60": pictured}), workRate, realSpeedUp, ioBoost, tailWait, longestWait},
		Requires: []Requirement{
			alike("equal while tasks are few", throughput, 2, of("mios").load(10), of("mibs-8").load(10), of("mix-8").load(10)),
			compared("under load MIX_8 and MIBS_8 beat MIOS", func(v []float64) bool { return min(v[0], v[1]) > v[2] }, uses(throughput, of("mix-8").load(60), of("mibs-8").load(60), of("mios").load(60))...),
			compared("a queue of 8 beats 4 and 2 by a tenth", func(v []float64) bool { return v[0] >= 10+max(v[1], v[2]) }, uses(throughput, of("mibs-8").load(60), of("mibs-4").load(60), of("mibs-2").load(60))...),
			compared("the gain is largest on medium", func(v []float64) bool { return v[0] > v[1] && v[0] > v[2] },
				uses(throughput, of("mibs-8").load(60), of("mibs-8").load(60).in("tracon-dynamic-light"), of("mibs-8").load(60).in("tracon-dynamic-heavy"))...),
		},
		Why:   whyTraconPairs + whyTraconNoise + "Two hours and three seeds, where the text has ten hours. ",
		Plots: []Plot{sweep("Throughput over FIFO by arrivals, medium", throughput, "tasks submitted per minute", "", false, traconLine("mios"), traconLine("mibs-8"), traconLine("mix-8"), traconLine("mibs-8-oracle"))},
	},
	{
		ID: "tracon-machines", Paper: "tracon", Where: "figures 11 and 12, §4.6", Title: "8 to 10,000 machines",
		Scenarios: []string{"tracon-machines-1024", "tracon-machines-8", "tracon-machines-64", "tracon-machines-10000"}, Headline: of("mibs-8").in("tracon-machines-10000"),
		Rows: append(across([]string{"tracon-machines-8", "tracon-machines-64", "tracon-machines-1024"}, "mios", "mibs-2", "mibs-4", "mibs-8", "mibs-8-oracle", "mix-8"),
			across([]string{"tracon-machines-10000"}, "mibs-8", "mibs-8-oracle")...),
		Quantities: []Quantity{throughput.from(published{"mibs-8, tracon-machines-10000": n(40)}), workRate, ioBoost, longestWait},
		Requires: []Requirement{
			atLeast("40 % more tasks on 10,000 machines", throughput, 40, of("mibs-8").in("tracon-machines-10000")),
			compared("MIX_8 and MIBS_8 beat MIOS on 1,024 machines", func(v []float64) bool { return min(v[0], v[1]) > v[2] }, uses(throughput, of("mix-8"), of("mibs-8"), of("mios"))...),
			neverFalling("a longer queue is not worse", throughput, 0.5, of("mibs-2"), of("mibs-4"), of("mibs-8")),
		},
		Why: whyTraconPairs + whyTraconNoise + "Twenty minutes, and ten on 10,000 machines, where the text has ten hours. ",
	},
	{
		ID: "tracon-causes", Paper: "tracon", Where: "§3, §4.2, §4.3", Title: "What decides, all tasks at once, medium on the disk",
		Scenarios: []string{"tracon-causes"}, Headline: of("mibs-rt"),
		Quantities: []Quantity{speedUp, captured, lifeOfFIFO, ioBoost},
		Requires: []Requirement{
			ahead("the nonlinear model gains a point more than the others", speedUp, 1, of("mibs-rt"), of("mibs-lm"), of("mibs-wmm")),
			compared("it is not the model that MIBS loses by: the truth gains five points at most", gainsAtMost(5), uses(speedUp, all("mibs-rt", "mibs-rt-oracle")...)...),
			compared("what the newcomer loses is enough: counting both gains a point at most", gainsAtMost(1), uses(speedUp, all("mibs-rt", "mibs-both")...)...),
			neverFalling("a longer queue is not worse, within half a point", speedUp, 0.5, all("mibs-2", "mibs-8", "mibs-32", "mibs-rt")...),
		},
		Why: fromTable("tracon-causes", speedUp, "How much of the queue is looked at: with two tasks the paper's rule gains %s %%, with eight %s %%, with 32 %s %%, with all 128 %s %%.", "mibs-2", "mibs-8", "mibs-32", "mibs-rt") +
			fromTable("tracon-causes", speedUp, "The family of models: NLM %s %%, LM %s %%, WMM %s %%, and the truth %s %%.", "mibs-rt", "mibs-lm", "mibs-wmm", "mibs-rt-oracle") +
			fromTable("tracon-causes", speedUp, "What counts: where the losses of both count, not of the newcomer alone, the model gains %s %% and the truth %s %%;", "mibs-both", "mibs-both-oracle") +
			fromTable("tracon-causes", speedUp, "the best pairing of all gains %s %% by the model and %s %% by the truth.", "mibs-best", "mibs-best-oracle"),
		Plots: []Plot{byPart(lifeOfFIFO, all("fifo", "mibs-2", "mibs-8", "mibs-32", "mibs-rt", "mibs-lm", "mibs-wmm", "mibs-rt-oracle", "mibs-both-8", "mibs-both", "mibs-both-oracle", "mibs-io", "mibs-best", bestPairing)...)},
	},
}

// traconLine is a policy over the rates of arrival.
func traconLine(policy string) sweepLine {
	l := sweepLine{name: policy}
	for _, load := range []float64{10, 20, 30, 60} {
		l.points = append(l.points, sweepPoint{load, of(policy).load(load)})
	}
	return l
}

// traconModels are what the paper shows of the three models.
func traconModels(response string) []Requirement {
	var out []Requirement
	for _, on := range []string{"held-out backgrounds", "real co-runners"} {
		at := func(model string) At { return of(response + " of " + model + ", " + on) }
		out = append(out, compared(response+", "+on+": NLM is better than LM and WMM, which are at least twice as wrong", func(v []float64) bool { return min(v[1], v[2]) >= 2*v[0] },
			uses(traconMean, at("nlm"), at("lm"), at("wmm"))...))
	}
	return out
}

// faster is how much less time FIFO's tasks would take in sum, by a metric.
func faster(name, metric string) Quantity {
	return perSeed(name, "%", func(a At) []seedMetric {
		base := a
		base.Policy = "fifo"
		return []seedMetric{{base, metric}, {a, metric}}
	}, func(v []float64) float64 { return 100 * (v[0]/v[1] - 1) })
}

// overFIFO is a metric of a row by that of FIFO.
func overFIFO(name, of string) Quantity {
	return perSeed(name, "%", func(a At) []seedMetric {
		base := a
		base.Policy = "fifo"
		return []seedMetric{{a, of}, {base, of}}
	}, func(v []float64) float64 { return 100 * (v[0]/v[1] - 1) })
}
