package main

import (
	"context"
	"flag"
	"strconv"
	"strings"

	"github.com/nomad-placer/nomad-placer/placer/sim/scenario"
)

func simValidateCommand() *command {
	return &command{
		name: "sim validate", arguments: "FILE", synopsis: "Check a scenario file",
		about:   "Reads a scenario and says what is wrong with it, with file, line and column. Nothing is run, and no trace is opened.",
		minArgs: 1, maxArgs: 1,
		setup: func(f *flag.FlagSet) runner {
			o := outputFlags{}
			o.add(f)
			return func(_ context.Context, s *shell, args []string) error {
				sc, err := scenario.Load(args[0])
				if err != nil {
					return err
				}
				p := o.page(s)
				p.line(text(sc.Name + " is a usable scenario: " + sc.Title))
				p.line(text(strings.Join(sc.Policies(), ", ") + " under " + strconv.Itoa(len(sc.Seeds)) + " seeds"))
				return p.print(s.out)
			}
		},
	}
}
