package command

import (
	"context"
	"flag"
	"fmt"
	"runtime"
)

// VersionCommand is the same in every program.
func VersionCommand(program string) *Command {
	return &Command{
		Name: "version", Synopsis: "Print the version",
		About:   "Prints the version of " + program + " and of the Go it was built with.",
		Example: program + " version",
		Setup: func(f *flag.FlagSet) Runner {
			var out OutputFlags
			out.Add(f)
			return func(_ context.Context, s *Shell, _ []string) error {
				data := map[string]string{"version": Version, "go": runtime.Version()}
				return out.Print(s, data, func(p *Page) {
					p.Line(Text(fmt.Sprintf("%s %s (%s)", program, Version, runtime.Version())))
				})
			}
		},
	}
}
