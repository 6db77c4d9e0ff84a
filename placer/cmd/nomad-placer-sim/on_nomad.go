package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/dispatch"
	"github.com/nomad-placer/nomad-placer/placer/sim/figures"
	"github.com/nomad-placer/nomad-placer/placer/wording"
)

// onNomad are the flags of commands whose runs the nodes of a cluster can make.
type onNomad struct {
	asked   bool
	options dispatch.Options
}

// Defaults of a dispatch.
const (
	dispatchMHz      = 1000
	dispatchMemoryMB = 1024
)

func (n *onNomad) add(f *flag.FlagSet) {
	f.BoolVar(&n.asked, "on-nomad", false, "Have the runs that are not kept made by the nodes of a Nomad cluster, as dispatched batch jobs. The cluster, token and namespace are those of NOMAD_ADDR, NOMAD_TOKEN and NOMAD_NAMESPACE.")
	f.StringVar(&n.options.Program, "program", "", "on-nomad: `path` of this very program on the nodes. Default: where it is here, or with -artifact local/nomad-placer-sim, where Nomad puts an artifact.")
	f.StringVar(&n.options.Artifact, "artifact", "", "on-nomad: the `source` of an artifact block by which nodes get the program.")
	f.StringVar(&n.options.Driver, "driver", "raw_exec", "on-nomad: the task `driver` that runs it: raw_exec or exec.")
	f.StringVar(&n.options.NodePool, "node-pool", "", "on-nomad: the `pool` of the nodes.")
	f.IntVar(&n.options.CPUMHz, "cpu", dispatchMHz, "on-nomad: `MHz` that a dispatch reserves; it uses one CPU.")
	f.IntVar(&n.options.MemoryMB, "memory", dispatchMemoryMB, "on-nomad: `MB` that it reserves.")
	f.IntVar(&n.options.AtOnce, "at-once", 0, "on-nomad: dispatches that wait or run; 0 is four for each ready node.")
}

// elsewhere is nil where this machine makes the runs.
func (n *onNomad) elsewhere(s *command.Shell, work string) (figures.Elsewhere, error) {
	if !n.asked {
		return nil, nil
	}
	if n.options.CPUMHz < 1 || n.options.MemoryMB < 1 || n.options.AtOnce < 0 {
		return nil, command.UsageError("-cpu and -memory are above 0, and -at-once is not negative")
	}
	o := n.options
	if o.Program == "" {
		path, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("this program: %w", err)
		}
		o.Program = path
		if o.Artifact != "" {
			o.Program = "local/" + programName
		}
	}
	var err error
	if o.Job, err = dispatch.JobOf(programName, cmp.Or(work, ".")); err != nil {
		return nil, err
	}
	o.Arguments = []string{unitName}
	o.Now, o.After = s.Now, s.After
	o.Says = func(text string) { fmt.Fprintln(s.Err, programName+": "+text) }
	config := api.DefaultConfig()
	client, err := api.NewClient(config)
	if err != nil {
		return nil, fmt.Errorf("nomad at %s: %w", config.Address, err)
	}
	return func(ctx context.Context, units [][]byte, done func(int, []byte) error) error {
		return dispatch.Run(ctx, dispatch.Nomad{Client: client}, o, units, done)
	}, nil
}

const unitName = "unit"

// unitCommand is what a node calls.
func unitCommand() *command.Command {
	return &command.Command{
		Name: unitName, Arguments: "PAYLOAD FOLDER", Synopsis: "Make runs that were handed out to this node",
		About:   "Nodes call this for figures, league and headroom with -on-nomad: it makes the runs of the file PAYLOAD, one after another, and leaves what came of them in FOLDER. It refuses the work of another build of this program.",
		Example: "nomad-placer-sim unit local/payload alloc/data",
		MinArgs: 2, MaxArgs: 2,
		Setup: func(f *flag.FlagSet) command.Runner {
			var out command.OutputFlags
			out.Add(f)
			return func(ctx context.Context, s *command.Shell, args []string) error {
				payload, err := os.ReadFile(args[0])
				if err != nil {
					return err
				}
				done, err := dispatch.Work(ctx, payload, args[1], s.Now, figures.NewPlayer(s.Now).Play)
				if err != nil {
					return err
				}
				return out.Print(s, done, func(p *command.Page) { p.Line(command.Text(doneText(done))) })
			}
		},
	}
}

func doneText(d dispatch.Done) string {
	switch {
	case d.Refused:
		return "nothing is done: the runs are of another build of this program"
	case d.Failed > 0:
		return fmt.Sprintf("%s, of which %d failed", wording.Count(d.Units, "run"), d.Failed)
	default:
		return wording.Count(d.Units, "run")
	}
}
