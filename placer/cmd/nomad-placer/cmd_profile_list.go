package main

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/wording"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

func profileListCommand() *command.Command {
	return &command.Command{
		Name: "profile list", Synopsis: "List stored profiles",
		About:   "Lists what was measured: one line per workload, by the key of its content. Experiments are those that its running allocations have made.",
		Example: "nomad-placer profile list",
		Setup: func(f *flag.FlagSet) command.Runner {
			var from recordFlags
			var out command.OutputFlags
			from.add(f)
			out.Add(f)
			out.AddVerbose(f, "Print whole keys.")
			return func(ctx context.Context, s *command.Shell, _ []string) error {
				return listProfiles(ctx, s, &from, &out)
			}
		},
	}
}

func listProfiles(ctx context.Context, s *command.Shell, from *recordFlags, out *command.OutputFlags) error {
	all, err := readAllKnown(ctx, s, from)
	if err != nil {
		return err
	}
	return out.Print(s, all, func(p *command.Page) { profileTable(p, all, s.Now()) })
}

func profileTable(p *command.Page, all []knownRecord, now time.Time) {
	if len(all) == 0 {
		p.Line(command.Text("No profile is stored yet."))
		return
	}
	rows := make([][]command.Cell, len(all))
	for i, q := range all {
		state := command.Cell{Text: "complete", Hue: command.Good}
		switch {
		case !q.profiled():
			state = command.Cell{Text: "not profiled", Hue: command.Faint}
		case q.Production != nil && q.Production.DistrustOf(q.Taken) != nil:
			state = command.Cell{Text: "not trusted", Hue: command.Warn}
		case !q.Complete:
			state = command.Cell{Text: "partial", Hue: command.Warn}
		}
		rows[i] = []command.Cell{
			{Text: p.Cut(q.Key, 13), Hue: command.Bold}, command.Text(q.Workload), state, command.Text(wording.Ago(now, q.Taken)),
			command.Text(q.Machine.Configuration), command.Number(experimentsOf(q)), command.Text(measuredSources(q.Profile)),
		}
	}
	p.Table([]string{"Key", "Workload", "State", "Taken", "Configuration", "Experiments", "Measured sources"}, rows)
}

func experimentsOf(q knownRecord) string {
	if q.Production == nil {
		return "0"
	}
	return fmt.Sprint(q.Production.Counted)
}

func measuredSources(q profile.Profile) string {
	var out []string
	for _, info := range interference.Sources() {
		if q.Sensitivity.Tolerated[info.Source].Score.Known() || q.Sensitivity.Caused[info.Source].Score.Known() {
			out = append(out, string(info.Source))
		}
	}
	if len(out) == 0 {
		return "none"
	}
	return strings.Join(out, " ")
}
