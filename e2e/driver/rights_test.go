//go:build e2e

package driver

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hashicorp/nomad/api"
)

// tries is what a hostile job would have its probe do on the way to the host. It writes
// who it is and what it could do. The freezer is left out: the probe is in the driver's
// own, by which it is ended with the task of the driver.
const tries = `
could() { what=$1; shift; if "$@" >/dev/null 2>&1; then echo "could $what"; else echo "could not $what"; fi; }
block=$NOMAD_ALLOC_DIR/$1.block
dir=$NOMAD_ALLOC_DIR/$1.dir
mkdir -p "$dir"
{
  grep -E '^(Uid|Gid|Groups|Cap[A-Za-z]*|NoNewPrivs|Seccomp):' /proc/self/status
  grep -v :freezer: /proc/self/cgroup
  could 'make a block device' mknod "$block" b 7 0
  could 'open a block device' dd "if=$block" of=/dev/null count=0
  could 'mount a file system' sh -c "mount -t tmpfs none $dir && umount $dir"
  could 'become root' su -c true root
} >"$NOMAD_ALLOC_DIR/$1.new" 2>&1
rm -f "$block"
mv "$NOMAD_ALLOC_DIR/$1.new" "$NOMAD_ALLOC_DIR/$1.txt"
`

// An exec probe has the rights of its task and no more, whichever driver and user the
// task has: what the task could not do, its probe could not.
func TestAnExecProbeHasTheRightsOfItsTask(t *testing.T) {
	job := register(t, load(t, mainNode, filepath.Join(jobsDir, "driver-rights.hcl"), map[string]string{"tries": strconv.Quote(tries)}))
	for group, never := range map[string][]string{
		"exec-nobody":     {"could open a block device", "could mount a file system", "could become root"},
		"raw-exec-root":   nil, // the operator who allows raw_exec gives all of this away
		"raw-exec-nobody": {"could make a block device", "could mount a file system", "could become root"},
	} {
		t.Run(group, func(t *testing.T) {
			var task, probe []string
			eventually(t, "task and probe of "+group+" have tried", func() (bool, string) {
				dir, found := sharedDir(t, job, group)
				task, probe = readLines(filepath.Join(dir, "task.txt")), readLines(filepath.Join(dir, "probe.txt"))
				return found && task != nil && probe != nil, describe(allocations(t, job))
			})
			if !slices.Equal(task, probe) {
				t.Errorf("the probe is another than its task:\n%s\nthe task:\n%s", strings.Join(probe, "\n"), strings.Join(task, "\n"))
			}
			for _, line := range never {
				if slices.Contains(probe, line) {
					t.Errorf("the probe %s", line)
				}
			}
			if !slices.ContainsFunc(probe, func(line string) bool { return strings.HasPrefix(line, "could not") }) && never != nil {
				t.Errorf("nothing was refused:\n%s", strings.Join(probe, "\n"))
			}
		})
	}
}

// A program that runs under the names of another allocation's task, and is older than
// that task, is not taken for it: no probe of that task runs in it.
func TestATaskIsNotTakenForAnother(t *testing.T) {
	impostor := register(t, load(t, mainNode, filepath.Join(jobsDir, "driver-impostor.hcl"), nil))
	var of string
	eventually(t, "the impostor waits", func() (bool, string) {
		dir, found := sharedDir(t, impostor, "impostor")
		of = dir
		return found && runs(t, impostor, "impostor"), describe(allocations(t, impostor))
	})

	const group = "exec-nobody"
	const where = `cat /proc/self/cgroup >>"$NOMAD_ALLOC_DIR/$1.txt"`
	victim := register(t, load(t, mainNode, filepath.Join(jobsDir, "driver-rights.hcl"), map[string]string{
		"tries": strconv.Quote(where), "only": strconv.Quote(group),
	}))
	var dir, id string
	eventually(t, "the victim runs", func() (bool, string) {
		id, _ = allocationOf(t, victim, group)
		dir, _ = sharedDir(t, victim, group)
		return runs(t, victim, group), describe(allocations(t, victim))
	})
	if err := os.WriteFile(filepath.Join(of, "victim"), []byte(id+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the impostor calls itself the victim", func() (bool, string) {
		return impersonated(t, id), describe(allocations(t, impostor))
	})
	perRun := len(readLines("/proc/self/cgroup"))
	before := len(readLines(filepath.Join(dir, "probe.txt"))) + len(readLines(filepath.Join(of, "probe.txt")))
	eventually(t, "the probe has run three times more", func() (bool, string) {
		inVictim, inImpostor := readLines(filepath.Join(dir, "probe.txt")), readLines(filepath.Join(of, "probe.txt"))
		return len(inVictim)+len(inImpostor) >= before+3*perRun, describe(allocations(t, victim))
	})
	for _, line := range readLines(filepath.Join(dir, "probe.txt")) {
		if strings.Contains(line, "/nomad/") && !strings.Contains(line, id+".worker") && !strings.HasSuffix(line, "/nomad/share") {
			t.Errorf("a probe ran in %s", line)
		}
	}
	if lines := readLines(filepath.Join(of, "probe.txt")); lines != nil {
		t.Errorf("probes ran in the impostor: %s", lines)
	}
}

// allocationOf is the allocation of a group of a job; ok is false where there is none.
func allocationOf(tb testing.TB, job, group string) (id string, ok bool) {
	tb.Helper()
	for _, a := range allocations(tb, job) {
		if a.TaskGroup == group {
			return a.ID, true
		}
	}
	return "", false
}

// sharedDir is the directory that the tasks of a group share, as seen on the machine.
func sharedDir(tb testing.TB, job, group string) (dir string, ok bool) {
	tb.Helper()
	id, ok := allocationOf(tb, job, group)
	return filepath.Join(shared.Dir(), mainNode, "data", "alloc", id, "alloc"), ok
}

// runs reports whether the worker of a group runs.
func runs(tb testing.TB, job, group string) bool {
	tb.Helper()
	return slices.ContainsFunc(allocations(tb, job), func(a *api.AllocationListStub) bool {
		worker := a.TaskStates["worker"]
		return a.TaskGroup == group && worker != nil && worker.State == "running"
	})
}

// impersonated reports whether a process on the main node that is not of the allocation
// says in its environment that it is.
func impersonated(tb testing.TB, alloc string) bool {
	tb.Helper()
	pids, err := shared.Processes(clientNamed(tb, mainNode))
	if err != nil {
		tb.Fatal(err)
	}
	return slices.ContainsFunc(pids, func(pid int) bool {
		of := filepath.Join("/proc", strconv.Itoa(pid))
		env, err := os.ReadFile(filepath.Join(of, "environ"))
		groups, err2 := os.ReadFile(filepath.Join(of, "cgroup"))
		return err == nil && err2 == nil && strings.Contains(string(env), "NOMAD_ALLOC_ID="+alloc) && !strings.Contains(string(groups), alloc)
	})
}

// readLines are the lines of a file; nil where there is none.
func readLines(file string) []string {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil // not written yet
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}
