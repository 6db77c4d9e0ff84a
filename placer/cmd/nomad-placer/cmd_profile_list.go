package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/wording"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

func profileListCommand() *command.Command {
	return &command.Command{
		Name: "profile list", Synopsis: "List stored profiles",
		About:   "Lists what was measured: one line per workload, by the key of its content.",
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
	all, err := readProfiles(ctx, s, from)
	if err != nil {
		return err
	}
	return out.Print(s, all, func(p *command.Page) { profileTable(p, all, s.Now()) })
}

func profileTable(p *command.Page, all []profile.Profile, now time.Time) {
	if len(all) == 0 {
		p.Line(command.Text("No profile is stored yet."))
		return
	}
	rows := make([][]command.Cell, len(all))
	for i, q := range all {
		state := command.Cell{Text: "complete", Hue: command.Good}
		if !q.Complete {
			state = command.Cell{Text: "partial", Hue: command.Warn}
		}
		rows[i] = []command.Cell{
			{Text: p.Cut(q.Key, 13), Hue: command.Bold}, command.Text(q.Workload), state, command.Text(wording.Ago(now, q.Taken)),
			command.Text(q.Machine.Configuration), command.Text(measuredSources(q)),
		}
	}
	p.Table([]string{"Key", "Workload", "State", "Taken", "Configuration", "Measured sources"}, rows)
}

func readProfiles(ctx context.Context, s *command.Shell, from *recordFlags) ([]profile.Profile, error) {
	r, err := from.open(s)
	if err != nil {
		return nil, err
	}
	keys, err := r.Profiles(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]profile.Profile, 0, len(keys))
	for _, key := range keys {
		q, err := r.Profile(ctx, key)
		if errors.Is(err, cluster.ErrNoRecord) {
			fmt.Fprintf(s.Err, "Profile %s is left out: %s\n", key, err)
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, q)
	}
	return all, nil
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
