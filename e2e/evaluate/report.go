package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/nomad-placer/nomad-placer/placer/wording"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// What is wanted.
const (
	wantedShare     = 0.95 // of the jobs, or
	wantedTimes     = 2.0  // the share of stock Nomad
	wantedSized     = 0.80 // of the jobs within one step
	wantedNeighbour = 30.0 // seconds to cure
	wantedSpike     = 15.0 // seconds to answer
)

const unknown = "unknown"

func (a app) bestEffort() bool { return a.kind == performance.BestEffort }

// publish prints the report and writes it where the options say.
func (e everything) publish(o options) error {
	var b strings.Builder
	e.markdown(&b)
	if o.markdown != "" {
		if err := os.WriteFile(o.markdown, []byte(b.String()), 0o644); err != nil {
			return err
		}
	}
	if o.asJSON {
		enc := json.NewEncoder(os.Stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(e)
	}
	_, err := io.WriteString(os.Stdout, "\n"+b.String())
	return err
}

const head = `# Stock Nomad and the placer compared

Written by ` + "`make evaluate`" + ` from what it measured on a real Nomad: one server and three clients of one machine ([decision 0006](decisions/0006-emulated-nodes.md)), the placer installed as an operator would, real
applications under real load. How it is measured, and what is not real, is described in [e2e/evaluate](../../e2e/evaluate/doc.go).

`

// markdown is the whole report.
func (e everything) markdown(w io.Writer) {
	fmt.Fprint(w, head)
	if e.Begun == nil {
		fmt.Fprint(w, "Nothing was measured yet.\n")
		return
	}
	p := e.Begun.Plan
	fmt.Fprintf(w, "Begun %s on %s; %s.\n", e.Begun.At.Format("2006-01-02 15:04 UTC"), e.Begun.Machine, wording.Count(len(e.Repetitions), "repetition"))
	if e.Begun.Quick {
		fmt.Fprint(w, "\n**A quick run**, with short windows: it shows that everything works, and its numbers mean little.\n")
	}
	fmt.Fprintf(w, "Profiles of %d s; windows of %s after %s.%s\n\n", p.ProfileSeconds, p.Window, p.WarmUp, e.programs())
	e.writeSummary(w)
	e.writeShares(w)
	e.writeJobs(w)
	e.writeArms(w)
	e.writeSizes(w)
	e.writeAdaptation(w)
}

// programs says which program measured what: a part that is kept may be of an older one.
func (e everything) programs() string {
	by := map[string][]string{}
	for _, file := range slices.Sorted(maps.Keys(e.Programs)) {
		by[e.Programs[file]] = append(by[e.Programs[file]], strings.TrimSuffix(file, ".json"))
	}
	var parts []string
	for _, program := range slices.Sorted(maps.Keys(by)) {
		parts = append(parts, fmt.Sprintf("%s (%s)", program, strings.Join(by[program], ", ")))
	}
	switch len(parts) {
	case 0:
		return ""
	case 1:
		program, _, _ := strings.Cut(parts[0], " (")
		return " The program is of commit " + program + "."
	}
	return " **Measured by programs of several commits**: " + strings.Join(parts, "; ") + "."
}

// verdict is yes or no; NaN is unknown.
func verdict(v float64, ok bool) string {
	switch {
	case math.IsNaN(v):
		return unknown
	case ok:
		return "yes"
	}
	return "**no**"
}

func (e everything) writeSummary(w io.Writer) {
	fmt.Fprint(w, "| | measured | wanted | met |\n|---|---|---|---|\n")
	s, p := shareOf(e.shares(stock)), shareOf(e.shares(placed))
	fmt.Fprintf(w, "| jobs that meet their target, placer | %s | ≥ 95 %% or ≥ 2 × stock | %s |\n", p.percent(), verdict(p.Mean, p.Mean >= wantedShare || p.Mean >= wantedTimes*s.Mean && p.Mean > 0))
	fmt.Fprintf(w, "| … stock Nomad | %s | | |\n| … difference, by repetition | %s | | |\n", s.percent(), meanOf(e.differences(placed, stock)).percent())
	share, of := e.within(1)
	exact, _ := e.within(0)
	fmt.Fprintf(w, "| sizes within one step of the best | %s of %s | ≥ 80 %% | %s |\n| … exactly the best | %s | | |\n",
		percent(share), wording.Count(of, "job"), verdict(share, share >= wantedSized), percent(exact))
	if e.Adaptation == nil {
		for _, line := range []string{"noisy neighbour detected, cured | unknown | ≤ 30 s", "load spike answered | unknown | ≤ 15 s", "actions in the calm afterwards | unknown | 0"} {
			fmt.Fprintf(w, "| %s | unknown |\n", line)
		}
		fmt.Fprint(w, "\n")
		return
	}
	n, spike, c := e.Adaptation.Neighbour, e.Adaptation.Spike, e.Adaptation.Calm
	fmt.Fprintf(w, "| noisy neighbour detected, cured | %s, %s | ≤ 30 s | %s |\n", seconds(n.Detected), seconds(n.Cured), n.verdict(n.Cured, wantedNeighbour))
	fmt.Fprintf(w, "| load spike answered (target reached again) | %s (%s) | ≤ 15 s | %s |\n", seconds(spike.Detected), seconds(spike.Cured), spike.verdict(spike.Detected, wantedSpike))
	fmt.Fprintf(w, "| actions in %s of calm afterwards | %d, %s | 0 | %s |\n\n", seconds(c.Seconds), c.done(), wording.Count(c.Writes, "write"), verdict(0, c.done() == 0 && c.Writes == 0))
}

// done counts the actions that changed something.
func (c calm) done() int {
	n := 0
	for _, list := range c.Actions {
		for _, a := range list {
			if a.Result == actionDone {
				n++
			}
		}
	}
	return n
}

func (c cure) verdict(value, limit float64) string {
	if c.Problem != "" {
		return unknown
	}
	return verdict(0, value > 0 && value <= limit)
}

func (e everything) writeShares(w io.Writer) {
	fmt.Fprintf(w, "## Jobs that meet their target\n\nEach arm gets the same %d jobs at once; the arms take turns in the order shown. Stock Nomad gets each job with the fixed reservation of the table below and as many allocations as "+
		"it needs, the others the same job with its performance block. Best-effort work fills the rest and has no target.\n\n", len(compared()))
	list, head, rule := e.measuredArms(), "", ""
	for _, a := range list {
		head, rule = head+" "+a.name+" |", rule+"---|"
	}
	fmt.Fprintf(w, "| repetition | order |%s stolen by the host, most of an arm | load average before |\n|---|---|%s---|---|\n", head, rule)
	of := len(withTarget())
	for _, r := range e.Repetitions {
		fmt.Fprintf(w, "| %d | %s |", r.Number, strings.Join(r.Order, ", "))
		for _, a := range list {
			fmt.Fprintf(w, " %d of %d |", int(math.Round(r.share(a.name)*float64(of))), of)
		}
		fmt.Fprintf(w, " %s | %s |\n", r.stolen(), r.Load)
	}
	fmt.Fprint(w, "| mean (95 % interval) | |")
	for _, a := range list {
		fmt.Fprintf(w, " %s |", shareOf(e.shares(a.name)).percent())
	}
	fmt.Fprint(w, " | |\n\n")
}

// writeArms says what each part of the placer is worth.
func (e everything) writeArms(w io.Writer) {
	fmt.Fprint(w, "## What each part is worth\n\n| arm | what it is | jobs that meet their target | … less stock Nomad's, by repetition | best-effort work, of stock Nomad's |\n|---|---|---|---|---|\n")
	list := e.measuredArms()
	for _, a := range arms {
		if !slices.ContainsFunc(list, func(m arm) bool { return m.name == a.name }) || len(e.Repetitions) == 0 {
			fmt.Fprintf(w, "| %s | %s | %s | | |\n", a.name, a.what, unknown)
			continue
		}
		against, work := "–", "–"
		if !a.stock {
			against, work = meanOf(e.differences(a.name, stock)).percent(), meanOf(e.bestEffort(a.name)).percent()
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s |\n", a.name, a.what, shareOf(e.shares(a.name)).percent(), against, work)
	}
	fmt.Fprint(w, "\nUnknown is what this run did not measure.\n\n")
}

// stolen is the largest share of the CPU time that other guests of the host got during an arm's
// turn.
func (r repetition) stolen() string {
	most := math.NaN()
	for _, s := range r.Sides {
		if p := s.StolenPercent; p != nil && !(*p <= most) {
			most = *p
		}
	}
	if math.IsNaN(most) {
		return unknown
	}
	return fmt.Sprintf("%.1f %%", most)
}

func (e everything) writeJobs(w io.Writer) {
	fmt.Fprint(w, "By job: its reservation is what it used in isolation on the fastest node, for the speed its target asks for, and a fifth more.\n\n"+
		"| job | target | in isolation | reserved, CPU and memory | stock: allocations, median | met | placer: median | met |\n|---|---|---|---|---|---|---|---|\n")
	for _, a := range compared() {
		k, ok := e.Alone[a.name]
		if !ok {
			continue
		}
		s, p := e.medianOf(a, stock), e.medianOf(a, placed)
		fmt.Fprintf(w, "| %s | %s | %s | %s | %d × %s | %s | %s | %s |\n", a.name, e.targetOf(a), k.text(a), k.reservation(a), a.stockCount(), s, e.metOf(a, stock), p, e.metOf(a, placed))
	}
	fmt.Fprint(w, "\nWhat adaptation did meanwhile, and where a job counts as missed because it was not measured (of the other arms: in e2e/evaluate/results):\n\n")
	said := false
	for _, r := range e.Repetitions {
		for _, side := range []string{stock, placed} {
			for _, a := range compared() {
				if o := r.Sides[side].Jobs[a.name]; o.Missing != "" {
					said = true
					fmt.Fprintf(w, "- repetition %d, %s, %s: %s\n", r.Number, side, a.name, oneLine(o.Missing))
				}
				for _, x := range r.Sides[side].Actions[a.name] {
					said = true
					fmt.Fprintf(w, "- repetition %d, %s: %s\n", r.Number, a.name, x)
				}
			}
		}
	}
	if !said {
		fmt.Fprint(w, "- nothing\n")
	}
	fmt.Fprint(w, "\n")
}

func (x action) String() string {
	return fmt.Sprintf("%s, %s → %s, %s: %s", x.Kind, orDash(x.From), orDash(x.To), oneLine(x.Reason), oneLine(x.Result))
}

func orDash(s string) string {
	if s == "" {
		return "–"
	}
	return s
}

// targetOf is the target as the jobs of the run had it.
func (e everything) targetOf(a app) string {
	for _, r := range e.Repetitions {
		for _, s := range r.Order {
			if o, ok := r.Sides[s].Jobs[a.name]; ok && o.Target != "" {
				return o.Target
			}
		}
	}
	return unknown
}

// medianOf is the middle outcome of a job on a side.
func (e everything) medianOf(a app, side string) string {
	var main, tail []float64
	for _, r := range e.Repetitions {
		o := r.Sides[side].Jobs[a.name]
		switch {
		case o.Missing != "":
		case o.TookSeconds > 0:
			main = append(main, o.TookSeconds)
		default:
			main = append(main, o.RatePerSec)
			tail = append(tail, o.TailMillis)
		}
	}
	if len(main) == 0 {
		return unknown
	}
	if a.kind == performance.FinishWithin {
		return fmt.Sprintf("%.1f s", median(main))
	}
	out := rate(median(main))
	if a.latency > 0 {
		out += fmt.Sprintf(", p%d %.2f ms", tailPercentile, median(tail))
	}
	return out
}

func (e everything) metOf(a app, side string) string {
	if a.bestEffort() {
		return "–"
	}
	n := 0
	for _, r := range e.Repetitions {
		if r.Sides[side].Jobs[a.name].Met {
			n++
		}
	}
	return fmt.Sprintf("%d of %d", n, len(e.Repetitions))
}

func (k alone) text(a app) string {
	out := rate(k.RatePerSec)
	if a.latency > 0 {
		out += fmt.Sprintf(", p%d %.2f ms", tailPercentile, k.TailMillis)
	}
	return out
}

func (k alone) reservation(a app) string {
	var parts []string
	for _, task := range a.allTasks() {
		r := k.Reserved[task]
		parts = append(parts, fmt.Sprintf("%s %d MHz, %d MB", task, r.CPUMHz, r.MemoryMB))
	}
	return strings.Join(parts, "; ")
}

func (e everything) writeSizes(w io.Writer) {
	fmt.Fprint(w, "## Sizes\n\nEach job in isolation at every size of its scale block, on the two fast nodes; the best is the least size that met the target. The placer chose on an idle cluster, by its own profile.\n\n"+
		"| job | target | sweep: size and what it did | best | chosen (steps from the best) |\n|---|---|---|---|---|\n")
	all := e.sizings()
	for _, s := range e.Sweeps {
		var did []string
		target := unknown
		for _, one := range s.Sizes {
			target = one.Outcome.Target
			did = append(did, fmt.Sprintf("%s: %s", one.Size.short(), one.Outcome.text()))
		}
		best := "none met it"
		if i, ok := s.best(); ok {
			best = s.Sizes[i].Size.short()
		}
		var chosen []string
		for _, c := range all {
			if c.Job == s.Job {
				chosen = append(chosen, c.String())
			}
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s |\n", s.Job, target, strings.Join(did, "; "), best, strings.Join(chosen, ", "))
	}
	fmt.Fprint(w, "\n")
}

func (c compareSize) String() string {
	switch {
	case !c.Sized:
		return "nothing chosen"
	case !c.Known:
		return c.Chosen.short() + " (?)"
	}
	return fmt.Sprintf("%s (%+d)", c.Chosen.short(), c.Steps)
}

func (s size) short() string {
	if s.MemoryMB > 0 {
		return fmt.Sprintf("%d × %d MB", s.Count, s.MemoryMB)
	}
	return fmt.Sprint(s.Count)
}

func (o outcome) text() string {
	out := rate(o.RatePerSec)
	if o.Missing != "" {
		out = oneLine(o.Missing)
	}
	if !o.Met {
		out += " (missed)"
	}
	return out
}

func (e everything) writeAdaptation(w io.Writer) {
	fmt.Fprint(w, "## Adaptation\n\n")
	if e.Adaptation == nil {
		fmt.Fprint(w, "Not measured yet.\n")
		return
	}
	a := e.Adaptation
	fmt.Fprintf(w, "Load average before: %s.\n\n| | noisy neighbour | load spike |\n|---|---|---|\n", a.Load)
	line := func(name string, of func(c cure) string) {
		fmt.Fprintf(w, "| %s | %s | %s |\n", name, of(a.Neighbour), of(a.Spike))
	}
	line("target", func(c cure) string { return c.Target })
	line("before", func(c cure) string { return rate(c.Before) })
	line("worst window of 2 s", func(c cure) string { return rate(c.Worst) })
	line("last window", func(c cure) string { return rate(c.After) })
	line("detected: the placer's action", func(c cure) string { return seconds(c.Detected) })
	line("cured: the target is reached again", func(c cure) string { return seconds(c.Cured) })
	line("actions", func(c cure) string {
		var out []string
		for _, x := range c.Actions {
			out = append(out, x.String())
		}
		return orDash(strings.Join(out, "; "))
	})
	line("says nothing, because", func(c cure) string { return orDash(oneLine(c.Problem)) })
	fmt.Fprintf(w, "\nThe kernel put pressure on the integer units of %s and then ran on %s. In the %s afterwards, with kernel and load left as they were, %s and %s of the jobs came; %d of %d windows were below a target.\n",
		orDash(a.Neighbour.NoiseFrom), orDash(a.Neighbour.NoiseTo), seconds(a.Calm.Seconds), wording.Count(a.Calm.done(), "action"), wording.Count(a.Calm.Writes, "version"), a.Calm.Below, a.Calm.Windows)
	for _, job := range slices.Sorted(maps.Keys(a.Calm.Actions)) {
		for _, x := range a.Calm.Actions[job] {
			fmt.Fprintf(w, "\n- %s: %s", job, x)
		}
	}
	fmt.Fprint(w, "\n")
}
