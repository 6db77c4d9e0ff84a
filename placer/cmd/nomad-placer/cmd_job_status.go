package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/wording"
)

// statusReport is what `job status -json` prints.
type statusReport struct {
	Evaluations []cluster.Evaluation `json:"evaluations"`
	Decisions   []cluster.Decision   `json:"decisions"`
	// DiskLimits are how those of one job use their disks at most, where a job was named.
	DiskLimits []cluster.DiskLimit `json:"disk_limits,omitempty"`
}

func jobStatusCommand() *command.Command {
	return &command.Command{
		Name: "job status", Arguments: "[JOB]", Synopsis: "List jobs in progress and placed",
		About: "Lists the jobs that are held now with their progress, and the newest decision of every group with target, prediction and measurement; of one job also how its use of disks is limited.",
		Example: "nomad-placer job status\n" +
			"nomad-placer job status -t '{{range .decisions}}{{.workload.job}} {{.outcome}}{{\"\\n\"}}{{end}}'",
		MaxArgs: 1, Complete: fromRecords(knownJobs),
		Setup: func(f *flag.FlagSet) command.Runner {
			var from recordFlags
			var out command.OutputFlags
			from.add(f)
			out.Add(f)
			out.AddVerbose(f, "Print names and nodes in full.")
			return func(ctx context.Context, s *command.Shell, args []string) error {
				r, err := from.open(s)
				if err != nil {
					return err
				}
				report, err := readStatus(ctx, r, statusFilter(s, &from, args))
				if err != nil {
					return err
				}
				var limits [][]cluster.DiskLimit
				if len(args) > 0 {
					if limits, err = diskLimitsOf(ctx, r, report.Decisions); err != nil {
						return err
					}
					report.DiskLimits = slices.Concat(limits...)
				}
				var measured []wording.Measured // only the page has room for it
				if !out.ForMachines() {
					if measured, err = measuredOf(ctx, r, report.Decisions); err != nil {
						return err
					}
				}
				return out.Print(s, report, func(p *command.Page) {
					statusPage(s, p, report, measured)
					for i := range limits {
						limitsPage(p, report.Decisions[i], limits[i], s.Now())
					}
				})
			}
		},
	}
}

// statusFilter keeps one job, or all.
func statusFilter(s *command.Shell, from *recordFlags, args []string) func(cluster.JobID) bool {
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

func statusPage(s *command.Shell, p *command.Page, report statusReport, measured []wording.Measured) {
	var held [][]command.Cell
	for _, e := range report.Evaluations {
		if !e.Stage.Ended() {
			held = append(held, progressRow(e, s))
		}
	}
	if len(held) > 0 {
		p.Line(command.Heading("In progress"))
		p.Table([]string{"Job", "Stage", "Done", "Left", "Held until", "What happens"}, held)
		p.Line()
	}
	if len(report.Decisions) == 0 {
		p.Line(command.Text("Nothing is placed yet."))
		return
	}
	p.Line(command.Heading("Placed"))
	rows := make([][]command.Cell, len(report.Decisions))
	for i, d := range report.Decisions {
		rows[i] = statusRow(p, d, measured[i])
	}
	p.Table([]string{"Job / group", "Outcome", "Predicted", "Measured", "", "Nodes", "Target"}, rows)
}

func progressRow(e cluster.Evaluation, s *command.Shell) []command.Cell {
	done, left, until := "", "", ""
	if e.Fraction != nil {
		done = fmt.Sprintf("%.0f %%", *e.Fraction*100)
	}
	if e.RemainingSeconds != nil {
		left = fmt.Sprintf("%.0f s", *e.RemainingSeconds)
	}
	if !e.Deadline.IsZero() {
		until = wording.Ago(s.Now(), e.Deadline)
	}
	return []command.Cell{{Text: e.Job.String(), Hue: command.Bold}, command.Text(string(e.Stage)), command.Number(done), command.Number(left), command.Text(until), command.Text(e.Message)}
}

func statusRow(p *command.Page, d cluster.Decision, m wording.Measured) []command.Cell {
	var nodes []string
	for _, c := range chosen(d) {
		nodes = append(nodes, c.Name)
	}
	name := d.Workload.Job + " / " + d.Workload.Group
	if d.Workload.Namespace != "default" {
		name = d.Workload.Namespace + ": " + name
	}
	verdict := verdictCell(m.Verdict)
	verdict.Text = string(m.Verdict)
	return []command.Cell{
		{Text: p.Cut(name, 26), Hue: command.Bold}, outcomeCell(d.Outcome), command.Number(expectedShort(d)),
		command.Number(measuredShort(m)), verdict, command.Text(p.Cut(strings.Join(nodes, ", "), 16)), command.Text(wording.Target(d.Target)),
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
