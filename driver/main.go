package driver

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os/signal"
	"slices"
	"syscall"

	"github.com/nomad-placer/nomad-placer/driver/executor"
	"github.com/nomad-placer/nomad-placer/driver/ibench"
	"github.com/nomad-placer/nomad-placer/driver/validate"
)

// role is one thing the program can be run as.
type role struct {
	name    string
	summary string // empty for what the driver starts itself
	run     func(args []string, stdout, stderr io.Writer) int
}

var roles = []role{
	{"awake", "", func(args []string, _, _ io.Writer) int { return ibench.AwakeMain(args) }},
	{"calibrate", "measure the kernels of this machine and keep the result (about a minute of load)", calibrateMain},
	{"kernel", "", func(args []string, _, _ io.Writer) int { return ibench.KernelMain(args) }},
	{"sink", "receive what net_bw kernels of other machines send: -listen host:port", ibench.SinkMain},
	{"task", "", executor.Main},
	{"validate", "measure whether the kernels of this machine do what they say (up to a quarter of an hour of load)", validate.Main},
	{"version", "print the version", versionMain},
}

// Main runs the program with those arguments and returns its exit code.
// Without any it is the plugin.
func Main(args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		Serve()
		return exitOK
	}
	i := slices.IndexFunc(roles, func(r role) bool { return r.name == args[0] })
	if i < 0 {
		fmt.Fprintf(stderr, "unknown command %q; nomad-driver-ibench is a Nomad plugin and is started by the agent.\nCommands for people:\n", args[0])
		for _, r := range roles {
			if r.summary != "" {
				fmt.Fprintf(stderr, "  %-10s %s\n", r.name, r.summary)
			}
		}
		return exitUsage
	}
	return roles[i].run(args[1:], stdout, stderr)
}

func versionMain(_ []string, stdout, _ io.Writer) int {
	fmt.Fprintf(stdout, "nomad-driver-ibench %s\n", PluginVersion)
	return exitOK
}

// calibrateMain calibrates the machine it runs on.
func calibrateMain(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("calibrate", flag.ContinueOnError)
	flags.SetOutput(stderr)
	file := flags.String("file", "/var/lib/nomad-driver-ibench/calibration.json", "where to keep the result")
	dir := flags.String("storage-dir", "", "directory on the disk to calibrate; without it storage is left out")
	repair := flags.Bool("repair", false, "measure again, for longer, only what is not linear in the result kept, and keep the better")
	if err := flags.Parse(args); err != nil {
		return exitUsage
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	calibrate := ibench.Calibrate
	if *repair {
		calibrate = func(ctx context.Context, spec ibench.CalibrateSpec, progress func(ibench.CalibrationProgress)) (ibench.Calibration, error) {
			return ibench.RepairCalibration(ctx, *file, spec, progress)
		}
	}
	n, err := readNode()
	if err == nil {
		err = calibrateTo(ctx, n, calibrate, *file, *dir, stdout)
	}
	if err != nil {
		fmt.Fprintln(stderr, err)
		return exitError
	}
	return exitOK
}

// calibration measures kernels.
type calibration func(ctx context.Context, spec ibench.CalibrateSpec, progress func(ibench.CalibrationProgress)) (ibench.Calibration, error)

func calibrateTo(ctx context.Context, n node, calibrate calibration, file, dir string, stdout io.Writer) error {
	spec := ibench.CalibrateSpec{Machine: n.machine, CPUs: n.allowed, Path: dir}
	c, err := calibrate(ctx, spec, func(p ibench.CalibrationProgress) {
		fmt.Fprintf(stdout, "%d/%d %s\n", p.Done+1, p.Total, p.Source)
	})
	if err != nil {
		return err
	}
	if err := c.Save(file); err != nil {
		return err
	}
	for _, s := range c.Sources {
		fmt.Fprintf(stdout, "%-14s %-12s %s\n", s.Source, s.Status, s.Reason)
	}
	_, err = fmt.Fprintf(stdout, "kept in %s\n", file)
	return err
}
