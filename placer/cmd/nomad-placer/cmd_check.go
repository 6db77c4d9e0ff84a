package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi/preflight"
	"github.com/nomad-placer/nomad-placer/placer/wording"
)

// readiness is what `check -json` prints.
type readiness struct {
	Failed   int              `json:"failed"`
	Warnings int              `json:"warnings"`
	Unknown  int              `json:"unknown"`
	Lines    []preflight.Line `json:"lines"`
}

func checkCommand() *command.Command {
	return &command.Command{
		Name: "check", Synopsis: "Check whether a cluster is ready for the placer",
		About: "Checks what the placer needs of a cluster: an answer, TLS, the token and its rights, versions, node pools, the driver and its calibration on each node, an agent that leads, and clocks. " +
			"Each line is ok, warning, failed or unknown (it could not be checked), and says what to do. Only reads are sent: nothing is changed.\n\n" +
			"With a management token the rights are those of the policies attached to the agent's job, otherwise those of the token.\n\n" +
			"The exit code is 0 if no line is failed, and 1 if one is; with -strict also if a line is a warning or unknown.",
		Example: "nomad-placer check\nnomad-placer check -strict -json",
		Setup: func(f *flag.FlagSet) command.Runner {
			var nomad nomadFlags
			var out command.OutputFlags
			var allow allowFlags
			nomad.add(f)
			nomad.addPools(f)
			allow.add(f)
			out.Add(f)
			namespace := f.String("placer-namespace", api.DefaultNamespace, "The `namespace` of the placer's Variables and of its agent's job.")
			strict := f.Bool("strict", false, "End with 1 also if a line is a warning or unknown.")
			return func(ctx context.Context, s *command.Shell, _ []string) error {
				lines, err := preflight.Run(ctx, preflight.Options{
					Configure: nomad.configure, HoldPool: nomad.holdPool, RunPool: nomad.runPool,
					Namespace: *namespace, Version: command.Version, With: allow.options(), Hint: nomadHint, Now: s.Now,
				})
				if err != nil {
					return err
				}
				r := readinessOf(lines)
				if err := out.Print(s, r, func(p *command.Page) { readinessPage(p, r) }); err != nil {
					return err
				}
				if r.Failed > 0 || *strict && r.Warnings+r.Unknown > 0 {
					return command.ErrTold
				}
				return nil
			}
		},
	}
}

func readinessOf(lines []preflight.Line) readiness {
	return readiness{
		Failed: preflight.Count(lines, preflight.Failed), Warnings: preflight.Count(lines, preflight.Warning),
		Unknown: preflight.Count(lines, preflight.Unknown), Lines: lines,
	}
}

var stateHues = map[preflight.State]command.Hue{
	preflight.OK: command.Good, preflight.Warning: command.Warn, preflight.Failed: command.Bad, preflight.Unknown: command.Faint,
}

func readinessPage(p *command.Page, r readiness) {
	rows := make([][]command.Cell, len(r.Lines))
	for i, l := range r.Lines {
		text := l.Text
		if l.Cure != "" {
			text += "\nTo do: " + l.Cure
		}
		rows[i] = []command.Cell{command.Text(l.Check), {Text: string(l.State), Hue: stateHues[l.State]}, command.Text(text)}
	}
	p.Table([]string{"Check", "State", "Finding"}, rows)
	if r.Failed == 0 {
		p.Line(command.Text(fmt.Sprintf("\nNothing failed: %d ok, %s, %d unknown.", len(r.Lines)-r.Warnings-r.Unknown, wording.Count(r.Warnings, "warning"), r.Unknown)))
		return
	}
	p.Line(command.Text(fmt.Sprintf("\n%d of %d lines failed.", r.Failed, len(r.Lines))))
}
