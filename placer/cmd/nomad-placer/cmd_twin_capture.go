package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/wording"
	"github.com/nomad-placer/nomad-placer/profiler/blockio"
)

func twinCaptureCommand() *command.Command {
	return &command.Command{
		Name: "twin capture", Arguments: "DEVICE", MinArgs: 1, MaxArgs: 1, Synopsis: "Record the block I/O of a device or an allocation",
		About: "Records what a device is asked for, at the queue of the block layer, as text of blkparse that twin fit reads. DEVICE is a name, a path, or a file or folder on the device. It takes root, and a kernel with block tracepoints; what others trace is left alone. " +
			"With -alloc or -cgroup only the threads of an allocation, or of a control group, are recorded, with those that they start meanwhile. Writes that went through the page cache are made by the kernel later, and are not among these; they are where the whole device is recorded. " +
			"An interrupt ends the capture, and what was recorded is kept. The file has numbers and names of programs, addresses and sizes, and no data.",
		Example: "nomad-placer twin capture -for 1h -o app.txt vdb\n" +
			"nomad-placer twin capture -alloc 5f0c9d5e -for 10m -o app.txt /opt/nomad",
		Setup: func(f *flag.FlagSet) command.Runner {
			var c twinCapture
			c.out.Add(f)
			f.StringVar(&c.output, "o", "", "Write the trace to this `file`; - is standard output. Required.")
			f.DurationVar(&c.length, "for", time.Hour, "Record for this `time`.")
			f.StringVar(&c.alloc, "alloc", "", "The `id` of an allocation on this machine, or the begin of it.")
			f.StringVar(&c.group, "cgroup", "", "The `folder` of a control group.")
			return func(ctx context.Context, s *command.Shell, args []string) error { return c.run(ctx, s, args[0]) }
		},
	}
}

type twinCapture struct {
	out          command.OutputFlags
	output       string
	alloc, group string
	length       time.Duration
}

// twinCaptureReport is the report as -json prints it.
type twinCaptureReport struct {
	Device  string `json:"device"`
	Written string `json:"written"`
	Tasks   int    `json:"tasks,omitempty"` // that were recorded; missing for all
	blockio.Captured
}

// cgroupRoot is where control groups are.
const cgroupRoot = "/sys/fs/cgroup"

func (c *twinCapture) run(ctx context.Context, s *command.Shell, name string) error {
	switch {
	case c.output == "":
		return command.UsageError("-o names a file for the trace")
	case c.length < time.Second:
		return command.UsageError("-for is a second or longer, not %v", c.length)
	case c.alloc != "" && c.group != "":
		return command.UsageError("-alloc or -cgroup, not both")
	}
	device, err := blockio.FindDevice(name)
	if err != nil {
		return captureHint(err)
	}
	tasks, err := c.tasks()
	if err != nil {
		return captureHint(err)
	}
	progress := command.NewProgress(s, command.StillEvery)
	share := progress.Share("twin capture")
	data := twinCaptureReport{Device: device.Name, Written: c.output, Tasks: len(tasks)}
	report, err := forOutput(s, c.output, func(w io.Writer) error {
		done, err := blockio.Capture{
			Device: device, Length: c.length, Tasks: tasks, Now: s.Now, After: s.After,
			Progress: func(at time.Duration, ios int64) {
				share(float64(at)/float64(c.length), wording.Number(float64(ios))+" I/Os")
			},
		}.Run(ctx, w)
		if err == nil {
			data.Captured = *done
		}
		return err
	})
	progress.End()
	if err != nil {
		return captureHint(err)
	}
	return c.out.PrintTo(s, report, data, func(p *command.Page) { capturePage(p, data) })
}

// tasks are the threads that are recorded; none for all.
func (c *twinCapture) tasks() ([]int, error) {
	switch {
	case c.alloc != "":
		groups, err := blockio.AllocationGroups(cgroupRoot, c.alloc)
		if err != nil {
			return nil, err
		}
		return blockio.TasksOf(groups)
	case c.group != "":
		return blockio.TasksOf([]string{c.group})
	default:
		return nil, nil
	}
}

// captureHint says what helps against an error of capturing.
func captureHint(err error) error {
	switch {
	case errors.Is(err, blockio.ErrNoTracing):
		return command.WithHint(err, "run it as root on the node, outside of containers; twin fit also reads logs of fio and text of blkparse that were recorded elsewhere")
	case errors.Is(err, blockio.ErrIdle):
		return command.WithHint(err, "record longer, or while the workload works; what it reads from the page cache reaches no device")
	case errors.Is(err, blockio.ErrDevice):
		return command.WithHint(err, "lsblk lists devices")
	default:
		return err
	}
}

func capturePage(p *command.Page, r twinCaptureReport) {
	of := r.Device
	if r.Tasks > 0 {
		of += fmt.Sprintf(" by %s", wording.Count(r.Tasks, "thread"))
	}
	p.Line(command.Text(fmt.Sprintf("%s I/Os of %s in %s were written to %s.", wording.Number(float64(r.IOs)), of, wording.Duration(time.Duration(r.Seconds*float64(time.Second))), outputText(r.Written))))
	if r.Lost > 0 {
		p.Item(command.Bad, wording.Number(float64(r.Lost))+" events were lost: the kernel's buffer was full")
	}
}
