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
		About:   "Reads a scenario, and the files it is based on, and says what is wrong, with file, line and column. A trace that it replays is read to its end. Nothing is run.",
		Example: "nomad-placer-sim validate examples/sim/paragon-ec2-low.hcl",
		MinArgs: 1, MaxArgs: 1,
		Setup: func(f *flag.FlagSet) command.Runner {
			o := command.OutputFlags{}
			o.Add(f)
			return func(ctx context.Context, s *command.Shell, args []string) error {
				sc, err := scenario.Load(args[0])
				if err != nil {
					return err
				}
				replayed, err := sc.Check(ctx)
				if err != nil {
					return err
				}
				found := usableScenario{sc.Name, sc.Title, sc.Policies(), sc.Seeds, replayed}
				return o.Print(s, found, func(p *command.Page) {
					p.Line(command.Text(found.Name + " is a usable scenario: " + found.Title))
					p.Line(command.Text(strings.Join(found.Policies, ", ") + " under " + strconv.Itoa(len(found.Seeds)) + " seeds"))
					if replayed != nil {
						p.Line(command.Text(strconv.Itoa(replayed.Jobs) + " jobs of the trace under the first seed"))
						for _, n := range sortedSkips(replayed.Skipped) {
							p.Line(command.Cell{Text: n, Hue: command.Warn})
						}
					}
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

	Trace *scenario.Replayed `json:"trace,omitempty"`
}
