package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

// row is one line of the summary.
type row struct{ name, stock, placer, target string }

// rows is the summary, for the terminal and the document alike.
func (r Result) rows() []row {
	n := func(format string, v float64) string { return fmt.Sprintf(format, v) }
	both := func(name, format, target string, of func(side) float64) row {
		return row{name, n(format, of(stock)), n(format, of(placed)), target}
	}
	peak := func(of func(Sample) float64) func(side) float64 { return func(s side) float64 { return r.peak(s, of) } }
	worst := func(of func(Round) float64) func(side) float64 {
		return func(s side) float64 {
			most := 0.0
			for _, x := range r.of(s) {
				most = max(most, of(x))
			}
			return most
		}
	}
	perJob := func(of func(Usage) float64) func(side) float64 {
		return func(s side) float64 {
			sum, jobs := 0.0, 0
			for _, x := range r.of(s) {
				sum, jobs = sum+of(x.Usage), jobs+x.Jobs
			}
			return 1000 * sum / float64(max(1, jobs))
		}
	}
	out := []row{
		both("jobs/s, all rounds", "%.1f", "≥ 50", r.rate),
		{"of stock's rate", "", n("%.0f %%", 100*r.rate(placed)/max(r.rate(stock), 1e-9)), "≥ 57 % (50 of 88)"},
		both("one job, median (slowest round)", "%.2f s", "", worst(func(x Round) float64 { return x.MedianSeconds })),
		both("one job, p99 (slowest round)", "%.2f s", "", worst(func(x Round) float64 { return x.P99Seconds })),
		{"on the node decided on", "", n("%.2f %%", r.Wanted.FirstShare()), "≥ 99 %"},
		{"inside the shortlist", "", n("%.2f %%", r.Wanted.ShortlistShare()), "≥ 99 %"},
		{"left to stock Nomad", "", fmt.Sprint(r.Wanted.Stock), "0"},
		{"writes of one job, the user's included", "", fmt.Sprintf("%.2f, most %d", r.Writes.Mean, r.Writes.Most), fmt.Sprint(r.writesWanted())},
		both("evaluations per job", "%.2f", "", func(s side) float64 { return r.Evaluations[s].PerJob }),
		both("blocked evaluations, peak", "%.0f", fmt.Sprintf("≤ %d", r.JobsPerRound), peak(func(x Sample) float64 { return float64(x.Blocked) })),
		both("waiting evaluations, peak", "%.0f", fmt.Sprintf("≤ %d", 2*r.JobsPerRound), peak(func(x Sample) float64 { return float64(x.Ready + x.Pending + x.Unacked) })),
		both("agent memory, peak", "%.0f MiB", "≤ 150 MiB", peak(func(x Sample) float64 { return x.AgentMiB })),
		both("server memory, peak", "%.0f MiB", "", peak(func(x Sample) float64 { return x.ServerMiB })),
		both("agent CPU per job", "%.1f ms", "", perJob(func(u Usage) float64 { return u.AgentCPUSeconds })),
		both("proxy's CPU per job", "%.1f ms", "", perJob(func(u Usage) float64 { return u.FrontCPUSeconds })),
		both("server CPU per job", "%.1f ms", "", perJob(func(u Usage) float64 { return u.ServerCPUSeconds })),
		both("light nodes' CPU per job", "%.1f ms", "", perJob(func(u Usage) float64 { return u.NodesCPUSeconds })),
	}
	return out
}

// writesWanted is how often a job is to be registered, its user's time included.
func (r Result) writesWanted() int {
	if r.Pool {
		return 2
	}
	return 1
}

// print writes the summary to a terminal.
func (r Result) print(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "%d nodes, %d rounds of %d jobs a side\tstock\tplacer\ttarget\n", r.Nodes, len(r.of(placed)), r.JobsPerRound)
	for _, x := range r.rows() {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", x.name, x.stock, x.placer, x.target)
	}
	_ = t.Flush() // to the terminal: an error could not be shown either
}

// name of the run's section.
func (r Result) name() string {
	if r.Pool {
		return fmt.Sprintf("%d pool", r.Nodes)
	}
	return fmt.Sprint(r.Nodes)
}

// section is the run as a section of placer/docs/scale.md.
func (r Result) section() string {
	var b strings.Builder
	command := fmt.Sprintf("make scale NODES=%d JOBS=%d ROUNDS=%d", r.Nodes, r.JobsPerRound, len(r.of(placed)))
	way := "through the proxy, which has known jobs decided on before it registers them"
	if r.Pool {
		command += " SCALE=-pool"
		way = "into the hold pool, with a second registration at their release"
	}
	title := fmt.Sprintf("%d nodes", r.Nodes)
	if r.Pool {
		title += ", through the hold pool"
	}
	fmt.Fprintf(&b, "## %s\n\n", title)
	fmt.Fprintf(&b, "`%s`\n\nSeed %d, %s, %d writers, on %s.\nThe placer's jobs go %s.\n\n", command, r.Seed, r.Began.UTC().Format("2006-01-02"), r.Writers, r.Machine, way)
	b.WriteString("| | stock | placer | target |\n|---|---|---|---|\n")
	for _, x := range r.rows() {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", x.name, x.stock, x.placer, x.target)
	}
	b.WriteString("\nRound by round (the sides take turns, in this order):\n\n| round | side | jobs/s | seconds |\n|---|---|---|---|\n")
	for _, x := range r.Rounds {
		fmt.Fprintf(&b, "| %d | %s | %.1f | %.1f |\n", x.Number+1, x.Side, x.JobsPerSecond, x.Seconds)
	}
	b.WriteString("\nEvaluations by what caused them:\n\n| cause | stock | placer |\n|---|---|---|\n")
	causes := maps.Clone(r.Evaluations[stock].ByCause)
	if causes == nil {
		causes = map[string]int{}
	}
	maps.Copy(causes, r.Evaluations[placed].ByCause)
	for _, c := range slices.Sorted(maps.Keys(causes)) {
		fmt.Fprintf(&b, "| %s | %d | %d |\n", c, r.Evaluations[stock].ByCause[c], r.Evaluations[placed].ByCause[c])
	}
	b.WriteString("\nBlocked and waiting evaluations over the placer's rounds, once a second:\n\n```\n")
	for _, x := range r.of(placed) {
		fmt.Fprintf(&b, "round %d  blocked:", x.Number+1)
		for _, one := range x.Samples {
			fmt.Fprintf(&b, " %d", one.Blocked)
		}
		fmt.Fprintf(&b, "\n         waiting:")
		for _, one := range x.Samples {
			fmt.Fprintf(&b, " %d", one.Ready+one.Pending+one.Unacked)
		}
		b.WriteString("\n")
	}
	b.WriteString("```\n")
	if r.Problems > 0 {
		fmt.Fprintf(&b, "\nLight nodes reported %d problems, the first: %s.\n", r.Problems, r.Problem)
	}
	return b.String()
}
