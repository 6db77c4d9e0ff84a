package cluster

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// spin enters a control group, named by the file that lists its processes, and uses what CPU
// time that group is left.
const spin = `echo $$ > "$0" && while :; do :; done`

// awakeGroup is the control group of what keeps the CPUs of a run awake.
func awakeGroup(runID string) string { return runGroup(runID) + "-awake" }

// keepAwake runs a loop on each CPU that gets only the time that nobody else wants, and gives way
// at once. A CPU of a virtual machine that halts may get no time from its host for milliseconds
// once work comes, which latencies on machines of their own do not show. A kernel without groups
// for such work (cpu.idle, from 5.15 on) keeps nothing awake.
func (c *Cluster) keepAwake() error {
	dir := c.hierarchies.path("cpu", awakeGroup(c.config.RunID))
	if err := os.Mkdir(dir, 0o755); err != nil {
		return fmt.Errorf("create control group: %w", err)
	}
	err := writeControl(dir, "cpu.idle", "1")
	if errors.Is(err, fs.ErrNotExist) {
		return removeOne(dir)
	}
	if err != nil {
		return err
	}
	cpus, err := AllowedCPUs(os.Getpid())
	if err != nil {
		return err
	}
	for _, cpu := range cpus {
		if err := c.spinOn(cpu, filepath.Join(dir, "cgroup.procs")); err != nil {
			return fmt.Errorf("keep CPU %d awake: %w", cpu, err)
		}
	}
	return nil
}

// spinOn ends with the control group, or with this process.
func (c *Cluster) spinOn(cpu int, procs string) error {
	cmd := exec.Command("/bin/sh", "-c", spin, procs)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := c.starter.start(cmd); err != nil {
		return err
	}
	watch(cmd)
	var only unix.CPUSet
	only.Set(cpu)
	return unix.SchedSetaffinity(cmd.Process.Pid, &only)
}
