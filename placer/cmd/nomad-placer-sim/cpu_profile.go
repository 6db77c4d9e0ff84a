package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime/pprof"

	"github.com/nomad-placer/nomad-placer/placer/command"
)

// cpuProfile is the flag of commands that may take long: it tells which code the time goes to.
type cpuProfile struct{ path string }

func (c *cpuProfile) add(f *flag.FlagSet) {
	f.StringVar(&c.path, "cpu-profile", "", "Write a CPU profile of this program to this `file`, for go tool pprof.")
}

// during profiles the program while it does something.
func (c *cpuProfile) during(do command.Runner) command.Runner {
	return func(ctx context.Context, s *command.Shell, args []string) (err error) {
		if c.path == "" {
			return do(ctx, s, args)
		}
		f, err := os.Create(c.path)
		if err != nil {
			return fmt.Errorf("CPU profile: %w", err)
		}
		if err := pprof.StartCPUProfile(f); err != nil {
			return errors.Join(fmt.Errorf("CPU profile: %w", err), f.Close())
		}
		defer func() {
			pprof.StopCPUProfile()
			err = errors.Join(err, f.Close())
		}()
		return do(ctx, s, args)
	}
}
