package cluster

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	// cgroupMount is where every Linux system mounts its control groups.
	cgroupMount = "/sys/fs/cgroup"
	// cgroupPrefix begins the name of the control group of a run.
	cgroupPrefix = "placer-"
	// quotaPeriod is the span over which a CPU quota is enforced. The kernel's
	// default of 100 ms would stall a task for 60 ms at a quota of 40 %; chosen
	// by us so that the stalls stay below 10 ms.
	quotaPeriod = 10 * time.Millisecond
	// agentLeaf holds the agent itself: for a CPU weight of its own, and because
	// under v2 a group with enabled controllers may not hold processes.
	agentLeaf = "agent"
	// preferredTimes is how many times the usual CPU weight a preferred run has: the
	// machine's own daemons may be as heavy as ten groups (nice -10), and 6 % of a full
	// CPU is left to whoever is outside.
	preferredTimes = 16
	// agentTimes is the same of an agent on its node: as many as v2 allows.
	agentTimes  = 100
	usualShares = 1024 // v1
	usualWeight = 100  // v2
	// killAttempts bounds how often the processes of a group are killed anew;
	// between two attempts lies killPause.
	killAttempts = 250
	killPause    = 20 * time.Millisecond
)

// v1Controllers are the words in a v1 mount's options that name controllers.
var v1Controllers = []string{
	"blkio", "cpu", "cpuacct", "cpuset", "devices", "freezer", "hugetlb",
	"memory", "misc", "net_cls", "net_prio", "perf_event", "pids", "rdma",
}

// v2Wanted are the controllers Nomad uses under cgroup v2.
var v2Wanted = []string{"cpuset", "cpu", "io", "memory", "pids"}

// hierarchy is one mounted tree of control groups.
type hierarchy struct {
	Name        string   `json:"name"`        // as mounted: "cpu,cpuacct"; empty under v2
	Controllers []string `json:"controllers"` // at least one under v1
	Mount       string   `json:"mount"`
}

// hierarchies is the control group layout of a machine.
type hierarchies struct {
	Version int         `json:"version"` // 1 or 2
	List    []hierarchy `json:"list"`    // exactly one under v2
}

// readHierarchies finds out how the machine mounts its control groups.
func readHierarchies() (hierarchies, error) {
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return hierarchies{}, fmt.Errorf("read mounts: %w", err)
	}
	defer f.Close()
	return parseHierarchies(f)
}

// parseHierarchies reads the format of /proc/self/mountinfo (proc(5)): six
// fields, optional fields, a dash, file system type, source, super options.
func parseHierarchies(r io.Reader) (hierarchies, error) {
	found := hierarchies{Version: 1}
	scan := bufio.NewScanner(r)
	for scan.Scan() {
		left, right, ok := strings.Cut(scan.Text(), " - ")
		mount, super := strings.Fields(left), strings.Fields(right)
		if !ok || len(mount) < 5 || len(super) < 3 {
			continue
		}
		switch {
		case super[0] == "cgroup2" && mount[4] == cgroupMount:
			return hierarchies{Version: 2, List: []hierarchy{{Mount: mount[4]}}}, nil
		case super[0] == "cgroup":
			found.add(mount[4], strings.Split(super[2], ","))
		}
	}
	if err := scan.Err(); err != nil {
		return hierarchies{}, fmt.Errorf("read mounts: %w", err)
	}
	if !found.has("cpuset") || !found.has("cpu") {
		return hierarchies{}, errors.New("no usable control groups: neither cgroup v2 nor v1 with cpu and cpuset is mounted")
	}
	return found, nil
}

func (h *hierarchies) add(mount string, options []string) {
	var controllers []string
	for _, o := range options {
		if slices.Contains(v1Controllers, o) {
			controllers = append(controllers, o)
		}
	}
	// A hierarchy without controllers is only named (systemd). A second mount of
	// the same hierarchy adds nothing.
	if len(controllers) == 0 || h.has(controllers[0]) {
		return
	}
	h.List = append(h.List, hierarchy{Name: strings.Join(controllers, ","), Controllers: controllers, Mount: mount})
}

func (h *hierarchies) has(controller string) bool {
	_, ok := h.with(controller)
	return ok
}

func (h *hierarchies) with(controller string) (hierarchy, bool) {
	for _, one := range h.List {
		if slices.Contains(one.Controllers, controller) {
			return one, true
		}
	}
	return hierarchy{}, false
}

// paths returns the folder of a group in every hierarchy.
func (h hierarchies) paths(group string) []string {
	list := make([]string, len(h.List))
	for i, one := range h.List {
		list[i] = filepath.Join(one.Mount, group)
	}
	return list
}

// path returns the folder of a group in the hierarchy of a controller.
func (h hierarchies) path(controller, group string) string {
	if h.Version == 2 {
		return filepath.Join(h.List[0].Mount, group)
	}
	one, _ := h.with(controller)
	return filepath.Join(one.Mount, group)
}

// runGroup is the control group of a run; agents' groups lie in it.
func runGroup(runID string) string { return cgroupPrefix + runID }

// createRun makes the group of a run, with the CPUs of the whole machine. A preferred one
// has them before others.
func (h hierarchies) createRun(runID string, preferred bool) error {
	for _, dir := range h.paths(runGroup(runID)) {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return fmt.Errorf("create control group: %w", err)
		}
	}
	if h.Version == 2 {
		root := h.List[0].Mount
		if err := errors.Join(enableControllers(root), enableControllers(filepath.Join(root, runGroup(runID)))); err != nil {
			return err
		}
	} else if err := inheritCPUSet(h.path("cpuset", runGroup(runID))); err != nil {
		// A v1 cpuset starts empty, and an empty one takes no processes.
		return err
	}
	if !preferred {
		return nil
	}
	return h.weigh(h.path("cpu", runGroup(runID)), preferredTimes)
}

// weigh gives a group so many times the usual CPU weight.
func (h hierarchies) weigh(dir string, times int) error {
	if h.Version == 2 {
		return writeControl(dir, "cpu.weight", strconv.Itoa(times*usualWeight))
	}
	return writeControl(dir, "cpu.shares", strconv.Itoa(times*usualShares))
}

// createAgent makes the group of one agent inside its run's.
func (h hierarchies) createAgent(runID string, c Client) (group string, err error) {
	group = filepath.Join(runGroup(runID), c.Name)
	for _, dir := range h.paths(group) {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return "", fmt.Errorf("create control group: %w", err)
		}
	}
	cpuset := h.path("cpuset", group)
	if h.Version == 1 {
		if err := inheritCPUSet(cpuset); err != nil {
			return "", err
		}
	}
	if err := os.Mkdir(filepath.Join(h.path("cpu", group), agentLeaf), 0o755); err != nil {
		return "", fmt.Errorf("create control group: %w", err)
	}
	if len(c.CPUs) > 0 {
		if err := writeControl(cpuset, "cpuset.cpus", formatCPUs(c.CPUs)); err != nil {
			return "", err
		}
	}
	return group, nil
}

// limitTasks sets the CPU quota on the group that Nomad puts all tasks in. It
// runs after the agent entered its group, because under v2 the controllers
// can be enabled only then.
func (h hierarchies) limitTasks(group string, c Client) error {
	if h.Version == 2 {
		if err := enableControllers(h.path("cpu", group)); err != nil {
			return err
		}
	}
	if err := h.favourAgent(group); err != nil {
		return err
	}
	if c.CPUQuota == 0 {
		return nil
	}
	tasks := filepath.Join(h.path("cpu", group), h.tasksGroup())
	if err := os.Mkdir(tasks, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("create control group: %w", err)
	}
	period := quotaPeriod.Microseconds()
	quota := int64(c.CPUQuota * float64(period) * float64(max(1, len(c.CPUs))))
	if h.Version == 2 {
		return writeControl(tasks, "cpu.max", fmt.Sprintf("%d %d", quota, period))
	}
	return errors.Join(
		writeControl(tasks, "cpu.cfs_period_us", strconv.FormatInt(period, 10)),
		writeControl(tasks, "cpu.cfs_quota_us", strconv.FormatInt(quota, 10)),
	)
}

// favourAgent gives the agent and its log collectors their CPU time whatever
// runs on the node: an interference kernel at full weight would starve them on
// a node of one CPU, and with them everything that is measured through Nomad.
func (h hierarchies) favourAgent(group string) error {
	return h.weigh(filepath.Join(h.path("cpu", group), agentLeaf), agentTimes)
}

// tasksGroup is the name of the group Nomad makes for its tasks.
func (h hierarchies) tasksGroup() string {
	if h.Version == 2 {
		return "nomad.slice"
	}
	return "nomad"
}

// enter moves the calling process into an agent's group in every hierarchy.
// With leaf set it goes into the agent's leaf where the hierarchy has one.
func (h hierarchies) enter(group string, leaf bool) error {
	for _, dir := range h.paths(group) {
		if leaf && h.hasLeaf(dir, group) {
			dir = filepath.Join(dir, agentLeaf)
		}
		if err := writeControl(dir, "cgroup.procs", strconv.Itoa(os.Getpid())); err != nil {
			return err
		}
	}
	return nil
}

// hasLeaf: under v2 the agent must not be in the same group as its children, and under v1 it
// has a CPU weight of its own.
func (h hierarchies) hasLeaf(dir, group string) bool {
	return h.Version == 2 || dir == h.path("cpu", group)
}

// inheritCPUSet copies the parent's CPUs and memory nodes, if none are set.
func inheritCPUSet(dir string) error {
	for _, file := range []string{"cpuset.mems", "cpuset.cpus"} {
		value, err := os.ReadFile(filepath.Join(filepath.Dir(dir), file))
		if err != nil {
			return fmt.Errorf("read parent cpuset: %w", err)
		}
		if err := writeControl(dir, file, strings.TrimSpace(string(value))); err != nil {
			return err
		}
	}
	return nil
}

// enableControllers lets the children of a v2 group use what Nomad needs.
func enableControllers(dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, "cgroup.controllers"))
	if err != nil {
		return fmt.Errorf("read controllers: %w", err)
	}
	available := strings.Fields(string(text))
	var enable []string
	for _, c := range v2Wanted {
		if slices.Contains(available, c) {
			enable = append(enable, "+"+c)
		} else if c == "cpu" || c == "cpuset" {
			return fmt.Errorf("cgroup v2 controller %s is not available in %s", c, dir)
		}
	}
	return writeControl(dir, "cgroup.subtree_control", strings.Join(enable, " "))
}

func writeControl(dir, file, value string) error {
	// No O_CREAT: a control file exists or the write is a mistake.
	f, err := os.OpenFile(filepath.Join(dir, file), os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("control group: %w", err)
	}
	_, err = f.WriteString(value)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write %q to control group: %w", value, err)
	}
	return nil
}

// removeGroup kills every process in a group, in any hierarchy, and removes
// the group. A group that does not exist is removed already.
func (h hierarchies) removeGroup(group string) error {
	if err := h.killGroup(group); err != nil {
		return err
	}
	var errs []error
	for _, dir := range h.paths(group) {
		errs = append(errs, removeTree(dir))
	}
	return errors.Join(errs...)
}

// killGroup kills every process in a group and waits until they are gone.
func (h hierarchies) killGroup(group string) error {
	var pids []int
	for range killAttempts {
		var err error
		if pids, err = h.processes(group); err != nil {
			return err
		}
		if len(pids) == 0 {
			return nil
		}
		for _, pid := range pids {
			// A process that ended meanwhile is what is wanted.
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
				return fmt.Errorf("kill process %d: %w", pid, err)
			}
		}
		time.Sleep(killPause)
	}
	return fmt.Errorf("processes %v of control group %s do not end", pids, group)
}

// processes lists the processes in a group and all groups below, over all
// hierarchies, each once.
func (h hierarchies) processes(group string) ([]int, error) {
	seen := map[int]bool{}
	for _, dir := range h.paths(group) {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil || !d.IsDir() {
				return err
			}
			return addProcesses(seen, filepath.Join(path, "cgroup.procs"))
		})
		if err != nil {
			return nil, fmt.Errorf("list processes of %s: %w", group, err)
		}
	}
	pids := make([]int, 0, len(seen))
	for pid := range seen {
		pids = append(pids, pid)
	}
	slices.Sort(pids)
	return pids, nil
}

func addProcesses(seen map[int]bool, file string) error {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENODEV) {
		return nil // the group was removed while we looked
	}
	if err != nil {
		return err
	}
	for _, field := range strings.Fields(string(text)) {
		if pid, err := strconv.Atoi(field); err == nil && pid > 0 {
			seen[pid] = true
		}
	}
	return nil
}

// removeTree removes a group and the groups below it, deepest first. The kernel
// may need a moment after the last process died.
func removeTree(dir string) error {
	var groups []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && d.IsDir() {
			groups = append(groups, path)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("remove control group: %w", err)
	}
	slices.Reverse(groups) // WalkDir names a folder before what lies in it
	for _, g := range groups {
		if err := removeOne(g); err != nil {
			return err
		}
	}
	return nil
}

func removeOne(dir string) error {
	var err error
	for range killAttempts {
		err = syscall.Rmdir(dir)
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if !errors.Is(err, syscall.EBUSY) {
			break
		}
		time.Sleep(killPause)
	}
	return fmt.Errorf("remove control group %s: %w", dir, err)
}

// formatCPUs writes a list the kernel reads: "0,2,3".
func formatCPUs(cpus []int) string {
	words := make([]string, len(cpus))
	for i, cpu := range cpus {
		words[i] = strconv.Itoa(cpu)
	}
	return strings.Join(words, ",")
}
