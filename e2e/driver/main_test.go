//go:build e2e

package driver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/driver/executor"
	"github.com/nomad-placer/nomad-placer/e2e/cluster"
)

const (
	basePort    = 18500
	metricsPort = 18590
	runID       = "e2e-driver"
	binDir      = "../../bin"
	jobsDir     = "../jobs"
	examplesDir = "../../examples/driver"
)

// The nodes: "main" for everything; "tight", whose reserves are larger than any
// machine; "slow", whose tasks share a CPU quota.
const (
	mainNode  = "main"
	tightNode = "tight"
	slowNode  = "slow"
)

// shared is the cluster of all tests of this package.
var shared *cluster.Cluster

func TestMain(m *testing.M) {
	cluster.Reexec()
	os.Exit(runAll(m))
}

func runAll(m *testing.M) (code int) {
	ctx := context.Background()
	var err error
	if shared, err = startCluster(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		return 1
	}
	defer func() {
		if err := shared.Stop(ctx); err != nil {
			fmt.Fprintln(os.Stderr, "e2e: stopping the cluster:", err)
			code = 1
		}
	}()
	return m.Run()
}

func startCluster(ctx context.Context) (*cluster.Cluster, error) {
	plugins, err := filepath.Abs(filepath.Join(binDir, "plugins"))
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(plugins, pluginFile)); err != nil {
		return nil, fmt.Errorf("run `make build` first: %w", err)
	}
	return cluster.Start(ctx, cluster.Config{
		RunID: runID, BasePort: basePort, PluginDir: plugins,
		Clients: []cluster.Client{
			{Name: mainNode, HCL: pluginHCL(mainNode, fmt.Sprintf("metrics_address = \"127.0.0.1:%d\"\n", metricsPort))},
			{Name: slowNode, CPUQuota: cluster.SlowQuota, HCL: pluginHCL(slowNode, "")},
			{Name: tightNode, HCL: pluginHCL(tightNode, "memory_reserve_mb = 1000000000\ndisk_reserve_mb = 1000000000\n")},
		},
	})
}

const pluginFile = "nomad-driver-ibench"

// pluginHCL configures the plugin of a node; the nodes share one machine, so
// each has its own runtime folder and kill switch.
func pluginHCL(node, more string) string {
	return fmt.Sprintf("plugin %q {\n config {\n runtime_dir = %q\n kill_switch = %q\n max_duration = \"1h\"\n allow = [\"kernels\", \"profile\", \"pairs\", \"lend\"]\n storage_dir = %q\n%s }\n}\n",
		pluginFile, runtimeDir(node), killSwitch(node), os.TempDir(), more)
}

func runtimeDir(node string) string {
	return filepath.Join(cluster.DefaultDir(), runID, node, "ibench")
}

func killSwitch(node string) string {
	return filepath.Join(cluster.DefaultDir(), runID, node, "stop")
}

// task is a task of an allocation under test.
type task struct {
	job, alloc, name string
}

// registered counts the jobs: each run of a file is a job of its own, for Nomad
// keeps the allocations of a job that was purged for a while.
var registered atomic.Int64

// load reads a job file through Nomad's own parser, for a node.
func load(tb testing.TB, node, file string, variables map[string]string) *api.Job {
	tb.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	vars := ""
	for name, value := range variables {
		vars += name + " = " + value + "\n"
	}
	job, err := shared.API().Jobs().ParseHCLOpts(&api.JobsParseRequest{JobHCL: string(text), Variables: vars, Canonicalize: true})
	if err != nil {
		tb.Fatal(err)
	}
	job.ID = ptr(fmt.Sprintf("%s-%d", *job.ID, registered.Add(1)))
	return job.Constrain(api.NewConstraint("${node.unique.name}", "=", node))
}

// register runs a job, returns its ID, and purges it when the test ends, which
// leaves nothing.
func register(tb testing.TB, job *api.Job) string {
	tb.Helper()
	if _, _, err := shared.API().Jobs().Register(job, nil); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		stop(tb, *job.ID)
		jobs, _, err := shared.API().Jobs().List(nil)
		if err != nil {
			tb.Error(err)
		}
		if len(jobs) == 0 { // the last one of this test
			checkNothingLeft(tb, mainNode)
		}
	})
	return *job.ID
}

// run runs a job file on the main node and waits until its noise task runs.
func run(tb testing.TB, file string, variables map[string]string) task {
	tb.Helper()
	job := load(tb, mainNode, filepath.Join(jobsDir, file), variables)
	return running(tb, register(tb, job))
}

// running waits until the job's noise task runs and has its kernels.
func running(tb testing.TB, job string) task {
	tb.Helper()
	var out task
	eventually(tb, job+" runs", func() (bool, string) {
		for _, a := range allocations(tb, job) {
			if s := a.TaskStates["noise"]; a.ClientStatus == api.AllocClientStatusRunning && s != nil && s.State == "running" {
				out = task{job: job, alloc: a.ID, name: "noise"}
				code, text := out.try("stats")
				return code == 0, text
			}
		}
		return false, describe(allocations(tb, job))
	})
	return out
}

func allocations(tb testing.TB, job string) []*api.AllocationListStub {
	tb.Helper()
	allocs, _, err := shared.API().Jobs().Allocations(job, false, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return allocs
}

func describe(allocs []*api.AllocationListStub) string {
	var b strings.Builder
	for _, a := range allocs {
		fmt.Fprintf(&b, "%s %s:", a.ID[:8], a.ClientStatus)
		for name, s := range a.TaskStates {
			fmt.Fprintf(&b, " %s=%s failed=%v", name, s.State, s.Failed)
			for _, e := range s.Events {
				fmt.Fprintf(&b, "\n  %s: %s", e.Type, e.DisplayMessage)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// exec runs a virtual command by the command line, as a person does.
func (k task) exec(tb testing.TB, words ...string) string {
	tb.Helper()
	code, out := k.try(words...)
	if code != 0 {
		tb.Fatalf("%q: exit code %d: %s", words, code, out)
	}
	return out
}

// try runs a virtual command. A stream that Nomad 1.11.2 closes before its end
// arrived, which happens on a loaded machine, is asked again where to say it twice
// is the same as once.
func (k task) try(words ...string) (code int, out string) {
	for range 3 {
		code, out = nomad(append([]string{"alloc", "exec", "-i=false", "-t=false", "-task", k.name, k.alloc}, words...)...)
		if code == 0 || words[0] != "stats" && words[0] != "set" || !strings.Contains(out, "unexpected EOF") {
			break
		}
	}
	return code, out
}

// nomad runs the command line of Nomad.
func nomad(args ...string) (code int, out string) {
	cmd := exec.Command(shared.Nomad(), args...)
	cmd.Env = shared.Env(os.Environ())
	var both bytes.Buffer
	cmd.Stdout, cmd.Stderr = &both, &both
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return exit.ExitCode(), both.String()
		}
		return -1, err.Error()
	}
	return 0, both.String()
}

// kernel is the part of a kernel's status that tests look at.
type kernel struct {
	Source           string   `json:"source"`
	PID              int      `json:"pid"`
	Placement        string   `json:"placement"`
	CPUs             []int    `json:"cpus"`
	Paused           bool     `json:"paused"`
	Ramp             bool     `json:"ramp"`
	IntensityPercent float64  `json:"intensity_percent"`
	AchievedPercent  *float64 `json:"achieved_percent"`
	SpeedOpsPerSec   *float64 `json:"speed_ops_per_sec"`
	ResidentBytes    int64    `json:"resident_bytes"`
	Ops              float64  `json:"ops"`
}

func (k task) kernels(tb testing.TB) []kernel {
	tb.Helper()
	var answer struct{ Kernels []kernel }
	if err := json.Unmarshal([]byte(k.exec(tb, "stats", "-json")), &answer); err != nil {
		tb.Fatal(err)
	}
	return answer.Kernels
}

// status is what `nomad alloc status` shows.
func (k task) status(tb testing.TB) string {
	tb.Helper()
	code, out := nomad("alloc", "status", k.alloc)
	if code != 0 {
		tb.Fatal(out)
	}
	return out
}

// says waits until `nomad alloc status` shows each text.
func (k task) says(tb testing.TB, texts ...string) {
	tb.Helper()
	for _, text := range texts {
		eventually(tb, fmt.Sprintf("alloc status says %q", text), func() (bool, string) {
			// The command line breaks long lines.
			out := strings.Join(strings.Fields(k.status(tb)), " ")
			return strings.Contains(out, text), out
		})
	}
}

// ends waits until the noise task of a job is dead and returns it with the state.
func ends(tb testing.TB, job string) (task, *api.TaskState) {
	tb.Helper()
	var out task
	var state *api.TaskState
	eventually(tb, job+" ends", func() (bool, string) {
		allocs := allocations(tb, job)
		for _, a := range allocs {
			if s := a.TaskStates["noise"]; s != nil && s.State == "dead" {
				out, state = task{job: job, alloc: a.ID, name: "noise"}, s
				return true, ""
			}
		}
		return false, describe(allocs)
	})
	return out, state
}

// exitCode is that of the task's last end.
func exitCode(s *api.TaskState) int {
	for _, e := range slices.Backward(s.Events) {
		if e.Type == api.TaskTerminated {
			return e.ExitCode
		}
	}
	return -1
}

// stop stops a job and waits for its tasks: Nomad 1.11.2 crashes when a job with
// live allocations is purged at once.
func stop(tb testing.TB, job string) {
	tb.Helper()
	if _, _, err := shared.API().Jobs().Deregister(job, false, nil); err != nil {
		tb.Error(err)
		return
	}
	eventually(tb, job+" is stopped", func() (bool, string) {
		allocs := allocations(tb, job)
		for _, a := range allocs {
			if a.ClientStatus == api.AllocClientStatusRunning || a.ClientStatus == api.AllocClientStatusPending {
				return false, describe(allocs)
			}
		}
		return true, ""
	})
	if _, _, err := shared.API().Jobs().Deregister(job, true, nil); err != nil {
		tb.Error(err)
	}
}

func clientNamed(tb testing.TB, node string) int {
	tb.Helper()
	i, ok := shared.ClientNamed(node)
	if !ok {
		tb.Fatalf("no node %s", node)
	}
	return i
}

// processes lists the processes of the driver's program on a node that were
// started in a role: "task", "kernel", or "" for the plugin itself.
func processes(tb testing.TB, node, role string) []int {
	tb.Helper()
	pids, err := shared.Processes(clientNamed(tb, node))
	if err != nil {
		tb.Fatal(err)
	}
	var out []int
	for _, pid := range pids {
		argv, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
		if err != nil || len(argv) == 0 {
			continue // it ended meanwhile, or is a zombie
		}
		words := strings.Split(strings.TrimRight(string(argv), "\x00"), "\x00")
		if filepath.Base(words[0]) != pluginFile {
			continue
		}
		if role == "" && len(words) == 1 || role != "" && len(words) > 1 && words[1] == role {
			out = append(out, pid)
		}
	}
	return out
}

// groups lists the control groups of the driver on a node, in all hierarchies.
func groups(tb testing.TB, node string) []string {
	tb.Helper()
	var out []string
	for _, controller := range []string{"cpuset", "cpu", "memory", "freezer"} {
		tasks := shared.TaskGroup(clientNamed(tb, node), controller)
		for _, pattern := range []string{
			filepath.Join(filepath.Dir(tasks), executor.GroupPrefix+"*"), filepath.Join(tasks, executor.GroupPrefix+"*"),
		} {
			found, err := filepath.Glob(pattern)
			if err != nil {
				tb.Fatal(err)
			}
			out = append(out, found...)
		}
	}
	return out
}

// mounts counts the mounts below the driver's runtime folder as the agent sees
// them.
func mounts(tb testing.TB, node string) int {
	tb.Helper()
	count := 0
	for _, pid := range processes(tb, node, "") {
		text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "mountinfo"))
		if err != nil {
			continue // it ended meanwhile
		}
		count += strings.Count(string(text), runtimeDir(node))
	}
	return count
}

// left describes what tasks left on a node; empty if that is nothing.
func left(tb testing.TB, node string) string {
	tb.Helper()
	var out []string
	for _, role := range []string{"task", "kernel"} {
		if pids := processes(tb, node, role); len(pids) > 0 {
			out = append(out, fmt.Sprintf("%s processes %v", role, pids))
		}
	}
	if g := groups(tb, node); len(g) > 0 {
		out = append(out, fmt.Sprintf("control groups %v", g))
	}
	if entries, err := os.ReadDir(runtimeDir(node)); err == nil && len(entries) > 0 {
		out = append(out, fmt.Sprintf("runtime folders %v", entries))
	}
	if n := mounts(tb, node); n > 0 {
		out = append(out, fmt.Sprintf("%d mounts", n))
	}
	return strings.Join(out, "; ")
}

// checkNothingLeft waits until nothing of any task is on the node: the agent
// destroys a stopped task a moment after it says so.
func checkNothingLeft(tb testing.TB, node string) {
	tb.Helper()
	eventually(tb, "nothing is left", func() (bool, string) {
		what := left(tb, node)
		return what == "", what
	})
}

func ptr[T any](v T) *T { return &v }

// within bounds every wait; generous, for a loaded machine.
const within = 45 * time.Second

// eventually polls until ok, or fails with what was seen last.
func eventually(tb testing.TB, what string, ok func() (bool, string)) {
	tb.Helper()
	deadline := time.Now().Add(within)
	for {
		done, seen := ok()
		if done {
			return
		}
		if time.Now().After(deadline) {
			tb.Fatalf("waited %s in vain until %s; last seen:\n%s", within, what, seen)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// kill ends a process at once.
func kill(tb testing.TB, pids ...int) {
	tb.Helper()
	if len(pids) == 0 {
		tb.Fatal("there is no process to kill")
	}
	for _, pid := range pids {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			tb.Fatal(err)
		}
	}
}

// scrape reads the metrics of the main node.
func scrape(tb testing.TB) string {
	tb.Helper()
	r, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/metrics", metricsPort))
	if err != nil {
		tb.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}
