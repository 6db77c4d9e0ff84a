package main

import (
	"context"
	"flag"

	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

func profileExportCommand() *command.Command {
	return &command.Command{
		Name: "profile export", Arguments: "[KEY]", Synopsis: "Write profiles as JSON",
		About:   "Writes one profile, or all of them, as a JSON list that can be kept as training rows. KEY may be cut short as long as it names one profile.",
		Example: "nomad-placer profile export > profiles.json",
		MaxArgs: 1, Complete: fromRecords(profileKeys),
		Setup: func(f *flag.FlagSet) command.Runner {
			var from recordFlags
			from.add(f)
			var out command.OutputFlags
			out.Add(f)
			return func(ctx context.Context, s *command.Shell, args []string) error {
				if len(args) == 0 {
					all, err := readProfiles(ctx, s, &from)
					if err != nil {
						return err
					}
					return exportProfiles(s, &out, all)
				}
				q, err := findProfile(ctx, s, &from, args[0])
				if err != nil {
					return err
				}
				return exportProfiles(s, &out, []profile.Profile{q})
			}
		},
	}
}

func exportProfiles(s *command.Shell, out *command.OutputFlags, all []profile.Profile) error {
	out.OnlyData()
	return out.Print(s, all, nil)
}
