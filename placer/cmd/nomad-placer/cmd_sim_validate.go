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
		about:   "Reads a scenario, and the files it is based on, and says what is wrong, with file, line and column. Nothing is run, and no trace is opened.",
		example: "nomad-placer sim validate examples/sim/paragon-ec2-low.hcl",
		minArgs: 1, maxArgs: 1,
		setup: func(f *flag.FlagSet) runner {
			o := outputFlags{}
			o.add(f)
			return func(_ context.Context, s *shell, args []string) error {
				sc, err := scenario.Load(args[0])
				if err != nil {
					return err
				}
				found := usableScenario{sc.Name, sc.Title, sc.Policies(), sc.Seeds}
				return o.print(s, found, func(p *page) {
					p.line(text(found.Name + " is a usable scenario: " + found.Title))
					p.line(text(strings.Join(found.Policies, ", ") + " under " + strconv.Itoa(len(found.Seeds)) + " seeds"))
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
