package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/mitchellh/go-wordwrap"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// printTable writes the demo's one table: a line of numbers for each job, then why it
// went where it is, then what was gained.
func printTable(w io.Writer, rows []row, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(rows)
	}
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "job\ttarget\tin isolation\tstock Nomad\tnomad-placer\tpredicted")
	for _, r := range rows {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", r.Job, r.target(), r.isolation(), r.measured(r.Stock), r.measured(r.Placer), r.predicted())
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	for _, r := range rows {
		r.explain(w)
	}
	fmt.Fprintln(w)
	conclude(w, rows)
	return nil
}

// explain says where a job went, why, and what was done to it since.
func (r row) explain(w io.Writer) {
	printWrapped(w, fmt.Sprintf("%s: stock Nomad chose %s, nomad-placer %s: %s", r.Job, strings.Join(r.Stock.Nodes, ", "), strings.Join(r.Placer.Nodes, ", "), r.Why))
	if r.Stock.Missing != "" {
		printWrapped(w, "  with stock Nomad: "+r.Stock.Missing)
	}
	if r.Placer.Missing != "" {
		printWrapped(w, "  with nomad-placer: "+r.Placer.Missing)
	}
	for _, a := range r.Actions {
		change := strings.Trim(a.From+" → "+a.To, " →") // an eviction leads nowhere
		printWrapped(w, fmt.Sprintf("  since then: %s, %s, %s: %s", a.Kind, change, a.Reason, a.Result))
	}
}

// conclude says what the placer gained, and what it did not.
func conclude(w io.Writer, rows []row) {
	fmt.Fprintf(w, "Targets met: stock Nomad %s, nomad-placer %s.\n",
		share(rows, func(r row) bool { return r.Stock.Met }), share(rows, func(r row) bool { return r.Placer.Met }))
	printWrapped(w, "Scores that nomad-placer decided by: "+origins(rows)+".")
	for _, r := range rows {
		if text := r.gain(); text != "" {
			printWrapped(w, text)
		}
	}
}

// origins says how many scores of all jobs were measured and how many were not.
func origins(rows []row) string {
	var parts []string
	for _, o := range []interference.Origin{interference.Measured, interference.Predicted, interference.Assumed} {
		n := 0
		for _, r := range rows {
			n += r.Scores[o]
		}
		parts = append(parts, fmt.Sprintf("%d %s", n, o))
	}
	return strings.Join(parts, ", ")
}

// gain compares the two sides in the number that the target is about.
func (r row) gain() string {
	stock, placer, what := r.decisive(r.Stock), r.decisive(r.Placer), r.decisiveName()
	if !(stock > 0 && placer > 0) {
		return fmt.Sprintf("%s: not comparable, since one side has no measurement.", r.Job)
	}
	factor := stock / placer
	text := fmt.Sprintf("%s: %s %s instead of %s", r.Job, what, duration(time.Duration(placer)), duration(time.Duration(stock)))
	switch {
	case factor >= noticeable:
		text += fmt.Sprintf(", %.1f times better", factor)
	case factor <= 1/noticeable:
		text += fmt.Sprintf(", %.1f times worse", 1/factor)
	default:
		text += ", no noticeable difference"
	}
	if !r.Placer.Met {
		text += "; nomad-placer missed the target"
	}
	return text + "."
}

// noticeable is the ratio from which two measurements are called different: tails of
// 20 s windows on a machine shared with others differ by less from run to run.
const noticeable = 1.2

func (r row) batch() bool { return r.Target.Kind == performance.FinishWithin }

func (r row) decisiveName() string {
	if r.batch() {
		return "finished after"
	}
	return fmt.Sprintf("p%g of", r.Target.Latency.Percentile)
}

// decisive is the time that the target bounds, 0 where it is not known.
func (r row) decisive(o outcome) float64 {
	if r.batch() {
		return float64(o.FinishedIn)
	}
	return float64(o.Tail)
}

func (r row) target() string {
	if r.batch() {
		return "within " + duration(r.Target.FinishWithin)
	}
	return fmt.Sprintf("%.0f/s, p%g ≤ %s", r.Target.QPS, r.Target.Latency.Percentile, duration(r.Target.Latency.Max))
}

func (r row) isolation() string {
	if r.batch() {
		return duration(workTime(r.Work, r.Isolated.RatePerSec))
	}
	return fmt.Sprintf("%.0f/s, %s", r.Isolated.RatePerSec, duration(r.Isolated.Tail))
}

// predicted is in the unit of the target. Of a tail latency nothing is predicted but
// whether the load is served within it.
func (r row) predicted() string {
	p := r.Predicted
	switch {
	case !p.Known:
		return "unknown"
	case r.batch():
		return fmt.Sprintf("%s (%.0f to %.0f)", duration(workTime(r.Work, p.RatePerSec)), workTime(r.Work, p.High).Seconds(), workTime(r.Work, p.Low).Seconds())
	default:
		return fmt.Sprintf("%.0f/s (%.0f to %.0f)", p.RatePerSec, p.Low, p.High)
	}
}

// workTime is how long an amount of work takes at a rate; 0 where that is not known.
func workTime(work, ratePerSec float64) time.Duration {
	if !(ratePerSec > 0) {
		return 0
	}
	return time.Duration(work / ratePerSec * float64(time.Second))
}

// measured is what one side reached, with a mark where that is not the target.
func (r row) measured(o outcome) string {
	text := ""
	switch {
	case o.Missing != "":
		return "unknown, missed"
	case r.batch():
		text = duration(o.FinishedIn)
	default:
		text = fmt.Sprintf("%.0f/s, %s", o.RatePerSec, duration(o.Tail))
	}
	if !o.Met {
		text += ", missed"
	}
	return text
}

// duration prints three digits.
func duration(d time.Duration) string {
	switch {
	case d <= 0:
		return "unknown"
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.2f ms", d.Seconds()*1e3)
	case d < time.Second:
		return fmt.Sprintf("%.1f ms", d.Seconds()*1e3)
	default:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
}

func share(rows []row, ok func(row) bool) string {
	n := 0
	for _, r := range rows {
		if ok(r) {
			n++
		}
	}
	return fmt.Sprintf("%d of %d", n, len(rows))
}

// lineColumns is the widest line of the demo's end.
const lineColumns = 120

// printWrapped breaks a text between words, and indents what follows.
func printWrapped(w io.Writer, text string) {
	const indent = "    "
	lines := strings.ReplaceAll(wordwrap.WrapString(text, lineColumns-uint(len(indent))), "\n", "\n"+indent)
	fmt.Fprintln(w, lines)
}
