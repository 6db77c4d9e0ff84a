package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"

	"github.com/hashicorp/nomad/api"

	jobhcl "github.com/nomad-placer/nomad-placer/hcl"
	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/wording"
)

// validation is what `job validate -json` prints.
type validation struct {
	Valid       bool               `json:"valid"`
	Diagnostics jobhcl.Diagnostics `json:"diagnostics"`
	Nomad       []string           `json:"nomad,omitempty"` // what Nomad says beyond ours
}

func jobValidateCommand() *command.Command {
	return &command.Command{
		Name: "job validate", Arguments: "FILE", Synopsis: "Check a job file and its performance blocks",
		About: "Checks every performance block of a job file (- is standard input), and lets Nomad check the rest. Problems are printed as file:line:column with the offending text and a hint; the exit code is 1 if there is an error. " +
			"With -offline Nomad is not asked.",
		Example: "nomad-placer job validate -offline cache.nomad.hcl",
		MinArgs: 1, MaxArgs: 1,
		Setup: func(f *flag.FlagSet) command.Runner {
			var nomad nomadFlags
			var vars variableFlags
			var out command.OutputFlags
			nomad.add(f)
			vars.add(f)
			out.Add(f)
			offline := f.Bool("offline", false, "Check the performance blocks only, without a Nomad.")
			return func(ctx context.Context, s *command.Shell, args []string) error {
				job, err := readJobFile(s, args[0], &vars)
				if err != nil {
					return err
				}
				var nomadSays []string
				if !*offline && !job.diagnostic.HasErrors() {
					if nomadSays, err = askNomad(ctx, s, &nomad, job); err != nil {
						return err
					}
				}
				return printValidation(s, &out, job, nomadSays)
			}
		},
	}
}

// askNomad returns what Nomad finds wrong with the job. Problems of texts in
// meta, which only show once Nomad has read the file, join the job's own.
func askNomad(ctx context.Context, s *command.Shell, nomad *nomadFlags, job *jobFile) ([]string, error) {
	client, err := nomad.client()
	if err != nil {
		return nil, err
	}
	parsed, err := job.parse(ctx, client, nomad.jobNamespace(s))
	if job.diagnostic.HasErrors() {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	request := map[string]any{"Job": parsed}
	var answer json.RawMessage
	if _, err := client.Raw().Write("/v1/validate/job", request, &answer, (&api.WriteOptions{}).WithContext(ctx)); err != nil {
		return nil, fmt.Errorf("asking Nomad: %w", err)
	}
	var found struct{ ValidationErrors []string }
	if err := json.Unmarshal(answer, &found); err != nil {
		return nil, fmt.Errorf("nomad's answer: %w", err)
	}
	return found.ValidationErrors, nil
}

func printValidation(s *command.Shell, out *command.OutputFlags, job *jobFile, nomadSays []string) error {
	valid := !job.diagnostic.HasErrors() && len(nomadSays) == 0
	v := validation{valid, append(jobhcl.Diagnostics{}, job.diagnostic...), nomadSays}
	err := out.Print(s, v, func(p *command.Page) {
		printProblems(s, job.diagnostic)
		for _, line := range nomadSays {
			fmt.Fprintln(s.Err, job.name+": error: "+line)
		}
		if valid {
			p.Line(command.Text(job.name + " is valid: " + wording.Count(len(job.specs), "performance block")))
		}
	})
	if err == nil && !valid {
		return command.ErrTold
	}
	return err
}

func printProblems(s *command.Shell, ds jobhcl.Diagnostics) {
	for _, d := range ds {
		fmt.Fprintln(s.Err, d.String())
	}
}
