package main

import (
	"context"
	"flag"

	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

func profileExportCommand() *command {
	return &command{
		name: "profile export", arguments: "[KEY]", synopsis: "Write profiles as JSON",
		about:   "Writes one profile, or all of them, as a JSON list that can be kept as training rows.",
		maxArgs: 1,
		setup: func(f *flag.FlagSet) runner {
			var from recordFlags
			from.add(f)
			return func(ctx context.Context, s *shell, args []string) error {
				if len(args) == 0 {
					all, err := readProfiles(ctx, s, &from)
					if err != nil {
						return err
					}
					return printJSON(s.out, all)
				}
				q, err := findProfile(ctx, s, &from, args[0])
				if err != nil {
					return err
				}
				return printJSON(s.out, []profile.Profile{q})
			}
		},
	}
}
