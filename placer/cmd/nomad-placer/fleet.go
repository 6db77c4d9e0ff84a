package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/dispatch"
	"github.com/nomad-placer/nomad-placer/placer/fleet"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi"
	"github.com/nomad-placer/nomad-placer/profiler/signing"
)

// fleetFlags are those of every measuring campaign.
type fleetFlags struct {
	nomadFlags
	out    command.OutputFlags
	choice fleet.Choice
	nodes  listFlag
	folder string
	key    string
	atOnce int
	again  bool
	wait   time.Duration
}

// defaultAtOnce leaves most nodes of a fleet to others.
const defaultAtOnce = 4

func (c *fleetFlags) add(f *flag.FlagSet) {
	c.nomadFlags.add(f)
	c.out.Add(f)
	f.StringVar(&c.choice.Class, "class", "", "Only nodes of this `class`.")
	f.StringVar(&c.choice.Pool, "node-pool", "", "Only nodes of this `pool`.")
	f.Var(&c.nodes, "node", "Only this `node`: its name, or the beginning of its ID. May be given several times.")
	f.StringVar(&c.folder, "work", "fleet", "Keep results in this `folder`: the same command goes on where it stopped.")
	f.IntVar(&c.atOnce, "at-once", defaultAtOnce, "Nodes that are measured at a time, at most. Meanwhile they have no room for other jobs.")
	f.DurationVar(&c.wait, "wait", 0, "Wait this long for a node on which others run, or which is down. By default it is left out at once.")
	f.BoolVar(&c.again, "again", false, "Measure again what is kept.")
}

// addWorkloads are those of campaigns that measure jobs.
func (c *fleetFlags) addWorkloads(f *flag.FlagSet, files *listFlag, vars *variableFlags) {
	f.Var(files, "workload", "Measure the groups of this job `file` that have a performance block. May be given several times.")
	vars.add(f)
	f.StringVar(&c.key, "signing-key", "", "Sign what is asked of drivers that take signed requests only, with the key in this `file`, as keys generate makes it.")
}

// campaign is one run of a command.
type campaign struct {
	flags   *fleetFlags
	shell   *command.Shell
	client  *api.Client
	world   *nomadapi.World
	nodes   []*cluster.Node // of the choice
	options fleet.Options
}

// begin looks at the cluster and chooses the nodes.
func (c *fleetFlags) begin(ctx context.Context, s *command.Shell) (*campaign, error) {
	switch {
	case c.atOnce < 1:
		return nil, command.UsageError("-at-once is 1 or more")
	case c.wait < 0:
		return nil, command.UsageError("-wait is not negative")
	case c.folder == "":
		return nil, command.UsageError("-work names a folder")
	}
	c.choice.Nodes, c.namespace = c.nodes, c.jobNamespace(s)
	m := &campaign{flags: c, shell: s}
	options := c.worldOptions("")
	if c.key != "" {
		key, err := signing.LoadKey(c.key)
		if err != nil {
			return nil, err
		}
		options.SigningKey = &key
	}
	var err error
	if m.client, err = c.client(); err == nil {
		m.world, err = nomadapi.New(options)
	}
	if err != nil {
		return nil, err
	}
	snapshot, err := m.world.Snapshot(ctx)
	if err != nil {
		return nil, withRights(err)
	}
	if m.nodes, err = c.choice.Select(snapshot.Nodes); err != nil {
		return nil, command.WithHint(err, "nomad-placer node list shows the nodes; see -class, -node-pool and -node")
	}
	id, err := dispatch.JobOf("nomad-placer-fleet", c.folder)
	if err != nil {
		return nil, err
	}
	m.options = fleet.Options{
		World: m.world, Cluster: dispatch.Nomad{Client: m.client}, Namespace: c.namespace, ID: id, Folder: c.folder, Choice: c.choice,
		AtOnce: c.atOnce, Again: c.again, Wait: c.wait, Now: s.Now, After: s.After,
		Says: func(text string) { fmt.Fprintln(s.Err, "nomad-placer: "+text) },
	}
	return m, nil
}

// withRights says which rights a campaign needs, where Nomad refuses one.
func withRights(err error) error {
	var answer api.UnexpectedResponseError
	if errors.As(err, &answer) && answer.HasStatusCode() && answer.StatusCode() == http.StatusForbidden {
		return command.WithHint(err, "a campaign needs submit-job, read-job, list-jobs and read-fs in its namespace, read-job in all namespaces whose allocations it must not disturb, parse-job where it reads job files, and node:read; see -token")
	}
	return err
}

// run has the units measured. What was measured is in the report also where it ended with an error.
func (m *campaign) run(ctx context.Context, units []fleet.Unit) (*fleet.Report, error) {
	progress := command.NewProgress(m.shell, command.StillEvery)
	m.options.Progress = func(t fleet.Tally) {
		text := fmt.Sprintf("fleet: %d of %d done, %d under way, about %s left", t.Done, t.Total, t.Running, t.Left)
		if t.LeftOut > 0 {
			text += fmt.Sprintf(" (%d left out)", t.LeftOut)
		}
		progress.Show(text)
	}
	report, err := fleet.Run(ctx, m.options, m.nodes, units)
	progress.End()
	if err != nil && report != nil {
		fmt.Fprintf(m.shell.Err, "nomad-placer: %d of %d are measured and kept in %s; the same command goes on there\n",
			report.Count(fleet.Measured)+report.Count(fleet.Stored), len(report.Outcomes), m.flags.folder)
	}
	return report, withRights(err)
}

// print ends with 1 where something was left out.
func (m *campaign) print(report *fleet.Report, data any, more func(*command.Page)) error {
	err := m.flags.out.Print(m.shell, data, func(p *command.Page) {
		fleetPage(p, report)
		more(p)
	})
	if err == nil && report.Count(fleet.LeftOut) > 0 {
		return command.ErrTold
	}
	return err
}

var fleetHues = map[string]command.Hue{fleet.Measured: command.Good, fleet.Stored: command.Good, fleet.LeftOut: command.Warn}

func fleetPage(p *command.Page, r *fleet.Report) {
	var rows [][]command.Cell
	for _, o := range r.Outcomes {
		rows = append(rows, []command.Cell{
			{Text: o.Unit, Hue: command.Bold}, {Text: o.State, Hue: fleetHues[o.State]}, command.Text(o.Node), command.Text(o.Configuration), command.Text(o.Why),
		})
	}
	p.Table([]string{"Unit", "State", "Node", "Configuration", "Why"}, rows)
	p.Line()
	p.Line(command.Text(fmt.Sprintf("%d measured, %d kept, %d left out.", r.Count(fleet.Measured), r.Count(fleet.Stored), r.Count(fleet.LeftOut))))
	if r.Torn+r.OtherBuild+r.Outdated > 0 {
		p.Line(command.Text(fmt.Sprintf("Not believed: %d torn, %d of another build of the driver, %d of nodes that have changed.", r.Torn, r.OtherBuild, r.Outdated)))
	}
}

// workloads reads the groups with a performance block of job files.
func (m *campaign) workloads(ctx context.Context, files []string, vars *variableFlags) ([]fleet.Workload, error) {
	var out []fleet.Workload
	for _, name := range files {
		some, err := m.workloadsOf(ctx, name, vars)
		if err != nil {
			return nil, err
		}
		for _, w := range some {
			if slices.ContainsFunc(out, func(other fleet.Workload) bool { return other.Workload.ID == w.Workload.ID }) {
				return nil, fmt.Errorf("%s: group %s is given twice", name, w.Workload.ID)
			}
			out = append(out, w)
		}
	}
	return out, nil
}

func (m *campaign) workloadsOf(ctx context.Context, name string, vars *variableFlags) ([]fleet.Workload, error) {
	file, err := readJobFile(m.shell, name, vars)
	if err != nil {
		return nil, err
	}
	var raw map[string]any
	if !file.diagnostic.HasErrors() {
		raw, err = file.parse(ctx, m.client, m.flags.namespace)
	}
	printProblems(m.shell, file.diagnostic)
	if file.diagnostic.HasErrors() {
		return nil, command.ErrTold
	}
	if err != nil {
		return nil, withRights(err)
	}
	job := m.world.ReadJob(raw)
	switch {
	case job.ID.Namespace != m.flags.namespace:
		return nil, command.WithHint(fmt.Errorf("%s: the job is of namespace %q, and the campaign of %q", name, job.ID.Namespace, m.flags.namespace), "give -namespace "+job.ID.Namespace)
	case len(job.Problems) > 0:
		return nil, fmt.Errorf("%s: %s", name, strings.Join(job.Problems, "; "))
	case len(job.Workloads) == 0:
		return nil, fmt.Errorf("%s: no group has a performance block, which says how its performance is measured", name)
	}
	var out []fleet.Workload
	for _, w := range job.Workloads {
		switch {
		case w.NotCopied != "":
			return nil, fmt.Errorf("%s: group %q cannot be measured as a copy: %s", name, w.ID.Group, w.NotCopied)
		case w.Spec.Probe == nil:
			return nil, fmt.Errorf("%s: group %q has no probe in its performance block", name, w.ID.Group)
		}
		out = append(out, fleet.Workload{Job: raw, Workload: w})
	}
	return out, nil
}
