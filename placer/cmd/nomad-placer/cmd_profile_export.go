package main

import (
	"context"
	"flag"

	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

func profileExportCommand() *command {
	return &command{
		name: "profile export", arguments: "[KEY]", synopsis: "Write profiles as JSON",
		about:   "Writes one profile, or all of them, as a JSON list that can be kept as training rows. KEY may be cut short as long as it names one profile.",
		example: "nomad-placer profile export > profiles.json",
		maxArgs: 1, complete: fromRecords(profileKeys),
		setup: func(f *flag.FlagSet) runner {
			var from recordFlags
			from.add(f)
			var out outputFlags
			out.add(f)
			return func(ctx context.Context, s *shell, args []string) error {
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

func exportProfiles(s *shell, out *outputFlags, all []profile.Profile) error {
	out.onlyData()
	return out.print(s, all, nil)
}
