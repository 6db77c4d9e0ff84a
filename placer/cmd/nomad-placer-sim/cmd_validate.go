package main

import (
	"context"
	"flag"
	"strconv"
	"strings"

	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/sim/scenario"
)

func validateCommand() *command.Command {
	return &command.Command{
		Name: "validate", Arguments: "FILE", Synopsis: "Check a scenario file",
		About:   "Reads a scenario, and the files it is based on, and says what is wrong, with file, line and column. Nothing is run, and no trace is opened.",
		Example: "nomad-placer-sim validate examples/sim/paragon-ec2-low.hcl",
		MinArgs: 1, MaxArgs: 1,
		Setup: func(f *flag.FlagSet) command.Runner {
			o := command.OutputFlags{}
			o.Add(f)
			return func(_ context.Context, s *command.Shell, args []string) error {
				sc, err := scenario.Load(args[0])
				if err != nil {
					return err
				}
				found := usableScenario{sc.Name, sc.Title, sc.Policies(), sc.Seeds}
				return o.Print(s, found, func(p *command.Page) {
					p.Line(command.Text(found.Name + " is a usable scenario: " + found.Title))
					p.Line(command.Text(strings.Join(found.Policies, ", ") + " under " + strconv.Itoa(len(found.Seeds)) + " seeds"))
				})
			}
		},
	}
}

// usableScenario is what `sim validate -json` prints.
type usableScenario struct {
	Name     string   `json:"name"`
	Title    string   `json:"title"`
	Policies []string `json:"policies"`
	Seeds    []uint64 `json:"seeds"`
}
