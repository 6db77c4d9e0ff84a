package figures

import (
	"fmt"
	"slices"

	"github.com/nomad-placer/nomad-placer/profiler/workload/network"
)

const (
	whyEchoCluster   = "The systems of the source are not available: its numbers are context. Ours is a declared cluster of 480 servers with the published statistics (locality, load over the day, heavy tail), in which half of the racks have traffic that switches on and off by chance. The source never defines its deviations; ours are defined in network.Deviation. "
	whyEchoBursts    = "What is missed is of servers with bursts: a chain draws bursts at other times than the original had them, and a window of some hours has few of them. "
	whyEchoTrials    = "Trials show that it is how many are drawn: with exact counts a window has as many records of each kind as were seen in it, and with a window for each day none stands for several days. Both are differences from the source, and neither knows more of the week that was held out. "
	whyEchoMarginals = "Traffic between racks reaches servers by their shares of it, so that who talks to whom between racks is not kept. "
)

// The parts of ECHO's rows that are ours.
var (
	echoStatic  = []string{"C.1: load A, Monday 08–10, static", "C.1: load B, Monday 14–16, static", "C.1: load C, Monday 02–04, static", "C.1: load D, Saturday 10–12, static"}
	echoVarying = []string{"C.1: load A, Monday 08–10, varying", "C.1: load B, Monday 14–16, varying", "C.1: load C, Monday 02–04, varying", "C.1: load D, Saturday 10–12, varying"}
	echoCounts  = suffixed(", exact counts", echoVarying)
	echoSubsets = []string{"S1 low, static", "S2 low, varying", "S3 high, static", "S4 high, varying"}
	echoBursts  = []string{echoSubsets[1], echoSubsets[3]}
)

// echoAll is the deviation over all servers.
var echoAll = metric("all servers", "%", "part100")

// echoExperiments are those of the appendix, in its order.
var echoExperiments = []Experiment{
	{
		ID: "echo-curves", Paper: "echo", Where: "§C.3", Title: "Temporal model of single servers over a day",
		Compute: echoStudied, Headline: of("curve 1"), Rows: all("curve 1", "curve 2", "curve 3", "curve 4", "curve 5"),
		Quantities: []Quantity{metric("mean deviation", "%", "deviation").from(published{thePaper: below(4.9)}), metric("shapes", "terms", "terms")},
		Requires:   []Requirement{atMost("the sum of shapes is within 5 % of each server's trace", metric("mean deviation", "%", "deviation"), 5, all("curve 1", "curve 2", "curve 3", "curve 4", "curve 5")...)},
		Why:        whyEchoCluster,
	},
	{
		ID: "echo-transitions", Paper: "echo", Where: "§C.5.2", Title: "Transitions of 100 racks, with and without hierarchy",
		Compute: echoStudied, Headline: of("transitions: 100 racks in 10 groups, racks only"),
		Rows: all("transitions: 100 racks in 10 groups, racks only", "transitions: 100 racks in 4 groups, racks only", "transitions: 100 racks in 10 groups, 48 servers each"),
		Quantities: []Quantity{
			metric("fewer", "%", "fewer").from(published{thePaper: n(90)}), metric("hierarchical", "transitions", "hierarchical"), metric("flat", "transitions", "flat"),
		},
		Requires: []Requirement{atLeast("about 90 % fewer, at the level of racks", metric("fewer", "%", "fewer"), 89, of("transitions: 100 racks in 10 groups, racks only"))},
		Why:      "The published reduction is that of racks alone in ten groups of ten: at the level of servers it is larger, and in four groups smaller. ",
	},
	{
		ID: "echo-rack", Paper: "echo", Where: "table C.1", Title: "Average activity of one rack of 24 servers, two hours",
		Compute: echoStudied, Headline: of(echoStatic[0]), Rows: echoRows("C.1", slices.Concat(echoStatic, echoVarying, echoCounts)),
		Quantities: echoDeviations("C.1"),
		Requires: []Requirement{
			atMost("within 7 %, static traffic", echoAll, 7, all(echoStatic...)...), atMost("within 7 %, traffic with bursts", echoAll, 7, all(echoVarying...)...),
		},
		Why: whyEchoCluster + whyEchoBursts + whyEchoTrials,
	},
	{
		ID: "echo-average", Paper: "echo", Where: "table C.2", Title: "Average activity of a system",
		Compute: echoStudied, Headline: of("C.2: the whole cluster"), Rows: echoRows("C.2", []string{"C.2: the whole cluster"}),
		Quantities: echoDeviations("C.2"),
		Requires:   []Requirement{atMost("within 5 %", echoAll, 5, of("C.2: the whole cluster"))},
		Why:        whyEchoCluster,
		Plots:      []Plot{computedPicture(echoServersOriginal), computedPicture(echoServersGenerated)},
	},
	{
		ID: "echo-fluctuation", Paper: "echo", Where: "table C.3", Title: "Fluctuation of four subsets",
		Compute: echoStudied, Headline: of("C.3: " + echoSubsets[0]), Rows: echoRows("C.3", prefixed("C.3: ", slices.Concat(echoSubsets, suffixed(", exact counts", echoBursts), suffixed(", exact counts, a window for each day", echoBursts)))),
		Quantities: echoDeviations("C.3"),
		Requires: []Requirement{
			atMost("within 8 %, static subsets", echoAll, 8, of("C.3: "+echoSubsets[0]), of("C.3: "+echoSubsets[2])),
			atMost("within 8 %, subsets with bursts", echoAll, 8, of("C.3: "+echoSubsets[1]), of("C.3: "+echoSubsets[3])),
		},
		Why: whyEchoCluster + whyEchoBursts + whyEchoTrials,
	},
	{
		ID: "echo-locality", Paper: "echo", Where: "table C.4", Title: "Locality of four subsets: who talks to whom",
		Compute: echoStudied, Headline: of("C.4: " + echoSubsets[0]), Rows: echoRows("C.4", prefixed("C.4: ", echoSubsets)),
		Quantities: echoDeviations("C.4"),
		Requires:   []Requirement{atMost("within 11 %", echoAll, 11, all(prefixed("C.4: ", echoSubsets)...)...)},
		Why:        whyEchoCluster,
		Plots:      []Plot{computedPicture(echoPairsOriginal), computedPicture(echoPairsGenerated), computedPicture(echoRacksOriginal), computedPicture(echoRacksGenerated)},
	},
	{
		ID: "echo-levels", Paper: "echo", Where: "figure C.15", Title: "Levels of the hierarchy, and other models",
		Compute: echoStudied, Headline: of("model: level 3"), Rows: echoModels(),
		Quantities: []Quantity{
			metric("average activity", "%", "average").from(published{"model: level 1": n(28), "model: level 2": n(9.1), "model: level 3": n(4.4)}),
			metric("fluctuation", "%", "fluctuation"), metric("locality", "%", "locality"),
			metric("average activity, held out", "%", "average_held"), metric("fluctuation, held out", "%", "fluctuation_held"), metric("locality, held out", "%", "locality_held"),
			metric("transitions", "in all windows", "transitions"),
		},
		Requires: []Requirement{
			atMost("three levels are within 5 %", metric("average activity", "%", "average"), 5, of("model: level 3")),
			falling("the more levels, the smaller the deviation", metric("average activity", "%", "average"), of("model: level 1"), of("model: level 2"), of("model: level 3")),
			multiple("one level is several times worse than three", metric("average activity", "%", "average"), 3, of("model: level 1"), of("model: level 3")),
			falling("gravity keeps less of who talks to whom", metric("locality", "%", "locality"), of("model: gravity"), of("model: level 3")),
		},
		Why: whyEchoCluster + "Servers of a rack differ by their heavy-tailed load, which only the level of servers has. ",
	},
	{
		ID: "echo-errors", Paper: "echo", Where: "figure C.16", Title: "Errors of servers, over time and over pairs",
		Compute: echoStudied, Headline: of("errors: 50 % of the servers"), Rows: all("errors: 50 % of the servers", "errors: 90 % of the servers"),
		Quantities: []Quantity{
			metric("over time", "%", "temporal").from(published{"errors: 50 % of the servers": below(4), "errors: 90 % of the servers": below(7.3)}),
			metric("over pairs", "%", "spatial").from(published{"errors: 50 % of the servers": below(5.2), "errors: 90 % of the servers": below(9.8)}),
			metric("over time, held out", "%", "temporal_held"), metric("over pairs, held out", "%", "spatial_held"),
		},
		Requires: []Requirement{
			atMost("over time, half of the servers are within 4 %", metric("over time", "%", "temporal"), 4, of("errors: 50 % of the servers")),
			atMost("over time, 90 % of the servers are within 7.3 %", metric("over time", "%", "temporal"), 7.3, of("errors: 90 % of the servers")),
			atMost("over pairs, half of the servers are within 5.2 %", metric("over pairs", "%", "spatial"), 5.2, of("errors: 50 % of the servers")),
			atMost("over pairs, 90 % of the servers are within 9.8 %", metric("over pairs", "%", "spatial"), 9.8, of("errors: 90 % of the servers")),
		},
		Why:   whyEchoCluster + whyEchoBursts + whyEchoMarginals,
		Plots: []Plot{computedPicture(echoErrorPicture)},
	},
	{
		ID: "echo-pairs", Paper: "echo", Where: "§C.5.3", Title: "Random pairs of servers",
		Compute: echoStudied, Headline: of("pairs: 0 exact pairs, weekdays"),
		Rows: all("pairs: 0 exact pairs, weekdays", "pairs: 0 exact pairs, weekend", "pairs: 1000 exact pairs, weekdays", "pairs: 1000 exact pairs, weekend"),
		Quantities: []Quantity{
			metric("of one rack, median", "%", "same_rack").from(published{"pairs: 0 exact pairs, weekdays": n(12.2), "pairs: 0 exact pairs, weekend": n(8.9)}),
			metric("of two racks, median", "%", "other_rack"),
		},
		Requires: []Requirement{
			atMost("of one rack within 15 %", metric("of one rack, median", "%", "same_rack"), 15, of("pairs: 0 exact pairs, weekdays"), of("pairs: 0 exact pairs, weekend")),
			atMost("of two racks within 15 %", metric("of two racks, median", "%", "other_rack"), 15, of("pairs: 0 exact pairs, weekdays"), of("pairs: 0 exact pairs, weekend")),
		},
		Why: whyEchoCluster + whyEchoMarginals + "Which pair the source took is not said; one of two random servers is mostly of two racks. ",
	},
}

// echoDeviations are the columns of a table: all servers, and the least loaded parts of them.
func echoDeviations(table string) []Quantity {
	last := len(network.Parts) - 1
	out := []Quantity{echoAll.from(echoPublished(table, last))}
	for i, part := range network.Parts[:last] {
		out = append(out, metric(fmt.Sprintf("the least loaded %d %%", part), "%", echoPart(part)).from(echoPublished(table, i)))
	}
	return append(out, metric("all servers, held out", "%", "held"))
}

// echoPart is the metric of a part of the servers.
func echoPart(percent int) string { return fmt.Sprintf("part%d", percent) }

// echoPublished is a column of a published table.
func echoPublished(table string, column int) published {
	out := published{}
	for _, p := range network.PublishedTables() {
		if p.Table == table {
			out[table+": "+p.System] = n(float64(p.Values[column]))
		}
	}
	return out
}

// echoRows are the rows of a published table, and ours below them.
func echoRows(table string, ours []string) []At {
	var out []At
	for _, p := range network.PublishedTables() {
		if p.Table == table {
			out = append(out, of(table+": "+p.System))
		}
	}
	return append(out, all(ours...)...)
}

func echoModels() []At {
	var out []At
	for _, b := range network.Baselines() {
		out = append(out, of("model: "+b.Name))
	}
	return out
}

func prefixed(prefix string, names []string) []string {
	var out []string
	for _, name := range names {
		out = append(out, prefix+name)
	}
	return out
}

func suffixed(suffix string, names []string) []string {
	var out []string
	for _, name := range names {
		out = append(out, name+suffix)
	}
	return out
}
