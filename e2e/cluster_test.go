//go:build e2e

package e2e

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"
	"golang.org/x/sys/unix"

	"github.com/nomad-placer/nomad-placer/e2e/cluster"
)

// clusterTestPort is the first port of the clusters of this file.
const clusterTestPort = 17600

// TestClusterIsolatesAndLeavesNothing starts the demo's topology and checks what
// the other end-to-end tests and the demo rely on: tasks run on their node's
// CPUs only, the quota bites, restarts keep tasks, and nothing stays behind.
func TestClusterIsolatesAndLeavesNothing(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	dir, start := t.TempDir(), time.Now()
	before := gracePeriodThreads(t)
	c, err := cluster.Start(ctx, cluster.Config{
		RunID: "e2e-cluster", BasePort: clusterTestPort, Dir: dir, ACL: true,
		Clients: cluster.Topology(twoCPUs(t)), Preferred: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		stopAndCheck(t, c)
		if after := gracePeriodThreads(t); !maps.Equal(after, before) {
			t.Errorf("policies of kernel threads are %v, were %v", after, before)
		}
	}()
	checkPreferred(t, c)
	t.Logf("started in %v", time.Since(start))
	if c.Token() == "" {
		t.Error("access control is on, but there is no management token")
	}
	for i := range c.Clients() {
		node := c.Client(i)
		t.Run(node.Name, func(t *testing.T) { checkNodeIsolation(ctx, t, c, i) })
	}
	t.Run("quota", func(t *testing.T) { checkQuota(ctx, t, c) })
	t.Run("restart", func(t *testing.T) { checkRestart(ctx, t, c) })
	t.Run("lose", func(t *testing.T) { checkLose(ctx, t, c) })
}

// checkPreferred compares the CPU weight of the whole run with that of a node in it.
func checkPreferred(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	node := filepath.Dir(c.TaskGroup(0, "cpu"))
	weight := func(dir string) int64 {
		file := filepath.Join(dir, "cpu.shares")
		if _, err := os.Stat(file); err != nil {
			file = filepath.Join(dir, "cpu.weight")
		}
		return parseInt(t, strings.TrimSpace(readFile(t, file)))
	}
	if run, one := weight(filepath.Dir(node)), weight(node); run != 16*one {
		t.Errorf("the run has a CPU weight of %d, a node in it %d: want 16 times", run, one)
	}
	if wakeUp, ok := wakeUpMicros(t); ok && wakeUp != 0 {
		t.Errorf("CPUs may take %d microseconds to wake up: they are not kept awake", wakeUp)
	}
	for pid, policy := range gracePeriodThreads(t) {
		if policy != unix.SCHED_FIFO {
			t.Errorf("the kernel's thread %d, which a preferred run would keep from running, has policy %d", pid, policy)
		}
	}
}

// wakeUpMicros is how long CPUs may take to wake up at present; not ok where nobody can say.
func wakeUpMicros(t *testing.T) (micros int32, ok bool) {
	t.Helper()
	f, err := os.Open("/dev/cpu_dma_latency")
	if errors.Is(err, fs.ErrNotExist) {
		return 0, false
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := binary.Read(f, binary.NativeEndian, &micros); err != nil {
		t.Fatal(err)
	}
	return micros, true
}

// gracePeriodThreads are the scheduling policies of the kernel's threads that end grace
// periods, by process ID.
func gracePeriodThreads(t *testing.T) map[int]uint32 {
	t.Helper()
	names, err := filepath.Glob("/proc/[0-9]*/comm")
	if err != nil {
		t.Fatal(err)
	}
	out := map[int]uint32{}
	for _, file := range names {
		text, err := os.ReadFile(file)
		if err != nil || string(text) != "rcu_preempt\n" && string(text) != "rcu_sched\n" {
			continue
		}
		pid := int(parseInt(t, filepath.Base(filepath.Dir(file))))
		attr, err := unix.SchedGetAttr(pid, 0)
		if err != nil {
			t.Fatal(err)
		}
		out[pid] = attr.Policy
	}
	return out
}

// twoCPUs returns two CPUs this process may use, or one where there is one.
func twoCPUs(t *testing.T) []int {
	t.Helper()
	cpus, err := cluster.AllowedCPUs(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	return cpus[:min(2, len(cpus))]
}

// checkNodeIsolation runs a raw_exec and an exec task on one node and reads the
// CPUs the kernel lets their processes use.
func checkNodeIsolation(ctx context.Context, t *testing.T, c *cluster.Cluster, i int) {
	node := c.Client(i)
	for _, driver := range []string{"raw_exec", "exec"} {
		id := driver + "-" + node.Name
		marker := strconv.Itoa(900000 + i*10 + len(driver)) // a duration that no other process sleeps
		runSleep(ctx, t, c, id, driver, node.Name, marker)
		pid := findSleep(ctx, t, c, i, marker)
		cpus, err := cluster.AllowedCPUs(pid)
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(cpus) != fmt.Sprint(node.CPUs) {
			t.Errorf("%s task on %s may use CPUs %v, want %v", driver, node.Name, cpus, node.CPUs)
		}
		for other := range c.Clients() {
			if other != i && slices.Contains(processes(t, c, other), pid) {
				t.Errorf("process %d of %s is in the control group of %s", pid, node.Name, c.Client(other).Name)
			}
		}
	}
	info, _, err := c.API().Nodes().Info(node.ID, (&api.QueryOptions{}).WithContext(ctx))
	if err != nil {
		t.Fatal(err)
	}
	if got := info.NodeResources.Cpu.ReservableCpuCores; len(got) != len(node.CPUs) {
		t.Errorf("%s offers cores %v to reserve, want %v", node.Name, got, node.CPUs)
	}
}

// checkQuota spins on the slow node and compares the CPU time used with the
// wall time: a share, so that the load of the machine can only lower it.
func checkQuota(ctx context.Context, t *testing.T, c *cluster.Cluster) {
	i, ok := c.ClientNamed("gamma")
	if !ok {
		t.Fatal("no client gamma")
	}
	const spin = "while :; do :; done"
	register(ctx, t, c, task("spin", "raw_exec", "gamma", "/bin/sh", "-c", spin))
	waitRunning(ctx, t, c, "spin")
	pid := findProcess(ctx, t, c, i, "/bin/sh", "-c", spin)
	before, usedBefore, start := throttledPeriods(t, c, i), cpuTime(t, pid), time.Now()
	time.Sleep(2 * time.Second)
	used, wall := cpuTime(t, pid)-usedBefore, time.Since(start)
	if throttledPeriods(t, c, i) <= before {
		t.Errorf("the kernel throttled no period of gamma's tasks in %v", wall)
	}
	if used == 0 {
		t.Error("gamma's task did not run")
	}
	// A tenth more allows for the slice of quota the kernel hands out in advance.
	if limit := time.Duration(float64(wall) * cluster.SlowQuota * 1.1); used > limit {
		t.Errorf("gamma's task used %v of CPU time in %v, want at most %v", used, wall, limit)
	}
	t.Logf("gamma used %v of %v, quota %.0f %%", used, wall, cluster.SlowQuota*100)
	deregister(ctx, t, c, "spin")
}

// checkRestart kills alpha's agent and starts it again: its task, the one from
// checkNodeIsolation, keeps its process.
func checkRestart(ctx context.Context, t *testing.T, c *cluster.Cluster) {
	const alpha = 0
	marker := strconv.Itoa(900000 + len("exec"))
	before := findSleep(ctx, t, c, alpha, marker)
	if err := c.KillClient(ctx, alpha); err != nil {
		t.Fatal(err)
	}
	if err := c.RestartClient(ctx, alpha); err != nil {
		t.Fatal(err)
	}
	if after := findSleep(ctx, t, c, alpha, marker); after != before {
		t.Errorf("the task's process was %d before the agent's restart and is %d after", before, after)
	}
	runSleep(ctx, t, c, "again-alpha", "exec", "alpha", "900999")
	pid := findSleep(ctx, t, c, alpha, "900999")
	if cpus, err := cluster.AllowedCPUs(pid); err != nil || fmt.Sprint(cpus) != fmt.Sprint(c.Client(alpha).CPUs) {
		t.Errorf("after the restart a task may use CPUs %v (%v), want %v", cpus, err, c.Client(alpha).CPUs)
	}
}

// checkLose takes beta away with all its tasks, and brings it back.
func checkLose(ctx context.Context, t *testing.T, c *cluster.Cluster) {
	const beta = 1
	if err := c.LoseClient(ctx, beta); err != nil {
		t.Fatal(err)
	}
	if left := processes(t, c, beta); len(left) > 0 {
		t.Errorf("processes %v live on a lost node", left)
	}
	if err := c.RestartClient(ctx, beta); err != nil {
		t.Fatal(err)
	}
}

// TestClusterOwnerKilled kills a process that owns a cluster, and expects its
// janitor to leave nothing.
func TestClusterOwnerKilled(t *testing.T) {
	dir := t.TempDir()
	runDir := filepath.Join(dir, ownerRunID)
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), ownerDirVariable+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, len(ownerReady))
	if _, err := out.Read(line); err != nil || string(line) != ownerReady {
		t.Fatalf("the owner said %q, %v", line, err)
	}
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("the killed owner ended well")
	}
	eventually(t.Context(), t, "the janitor to remove "+runDir, func() bool {
		_, err := os.Stat(runDir)
		return os.IsNotExist(err)
	})
	checkNoGroups(t, ownerRunID)
}

// The second life of the test binary, as the owner that TestClusterOwnerKilled
// kills.
const (
	ownerDirVariable = "PLACER_E2E_OWNER_DIR"
	ownerRunID       = "e2e-owner"
	ownerReady       = "ready\n"
)

// ownCluster starts a cluster in dir and waits to be killed.
func ownCluster(dir string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	_, err := cluster.Start(ctx, cluster.Config{
		RunID: ownerRunID, BasePort: clusterTestPort, Dir: dir, Clients: []cluster.Client{{Name: "only"}},
	})
	if err != nil {
		return err
	}
	fmt.Print(ownerReady)
	<-ctx.Done()
	return ctx.Err()
}

// TestMain lets the package's re-executions reach their helpers.
func TestMain(m *testing.M) {
	cluster.Reexec()
	if dir := os.Getenv(ownerDirVariable); dir != "" {
		if err := ownCluster(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// runSleep runs a job that sleeps on a named node.
func runSleep(ctx context.Context, t *testing.T, c *cluster.Cluster, id, driver, node, seconds string) {
	t.Helper()
	register(ctx, t, c, task(id, driver, node, "/bin/sleep", seconds))
	waitRunning(ctx, t, c, id)
}

// task is a service job of one small task, pinned to a node.
func task(id, driver, node, command string, args ...string) *api.Job {
	job := api.NewServiceJob(id, id, "global", 50)
	job.Constrain(api.NewConstraint("${node.unique.name}", "=", node))
	group := api.NewTaskGroup("main", 1)
	one := api.NewTask("main", driver).SetConfig("command", command).SetConfig("args", args)
	one.Require(&api.Resources{CPU: ptr(50), MemoryMB: ptr(32)})
	one.LogConfig = &api.LogConfig{Disabled: ptr(true)}
	return job.AddTaskGroup(group.AddTask(one))
}

func register(ctx context.Context, t *testing.T, c *cluster.Cluster, job *api.Job) {
	t.Helper()
	if _, _, err := c.API().Jobs().Register(job, (&api.WriteOptions{}).WithContext(ctx)); err != nil {
		t.Fatal(err)
	}
}

func deregister(ctx context.Context, t *testing.T, c *cluster.Cluster, id string) {
	t.Helper()
	if _, _, err := c.API().Jobs().Deregister(id, true, (&api.WriteOptions{}).WithContext(ctx)); err != nil {
		t.Fatal(err)
	}
}

func waitRunning(ctx context.Context, t *testing.T, c *cluster.Cluster, id string) {
	t.Helper()
	eventually(ctx, t, "job "+id+" to run", func() bool {
		allocs, _, err := c.API().Jobs().Allocations(id, false, (&api.QueryOptions{}).WithContext(ctx))
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range allocs {
			if a.ClientStatus == api.AllocClientStatusRunning {
				return true
			}
		}
		return false
	})
}

// findSleep finds the process on client i that sleeps for so many seconds.
func findSleep(ctx context.Context, t *testing.T, c *cluster.Cluster, i int, seconds string) int {
	t.Helper()
	return findProcess(ctx, t, c, i, "/bin/sleep", seconds)
}

// findProcess finds the process on client i with this command line.
func findProcess(ctx context.Context, t *testing.T, c *cluster.Cluster, i int, argv ...string) int {
	t.Helper()
	want := strings.Join(argv, "\x00") + "\x00"
	found := 0
	eventually(ctx, t, fmt.Sprintf("%q on %s", argv, c.Client(i).Name), func() bool {
		for _, pid := range processes(t, c, i) {
			text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
			if err == nil && string(text) == want {
				found = pid
			}
		}
		return found != 0
	})
	return found
}

func processes(t *testing.T, c *cluster.Cluster, i int) []int {
	t.Helper()
	pids, err := c.Processes(i)
	if err != nil {
		t.Fatal(err)
	}
	return pids
}

// throttledPeriods counts the periods in which a node's tasks used up their
// quota.
func throttledPeriods(t *testing.T, c *cluster.Cluster, i int) int64 {
	t.Helper()
	text := readFile(t, filepath.Join(c.TaskGroup(i, "cpu"), "cpu.stat"))
	for line := range strings.Lines(text) {
		if count, ok := strings.CutPrefix(line, "nr_throttled "); ok {
			return parseInt(t, strings.TrimSpace(count))
		}
	}
	t.Fatalf("no nr_throttled in %q", text)
	return 0
}

// cpuTime is the time a process has spent on a CPU: the first field of
// /proc/<pid>/schedstat, in nanoseconds.
func cpuTime(t *testing.T, pid int) time.Duration {
	t.Helper()
	first, _, _ := strings.Cut(readFile(t, filepath.Join("/proc", strconv.Itoa(pid), "schedstat")), " ")
	return time.Duration(parseInt(t, first))
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func parseInt(t *testing.T, text string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// stopAndCheck stops a cluster and fails on anything that is left of it.
func stopAndCheck(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	var pids []int
	for i := range c.Clients() {
		pids = append(pids, processes(t, c, i)...)
	}
	start := time.Now()
	if err := c.Stop(context.WithoutCancel(t.Context())); err != nil {
		t.Error(err)
	}
	t.Logf("stopped in %v", time.Since(start))
	for _, pid := range pids {
		if lives(pid) {
			t.Errorf("process %d is left behind", pid)
		}
	}
	if _, err := os.Stat(c.Dir()); !os.IsNotExist(err) {
		t.Errorf("the folder %s is left behind (%v)", c.Dir(), err)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(mounts), c.Dir()) {
		t.Errorf("a mount below %s is left behind:\n%s", c.Dir(), mounts)
	}
	checkNoGroups(t, c.RunID())
}

// lives reports whether a process runs. A zombie does not: an orphan stays one
// until the machine's init collects it, in its own time.
func lives(pid int) bool {
	status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	return err == nil && !strings.Contains(string(status), "\nState:\tZ")
}

func checkNoGroups(t *testing.T, runID string) {
	t.Helper()
	for _, pattern := range []string{"/sys/fs/cgroup/placer-" + runID + "*", "/sys/fs/cgroup/*/placer-" + runID + "*"} {
		left, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		if len(left) > 0 {
			t.Errorf("control groups are left behind: %v", left)
		}
	}
}

// eventually waits for a condition; the bound is generous, for a loaded machine.
func eventually(ctx context.Context, t *testing.T, what string, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for !ok() {
		select {
		case <-ctx.Done():
			t.Fatalf("waited in vain for %s", what)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func ptr[T any](v T) *T { return &v }
