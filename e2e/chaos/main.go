package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/nomad-placer/nomad-placer/e2e/cluster"
)

func main() {
	cluster.Main("chaos", func(ctx context.Context) error { return command(ctx, os.Args[1:]) })
}

func command(ctx context.Context, args []string) error {
	o := options{out: os.Stdout}
	var goOn bool
	f := flag.NewFlagSet("chaos", flag.ContinueOnError)
	f.StringVar(&o.bin, "bin", "bin", "`folder` of the product's binaries.")
	f.IntVar(&o.port, "port", 24000, "First `port`.")
	f.IntVar(&o.clients, "clients", 3, "`Clients` of Nomad, 2 or 3; each has an agent.")
	f.IntVar(&o.users, "users", 3, "`Users` who submit jobs.")
	f.Uint64Var(&o.seed, "seed", uint64(time.Now().UnixNano()%1_000_000), "`Seed` of the schedule and of what users do. When each thing falls depends on the machine, too.")
	f.IntVar(&o.kills, "kills", 500, "`Kills` that are wanted.")
	f.DurationVar(&o.duration, "duration", 45*time.Minute, "The `time` in which they are to fall.")
	f.DurationVar(&o.settle, "settle", 3*time.Minute, "The longest `time` until everything is as it should be.")
	f.BoolVar(&o.everyStep, "every-step", true, "Fail where no aimed kill fell into one of the steps; the run may last a quarter longer for it.")
	f.StringVar(&o.result, "result", "bin/chaos.json", "Write what was done and found to this `file`, every 10 s.")
	f.StringVar(&o.logs, "logs", "bin/chaos-logs", "`Folder` for the logs of a run that broke a promise.")
	f.BoolVar(&goOn, "continue", false, "Go on from the result in the file: only the kills that are missing are made, and counted to the earlier ones.")
	if err := f.Parse(args); err != nil {
		return err
	}
	if o.clients < 2 || o.clients > 3 || o.users < 1 || o.kills < 1 || f.NArg() > 0 {
		return errors.New("clients must be 2 or 3, users and kills at least 1, and there are no other arguments")
	}
	var err error
	if o.bin, err = filepath.Abs(o.bin); err != nil {
		return err
	}
	var earlier *Result
	if goOn {
		if earlier, err = before(&o); err != nil {
			return err
		}
	}
	result, err := run(ctx, o, earlier)
	result.print(o.out)
	return err
}

// before reads the result to go on from, and leaves the kills that it lacks.
func before(o *options) (*Result, error) {
	r, err := readResult(o.result)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is nothing to go on from: %w", err)
	}
	if err != nil {
		return nil, err
	}
	left := max(1, o.kills-r.Kills)
	o.duration = time.Duration(float64(o.duration) * float64(left) / float64(o.kills))
	o.kills = left
	return &r, nil
}
