package executor

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/driver/cgroup"
)

// TaskID names a task of an allocation on this node.
type TaskID struct {
	AllocID string
	Task    string
}

// ErrNoProcess means no process of the task is there: not yet, or no more.
var ErrNoProcess = errors.New("no process of the task is running on this node")

// Proc finds processes in a procfs, whose path is injected.
type Proc struct {
	Root string // /proc
	Self int    // it and its descendants are never found: the commands of this process
}

// Find lists the processes of a task, oldest first. A process belongs to it if its
// control group, its root directory or a mount of its own says so: Nomad and its drivers
// made these. Where they name no allocation at all (some drivers make no control group)
// the environment is believed, which a process can write as it likes. Descendants of a
// match belong too. What makes the task, and is in its group for that, is not of it.
func (p Proc) Find(id TaskID) ([]int, error) {
	all, err := p.scan()
	if err != nil {
		return nil, err
	}
	own := p.descendants(all, []int{p.Self})
	var matched []int
	for pid := range all {
		if !own[pid] && p.matches(pid, id) && !p.makesTask(pid) {
			matched = append(matched, pid)
		}
	}
	if len(matched) == 0 {
		return nil, fmt.Errorf("%w: task %q of allocation %s", ErrNoProcess, id.Task, id.AllocID)
	}
	found := p.descendants(all, matched)
	var out []int
	for pid := range found {
		if !own[pid] {
			out = append(out, pid)
		}
	}
	slices.SortFunc(out, func(a, b int) int {
		if all[a].startTicks != all[b].startTicks {
			return int(all[a].startTicks) - int(all[b].startTicks)
		}
		return a - b
	})
	return out, nil
}

// stat is what is needed of /proc/PID/stat.
type stat struct {
	state      byte
	parent     int
	startTicks uint64 // since boot
	cpuTicks   uint64 // CPU time, with that of children it has waited for
}

// clockTick is the unit of a process's times in /proc: Linux has 100 to a second on
// every architecture it shows to programs.
const clockTick = 10 * time.Millisecond

func (p Proc) scan() (map[int]stat, error) {
	entries, err := os.ReadDir(p.Root)
	if err != nil {
		return nil, fmt.Errorf("scan processes: %w", err)
	}
	out := map[int]stat{}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		s, err := p.stat(pid)
		if err != nil || s.state == 'Z' || s.state == 'X' {
			continue // ended since the directory was read
		}
		out[pid] = s
	}
	return out, nil
}

func (p Proc) stat(pid int) (stat, error) {
	data, err := os.ReadFile(p.file(pid, "stat"))
	if err != nil {
		return stat{}, err
	}
	// The command name is in parentheses and may hold anything, so fields are
	// counted from the last closing one: state is field 3, start time 22.
	close := bytes.LastIndexByte(data, ')')
	fields := strings.Fields(string(data[close+1:]))
	if close < 0 || len(fields) < 20 {
		return stat{}, fmt.Errorf("process %d: unreadable stat", pid)
	}
	parent, err := strconv.Atoi(fields[1])
	if err != nil {
		return stat{}, fmt.Errorf("process %d: parent: %w", pid, err)
	}
	start, err := strconv.ParseUint(fields[19], 10, 64)
	if err != nil {
		return stat{}, fmt.Errorf("process %d: start time: %w", pid, err)
	}
	s := stat{state: fields[0][0], parent: parent, startTicks: start}
	for _, field := range fields[11:15] { // utime, stime, cutime, cstime: fields 14 to 17
		ticks, err := strconv.ParseUint(field, 10, 64)
		if err != nil {
			return stat{}, fmt.Errorf("process %d: CPU time: %w", pid, err)
		}
		s.cpuTicks += ticks
	}
	return s, nil
}

// StartTicks is when the process started, in clock ticks since boot. With the
// pid it identifies a process for as long as the machine is up.
func (p Proc) StartTicks(pid int) (uint64, error) {
	s, err := p.stat(pid)
	if err != nil {
		return 0, fmt.Errorf("process %d: %w", pid, err)
	}
	if s.state == 'Z' {
		return 0, fmt.Errorf("process %d: %w", pid, os.ErrProcessDone)
	}
	return s.startTicks, nil
}

// CPUTime is what processes have used, with the children they have waited for. Of one
// that is gone its parent has the time.
func (p Proc) CPUTime(pids []int) (time.Duration, error) {
	var sum time.Duration
	for _, pid := range pids {
		s, err := p.stat(pid)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return 0, err
		}
		sum += time.Duration(s.cpuTicks) * clockTick
	}
	return sum, nil
}

// Stolen is the time that a hypervisor has given to other guests instead of these CPUs,
// on average, since boot: the eighth number of their lines in proc(5)'s stat.
func (p Proc) Stolen(cpus cgroup.CPUs) (time.Duration, error) {
	text, err := os.ReadFile(filepath.Join(p.Root, "stat"))
	if err != nil {
		return 0, fmt.Errorf("stolen time: %w", err)
	}
	var sum time.Duration
	found := 0
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) < 9 || !strings.HasPrefix(fields[0], "cpu") {
			continue
		}
		cpu, err := strconv.Atoi(fields[0][len("cpu"):])
		if err != nil || !slices.Contains(cpus, cpu) {
			continue // the line of all, or not ours
		}
		ticks, err := strconv.ParseUint(fields[8], 10, 64)
		if err != nil {
			return 0, fmt.Errorf("stolen time: %w", err)
		}
		sum += time.Duration(ticks) * clockTick
		found++
	}
	if found == 0 {
		return 0, fmt.Errorf("stolen time: the operating system reports nothing for CPUs %s", cpus)
	}
	return sum / time.Duration(found), nil
}

// descendants returns roots and everything below them.
func (p Proc) descendants(all map[int]stat, roots []int) map[int]bool {
	children := map[int][]int{}
	for pid, s := range all {
		children[s.parent] = append(children[s.parent], pid)
	}
	out := map[int]bool{}
	for queue := slices.Clone(roots); len(queue) > 0; queue = queue[1:] {
		if pid := queue[0]; !out[pid] {
			out[pid] = true
			queue = append(queue, children[pid]...)
		}
	}
	return out
}

func (p Proc) matches(pid int, id TaskID) bool {
	if group, ok := p.taskGroup(pid); ok {
		return group == id.AllocID+"."+id.Task
	}
	if p.inDir(pid, id.AllocID, id.Task) {
		return true
	}
	env := p.environ(pid)
	return env["NOMAD_ALLOC_ID"] == id.AllocID && env["NOMAD_TASK_NAME"] == id.Task && !p.ofAnother(pid, id.AllocID)
}

// makerMarks are what an environment has of the programs that make a task, before they
// become it: libcontainer (Docker, containerd, Nomad's exec) and Nomad's executor, as a
// plugin of it.
var makerMarks = []string{"_LIBCONTAINER_", "NOMAD_PLUGIN_MAGIC_COOKIE="}

// makerPrograms are the same, by the name of the program.
var makerPrograms = []string{"runc", "crun", "youki"}

// makesTask reports whether a process is still making the task that it will be, or makes
// it for another process: it is in the task's control group then, and has its maker's
// rights, those of root. A task that wears such a mark is not found, which harms nobody
// else.
func (p Proc) makesTask(pid int) bool {
	env, err := os.ReadFile(p.file(pid, "environ"))
	if err != nil {
		return true // nobody can tell
	}
	for variable := range strings.SplitSeq(string(env), "\x00") {
		if slices.ContainsFunc(makerMarks, func(mark string) bool { return strings.HasPrefix(variable, mark) }) {
			return true
		}
	}
	program, err := os.Readlink(p.file(pid, "exe"))
	return err == nil && (strings.HasPrefix(program, "/memfd:") || slices.Contains(makerPrograms, filepath.Base(program)))
}

// ofAllocation reports whether the process belongs to any task of the allocation.
func (p Proc) ofAllocation(pid int, allocID string) bool {
	if group, ok := p.taskGroup(pid); ok {
		return strings.HasPrefix(group, allocID+".")
	}
	return p.inDir(pid, allocID, "") || p.environ(pid)["NOMAD_ALLOC_ID"] == allocID && !p.ofAnother(pid, allocID)
}

func (p Proc) environ(pid int) map[string]string {
	data, err := os.ReadFile(p.file(pid, "environ"))
	if err != nil {
		return nil // not ours to read, or gone
	}
	return environMap(strings.Split(string(data), "\x00"))
}

// allocIDs are the names that Nomad gives allocations, in a path.
var allocIDs = regexp.MustCompile(`/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:[./]|$)`)

// taskGroup is the name of the group that Nomad's own drivers made for the process:
// ALLOC.TASK, with the suffix .scope on cgroup v2. The outermost counts: a task that may
// write control groups can make others below its own.
func (p Proc) taskGroup(pid int) (string, bool) {
	data, err := os.ReadFile(p.file(pid, "cgroup"))
	if err != nil {
		return "", false
	}
	for line := range strings.Lines(string(data)) {
		at := allocIDs.FindStringSubmatchIndex(line)
		if at == nil || at[3] == len(line) || line[at[3]] != '.' {
			continue
		}
		name, _, _ := strings.Cut(strings.TrimSuffix(line[at[2]:], "\n"), "/")
		return strings.TrimSuffix(name, ".scope"), true
	}
	return "", false
}

// inDir looks for the directory of a task, or of the allocation where none is named, as
// root directory (chroot) or as the source of a mount of its own (containers). The
// working directory is no sign: a person's shell may be there.
func (p Proc) inDir(pid int, allocID, task string) bool {
	want := filepath.Join("/", allocID, task) + "/"
	return slices.ContainsFunc(p.dirs(pid), func(dir string) bool { return strings.Contains(dir+"/", want) })
}

// ofAnother reports whether the directories of the process are another allocation's.
func (p Proc) ofAnother(pid int, allocID string) bool {
	return slices.ContainsFunc(p.dirs(pid), func(dir string) bool {
		found := allocIDs.FindStringSubmatch(dir)
		return found != nil && found[1] != allocID
	})
}

// dirs are the root directory of a process and, where it has mounts of its own, the
// directories that are mounted: field 4 of mountinfo, inside their file systems.
func (p Proc) dirs(pid int) []string {
	var out []string
	if root, err := os.Readlink(p.file(pid, "root")); err == nil {
		out = append(out, root)
	}
	if p.sharesNamespace(pid, "mnt") {
		return out
	}
	data, err := os.ReadFile(p.file(pid, "mountinfo"))
	if err != nil {
		return out
	}
	for line := range bytes.Lines(data) {
		if f := strings.Fields(string(line)); len(f) > 4 {
			out = append(out, f[3])
		}
	}
	return out
}

// CPUs are the CPUs the process may run on.
func (p Proc) CPUs(pid int) (cgroup.CPUs, error) {
	text, err := p.statusField(pid, "Cpus_allowed_list")
	if err != nil {
		return nil, err
	}
	return cgroup.ParseCPUs(text)
}

func (p Proc) statusField(pid int, name string) (string, error) {
	data, err := os.ReadFile(p.file(pid, "status"))
	if err != nil {
		return "", fmt.Errorf("process %d: %w", pid, err)
	}
	for _, line := range strings.Split(string(data), "\n") {
		if key, value, _ := strings.Cut(line, ":"); key == name {
			return strings.TrimSpace(value), nil
		}
	}
	return "", fmt.Errorf("process %d: no %s in its status", pid, name)
}

func (p Proc) file(pid int, name string) string {
	return filepath.Join(p.Root, strconv.Itoa(pid), name)
}
