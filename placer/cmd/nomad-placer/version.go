package main

import (
	"context"
	"flag"
	"fmt"
	"runtime"
)

// versionCommand is the same in every program.
func versionCommand(program string) *command {
	return &command{
		name: "version", synopsis: "Print the version",
		about:   "Prints the version of " + program + " and of the Go it was built with.",
		example: program + " version",
		setup: func(f *flag.FlagSet) runner {
			var out outputFlags
			out.add(f)
			return func(_ context.Context, s *shell, _ []string) error {
				data := map[string]string{"version": version, "go": runtime.Version()}
				return out.print(s, data, func(p *page) {
					p.line(text(fmt.Sprintf("%s %s (%s)", program, version, runtime.Version())))
				})
			}
		},
	}
}
