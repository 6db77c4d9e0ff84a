package cgroup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Group is one control group.
type Group struct {
	tree Tree
	path string // below the mount points, with a leading slash
}

// Limits are what a group is created with. Zero values are left alone.
type Limits struct {
	CPUs        CPUs
	Weight      int   // the v2 scale: 1 to 10000, 100 is everyone's default
	MemoryBytes int64 // hard limit
}

// The weights of the v2 scale, cgroup-v2 documentation "Weights".
const (
	DefaultWeight = 100
	MaxWeight     = 10000
)

// sharesPerWeight turns the v2 scale into v1 shares: 100 is 1024.
const sharesPerWeight = 1024.0 / DefaultWeight

// maxShares is the kernel's bound of cpu.shares.
const maxShares = 262144

// Create makes a group, sets its limits and returns it: right below the root of
// the tree, or, where Nomad's tasks share a CPU quota, within that. A group of
// that name that exists is taken over.
func (t Tree) Create(name string, limits Limits) (Group, error) {
	if name == "" || strings.ContainsAny(name, "/\x00") || name[0] == '.' {
		return Group{}, fmt.Errorf("cgroup: %q is not a group name", name)
	}
	g := t.Child(name)
	if err := g.create(limits); err != nil {
		return Group{}, errors.Join(err, g.Remove(context.Background()))
	}
	return g, nil
}

func (g Group) create(limits Limits) error {
	if g.tree.version == V2 {
		if err := g.tree.enable(filepath.Dir(g.path), "cpuset", "cpu", "memory"); err != nil {
			return err
		}
	}
	for _, dir := range g.tree.dirs(g.path) {
		// On v1 Nomad's own group is not in every hierarchy before its first task.
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("cgroup: %w", err)
		}
	}
	if err := g.inheritMems(); err != nil {
		return err
	}
	if err := g.SetCPUs(limits.CPUs); err != nil {
		return err
	}
	if err := g.SetWeight(limits.Weight); err != nil {
		return err
	}
	return g.setMemory(limits.MemoryBytes)
}

// enable asks a v2 group to hand controllers to its children. A controller
// that is already on is accepted silently by the kernel.
func (t Tree) enable(parent string, controllers ...string) error {
	file := filepath.Join(t.dir("", parent), "cgroup.subtree_control")
	for _, c := range controllers {
		if err := write(file, "+"+c); err != nil {
			return fmt.Errorf("cgroup: controller %s is not available here: %w", c, err)
		}
	}
	return nil
}

// inheritMems gives a v1 cpuset its memory nodes and, so that it can be
// entered at all, all CPUs of its parent: both start empty.
func (g Group) inheritMems() error {
	if g.tree.version == V2 {
		return nil
	}
	dir := g.tree.dir(controllerCPUSet, g.path)
	for _, file := range []string{"cpuset.mems", "cpuset.cpus"} {
		data, err := os.ReadFile(filepath.Join(filepath.Dir(dir), file))
		if err != nil {
			return fmt.Errorf("cgroup: %w", err)
		}
		if err := write(filepath.Join(dir, file), strings.TrimSpace(string(data))); err != nil {
			return err
		}
	}
	return nil
}

// SetCPUs binds the group to those CPUs; none leaves the parent's.
func (g Group) SetCPUs(cpus CPUs) error {
	if len(cpus) == 0 {
		return nil
	}
	return write(filepath.Join(g.tree.dir(controllerCPUSet, g.path), "cpuset.cpus"), cpus.String())
}

// SetWeight sets the group's share of contended CPU time on the v2 scale.
func (g Group) SetWeight(weight int) error {
	if weight == 0 {
		return nil
	}
	if weight < 1 || weight > MaxWeight {
		return fmt.Errorf("cgroup: weight %d is outside 1 to %d", weight, MaxWeight)
	}
	if g.tree.version == V1 {
		weight = min(maxShares, max(2, int(float64(weight)*sharesPerWeight)))
	}
	return write(g.cpuFile(), strconv.Itoa(weight))
}

func (g Group) setMemory(bytes int64) error {
	file := g.memoryFile()
	if bytes <= 0 || file == "" {
		return nil
	}
	return write(file, strconv.FormatInt(bytes, 10))
}

// Join moves a process into the group, in every controller.
func (g Group) Join(pid int) error {
	for _, dir := range g.Dirs() {
		if err := write(filepath.Join(dir, "cgroup.procs"), strconv.Itoa(pid)); err != nil {
			return err
		}
	}
	return nil
}

// Dirs are the group's directories: writing a pid into each one's cgroup.procs
// joins it.
func (g Group) Dirs() []string { return g.tree.dirs(g.path) }

// Path is the group's path below the mount points.
func (g Group) Path() string { return g.path }

// Pids lists the group's processes, those of its children included.
func (g Group) Pids() ([]int, error) { return PidsBelow(g.freezerDir()) }

// PidsBelow lists the processes of the group in that directory, those of its children
// included.
func PidsBelow(root string) ([]int, error) {
	var out []int
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return ignoreGone(err)
		}
		data, err := os.ReadFile(filepath.Join(path, "cgroup.procs"))
		if err != nil {
			return ignoreGone(err)
		}
		for _, field := range strings.Fields(string(data)) {
			pid, err := strconv.Atoi(field)
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			out = append(out, pid)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("cgroup: %w", err)
	}
	return out, nil
}

// freezerDir is the directory that stands for the group as a set of processes.
func (g Group) freezerDir() string {
	if d := g.tree.dir(controllerFreezer, g.path); d != "" {
		return d
	}
	return g.tree.dir(controllerCPUSet, g.path)
}

// Usage is what the group has used.
type Usage struct {
	CPU         time.Duration // since the group was made
	MemoryBytes int64
}

// Usage reads the counters. A group that is gone is an error.
func (g Group) Usage() (Usage, error) {
	cpu, err := g.cpuTime()
	if err != nil {
		return Usage{}, err
	}
	memory := int64(0)
	if file := g.file(controllerMemory, words[g.tree.version].memoryUsed); file != "" {
		if memory, err = readInt(file); err != nil {
			return Usage{}, err
		}
	}
	return Usage{CPU: cpu, MemoryBytes: memory}, nil
}

func (g Group) cpuTime() (time.Duration, error) {
	if g.tree.version == V1 {
		file := g.file(controllerCPUAcct, "cpuacct.usage")
		if file == "" {
			return 0, errors.New("cgroup: the cpuacct controller is not mounted")
		}
		ns, err := readInt(file)
		return time.Duration(ns), err
	}
	data, err := os.ReadFile(filepath.Join(g.tree.dir("", g.path), "cpu.stat"))
	if err != nil {
		return 0, fmt.Errorf("cgroup: %w", err)
	}
	for _, line := range strings.Split(string(data), "\n") {
		if name, value, _ := strings.Cut(line, " "); name == "usage_usec" {
			us, err := strconv.ParseInt(value, 10, 64)
			if err != nil {
				return 0, fmt.Errorf("cgroup: cpu.stat: %w", err)
			}
			return time.Duration(us) * time.Microsecond, nil
		}
	}
	return 0, errors.New("cgroup: cpu.stat has no usage_usec")
}

// Removing a group fails with "busy" until its dead processes are reaped.
const (
	removeTries = 50
	removePause = 20 * time.Millisecond
)

// Remove removes the group, which must hold no process any more; it waits up
// to a second for the kernel to let go of dead ones. A group that is gone is
// fine.
func (g Group) Remove(ctx context.Context) error {
	var errs []error
	for _, dir := range g.tree.dirs(g.path) {
		errs = append(errs, removeDir(ctx, dir))
	}
	return errors.Join(errs...)
}

func removeDir(ctx context.Context, dir string) error {
	for try := 0; ; try++ {
		err := os.Remove(dir)
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if try == removeTries {
			return fmt.Errorf("cgroup: %w", err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("cgroup: remove %s: %w", dir, ctx.Err())
		case <-time.After(removePause):
		}
	}
}

// Named finds the groups that Create made whose name starts with prefix, also one of which
// some directories were removed and others were busy.
func (t Tree) Named(prefix string) ([]Group, error) {
	var out []Group
	for _, parent := range []string{"/", t.nomad()} {
		for _, dir := range t.dirs(parent) {
			entries, err := os.ReadDir(dir)
			if errors.Is(err, fs.ErrNotExist) && parent != "/" {
				continue
			}
			if err != nil {
				return nil, fmt.Errorf("cgroup: %w", err)
			}
			for _, e := range entries {
				g := Group{tree: t, path: filepath.Join(parent, e.Name())}
				if e.IsDir() && strings.HasPrefix(e.Name(), prefix) && !slices.ContainsFunc(out, func(o Group) bool { return o.path == g.path }) {
					out = append(out, g)
				}
			}
		}
	}
	return out, nil
}

func write(file, value string) error {
	// No O_CREATE: a control file that the kernel did not make is an error.
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return fmt.Errorf("cgroup: %w", err)
	}
	_, err = f.WriteString(value)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("cgroup: write %q: %w", value, err)
	}
	return nil
}

func readInt(file string) (int64, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return 0, fmt.Errorf("cgroup: %w", err)
	}
	v, err := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("cgroup: %s: %w", file, err)
	}
	return v, nil
}

func ignoreGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
