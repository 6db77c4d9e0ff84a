package figures

import "slices"

const (
	whyBlocWorld = "The load over time is that of 40 real volumes of CloudPhysics; their sizes, the powers of nodes, the scale of the load and what applications lose by one another are assumed, for the text has no numbers ([which](../consolidation.md#in-the-simulator)). "
	whyBlocLoss  = "What pairs lose decides most, so that it is scaled: 1 is a queue, in which an instance costs another one about 10 % on a node of four disks; a quarter of that is where BLOC saves as much as published. "
	whyBlocSpeed = "Performance is above 100 % where bursts come onto nodes with more disks than the instance's own. "
	whyBlocMoves = "With the text's own numbers, 400 MB/s and 2 % of that for moves, a node can move 14 GB in 30 minutes, and whole instances have 50 to 450 GB. "
	whyBlocSpace = "The data are 10 TB, and the nodes that hold them by capacity alone are four or five; the text's scheme saves less for reasons that it does not give. "
)

// blocLosses are the factors of what pairs lose, with their names in rows.
var blocLosses = []struct {
	name   string
	factor float64
}{{"losses × 1", 1}, {"losses × 0.5", 0.5}, {"losses × 0.25", 0.25}}

const (
	blocAssumed = 0 // of blocLosses: what is assumed by default
	blocMiddle  = 1
	blocLeast   = 2
)

// blocSchemes are in the order of the text: BLOC, its seven baselines, what parts of it are
// worth, and the bound.
var blocSchemes = []string{"bloc", "none", "capacity", "b-max", "b-dyn", "b-fine", "bloc-first-fit", "bloc-no-interference", "oracle"}

func blocRow(loss int, scheme string) At { return of(blocLosses[loss].name + ": " + scheme) }

func blocRows(losses ...int) []At {
	var out []At
	for _, l := range losses {
		for _, s := range blocSchemes {
			out = append(out, blocRow(l, s))
		}
	}
	return out
}

var (
	blocSavings     = metric("energy saved", "times", "savings").from(inEachLoss(published{"bloc": between(3.09, 3.18)}))
	blocPerformance = metric("performance", "%", "performance").from(inEachLoss(published{"bloc": n(98.2), "capacity": n(63.2)}))
	blocWorst       = metric("worst application", "%", "worst").from(inEachLoss(published{"bloc": above(97)}))
	blocMoved       = metric("bandwidth for moves", "%", "moved").from(inEachLoss(published{"bloc": below(5)}))
	blocActive      = metric("nodes on", "% of the time", "active").from(inEachLoss(published{"bloc": n(39)}))
	blocOfBound     = metric("of the bound's savings", "%", "of_bound")
)

// inEachLoss is what was published of schemes, which the text has one world for.
func inEachLoss(p published) published {
	out := published{}
	for scheme, v := range p {
		for i := range blocLosses {
			out[blocRow(i, scheme).String()] = v
		}
	}
	return out
}

// blocOrders are the four orderings of §B.7.1.
func blocOrders(loss int) []Requirement {
	row := func(scheme string) At { return blocRow(loss, scheme) }
	in := ", " + blocLosses[loss].name
	return []Requirement{
		atLeast("B-max keeps 97 % of performance"+in, blocPerformance, 97, row("b-max")),
		falling("B-dyn saves more than B-max"+in, blocSavings, row("b-dyn"), row("b-max")),
		falling("B-fine saves more than B-dyn"+in, blocSavings, row("b-fine"), row("b-dyn")),
		falling("B-fine has less performance than BLOC"+in, blocPerformance, row("bloc"), row("b-fine")),
		falling("Capacity saves less than BLOC"+in, blocSavings, row("bloc"), row("capacity")),
		atMost("Capacity loses at least 25 % of performance"+in, blocPerformance, 75, row("capacity")),
	}
}

// blocExperiments are those of appendix B, in its order.
var blocExperiments = []Experiment{
	{
		ID: "bloc-limits", Paper: "bloc", Where: "figure B.4a", Title: "Latency against bandwidth, and MB of three workloads",
		Compute: blocCurves, Headline: of(blocVolumes[0]), Rows: append(all(blocVolumes...), of("Websearch (§B.4.1)"), of("Webmail (§B.4.1)")),
		Quantities: []Quantity{
			metric("MB", "% of the rated bandwidth", "most").from(published{"Websearch (§B.4.1)": n(30), "Webmail (§B.4.1)": n(70)}),
			metric("MB", "% of what the disk does of the workload", "busy"), metric("sequential", "% of the I/Os", "sequential"), metric("mean size", "KiB", "size"),
		},
		Requires: []Requirement{falling("the more sequential, the more of the bandwidth can be used", metric("MB", "% of the rated bandwidth", "most"), of(blocVolumes[2]), of(blocVolumes[1]), of(blocVolumes[0]))},
		Why:      "Twins of three of CloudPhysics' volumes (mix, sizes and sequential part; of addresses nothing is known) on the reference disk, rated by sequential reads, with a limit of 20 ms: one random I/O takes 10 ms of this disk, so that the text's 5 ms cannot be kept on it. The text's nodes have four or more disks behind a controller. On a real disk `nomad-placer twin play -latency` measures it. ",
		Plots:    []Plot{computedPicture(blocCurvePicture)},
	},
	{
		ID: "bloc-use", Paper: "bloc", Where: "figure B.5", Title: "Use of bandwidth: mean and 95th percentile",
		Compute: blocStudied, Headline: of("volumes, median"), Rows: all("volumes, 10 %", "volumes, median", "volumes, 90 %"),
		Quantities: []Quantity{metric("95th percentile over the mean", "times", "peak").from(published{thePaper: pictured}), metric("intervals without I/O", "%", "idle")},
		Requires:   []Requirement{atLeast("the 95th percentile is much higher than the mean: twice, in the median", metric("95th percentile over the mean", "times", "peak"), 2, of("volumes, median"))},
		Why:        "A picture of the text shows means that are rarely above single digits of percent, and much higher 95th percentiles. The volumes' shares of their disks are not published. ",
	},
	{
		ID: "bloc-forecast", Paper: "bloc", Where: "§B.5.1", Title: "Prediction of the next 30 minutes",
		Compute: blocStudied, Headline: of("forecast"), Rows: all("forecast", "as now", "as on other days"),
		Quantities: []Quantity{metric("mean error, median of the volumes", "% of the mean", "error"), metric("mean error, 90 % of the volumes", "% of the mean", "error90"), metric("volumes whose other days count", "%", "trusted")},
		Requires: []Requirement{
			atMost("the forecast is no worse than taking the present, and than taking the same time of other days", metric("more than the better of the two", "% of the mean", "excess"), 0, of("forecast")),
		},
		Why: "The sixth day of each volume, predicted interval by interval; the text has no figures for it. Where other days were wrong by more than 5 % in 70 % of the intervals, the forecast is what is seen now (§B.6): so it is of nearly all of these volumes, and then the forecast predicts nothing. What counts as wrong is history, not the blend ([decision 0052](../decisions/0052-consolidation-by-bandwidth.md)). ",
	},
	{
		ID: "bloc-energy", Paper: "bloc", Where: "figure B.6a", Title: "Energy and performance",
		Compute: blocStudied, Headline: blocRow(blocAssumed, "bloc"), Rows: blocRows(blocAssumed, blocMiddle, blocLeast),
		Quantities: []Quantity{
			blocSavings, blocPerformance, blocWorst, metric("loss, 95 %", "%", "loss95"), metric("limits broken", "% of intervals", "broken"), blocActive, blocMoved, blocOfBound,
		},
		Requires: []Requirement{
			atLeast("BLOC saves at least 2.5 times, losses × 1", blocSavings, 2.5, blocRow(blocAssumed, "bloc")),
			atLeast("BLOC saves at least 2.5 times, losses × 0.25", blocSavings, 2.5, blocRow(blocLeast, "bloc")),
			atLeast("BLOC keeps 97 % of performance", blocPerformance, 97, blocRow(blocAssumed, "bloc"), blocRow(blocMiddle, "bloc"), blocRow(blocLeast, "bloc")),
			atLeast("no application loses more than 5 % with BLOC", blocWorst, 95, blocRow(blocAssumed, "bloc"), blocRow(blocMiddle, "bloc"), blocRow(blocLeast, "bloc")),
			atMost("nodes are on 39 % of the time, losses × 0.25", blocActive, 39, blocRow(blocLeast, "bloc")),
		},
		Why:   whyBlocWorld + whyBlocLoss + whyBlocSpeed + "The bound is a linear program with whole numbers of nodes: demand is known, moves are free and nothing interferes, so that no placement reaches it. ",
		Plots: []Plot{computedPicture(blocPicture(blocAssumed)), computedPicture(blocPicture(blocMiddle)), computedPicture(blocPicture(blocLeast))},
	},
	{
		ID: "bloc-orders", Paper: "bloc", Where: "§B.7.1", Title: "BLOC against what it is compared with",
		Compute: blocStudied, Headline: blocRow(blocAssumed, "bloc"), Rows: slices.Concat(blocRows(blocAssumed), blocRows(blocLeast)),
		Quantities: []Quantity{blocSavings, blocPerformance},
		Requires:   slices.Concat(blocOrders(blocAssumed), blocOrders(blocLeast)),
		Why:        whyBlocWorld + whyBlocLoss + whyBlocMoves + whyBlocSpace,
	},
	{
		ID: "bloc-moves", Paper: "bloc", Where: "figure B.10", Title: "Bandwidth for migration",
		Compute: blocStudied, Headline: blocRow(blocAssumed, "bloc"), Rows: []At{blocRow(blocAssumed, "bloc"), blocRow(blocMiddle, "bloc"), blocRow(blocLeast, "bloc"), blocRow(blocLeast, "b-dyn"), blocRow(blocLeast, "bloc-no-interference")},
		Quantities: []Quantity{blocMoved},
		Requires:   []Requirement{atMost("moves use less than 5 % of the bandwidth of nodes that are on", blocMoved, 5, blocRow(blocAssumed, "bloc"), blocRow(blocMiddle, "bloc"), blocRow(blocLeast, "bloc"))},
		Why:        whyBlocWorld + "The first placement is a day before the judged one, and not counted: the text's is not, either. ",
	},
	{
		ID: "bloc-constraint", Paper: "bloc", Where: "figure B.11b", Title: "What an application may lose",
		Compute: blocStudied, Headline: of(blocTolerance(0.10)), Rows: blocToleranceRows(),
		Quantities: []Quantity{blocSavings.from(published{thePaper: pictured}), blocPerformance.from(nil), blocWorst.from(nil)},
		Requires:   []Requirement{neverFalling("the more may be lost, the more is saved", blocSavings, 0.05, blocToleranceRows()...)},
		Why:        whyBlocWorld + "Losses × 0.5. Here the bound on what pairs lose is relaxed; the text relaxes the limit on latencies, which raises MB_i. ",
		Plots:      []Plot{blocSweep()},
	},
	{
		ID: "bloc-literal", Paper: "bloc", Where: "§B.4.2 and §B.5.2", Title: "What was mended of the algorithms, undone",
		Compute: blocStudied, Headline: of(blocMended), Rows: all(blocMended, blocNoShrink, blocSumOfMeans),
		Quantities: []Quantity{blocSavings.from(published{thePaper: between(3.09, 3.18)}), blocPerformance.from(nil), blocWorst.from(nil), blocActive.from(nil), blocMoved.from(nil)},
		Requires: []Requirement{
			falling("a step that empties nodes saves energy", blocSavings, of(blocMended), of(blocNoShrink)),
			falling("bounding the loss of the worst application keeps more of its performance than bounding the sum of means", blocWorst, of(blocMended), of(blocSumOfMeans)),
		},
		Why: whyBlocWorld + "Losses × 0.5. As printed nothing empties a node when demand falls, and line 16 adds up the means of all pairs of a node, which is the stricter of the two bounds where more than two meet ([decision 0052](../decisions/0052-consolidation-by-bandwidth.md)). ",
	},
	{
		ID: "bloc-pairs", Paper: "bloc", Where: "§B.3.5", Title: "Interference of pairs, predicted by twins",
		Missing: "it needs real applications next to one another on a disk. There it is measured, with six of them and their twins ([on one real disk](../twin-workloads.md#on-one-real-disk)).",
	},
	{
		ID: "bloc-interval", Paper: "bloc", Where: "figure B.11a", Title: "Length of the interval",
		Missing: "the public demand is by 30 minutes, so that 10 minutes cannot be told.",
	},
}

func blocToleranceRows() []At {
	var out []At
	for _, loss := range blocTolerances {
		out = append(out, of(blocTolerance(loss)))
	}
	return out
}

// blocSweep draws energy by what may be lost.
func blocSweep() Plot {
	line := sweepLine{name: "BLOC"}
	for _, loss := range blocTolerances {
		line.points = append(line.points, sweepPoint{100 * loss, of(blocTolerance(loss))})
	}
	return sweep("Energy saved by what an application may lose", blocSavings, "may be lost", "%", false, line)
}
