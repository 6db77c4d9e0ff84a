package main

import (
	"context"
	"flag"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/dashboard/wording"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

func profileListCommand() *command {
	return &command{
		name: "profile list", synopsis: "List stored profiles",
		about:   "Lists what was measured: one line per workload, by the key of its content.",
		example: "nomad-placer profile list",
		setup: func(f *flag.FlagSet) runner {
			var from recordFlags
			var out outputFlags
			from.add(f)
			out.add(f)
			out.addVerbose(f, "Print whole keys.")
			return func(ctx context.Context, s *shell, _ []string) error { return listProfiles(ctx, s, &from, &out) }
		},
	}
}

func listProfiles(ctx context.Context, s *shell, from *recordFlags, out *outputFlags) error {
	all, err := readProfiles(ctx, s, from)
	if err != nil {
		return err
	}
	return out.print(s, all, func(p *page) { profileTable(p, all, s.now()) })
}

func profileTable(p *page, all []profile.Profile, now time.Time) {
	if len(all) == 0 {
		p.line(text("No profile is stored yet."))
		return
	}
	rows := make([][]cell, len(all))
	for i, q := range all {
		state := cell{text: "complete", hue: good}
		if !q.Complete {
			state = cell{text: "partial", hue: warn}
		}
		rows[i] = []cell{
			{text: p.cut(q.Key, 13), hue: bold}, text(q.Workload), state, text(wording.Ago(now, q.Taken)),
			text(q.Machine.Configuration), text(measuredSources(q)),
		}
	}
	p.table([]string{"Key", "Workload", "State", "Taken", "Configuration", "Measured sources"}, rows)
}

func readProfiles(ctx context.Context, s *shell, from *recordFlags) ([]profile.Profile, error) {
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
