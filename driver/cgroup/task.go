package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Errors of a look for a task's group.
var (
	// ErrNoTaskGroup means that Nomad keeps no such task on this node now.
	ErrNoTaskGroup = errors.New("no task of that name has a control group of Nomad's on this node")
	// ErrReservedCores means that the task runs on cores of its own, which are a
	// cpuset and no share.
	ErrReservedCores = errors.New("the task has reserved cores (resources { cores }), which cannot be resized while it runs")
	// ErrMemoryInUse means that a limit cannot be lowered without ending a process.
	ErrMemoryInUse = errors.New("the processes of the group use more than that")
)

// TaskGroup is the group in which Nomad's own drivers keep the processes of a
// task.
func (t Tree) TaskGroup(allocID, task string) (Group, error) {
	name := allocID + "." + task
	group, reserved := filepath.Join("/nomad", name), t.dir(controllerCPUSet, filepath.Join("/nomad/reserve", name))
	if t.version == V2 {
		name += ".scope"
		group, reserved = filepath.Join("/nomad.slice/share.slice", name), t.dir("", filepath.Join("/nomad.slice/reserve.slice", name))
	}
	if _, err := os.Stat(reserved); err == nil {
		return Group{}, fmt.Errorf("cgroup: %s: %w", name, ErrReservedCores)
	}
	g := Group{tree: t, path: group}
	_, err := os.Stat(g.cpuFile())
	if errors.Is(err, fs.ErrNotExist) {
		return Group{}, fmt.Errorf("cgroup: %s: %w", name, ErrNoTaskGroup)
	}
	if err != nil {
		return Group{}, fmt.Errorf("cgroup: %w", err)
	}
	return g, nil
}

// ID tells a group from a later one of the same path.
func (g Group) ID() (uint64, error) {
	var s unix.Stat_t
	dir := g.tree.dir(controllerCPU, g.path)
	if err := unix.Stat(dir, &s); err != nil {
		return 0, fmt.Errorf("cgroup: %s: %w", dir, err)
	}
	return s.Ino, nil
}

// cpuFile holds the group's part of contended CPU time.
func (g Group) cpuFile() string { return g.file(controllerCPU, words[g.tree.version].share) }

// CPUShare is the group's part of contended CPU time in the kernel's own number:
// cpu.shares on v1, cpu.weight on v2.
func (g Group) CPUShare() (int64, error) { return readInt(g.cpuFile()) }

// SetCPUShare sets what CPUShare reads.
func (g Group) SetCPUShare(share int64) error {
	if share < 1 || share > g.tree.MaxCPUShare() {
		return fmt.Errorf("cgroup: a CPU share of %d is outside 1 to %d", share, g.tree.MaxCPUShare())
	}
	return write(g.cpuFile(), strconv.FormatInt(share, 10))
}

// MaxCPUShare is the kernel's bound of CPUShare.
func (t Tree) MaxCPUShare() int64 {
	if t.version == V2 {
		return MaxWeight
	}
	return maxShares
}

// noLimit is from where on a v1 limit is none: the kernel shows the largest
// number of whole pages.
const noLimit = math.MaxInt64 / 2

// memoryFile holds the group's hard limit; empty where memory is not controlled.
func (g Group) memoryFile() string {
	return g.file(controllerMemory, words[g.tree.version].memoryLimit)
}

// MemoryLimit is the hard limit in bytes; limited is false where there is none.
func (g Group) MemoryLimit() (bytes int64, limited bool, err error) {
	file := g.memoryFile()
	if file == "" {
		return 0, false, nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return 0, false, fmt.Errorf("cgroup: %w", err)
	}
	text := strings.TrimSpace(string(data))
	if text == "max" {
		return 0, false, nil
	}
	bytes, err = strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, false, fmt.Errorf("cgroup: %s: %w", file, err)
	}
	return bytes, bytes < noLimit, nil
}

// RaiseMemoryLimit sets a limit that is above the present one.
func (g Group) RaiseMemoryLimit(bytes int64) error { return g.setMemory(bytes) }

// LowerMemoryLimit sets a limit that is below the present one, unless the group
// cannot be brought to use so little without ending one of its processes: then it
// stays as it is, and the error is ErrMemoryInUse.
func (g Group) LowerMemoryLimit(bytes int64) error {
	if g.tree.version == V1 {
		// This kernel interface reclaims what it can and refuses the rest.
		err := g.setMemory(bytes)
		if errors.Is(err, unix.EBUSY) {
			return fmt.Errorf("cgroup: %s: %d bytes: %w", g.path, bytes, ErrMemoryInUse)
		}
		return err
	}
	// Here a write to memory.max ends processes; one to memory.high only reclaims.
	dir := g.tree.dir("", g.path)
	high := filepath.Join(dir, "memory.high")
	before, err := os.ReadFile(high)
	if err != nil {
		return fmt.Errorf("cgroup: %w", err)
	}
	if err := write(high, strconv.FormatInt(bytes, 10)); err != nil {
		return err
	}
	used, err := readInt(filepath.Join(dir, "memory.current"))
	switch {
	case err != nil:
	case used > bytes:
		err = fmt.Errorf("cgroup: %s: %d of %d bytes: %w", g.path, used, bytes, ErrMemoryInUse)
	default:
		err = g.setMemory(bytes)
	}
	return errors.Join(err, write(high, strings.TrimSpace(string(before))))
}
