package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/fleet"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// rowsFile is what a campaign of profiles writes.
const rowsFile = "rows.json"

// measuredRows is what `fleet profile -json` prints.
type measuredRows struct {
	*fleet.Report
	File string            `json:"file"`
	Rows []profile.Profile `json:"rows"`
}

// mostSecondsPerSource is an hour for each source.
const mostSecondsPerSource = 3600

func fleetProfileCommand() *command.Command {
	return &command.Command{
		Name: "fleet profile", Synopsis: "Measure workloads next to the kernels, as rows of the training set are",
		About: "Runs a copy of each given workload on an idle node, next to the kernel of one resource after another at rising intensities, and says how much it tolerates and causes of each. A profile is a batch job that asks for all that its node has left; any node of the choice will do. " +
			"The profiles are written to rows.json in the folder of -work, which profile import reads.\n\n" +
			"An interrupted campaign removes its jobs, and the same command goes on where it was. The exit code is 1 if a workload was left out.",
		Example: "nomad-placer fleet profile -workload cache.nomad.hcl -class large\nnomad-placer profile import fleet/rows.json",
		Setup: func(f *flag.FlagSet) command.Runner {
			var c fleetFlags
			var files listFlag
			var vars variableFlags
			c.add(f)
			c.addWorkloads(f, &files, &vars)
			names := f.String("sources", "", "Only these `sources` of interference, with commas between. Default: all that the node has a kernel for.")
			seconds := f.Int("seconds-per-source", 10, "`Seconds` for each source.")
			return func(ctx context.Context, s *command.Shell, _ []string) error {
				sources, err := sourcesOf(*names)
				if err != nil {
					return command.UsageError("-sources: %s", err)
				}
				if *seconds < 1 || *seconds > mostSecondsPerSource {
					return command.UsageError("-seconds-per-source is from 1 to %d", mostSecondsPerSource)
				}
				if len(files) == 0 {
					return command.UsageError("give job files with -workload")
				}
				m, err := c.begin(ctx, s)
				if err != nil {
					return err
				}
				workloads, err := m.workloads(ctx, files, &vars)
				if err != nil {
					return err
				}
				return m.rows(ctx, fleet.Profiles(m.world, workloads, sources, *seconds))
			}
		},
	}
}

// sourcesOf are the sources of a list with commas; empty is all.
func sourcesOf(list string) ([]interference.Source, error) {
	var out []interference.Source
	if list == "" {
		for _, info := range interference.Sources() {
			out = append(out, info.Source)
		}
		return out, nil
	}
	for name := range strings.SplitSeq(list, ",") {
		source, err := interference.ParseSource(name)
		if err != nil {
			return nil, err
		}
		out = append(out, source)
	}
	return out, nil
}

// rows measures them, and writes all that are known also where the campaign was ended.
func (m *campaign) rows(ctx context.Context, units []fleet.Unit) error {
	report, failed := m.run(ctx, units)
	if report == nil {
		return failed
	}
	out := measuredRows{Report: report, File: filepath.Join(m.flags.folder, rowsFile)}
	var err error
	if out.Rows, err = fleet.Rows(report); err != nil {
		return err
	}
	err = writeWhole(out.File, func(w io.Writer) error { return command.PrintJSON(w, out.Rows) })
	if err != nil || failed != nil {
		return cmp.Or(failed, err)
	}
	return m.print(report, out, func(p *command.Page) { rowsPage(p, &out) })
}

func rowsPage(p *command.Page, m *measuredRows) {
	if len(m.Rows) == 0 {
		return
	}
	var rows [][]command.Cell
	for _, r := range m.Rows {
		for _, info := range interference.Sources() {
			t, okT := r.Sensitivity.Tolerated[info.Source].Score.Percent()
			c, okC := r.Sensitivity.Caused[info.Source].Score.Percent()
			if okT || okC {
				rows = append(rows, []command.Cell{command.Text(r.Workload), command.Text(string(info.Source)), command.Number(whole(t, okT)), command.Number(whole(c, okC))})
			}
		}
	}
	p.Line(command.Text("\nIn percent of the most that a kernel presses:"))
	p.Table([]string{"Workload", "Source", "Tolerated", "Caused"}, rows)
	p.Line(command.Text(fmt.Sprintf("\nWritten to %s.", m.File)))
}
