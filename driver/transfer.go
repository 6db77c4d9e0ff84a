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
	b, ok := a.block("lend")
	if !ok {
		return nil, nil
	}
	l := transfer{AllocID: b.text("allocation"), Task: b.text("task")}
	mhz := b.number("cpu_mhz")
	l.Slice = decodeSlice(b)
	if *b.err != nil {
		return nil, *b.err
	}
	for name, text := range map[string]string{"allocation": l.AllocID, "task": l.Task} {
		if text == "" || strings.ContainsAny(text, "/\x00") || text[0] == '.' {
			b.wrong(name, "%q is not a name that Nomad uses; give the whole id of the allocation, and the name of its task", text)
			return nil, *b.err
		}
	}
	if mhz < 0 || mhz != math.Trunc(mhz) || mhz > math.MaxInt32 {
		b.wrong("cpu_mhz", "%v is not a number of MHz", mhz)
	}
	l.RecipientMHz = int64(mhz)
	return &l, *b.err
}

// decodeSlice reads the time slice of the recipient's threads; 0 leaves them as they are.
func decodeSlice(b attributes) time.Duration {
	text := b.text("time_slice")
	if text == "" {
		return 0
	}
	slice, err := time.ParseDuration(text)
	if err != nil || slice < cgroup.LeastSlice || slice > cgroup.MostSlice {
		b.wrong("time_slice", "%q is not a time from %s to %s", text, cgroup.LeastSlice, cgroup.MostSlice)
	}
	return slice
}

// transferSpec is the spec of a task that transfers: what Nomad has given it.
func (d *Driver) transferSpec(task *protocol.TaskConfig, c taskConfig, config pluginConfig) (executor.Spec, error) {
	held := task.GetResources().GetAllocatedResources()
	l := executor.TransferSpec{
		AllocID: c.Transfer.AllocID, Task: c.Transfer.Task, RecipientMHz: c.Transfer.RecipientMHz,
		MHz: held.GetCpu().GetCpuShares(), MemoryBytes: held.GetMemory().GetMemoryMb() << 20, Slice: c.Transfer.Slice,
	}
	if len(config.Signers) == 0 {
		l.Namespace = task.GetNamespace()
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
