package figures

import "fmt"

// lshCorrect is normed to the 16 scores that are unknown when two of ten sources are
// measured.
var lshCorrect = metric("correct, of 16", "scores", "correct")

const whyLSHPredictions = whyPrograms + "Both predictors see the same noisy measurements of the same two sources on three configurations, and learn from the same rows. " +
	"How many are correct depends on how wide the intervals are as much as on the predictor: ours are of our own simulated Paragon, and wide where few programs use a source, which flatters every predictor and brings them together. " +
	"Paragon's hyperparameters are not published; its rank is cross-validated on the training rows. "

const whyLSHCluster = whyPrograms + whyDurations +
	"LSH refuses a job that would break a bound, and the job waits; Paragon relaxes its bounds and places at once. Part of what LSH gains while jobs run is lost again while they wait, which the paper does not show (with waiting it is in the table). " +
	"LSH profiles the same two sources of every workload, the narrowest of lsh-2f, and three configurations; Paragon two drawn sources and two configurations, as each paper has it; paragon-hashed is Paragon with what LSH knows. " +
	"Scores here are one set per application: what a configuration costs is in its speed there. "

// lshExperiments are those of the paper, in its order.
var lshExperiments = []Experiment{
	{
		ID: "lsh-1", Paper: "lsh", Where: "§II.B, figure 1", Title: "What errors of 20 points in one score cost the scheduler",
		Compute: lshComputed, Headline: of("mem_cap caused"),
		Rows: all(
			"mem_cap tolerated", "mem_cap caused", "mem_bw tolerated", "mem_bw caused", "storage_cap tolerated", "storage_cap caused", "storage_bw tolerated", "storage_bw caused",
			"net_bw tolerated", "net_bw caused", "llc_cap tolerated", "llc_cap caused", "llc_bw tolerated", "llc_bw caused", "tlb tolerated", "tlb caused", "int tolerated", "int caused", "fp tolerated", "fp caused",
		),
		Quantities: []Quantity{
			metric("lost by +20 points", "points", "loss_plus").from(published{"int caused": n(9), "mem_cap caused": n(11), "storage_cap caused": n(5)}),
			metric("lost by −20 points", "points", "loss_minus"),
		},
		Requires: []Requirement{
			compared("sources differ: memory bandwidth costs 3 points more than network bandwidth", func(v []float64) bool { return v[0]-v[1] >= 3 },
				uses(metric("lost by +20 points", "points", "loss_plus"), of("mem_bw caused"), of("net_bw caused"))...),
			atLeast("an error in the integer unit costs 5 points", metric("lost by +20 points", "points", "loss_plus"), 5, of("int caused")),
			atLeast("and in memory capacity", metric("lost by +20 points", "points", "loss_plus"), 5, of("mem_cap caused")),
			atLeast("and in storage capacity", metric("lost by +20 points", "points", "loss_plus"), 5, of("storage_cap caused")),
		},
		Why: whyPrograms + "Published are losses per source, of an unstated score and sign. What an error costs depends on how many programs exert pressure on a source at all: few of ours use the disk or the network. ",
	},
	{
		ID: "lsh-2f", Paper: "lsh", Where: "§II.B and figure 2f", Title: "Desired error intervals",
		Compute: lshComputed, Headline: of("mem_bw"),
		Rows: all(
			"mem_cap", "mem_bw", "storage_cap", "storage_bw", "net_bw", "llc_cap", "llc_bw", "tlb", "int", "fp",
			"mem_cap tolerated", "mem_cap caused", "mem_bw tolerated", "mem_bw caused", "storage_cap tolerated", "storage_cap caused", "storage_bw tolerated", "storage_bw caused",
			"net_bw tolerated", "net_bw caused", "llc_cap tolerated", "llc_cap caused", "llc_bw tolerated", "llc_bw caused", "tlb tolerated", "tlb caused", "int tolerated", "int caused", "fp tolerated", "fp caused",
		),
		Quantities: []Quantity{
			metric("width", "points", "width").from(published{"mem_bw": pictured, "tlb": pictured}),
			metric("tolerated underestimate", "points", "low").from(published{"mem_cap caused": n(-20)}),
			metric("tolerated overestimate", "points", "high").from(published{"mem_cap caused": n(10)}),
		},
		Requires: []Requirement{
			behind("memory bandwidth is among the narrowest: no wider than network and storage", metric("width", "points", "width"), 0, of("mem_bw"), of("net_bw"), of("storage_bw"), of("storage_cap"), of("mem_cap")),
			behind("so is the TLB", metric("width", "points", "width"), 0, of("tlb"), of("net_bw"), of("storage_bw"), of("storage_cap"), of("mem_cap")),
			compared("intervals are asymmetric: an overestimate of what is caused costs sooner", func(v []float64) bool { return v[0] < -v[1] },
				use{metric("tolerated overestimate", "points", "high"), of("mem_bw caused")}, use{metric("tolerated underestimate", "points", "low"), of("mem_bw caused")}),
		},
		Why: whyPrograms + "The example of the text names memory capacity and neither of its two scores. Intervals of a width are of the same walk within each seed, where the loss of a single run counts; the value is of the mean. A bound of 50 points was not reached. ",
	},
	{
		ID: "lsh-2a", Paper: "lsh", Where: "§IV.A, figure 2a", Title: "Scores predicted inside their interval, by the number of measured sources",
		Compute: lshComputed, Headline: of("lsh, 2 sources"),
		Rows: all(
			"lsh, 2 sources", "paragon, 2 sources", "paragon-r, 2 sources", "paragon with offsets, 2 sources", "gauss, 2 sources", "scaled mean, 2 sources",
			"lsh, 3 sources", "paragon, 3 sources", "paragon-r, 3 sources", "lsh, 4 sources", "paragon, 4 sources", "paragon-r, 4 sources",
			"lsh, 6 sources", "paragon, 6 sources", "paragon-r, 6 sources", "lsh, 8 sources", "paragon, 8 sources", "paragon-r, 8 sources",
		),
		Quantities: []Quantity{
			lshCorrect.from(published{"lsh, 2 sources": n(14), "paragon, 2 sources": between(9.7, 9.9)}),
			metric("LSH has so many times as many", "times", "times").from(published{"paragon, 2 sources": n(1.42)}),
			metric("off by at most 10 points, of 16", "scores", "near"),
			metric("of those LSH has so many times as many", "times", "times_near"),
		},
		Requires: []Requirement{
			atLeast("13.8 of 16 with two sources", lshCorrect, 13.8, of("lsh, 2 sources")),
			atLeast("1.3 times as many as Paragon's predictor on the same rows and measurements", metric("times as many", "times", "times"), 1.3, of("paragon, 2 sources")),
			ahead("more than Paragon with two sources", lshCorrect, 0, of("lsh, 2 sources"), of("paragon, 2 sources"), of("paragon-r, 2 sources"), of("paragon with offsets, 2 sources")),
			ahead("with four", lshCorrect, 0, of("lsh, 4 sources"), of("paragon, 4 sources"), of("paragon-r, 4 sources")),
			ahead("and with eight", lshCorrect, 0, of("lsh, 8 sources"), of("paragon, 8 sources"), of("paragon-r, 8 sources")),
			compared("Paragon is no worse with those sources than with random ones", func(v []float64) bool { return v[0] >= v[1] }, uses(lshCorrect, of("paragon, 2 sources"), of("paragon-r, 2 sources"))...),
		},
		Why: whyLSHPredictions,
	},
	{
		ID: "lsh-2b", Paper: "lsh", Where: "§IV.A, figure 2b", Title: "Scores predicted inside their interval, by the size of the training set",
		Compute: lshComputed, Headline: of("lsh, 150 rows"),
		Rows: all(
			"lsh, 10 rows", "lsh, 20 rows", "lsh, 35 rows", "lsh, 50 rows", "lsh, 100 rows", "lsh, 150 rows", "lsh, 200 rows",
			"paragon, 10 rows", "paragon, 20 rows", "paragon, 35 rows", "paragon, 50 rows", "paragon, 100 rows", "paragon, 150 rows", "paragon, 200 rows",
		),
		Quantities: []Quantity{lshCorrect.from(published{"lsh, 150 rows": n(14), "lsh, 35 rows": pictured, "paragon, 150 rows": pictured})},
		Requires: []Requirement{
			compared("more rows are better up to 35", func(v []float64) bool { return v[1] > v[0] }, uses(lshCorrect, of("lsh, 10 rows"), of("lsh, 35 rows"))...),
			alike("and hardly beyond", lshCorrect, 0.5, of("lsh, 35 rows"), of("lsh, 100 rows"), of("lsh, 200 rows")),
			ahead("Paragon is below with 50", lshCorrect, 0, of("lsh, 50 rows"), of("paragon, 50 rows")),
			ahead("and with 200", lshCorrect, 0, of("lsh, 200 rows"), of("paragon, 200 rows")),
		},
		Why: whyLSHPredictions,
	},
	{
		ID: "lsh-2c", Paper: "lsh", Where: "§IV.A, figure 2c", Title: "Scores predicted inside their interval, by the number of neighbours",
		Compute: lshComputed, Headline: of("lsh, 5 neighbours"),
		Rows:       all("lsh, 1 neighbours", "lsh, 2 neighbours", "lsh, 3 neighbours", "lsh, 4 neighbours", "lsh, 5 neighbours", "lsh, 7 neighbours", "lsh, 10 neighbours", "lsh, 15 neighbours"),
		Quantities: []Quantity{lshCorrect.from(published{"lsh, 5 neighbours": n(13.78)})},
		Requires: []Requirement{
			compared("more are better up to four", func(v []float64) bool { return v[1] > v[0] }, uses(lshCorrect, of("lsh, 1 neighbours"), of("lsh, 4 neighbours"))...),
			alike("and hardly beyond", lshCorrect, 0.3, of("lsh, 4 neighbours"), of("lsh, 7 neighbours"), of("lsh, 15 neighbours")),
		},
		Why: whyLSHPredictions,
	},
	{
		ID: "lsh-2d", Paper: "lsh", Where: "§IV.A, figure 2d", Title: "Scores predicted inside their interval, by configuration",
		Compute: lshComputed, Headline: of("lsh, configuration 10"), Rows: lshConfigurationRows("lsh", "paragon"),
		Quantities: []Quantity{lshCorrect.from(published{"lsh, configuration 10": n(13.7), "lsh, configuration 1": n(13.98)})},
		Requires: []Requirement{
			allAhead("LSH is above Paragon on the best, the middle and the worst", lshCorrect,
				all("lsh, configuration 10"), all("paragon, configuration 10")),
			allAhead("on the middle", lshCorrect, all("lsh, configuration 5"), all("paragon, configuration 5")),
			allAhead("and on the worst", lshCorrect, all("lsh, configuration 1"), all("paragon, configuration 1")),
			compared("the worst is no harder than the best", func(v []float64) bool { return v[1] >= v[0]-0.3 }, uses(lshCorrect, of("lsh, configuration 10"), of("lsh, configuration 1"))...),
		},
		Why: whyLSHPredictions + "A program that is slower than its bound on a configuration tolerates nothing there, by the definition of the score: on weak configurations that makes half of the scores easy to predict. ",
	},
	{
		ID: "lsh-2e", Paper: "lsh", Where: "§IV.A, figure 2e", Title: "Scores predicted inside their interval on the worst configuration, score by score",
		Compute: lshComputed, Headline: of("on the worst"),
		Rows: all(
			"on the worst", "on the worst: mem_cap tolerated", "on the worst: mem_cap caused", "on the worst: storage_cap tolerated", "on the worst: storage_cap caused",
			"on the worst: storage_bw tolerated", "on the worst: storage_bw caused", "on the worst: net_bw tolerated", "on the worst: net_bw caused", "on the worst: llc_bw tolerated", "on the worst: llc_bw caused",
			"on the worst: tlb tolerated", "on the worst: tlb caused", "on the worst: int tolerated", "on the worst: int caused", "on the worst: fp tolerated", "on the worst: fp caused",
		),
		Quantities: []Quantity{
			metric("LSH is better", "scores", "wins").from(published{"on the worst": n(10)}),
			metric("alike, within 5 points", "scores", "ties").from(published{"on the worst": n(5)}),
			metric("Paragon is better", "scores", "losses").from(published{"on the worst": n(1)}),
			metric("LSH, correct", "%", "lsh"), metric("Paragon, correct", "%", "paragon"), metric("LSH ahead", "points", "ahead"),
		},
		Requires: []Requirement{
			compared("LSH is better on more scores than Paragon", func(v []float64) bool { return v[0] > v[1] },
				use{metric("LSH is better", "scores", "wins"), of("on the worst")}, use{metric("Paragon is better", "scores", "losses"), of("on the worst")}),
			atLeast("on ten of 16", metric("LSH is better", "scores", "wins"), 10, of("on the worst")),
		},
		Why: whyLSHPredictions + "The band of a tie is ours: 5 points of the predictions of a score. On the worst configuration most programs tolerate nothing, by the definition of the score. ",
	},
	{
		ID: "lsh-default-high", Paper: "lsh", Where: "§IV.B, figure 3a", Title: "Default data centre, high load: quality of service",
		Scenarios: []string{"lsh-default-high"}, Headline: of("lsh"),
		Quantities: []Quantity{
			qos.from(published{"lsh": n(45), "paragon": n(38)}), within20.from(published{"lsh": n(60)}), within10, meanPerformance, undisturbed, qosWithWait, performanceWaits, waitingShare,
		},
		Requires: []Requirement{
			ahead("LSH keeps more jobs at 95 % than Paragon", qos, 0, of("lsh"), of("paragon")),
			ahead("by 7 points", qos, 7, of("lsh"), of("paragon")),
			ahead("from submission on, too", qosWithWait, 0, of("lsh"), of("paragon")),
		},
		Why:   whyLSHCluster,
		Plots: []Plot{sorted(of("lsh"), of("paragon"), of("lsh-oracle"), of("paragon-oracle"), of("least-loaded"), of("nomad-binpack")), sortedWithWait(of("lsh"), of("paragon"), of("lsh-oracle"), of("paragon-oracle"))},
	},
	{
		ID: "lsh-default-high-utilisation", Paper: "lsh", Where: "§IV.B, figures 3b and 3c", Title: "Default data centre, high load: utilisation",
		Scenarios: []string{"lsh-default-high"}, Headline: of("lsh"),
		Quantities: []Quantity{used.from(published{"lsh": n(62), "paragon": n(57)}), usedUntil90, allocated, makespan},
		Requires: []Requirement{
			ahead("more cores are busy with LSH than with Paragon", used, 0, of("lsh"), of("paragon")),
			behind("it is done earlier", makespan, 0, of("lsh"), of("paragon")),
		},
		Why:   whyLSHCluster + "What waits uses no cores until the last submission; LSH ends earlier because no job runs as slowly as Paragon's slowest. ",
		Plots: append(maps(of("lsh"), of("paragon")), usageOf(of("lsh")), usageOf(of("paragon"))),
	},
	{
		ID: "lsh-default-low", Paper: "lsh", Where: "§IV.B, figure 3d", Title: "Default data centre, low load: quality of service",
		Scenarios: []string{"lsh-default-low"}, Headline: of("lsh"),
		Quantities: []Quantity{
			qos.from(published{"lsh": n(61), "paragon": n(49)}), within20, within10, meanPerformance, undisturbed, qosWithWait, performanceWaits, waitingShare,
		},
		Requires: []Requirement{
			ahead("LSH keeps more jobs at 95 % than Paragon", qos, 0, of("lsh"), of("paragon")),
			ahead("by 12 points", qos, 12, of("lsh"), of("paragon")),
			ahead("from submission on, too", qosWithWait, 0, of("lsh"), of("paragon")),
		},
		Why:   whyLSHCluster,
		Plots: []Plot{sorted(of("lsh"), of("paragon"), of("lsh-oracle"), of("paragon-oracle"), of("least-loaded"), of("nomad-binpack"))},
	},
	{
		ID: "lsh-default-low-utilisation", Paper: "lsh", Where: "§IV.B, figures 3e and 3f", Title: "Default data centre, low load: utilisation",
		Scenarios: []string{"lsh-default-low"}, Headline: of("lsh"),
		Quantities: []Quantity{used.from(published{"lsh": n(59), "paragon": n(54)}), usedUntil90, allocated, makespan},
		Requires: []Requirement{
			ahead("more cores are busy with LSH than with Paragon", used, 0, of("lsh"), of("paragon")),
			behind("it is done earlier", makespan, 0, of("lsh"), of("paragon")),
		},
		Why:   whyLSHCluster + "What waits uses no cores until the last submission. ",
		Plots: append(maps(of("lsh"), of("paragon")), usageOf(of("lsh"))),
	},
	{
		ID: "lsh-high-end-high", Paper: "lsh", Where: "§IV.C, figure 4a", Title: "High-end data centre, high load",
		Scenarios: []string{"lsh-high-end-high"}, Headline: of("lsh"),
		Quantities: []Quantity{qos.from(published{"lsh": n(47), "paragon": n(40)}), within20, meanPerformance, undisturbed, qosWithWait, performanceWaits, used},
		Requires: []Requirement{
			ahead("LSH keeps more jobs at 95 % than Paragon", qos, 0, of("lsh"), of("paragon")),
			ahead("by 7 points", qos, 7, of("lsh"), of("paragon")),
		},
		Why:   whyLSHCluster,
		Plots: []Plot{sorted(of("lsh"), of("paragon"), of("lsh-oracle"), of("paragon-oracle"), of("least-loaded"), of("nomad-binpack"))},
	},
	{
		ID: "lsh-low-end-high", Paper: "lsh", Where: "§IV.C, figure 4b", Title: "Low-end data centre, high load",
		Scenarios: []string{"lsh-low-end-high"}, Headline: of("lsh"),
		Quantities: []Quantity{qos.from(published{"lsh": pictured, "paragon": pictured}), within20, meanPerformance, undisturbed, qosWithWait, performanceWaits, used},
		Requires: []Requirement{
			ahead("LSH keeps more jobs at 95 % than Paragon", qos, 0, of("lsh"), of("paragon")),
		},
		Why:   whyLSHCluster,
		Plots: []Plot{sorted(of("lsh"), of("paragon"), of("lsh-oracle"), of("paragon-oracle"), of("least-loaded"), of("nomad-binpack"))},
	},
	{
		ID: "lsh-5", Paper: "lsh", Where: "§IV.D, figure 5", Title: "Time of a prediction by the size of the training set",
		Missing: "a report has no time of the host. BenchmarkLSH of placer/classify times predictions from 50 to 100,000 rows; placer/docs/lsh.md compares it with the published 13 ms at 150 rows.",
	},
	{
		ID: "lsh-default-charged", Paper: "lsh", Where: "§II.D", Title: "High load, with the minute of profiling counted",
		Scenarios: []string{"lsh-default-charged"}, Headline: of("lsh"),
		Quantities: []Quantity{
			profilingShare.from(published{"lsh": pictured}), qos, qosWithWait, performanceWaits,
		},
		Requires: []Requirement{
			ahead("LSH keeps more jobs at 95 % than Paragon while they run", qos, 0, of("lsh"), of("paragon")),
		},
		Why: whyLSHCluster + "The paper profiles for about a minute and must have replayed stored scores in its load tests: jobs here last 1 to 4 minutes, of which a minute more is a large part. ",
	},
	{
		ID: "lsh-causes", Paper: "lsh", Where: "§II, §III", Title: "What decides, default data centre, high load",
		Scenarios: []string{"lsh-causes"}, Headline: of("lsh"),
		Quantities: []Quantity{qos, qosWithWait, meanPerformance, bestPlatform, undisturbed, metric("mean wait", "s", "wait_mean"), metric("mean decision time", "ms", "deciding_mean")},
		Requires: []Requirement{
			ahead("both parts are needed: a point more keep their QoS than with either alone", qos, 1, of("lsh"), of("lsh-scores-ignored"), of("lsh-speeds-ignored")),
			alike("hashing loses nothing against the nearest of all rows: within two points", qos, 2, of("lsh"), of("lsh-knn")),
			compared("two sources are enough: four gain two points at most", gainsAtMost(2), uses(qos, all("lsh", "lsh-sources-4")...)...),
			compared("it is not what is unknown of jobs that LSH loses by: all known gains five points at most", gainsAtMost(5), uses(qos, all("lsh", "lsh-oracle")...)...),
			ahead("by the same scores its rule keeps a point more than Paragon's", qos, 1, of("lsh"), of("paragon-hashed")),
		},
		Why: fromTable("lsh-causes", qos, "Both parts are needed: by configurations alone %s %% keep their QoS, by interference alone %s %%, by both %s %%.", "lsh-scores-ignored", "lsh-speeds-ignored", "lsh") +
			fromTable("lsh-causes", qos, "How scores are completed hardly matters: %s %% from the rows that a hash finds, %s %% from the nearest of all, %s %% by filtering as Paragon does, and with the truth %s %%; nor does the number of measured sources, one (%s %%) or four (%s %%).", "lsh", "lsh-knn", "lsh-cf-log", "lsh-oracle", "lsh-sources-1", "lsh-sources-4") +
			fromTable("lsh-causes", qos, "What it gains over Paragon (%s %%) is owed to its rule, which refuses a server that would break a bound: with LSH's own scores Paragon's rule keeps %s %%.", "paragon", "paragon-hashed") +
			fromTable("lsh-causes", qosWithWait, "The rule is paid for by waiting: from submission on it is %s %%, Paragon's rule keeps %s %%, and configurations alone %s %%.", "lsh", "paragon-hashed", "lsh-scores-ignored") +
			fromTable("lsh-causes", metric("mean decision time", "ms", "deciding_mean"), "Refused jobs are tried again and again, so that decisions take %s ms;", "lsh") +
			fromTable("lsh-causes", qosWithWait, "in no time they would leave %s %% their QoS from submission on.", "lsh-free"),
		Plots: []Plot{byPart(qos, all(
			"lsh", "lsh-scores-ignored", "lsh-speeds-ignored", "lsh-oracle", "lsh-sources-1", "lsh-sources-4", "lsh-knn", "lsh-cf-log", "paragon-hashed", "paragon", "lsh-free",
		)...)},
	},
}

// lshConfigurationRows are the ten configurations of each predictor, worst first.
func lshConfigurationRows(who ...string) []At {
	var out []At
	for _, w := range who {
		for c := range 10 {
			out = append(out, of(fmt.Sprintf("%s, configuration %d", w, c+1)))
		}
	}
	return out
}
