package cgroup

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Version is the cgroup interface a Tree speaks.
type Version int

// The two interfaces.
const (
	V1 Version = 1
	V2 Version = 2
)

// The v1 controllers a group uses. Only cpuset and cpu are required.
const (
	controllerCPUSet  = "cpuset"
	controllerCPU     = "cpu"
	controllerCPUAcct = "cpuacct"
	controllerMemory  = "memory"
	controllerFreezer = "freezer"
)

// words are what the two interfaces call the same things.
var words = map[Version]struct {
	share, memoryLimit, memoryUsed, freezer string // files
	freeze, thaw                            string // what the freezer's file is given
}{
	V1: {"cpu.shares", "memory.limit_in_bytes", "memory.usage_in_bytes", "freezer.state", "FROZEN", "THAWED"},
	V2: {"cpu.weight", "memory.max", "memory.current", "cgroup.freeze", "1", "0"},
}

// controllerPerfEvent counts events; kernels need no group of it.
const controllerPerfEvent = "perf_event"

var wanted = []string{controllerCPUSet, controllerCPU, controllerCPUAcct, controllerMemory, controllerFreezer}

// ErrNoCgroups means no usable hierarchy is mounted.
var ErrNoCgroups = errors.New("no usable cgroup hierarchy is mounted")

// Tree is the machine's cgroup hierarchy.
type Tree struct {
	version Version
	mounts  map[string]string // v1: controller → mount point; v2: "" → mount point
}

// Detect reads the hierarchy from a mountinfo file, usually
// /proc/self/mountinfo. Where both versions are mounted, v1 wins if it has the
// cpuset controller: in the hybrid layout the v2 mount has no controllers.
func Detect(mountinfo string) (Tree, error) {
	data, err := os.ReadFile(mountinfo)
	if err != nil {
		return Tree{}, fmt.Errorf("cgroup: %w", err)
	}
	v1, v2 := map[string]string{}, ""
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		point, kind, options, ok := mountLine(lines.Text())
		switch {
		case !ok:
		case kind == "cgroup2":
			v2 = point // the last mount on top wins, as for the kernel
		case kind == "cgroup":
			for _, c := range wanted {
				if slices.Contains(options, c) {
					v1[c] = point
				}
			}
		}
	}
	if err := lines.Err(); err != nil {
		return Tree{}, fmt.Errorf("cgroup: read %s: %w", mountinfo, err)
	}
	if v1[controllerCPUSet] != "" && v1[controllerCPU] != "" {
		return Tree{version: V1, mounts: v1}, nil
	}
	if v2 != "" {
		return Tree{version: V2, mounts: map[string]string{"": v2}}, nil
	}
	return Tree{}, ErrNoCgroups
}

// mountLine takes one line of mountinfo apart: see proc_pid_mountinfo(5).
func mountLine(line string) (point, kind string, options []string, ok bool) {
	before, after, found := strings.Cut(line, " - ")
	left, right := strings.Fields(before), strings.Fields(after)
	if !found || len(left) < 5 || len(right) < 3 {
		return "", "", nil, false
	}
	return unescape(left[4]), right[0], strings.Split(right[2], ","), true
}

func unescape(path string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(path)
}

// Version says which interface the tree speaks.
func (t Tree) Version() Version { return t.version }

// dir is where the group with that path has its files for a controller; empty
// where the controller is not mounted.
func (t Tree) dir(controller, path string) string {
	if t.version == V2 {
		controller = ""
	}
	mount := t.mounts[controller]
	if mount == "" {
		return ""
	}
	return filepath.Join(mount, path)
}

// file is one of a group's files; empty where the controller is not mounted.
func (g Group) file(controller, name string) string {
	dir := g.tree.dir(controller, g.path)
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, name)
}

// dirs are all directories of a group, each once, cpuset first.
func (t Tree) dirs(path string) []string {
	var out []string
	for _, c := range wanted {
		if d := t.dir(c, path); d != "" && !slices.Contains(out, d) {
			out = append(out, d)
		}
	}
	return out
}

// CPUs are the CPUs the root of the tree may use: on v1 and inside a namespace
// its cpuset, on the v2 root (which has no cpuset file) the online CPUs it
// reports, if any. ok is false where the tree does not say.
func (t Tree) CPUs() (cpus CPUs, ok bool) {
	root := t.dir(controllerCPUSet, "/")
	for _, file := range []string{"cpuset.cpus.effective", "cpuset.effective_cpus", "cpuset.cpus"} {
		data, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			continue
		}
		cpus, err := ParseCPUs(string(data))
		if err == nil && len(cpus) > 0 {
			return cpus, true
		}
	}
	return nil, false
}

// nomad is the group that holds all tasks of the Nomad client.
func (t Tree) nomad() string {
	if t.version == V2 {
		return "/nomad.slice"
	}
	return "/nomad"
}

// Child is the group that Create makes under that name. Where the operator has
// given Nomad's tasks a CPU quota, kernels are to share it: outside it they would
// exert more pressure than any task of the node could. Elsewhere the root's children
// compete with Nomad's tasks as a whole.
func (t Tree) Child(name string) Group {
	parent := "/"
	if _, limited := t.QuotaCPUs(); limited {
		parent = t.nomad()
	}
	return Group{tree: t, path: filepath.Join(parent, name)}
}

// QuotaCPUs is how many CPUs' time the operator leaves to Nomad's tasks together; ok is
// false where their time is not limited.
func (t Tree) QuotaCPUs() (cpus float64, ok bool) {
	if t.version == V2 {
		data, err := os.ReadFile(filepath.Join(t.dir("", t.nomad()), "cpu.max"))
		var quota, period float64
		if n, _ := fmt.Sscan(string(data), &quota, &period); err != nil || n != 2 || period <= 0 {
			return 0, false
		}
		return quota / period, true
	}
	dir := t.dir(controllerCPU, t.nomad())
	quota, err := readInt(filepath.Join(dir, "cpu.cfs_quota_us"))
	if err != nil || quota <= 0 {
		return 0, false
	}
	period, err := readInt(filepath.Join(dir, "cpu.cfs_period_us"))
	if err != nil || period <= 0 {
		return 0, false
	}
	return float64(quota) / float64(period), true
}

// Reserved are the CPUs that Nomad has reserved for tasks (resources { cores })
// other than those of the allocation: no kernel may run there.
func (t Tree) Reserved(allocID string) (CPUs, error) {
	pattern := filepath.Join(t.dir(controllerCPUSet, "/"), "nomad", "reserve", "*")
	if t.version == V2 {
		pattern = filepath.Join(t.dir("", "/"), "nomad.slice", "reserve.slice", "*.scope")
	}
	groups, err := filepath.Glob(pattern)
	if err != nil {
		return nil, fmt.Errorf("cgroup: %w", err)
	}
	var out CPUs
	for _, g := range groups {
		if strings.HasPrefix(filepath.Base(g), allocID+".") {
			continue
		}
		data, err := os.ReadFile(filepath.Join(g, "cpuset.cpus"))
		if err != nil {
			continue // removed meanwhile, or not a group
		}
		cpus, err := ParseCPUs(string(data))
		if err != nil {
			return nil, fmt.Errorf("cgroup: %s: %w", g, err)
		}
		out = append(out, cpus...)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}
