package main

import (
	"context"
	"flag"

	"github.com/nomad-placer/nomad-placer/placer/command"
)

func twinShowCommand() *command.Command {
	return &command.Command{
		Name: "twin show", Arguments: "MODEL", MinArgs: 1, MaxArgs: 1, Synopsis: "Show what a storage model says",
		About:   "Prints a model's device, types of threads, sizes, most frequent transitions, and its rate over time. With -verbose all transitions.",
		Example: "nomad-placer twin show app.twin",
		Setup: func(f *flag.FlagSet) command.Runner {
			var out command.OutputFlags
			out.Add(f)
			out.AddVerbose(f, "Print all transitions and intervals.")
			return func(_ context.Context, s *command.Shell, args []string) error {
				m, err := readTwin(args[0])
				if err != nil {
					return err
				}
				summary, err := summarize(m)
				if err != nil {
					return err
				}
				return out.Print(s, summary, func(p *command.Page) {
					summaryPage(p, &summary)
					detailPage(p, &summary)
				})
			}
		},
	}
}
