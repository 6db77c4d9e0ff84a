package ibench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/nomad-placer/nomad-placer/driver/child"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// Spec says which kernel to start, and how. Its JSON is the order
// that the kernel's process gets.
type Spec struct {
	Executable string   `json:"-"` // a program that calls KernelMain; empty is this one
	Arguments  []string `json:"-"` // its arguments before the kernel's own; nil is {"kernel"}

	Source           interference.Source `json:"source"`
	IntensityPercent float64             `json:"intensity_percent"`
	CPUs             []int               `json:"cpus,omitempty"` // empty is every CPU this process may use
	Same             bool                `json:"same,omitempty"` // the CPUs are the workload's own

	MaxDuration time.Duration `json:"max_duration"` // the kernel ends by itself after this; required

	Socket          string `json:"socket"`              // path of the control socket; required
	Path            string `json:"path,omitempty"`      // storage: directory on the disk to put load on
	MaxBytes        int64  `json:"max_bytes,omitempty"` // bound of memory or disk space; 0 is the kernel's default
	Peer            string `json:"peer,omitempty"`      // network: host:port to send to; empty is the kernel's own sink
	Variant         string `json:"variant,omitempty"`   // one of the kernel's variants; empty is its first
	CalibrationFile string `json:"calibration_file,omitempty"`
	Seed            uint64 `json:"seed"`

	// Stdout and Stderr get the child's output; nil discards it. An *os.File is
	// handed to the child, so the output goes on when this process ends.
	Stdout io.Writer `json:"-"`
	Stderr io.Writer `json:"-"`
	// Join is called with the child's pid before it allocates or works, to put
	// it into its cgroups.
	Join func(pid int) error `json:"-"`
}

func (s Spec) check() error {
	d, err := Describe(s.Source)
	if err != nil {
		return err
	}
	if _, err := d.variant(s.Variant); err != nil {
		return err
	}
	switch {
	case !(s.IntensityPercent >= 0 && s.IntensityPercent <= 100):
		return fmt.Errorf("intensity %v is outside 0 to 100 percent", s.IntensityPercent)
	case s.MaxDuration <= 0:
		return errors.New("a kernel needs a max duration")
	case s.Socket == "":
		return errors.New("a kernel needs a control socket")
	}
	return nil
}

// Start starts a kernel and returns when it works. It fails with the
// kernel's own reason when that cannot run: no such cache, a full disk, an
// unreachable peer. ctx bounds the start, not the life of the kernel, which dies
// with this process.
func Start(ctx context.Context, spec Spec) (*Process, error) {
	if err := spec.check(); err != nil {
		return nil, err
	}
	cmd, err := command(spec, false)
	if err != nil {
		return nil, err
	}
	c, err := child.Start(ctx, cmd, spec.Join)
	if err != nil {
		return nil, fmt.Errorf("start kernel %s: %w", spec.Source, err)
	}
	d, _ := Describe(spec.Source) // check has refused unknown ones
	return &Process{source: spec.Source, knob: d.Knob, same: spec.Same, socket: spec.Socket, child: c}, nil
}

// command prepares the command line of a kernel's process.
func command(spec Spec, calibrate bool) (*exec.Cmd, error) {
	words := spec.Arguments
	if words == nil {
		words = []string{"kernel"}
	}
	cmd, err := child.Command(spec.Executable, words, order{spec, calibrate})
	if err != nil {
		return nil, fmt.Errorf("kernel %s: %w", spec.Source, err)
	}
	cmd.Stdout, cmd.Stderr = spec.Stdout, spec.Stderr
	return cmd, nil
}

// exitOf is how a process ended.
func exitOf(state *os.ProcessState) Exit {
	if state == nil {
		return Exit{}
	}
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return Exit{Known: true, Code: -1, Signal: int(ws.Signal())}
	}
	return Exit{Known: true, Code: state.ExitCode()}
}
