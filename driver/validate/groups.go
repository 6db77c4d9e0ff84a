package validate

import (
	"context"
	"fmt"
	"time"

	"github.com/nomad-placer/nomad-placer/driver/cgroup"
	"github.com/nomad-placer/nomad-placer/driver/ibench"
)

// The cgroups of a validation, right below the machine's root group.
const (
	memoryGroupName = "ibench-validate-memory"
	weightGroupName = "ibench-validate-weight"
)

// MemoryGroup makes a group with a memory limit.
func (b *machineBench) MemoryGroup(limitBytes int64) (join func(pid int) error, remove func() error, err error) {
	group, err := makeGroup(memoryGroupName, cgroup.Limits{MemoryBytes: limitBytes})
	if err != nil {
		return nil, nil, err
	}
	return group.Join, func() error { return removeGroup(group) }, nil
}

// makeGroup makes a group that may use the CPUs of this process.
func makeGroup(name string, limits cgroup.Limits) (cgroup.Group, error) {
	tree, err := cgroup.Detect("/proc/self/mountinfo")
	if err != nil {
		return cgroup.Group{}, err
	}
	if limits.CPUs, err = ibench.AllowedCPUs(); err != nil {
		return cgroup.Group{}, err
	}
	return tree.Create(name, limits)
}

// groupRemoval bounds the wait for the last process of a group to be gone.
const groupRemoval = 5 * time.Second

func removeGroup(g cgroup.Group) error {
	ctx, cancel := context.WithTimeout(context.Background(), groupRemoval)
	defer cancel()
	return g.Remove(ctx)
}

// weightGroup gives kernels on the victim's CPU the weight that the driver
// gives them: with equal weights they would end at half of it.
type weightGroup struct {
	group *cgroup.Group
	err   error // why there is none
}

// openWeightGroup makes the group. That it cannot is no failure, but something
// the reader of the report must know.
func openWeightGroup() weightGroup {
	group, err := makeGroup(weightGroupName, cgroup.Limits{Weight: cgroup.MaxWeight})
	if err != nil {
		return weightGroup{err: err}
	}
	return weightGroup{group: &group}
}

func (w weightGroup) join(pid int) error {
	if w.group == nil {
		return nil
	}
	return w.group.Join(pid)
}

// notes says what the reader should know.
func (w weightGroup) notes() []string {
	if w.err == nil {
		return nil
	}
	return []string{fmt.Sprintf("no cgroup could be made (%v): kernels on the victim's CPU have no more weight than the victim, so their pressure ends at half the CPU", w.err)}
}

func (w weightGroup) close() error {
	if w.group == nil {
		return nil
	}
	return removeGroup(*w.group)
}
