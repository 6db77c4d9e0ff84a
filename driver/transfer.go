package driver

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/driver/cgroup"
	"github.com/nomad-placer/nomad-placer/driver/executor"
	"github.com/nomad-placer/nomad-placer/driver/protocol"
)

// transfer is a lend block.
type transfer struct {
	AllocID      string
	Task         string
	RecipientMHz int64 // what the recipient holds; 0 transfers no CPU
	Slice        time.Duration
}

// decodeTransfer reads to which task a task transfers what it holds itself.
func decodeTransfer(a attributes) (*transfer, error) {
	b, ok, err := a.block("lend")
	if err != nil || !ok {
		return nil, err
	}
	var l transfer
	var errs [4]error
	var mhz float64
	l.AllocID, errs[0] = b.text("allocation")
	l.Task, errs[1] = b.text("task")
	mhz, errs[2] = b.number("cpu_mhz")
	l.Slice, errs[3] = decodeSlice(b)
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	for name, text := range map[string]string{"allocation": l.AllocID, "task": l.Task} {
		if text == "" || strings.ContainsAny(text, "/\x00") || text[0] == '.' {
			return nil, fmt.Errorf("%s: %q is not a name that Nomad uses; give the whole id of the allocation, and the name of its task", b.name(name), text)
		}
	}
	if mhz < 0 || mhz != math.Trunc(mhz) || mhz > math.MaxInt32 {
		return nil, fmt.Errorf("%s: %v is not a number of MHz", b.name("cpu_mhz"), mhz)
	}
	l.RecipientMHz = int64(mhz)
	return &l, nil
}

// decodeSlice reads the time slice of the recipient's threads; 0 leaves them as they are.
func decodeSlice(b attributes) (time.Duration, error) {
	text, err := b.text("time_slice")
	if err != nil || text == "" {
		return 0, err
	}
	slice, err := time.ParseDuration(text)
	if err != nil || slice < cgroup.LeastSlice || slice > cgroup.MostSlice {
		return 0, fmt.Errorf("%s: %q is not a time from %s to %s", b.name("time_slice"), text, cgroup.LeastSlice, cgroup.MostSlice)
	}
	return slice, nil
}

// transferSpec is the spec of a task that transfers: what Nomad has given it.
func (d *Driver) transferSpec(task *protocol.TaskConfig, c taskConfig, config pluginConfig) (executor.Spec, error) {
	held := task.GetResources().GetAllocatedResources()
	l := executor.TransferSpec{
		AllocID: c.Transfer.AllocID, Task: c.Transfer.Task, RecipientMHz: c.Transfer.RecipientMHz,
		MHz: held.GetCpu().GetCpuShares(), MemoryBytes: held.GetMemory().GetMemoryMb() << 20, Slice: c.Transfer.Slice,
	}
	if l.AllocID == task.GetAllocId() {
		return executor.Spec{}, errors.New("lend.allocation: name another allocation than the task's own")
	}
	dir := executor.RecipientDir(task.GetAllocDir(), l.AllocID)
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return executor.Spec{}, fmt.Errorf("lend.allocation: this node has no allocation %s; give the whole id, and bind the job to the allocation's node", l.AllocID)
	}
	// One that is not there yet, or just starts again, is waited for.
	if _, err := d.node.tree.TaskGroup(l.AllocID, l.Task); errors.Is(err, cgroup.ErrReservedCores) {
		return executor.Spec{}, fmt.Errorf("lend.task: %w", err)
	}
	cpus, err := d.ownCPUs(task)
	if err != nil {
		return executor.Spec{}, err
	}
	return executor.Spec{
		Name: nameOf(task.GetId()), AllocID: task.GetAllocId(), AllocDir: task.GetAllocDir(), Task: task.GetName(),
		Transfer: &l, CPUs: cpus, Allowed: d.node.allowed, MaxDuration: c.MaxDuration, KillSwitch: config.KillSwitch,
		Seed: c.Seed,
	}, nil
}
