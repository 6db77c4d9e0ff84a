package ibench

import (
	"flag"
	"fmt"
	"io"

	"golang.org/x/sys/unix"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// options are what the command line of a kernel says.
type options struct {
	spec      Spec
	handshake bool
	calibrate bool
}

func parseOptions(args []string, stderr io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("kernel", flag.ContinueOnError)
	flags.SetOutput(stderr)
	source := flags.String("source", "", "source of interference to put pressure on")
	cpus := flags.String("cpus", "", "CPUs to run on, for example 0-3,8; all allowed ones when empty")
	flags.Float64Var(&o.spec.IntensityPercent, "intensity", 0, "intensity in percent, 0 to 100")
	flags.DurationVar(&o.spec.MaxDuration, "max-duration", 0, "end by itself after this long (required)")
	flags.DurationVar(&o.spec.Lease, "lease", 0, "end when no request came for this long; 0 asks for none")
	flags.BoolVar(&o.spec.DieWithParent, "die-with-parent", false, "end when the parent process ends")
	flags.StringVar(&o.spec.Socket, "socket", "", "path of the control socket; none when empty")
	flags.StringVar(&o.spec.Path, "path", "", "storage: directory on the disk to put load on")
	flags.Int64Var(&o.spec.MaxBytes, "max-bytes", 0, "bound of memory or disk space in bytes; 0 is the kernel's default")
	flags.StringVar(&o.spec.Peer, "peer", "", "network: host:port of a peer that drops what it gets; a sink of its own when empty")
	flags.StringVar(&o.spec.Variant, "variant", "", "one of the kernel's variants; its first when empty")
	flags.StringVar(&o.spec.CalibrationFile, "calibration", "", "calibration file")
	flags.BoolVar(&o.spec.Same, "same", false, "the CPUs are the workload's own")
	flags.Uint64Var(&o.spec.Seed, "seed", 1, "seed of random orders")
	flags.BoolVar(&o.handshake, "handshake", false, "wait for the parent on descriptor 3 and report on 4")
	flags.BoolVar(&o.calibrate, "calibrate", false, "calibrate the source, print the result as JSON and end")
	if err := flags.Parse(args); err != nil {
		return options{}, err
	}
	var err error
	if o.spec.Source, err = interference.ParseSource(*source); err != nil {
		return options{}, fmt.Errorf("-source: %w", err)
	}
	if o.spec.CPUs, err = ParseCPUList(*cpus); err != nil {
		return options{}, fmt.Errorf("-cpus: %w", err)
	}
	if len(o.spec.CPUs) == 0 {
		if o.spec.CPUs, err = AllowedCPUs(); err != nil {
			return options{}, err
		}
	}
	check := o.spec
	if check.Socket == "" {
		check.Socket = "none" // a kernel run by hand may go without
	}
	return o, check.check()
}

// AllowedCPUs returns the CPUs the calling thread may use.
func AllowedCPUs() ([]int, error) { return allowedCPUs(0) }

// allowedCPUs returns the CPUs a thread (0 is the calling one) may use.
func allowedCPUs(tid int) ([]int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(tid, &set); err != nil {
		return nil, fmt.Errorf("allowed CPUs: %w", err)
	}
	var out []int
	for cpu := range len(set) * 64 {
		if set.IsSet(cpu) {
			out = append(out, cpu)
		}
	}
	return out, nil
}
