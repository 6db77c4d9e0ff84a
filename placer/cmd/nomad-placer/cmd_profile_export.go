package main

import (
	"context"
	"flag"

	"github.com/nomad-placer/nomad-placer/placer/command"
)

func profileExportCommand() *command.Command {
	return &command.Command{
		Name: "profile export", Arguments: "[KEY]", Synopsis: "Write profiles as JSON",
		About:   "Writes one profile, or all of them, each with what its running allocations taught, as a JSON list. profile import reads it, and nomad-placer-sim evaluate takes its profiles as training rows. KEY may be cut short as long as it names one profile.",
		Example: "nomad-placer profile export > profiles.json",
		MaxArgs: 1, Complete: fromRecords(profileKeys),
		Setup: func(f *flag.FlagSet) command.Runner {
			var from recordFlags
			from.add(f)
			var out command.OutputFlags
			out.Add(f)
			return func(ctx context.Context, s *command.Shell, args []string) error {
				if len(args) == 0 {
					all, err := readAllKnown(ctx, s, &from)
					if err != nil {
						return err
					}
					return exportProfiles(s, &out, all)
				}
				q, err := findKnown(ctx, s, &from, args[0])
				if err != nil {
					return err
				}
				return exportProfiles(s, &out, []knownRecord{q})
			}
		},
	}
}

func exportProfiles(s *command.Shell, out *command.OutputFlags, all []knownRecord) error {
	out.OnlyData()
	return out.Print(s, all, nil)
}
