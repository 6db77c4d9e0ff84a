package main

import (
	"context"
	"flag"
	"fmt"
	"runtime"
)

func versionCommand() *command {
	return &command{
		name: "version", synopsis: "Print the version",
		about: "Prints the version of nomad-placer and of the Go it was built with.",
		setup: func(f *flag.FlagSet) runner {
			var out outputFlags
			out.add(f)
			return func(_ context.Context, s *shell, _ []string) error {
				if out.json {
					return printJSON(s.out, map[string]string{"version": version, "go": runtime.Version()})
				}
				_, err := fmt.Fprintf(s.out, "nomad-placer %s (%s)\n", version, runtime.Version())
				return err
			}
		},
	}
}
