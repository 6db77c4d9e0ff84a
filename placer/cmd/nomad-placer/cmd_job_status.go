package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/dashboard/wording"
)

// statusReport is what `job status -json` prints.
type statusReport struct {
	Evaluations []cluster.Evaluation `json:"evaluations"`
	Decisions   []cluster.Decision   `json:"decisions"`
}

func jobStatusCommand() *command {
	return &command{
		name: "job status", arguments: "[JOB]", synopsis: "List jobs in progress and placed",
		about: "Lists the jobs that are held now with their progress, and the newest decision of every group with target, prediction and measurement.",
		example: "nomad-placer job status\n" +
			"nomad-placer job status -t '{{range .decisions}}{{.workload.job}} {{.outcome}}{{\"\\n\"}}{{end}}'",
		maxArgs: 1, complete: fromRecords(knownJobs),
		setup: func(f *flag.FlagSet) runner {
			var from recordFlags
			var out outputFlags
			from.add(f)
			out.add(f)
			out.addVerbose(f, "Print names and nodes in full.")
			return func(ctx context.Context, s *shell, args []string) error {
				r, err := from.open(s)
				if err != nil {
					return err
				}
				report, err := readStatus(ctx, r, statusFilter(s, &from, args))
				if err != nil {
					return err
				}
				var measured []wording.Measured // only the page has room for it
				if !out.forMachines() {
					if measured, err = measuredOf(ctx, r, report.Decisions); err != nil {
						return err
					}
				}
				return out.print(s, report, func(p *page) { statusPage(s, p, report, measured) })
			}
		},
	}
}

// statusFilter keeps one job, or all.
func statusFilter(s *shell, from *recordFlags, args []string) func(cluster.JobID) bool {
	if len(args) == 0 {
		return func(cluster.JobID) bool { return true }
	}
	wanted := cluster.JobID{Namespace: from.jobNamespace(s), ID: args[0]}
	return func(id cluster.JobID) bool { return id == wanted }
}

func readStatus(ctx context.Context, r records, keep func(cluster.JobID) bool) (statusReport, error) {
	report := statusReport{Evaluations: []cluster.Evaluation{}, Decisions: []cluster.Decision{}}
	evaluations, err := r.Evaluations(ctx)
	if err != nil {
		return report, err
	}
	for _, e := range evaluations {
		if keep(e.Job) {
			report.Evaluations = append(report.Evaluations, e)
		}
	}
	decisions, err := r.Decisions(ctx)
	if err != nil {
		return report, err
	}
	for _, d := range decisions {
		if keep(d.Workload.JobID()) {
			report.Decisions = append(report.Decisions, d)
		}
	}
	slices.SortFunc(report.Evaluations, func(a, b cluster.Evaluation) int { return cmp.Compare(a.Job.String(), b.Job.String()) })
	slices.SortFunc(report.Decisions, func(a, b cluster.Decision) int {
		return cmp.Compare(a.Workload.String(), b.Workload.String())
	})
	return report, nil
}

// measuredOf is what the probes of the decided groups read last.
func measuredOf(ctx context.Context, r records, decisions []cluster.Decision) ([]wording.Measured, error) {
	out := make([]wording.Measured, len(decisions))
	for i, d := range decisions {
		observations, err := r.Observations(ctx, d.Workload)
		if err != nil {
			return nil, err
		}
		out[i] = wording.Measure(d.Target, observations)
	}
	return out, nil
}

func statusPage(s *shell, p *page, report statusReport, measured []wording.Measured) {
	var held [][]cell
	for _, e := range report.Evaluations {
		if !e.Stage.Ended() {
			held = append(held, progressRow(e, s))
		}
	}
	if len(held) > 0 {
		p.line(heading("In progress"))
		p.table([]string{"Job", "Stage", "Done", "Left", "Held until", "What happens"}, held)
		p.line()
	}
	if len(report.Decisions) == 0 {
		p.line(text("Nothing is placed yet."))
		return
	}
	p.line(heading("Placed"))
	rows := make([][]cell, len(report.Decisions))
	for i, d := range report.Decisions {
		rows[i] = statusRow(p, d, measured[i])
	}
	p.table([]string{"Job / group", "Outcome", "Predicted", "Measured", "", "Nodes", "Target"}, rows)
}

func progressRow(e cluster.Evaluation, s *shell) []cell {
	done, left, until := "", "", ""
	if e.Fraction != nil {
		done = fmt.Sprintf("%.0f %%", *e.Fraction*100)
	}
	if e.RemainingSeconds != nil {
		left = fmt.Sprintf("%.0f s", *e.RemainingSeconds)
	}
	if !e.Deadline.IsZero() {
		until = wording.Ago(s.now(), e.Deadline)
	}
	return []cell{{text: e.Job.String(), hue: bold}, text(string(e.Stage)), number(done), number(left), text(until), text(e.Message)}
}

func statusRow(p *page, d cluster.Decision, m wording.Measured) []cell {
	var nodes []string
	for _, c := range chosen(d) {
		nodes = append(nodes, c.Name)
	}
	name := d.Workload.Job + " / " + d.Workload.Group
	if d.Workload.Namespace != "default" {
		name = d.Workload.Namespace + ": " + name
	}
	verdict := verdictCell(m.Verdict)
	verdict.text = string(m.Verdict)
	return []cell{
		{text: p.cut(name, 26), hue: bold}, outcomeCell(d.Outcome), number(expectedShort(d)),
		number(measuredShort(m)), verdict, text(p.cut(strings.Join(nodes, ", "), 16)), text(wording.Target(d.Target)),
	}
}

// expectedShort leaves out the unit where it is that of the target, which is
// in the same row.
func expectedShort(d cluster.Decision) string {
	e := wording.Expect(d.Predicted, d.Target)
	if e.Comparable && e.Unit != "s" {
		return wording.Number(e.Value)
	}
	return e.Short()
}

func measuredShort(m wording.Measured) string {
	switch {
	case !m.Known:
		return wording.Unknown
	case m.Unit == "s":
		return wording.Quantity(m.Value, m.Unit)
	default:
		return wording.Number(m.Value)
	}
}
