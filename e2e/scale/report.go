package main

import (
	"cmp"
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
	want := targetsOf(r.Nodes)
	out := []row{both("jobs/s, all rounds", "%.1f", "", r.rate)}
	out = append(out, r.shareRows(want)...)
	return append(out, []row{
		both("one job, median (slowest round)", "%.2f s", "", worst(func(x Round) float64 { return x.MedianSeconds })),
		both("one job, p99 (slowest round)", "%.2f s", "", worst(func(x Round) float64 { return x.P99Seconds })),
		{"on the node decided on", "", n("%.2f %%", r.Wanted.FirstShare()), "≥ 99 %"},
		{"inside the shortlist", "", n("%.2f %%", r.Wanted.ShortlistShare()), "≥ 99 %"},
		{"left to stock Nomad", "", fmt.Sprint(r.Wanted.Stock), "0"},
		{"writes of one job, the user's included", "", fmt.Sprintf("%.2f, most %d", r.Writes.Mean, r.Writes.Most), fmt.Sprint(r.writesWanted())},
		both("evaluations per job", "%.2f", "", func(s side) float64 { return r.Evaluations[s].PerJob }),
		both("blocked evaluations, peak", "%.0f", fmt.Sprintf("≤ %d", r.JobsPerRound), peak(func(x Sample) float64 { return float64(x.Blocked) })),
		both("waiting evaluations, peak", "%.0f", fmt.Sprintf("≤ %d", 2*r.JobsPerRound), peak(func(x Sample) float64 { return float64(x.Ready + x.Pending + x.Unacked) })),
		both("agent memory, peak", "%.0f MiB", n("≤ %.0f MiB", want.agentMiB), peak(func(x Sample) float64 { return x.AgentMiB })),
		both("server memory, peak", "%.0f MiB", "", peak(func(x Sample) float64 { return x.ServerMiB })),
		both("agent CPU per job", "%.1f ms", n("≤ %.0f ms", want.agentCPUMillis), perJob(func(u Usage) float64 { return u.AgentCPUSeconds })),
		both("proxy's CPU per job", "%.1f ms", "", perJob(func(u Usage) float64 { return u.FrontCPUSeconds })),
		both("server CPU per job", "%.1f ms", "", perJob(func(u Usage) float64 { return u.ServerCPUSeconds })),
		both("light nodes' CPU per job", "%.1f ms", "", perJob(func(u Usage) float64 { return u.NodesCPUSeconds })),
	}...)
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
	fmt.Fprintf(t, "%d nodes, %d allocations, %d rounds of %d jobs a side\tstock\tplacer\ttarget\n", r.Nodes, r.Allocations, len(r.of(placed)), r.JobsPerRound)
	for _, x := range r.rows() {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", x.name, x.stock, x.placer, x.target)
	}
	_ = t.Flush() // to the terminal: an error could not be shown either
	r.writeRounds(w)
	fmt.Fprintf(w, "\n%s\n%s\n", r.state(), r.limit())
	if r.Profiles != nil {
		r.Profiles.write(w)
	}
	if r.Trouble != nil {
		r.Trouble.write(w)
	}
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
	title, way := fmt.Sprintf("%d nodes, %d allocations", r.Nodes, r.Allocations), "through the proxy, which has known jobs decided on before it registers them"
	if r.Pool {
		title += ", through the hold pool"
		way = "into the hold pool, with a second registration at their release"
	}
	fmt.Fprintf(&b, "## %s\n\n`%s`\n\n", title, r.command())
	fmt.Fprintf(&b, "Seed %d, %s, %d writers. %s\n", r.Seed, r.Began.UTC().Format("2006-01-02"), r.Writers, r.state())
	fmt.Fprintf(&b, "Half of the jobs are services, half batch. The placer's jobs go %s. %s\n\n", way, r.limit())
	b.WriteString("| | stock | placer | target |\n|---|---|---|---|\n")
	for _, x := range r.rows() {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", x.name, x.stock, x.placer, x.target)
	}
	r.writeRounds(&b)
	r.writeCauses(&b)
	r.writeWaiting(&b)
	if r.Profiles != nil {
		r.Profiles.write(&b)
	}
	if r.Trouble != nil {
		r.Trouble.write(&b)
	}
	if r.Problems > 0 {
		fmt.Fprintf(&b, "\nLight nodes reported %d problems, the first: %s.\n", r.Problems, r.Problem)
	}
	return b.String()
}

// command is what measures the same again.
func (r Result) command() string {
	text := fmt.Sprintf("make scale NODES=%d ALLOCATIONS=%d JOBS=%d ROUNDS=%d", r.Nodes, r.Allocations, r.JobsPerRound, len(r.of(placed)))
	var flags []string
	for _, f := range []struct {
		flag string
		set  bool
	}{{"-pool", r.Pool}, {"-profile", r.Profiles != nil}, {"-trouble", r.Trouble != nil}} {
		if f.set {
			flags = append(flags, f.flag)
		}
	}
	if len(flags) > 0 {
		text += fmt.Sprintf(" SCALE='%s'", strings.Join(flags, " "))
	}
	return text
}

// limit says what memory the agents are given.
func (r Result) limit() string {
	whose := "of the installed job"
	if r.MemoryLimit != installedMemoryLimit {
		whose = fmt.Sprintf("for more than %d nodes; the installed job has %s", largestInstalled, installedMemoryLimit)
	}
	return fmt.Sprintf("The agents' `GOMEMLIMIT` is %s, that %s.", r.MemoryLimit, whose)
}

// state is that of the machine, in a sentence.
func (r Result) state() string {
	return fmt.Sprintf("On %s, shared; load averages %s before anything was started and %s after the last round.", r.Machine, r.LoadBefore, r.LoadAfter)
}

// writeRounds lists the rounds, with how much of a CPU each side was given there.
func (r Result) writeRounds(b io.Writer) {
	fmt.Fprint(b, "\nRound by round; CPU time that the host of this machine took for others is given for both sides:\n\n| round | first | stock | placer | of stock's | taken by the host |\n|---|---|---|---|---|---|\n")
	for _, s := range r.shares() {
		first, rates, stolen := side(""), map[side]float64{}, map[side]string{}
		for _, x := range r.Rounds {
			if x.Number != s.round {
				continue
			}
			first = cmp.Or(first, x.Side)
			rates[x.Side], stolen[x.Side] = x.JobsPerSecond, "unknown"
			if x.StolenPercent != nil {
				stolen[x.Side] = fmt.Sprintf("%.1f %%", *x.StolenPercent)
			}
		}
		fmt.Fprintf(b, "| %d | %s | %.1f jobs/s | %.1f jobs/s | %.0f %% | %s, %s |\n", s.round+1, first, rates[stock], rates[placed], s.percent, stolen[stock], stolen[placed])
	}
}

// writeCauses lists what caused evaluations.
func (r Result) writeCauses(b *strings.Builder) {
	b.WriteString("\nEvaluations by what caused them:\n\n| cause | stock | placer |\n|---|---|---|\n")
	causes := maps.Clone(r.Evaluations[stock].ByCause)
	if causes == nil {
		causes = map[string]int{}
	}
	maps.Copy(causes, r.Evaluations[placed].ByCause)
	for _, c := range slices.Sorted(maps.Keys(causes)) {
		fmt.Fprintf(b, "| %s | %d | %d |\n", c, r.Evaluations[stock].ByCause[c], r.Evaluations[placed].ByCause[c])
	}
}

// writeWaiting lists what waited in the placer's rounds.
func (r Result) writeWaiting(b *strings.Builder) {
	b.WriteString("\nBlocked and waiting evaluations over the placer's rounds, once a second:\n\n```\n")
	for _, x := range r.of(placed) {
		fmt.Fprintf(b, "round %d  blocked:", x.Number+1)
		for _, one := range x.Samples {
			fmt.Fprintf(b, " %d", one.Blocked)
		}
		fmt.Fprintf(b, "\n         waiting:")
		for _, one := range x.Samples {
			fmt.Fprintf(b, " %d", one.Ready+one.Pending+one.Unacked)
		}
		b.WriteString("\n")
	}
	b.WriteString("```\n")
}
