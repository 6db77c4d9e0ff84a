//go:build e2e

package driver

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/driver/executor"
	"github.com/nomad-placer/nomad-placer/e2e/cluster"
)

// The second kernel of a source on the same CPUs is refused, and says by whom.
func TestPair(t *testing.T) {
	id := register(t, load(t, mainNode, filepath.Join(jobsDir, "driver-pair.hcl"), nil))
	refused, _ := ends(t, id)
	first := running(t, id)
	refused.says(t, fmt.Sprintf("task \"noise\" of allocation %s", first.alloc), "allow_pair = true lets both run")
	stop(t, id)
	checkNothingLeft(t, mainNode)

	id = register(t, load(t, mainNode, filepath.Join(jobsDir, "driver-pair.hcl"), map[string]string{"allow_pair": "true"}))
	eventually(t, "both run", func() (bool, string) {
		return len(processes(t, mainNode, "kernel")) == 2, describe(allocations(t, id))
	})
}

// No kernel runs on a CPU that Nomad has reserved for another allocation, and
// one that was there first gives way.
func TestReservedCores(t *testing.T) {
	k := run(t, "driver-kernel.hcl", nil)
	before := k.kernels(t)[0].CPUs
	if len(before) < 2 {
		t.Skip("one CPU: Nomad cannot reserve it and leave one")
	}
	reserving := register(t, load(t, mainNode, filepath.Join(jobsDir, "driver-reserved.hcl"), nil))
	var now []int
	eventually(t, "the kernel gives way", func() (bool, string) {
		if code, _ := k.try("stats"); code != 0 {
			t.Fatal(k.status(t))
		}
		now = k.kernels(t)[0].CPUs
		return len(now) == len(before)-1, describe(allocations(t, reserving))
	})
	k.says(t, "reserved for another allocation")
	second := run(t, "driver-ramp.hcl", nil)
	if cpus := second.kernels(t)[0].CPUs; !slices.Equal(cpus, now) {
		t.Errorf("a new kernel runs on CPUs %v, want %v", cpus, now)
	}
	for _, pid := range processes(t, mainNode, "kernel") {
		threads, err := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "task", "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, thread := range threads {
			id, err := strconv.Atoi(filepath.Base(thread))
			if err != nil {
				t.Fatal(err)
			}
			cpus, err := cluster.AllowedCPUs(id)
			if err == nil && !slices.Equal(cpus, now) {
				t.Errorf("thread %d of kernel %d may run on CPUs %v, want %v", id, pid, cpus, now)
			}
		}
	}
}

// Where Nomad's tasks have a CPU quota, kernels are inside it.
func TestQuota(t *testing.T) {
	k := running(t, register(t, load(t, slowNode, filepath.Join(jobsDir, "driver-ramp.hcl"), nil)))
	tasks := shared.TaskGroup(clientNamed(t, slowNode), "cpu")
	inside, err := filepath.Glob(filepath.Join(tasks, executor.GroupPrefix+"*"))
	if err != nil || len(inside) != 2 {
		t.Errorf("control groups inside the quota: %v, %v; want the task's and its kernel's; all: %v", inside, err, groups(t, slowNode))
	}
	stop(t, k.job)
	checkNothingLeft(t, slowNode)
}

// The kill switch ends what runs, with the reason, and nothing starts while it
// is on.
func TestKillSwitch(t *testing.T) {
	k := run(t, "driver-kernel.hcl", nil)
	file := killSwitch(mainNode)
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(file)
	k.says(t, "the operator's kill switch is on: "+file+" exists")
	eventually(t, "the node says so", func() (bool, string) {
		node, _, err := shared.API().Nodes().Info(shared.Client(clientNamed(t, mainNode)).ID, nil)
		if err != nil {
			return false, err.Error()
		}
		info := node.Drivers["ibench"]
		return !info.Healthy, info.HealthDescription
	})
	if pids := processes(t, mainNode, "kernel"); len(pids) > 0 {
		t.Errorf("kernels %v run", pids)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the node is well again", func() (bool, string) {
		node, _, err := shared.API().Nodes().Info(shared.Client(clientNamed(t, mainNode)).ID, nil)
		return err == nil && node.Drivers["ibench"].Healthy, ""
	})
}

// A plugin that is killed finds its tasks again; so does one that is killed
// together with the agent.
func TestPluginKilled(t *testing.T) {
	k := run(t, "driver-kernel.hcl", nil)
	k.exec(t, "set", "12")
	before := processes(t, mainNode, "kernel")
	kill(t, processes(t, mainNode, "")...)
	recovered(t, k, before)
	k.exec(t, "set", "13")
}

func TestAgentKilled(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	k := run(t, "driver-kernel.hcl", nil)
	k.exec(t, "set", "12")
	before := processes(t, mainNode, "kernel")
	node := clientNamed(t, mainNode)
	if err := shared.KillClient(ctx, node); err != nil {
		t.Fatal(err)
	}
	// With the plugin gone too, the agent must find the task through its record.
	kill(t, processes(t, mainNode, "")...)
	if err := shared.RestartClient(ctx, node); err != nil {
		t.Fatal(err)
	}
	recovered(t, k, before)
}

// recovered waits until the task answers again, with the same kernels at the
// same level.
func recovered(t *testing.T, k task, kernels []int) {
	t.Helper()
	eventually(t, "the task is recovered", func() (bool, string) {
		code, out := k.try("stats")
		return code == 0, out
	})
	if got := k.kernels(t)[0]; got.IntensityPercent != 12 || !slices.Contains(kernels, got.PID) {
		t.Errorf("%+v, want 12 %% by one of %v", got, kernels)
	}
}

// A task whose process is killed is restarted by Nomad, and its kernels are not
// left; a kernel that is killed ends its task with the reason.
func TestChildAndKernelKilled(t *testing.T) {
	job := load(t, mainNode, filepath.Join(jobsDir, "driver-kernel.hcl"), nil)
	restart(job, 10)
	k := running(t, register(t, job))
	for _, role := range []string{"task", "kernel"} {
		before := processes(t, mainNode, "kernel")
		kill(t, processes(t, mainNode, role)...)
		eventually(t, "the task runs again", func() (bool, string) {
			code, out := k.try("stats")
			now := processes(t, mainNode, "kernel")
			return code == 0 && len(now) == 1 && !slices.Equal(now, before), out
		})
	}
	k.says(t, "ended: kernel mem_bw killed by signal 9")
}

// A node that is drained has nothing of the driver left.
func TestDrain(t *testing.T) {
	run(t, "driver-storage.hcl", map[string]string{"path": strconv.Quote(t.TempDir())})
	id := shared.Client(clientNamed(t, mainNode)).ID
	_, err := shared.API().Nodes().UpdateDrainOpts(id, &api.DrainOptions{DrainSpec: &api.DrainSpec{Deadline: time.Minute, IgnoreSystemJobs: true}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the kernel is gone", func() (bool, string) {
		return len(processes(t, mainNode, "kernel")) == 0, ""
	})
	eventually(t, "the node is eligible again", func() (bool, string) {
		node, _, err := shared.API().Nodes().Info(id, nil)
		if err != nil || node.DrainStrategy != nil {
			return false, "draining"
		}
		_, err = shared.API().Nodes().ToggleEligibility(id, true, nil)
		return err == nil, ""
	})
}

// A storage kernel leaves no file behind, not even when it is killed.
func TestStorageLeavesNoFile(t *testing.T) {
	dir := t.TempDir()
	k := run(t, "driver-storage.hcl", map[string]string{"path": strconv.Quote(dir)})
	for {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		if len(entries) > 0 {
			t.Errorf("%v lie in the folder while the kernel runs", entries)
		}
		if len(processes(t, mainNode, "kernel")) == 0 {
			break
		}
		kill(t, processes(t, mainNode, "kernel")...)
		k.says(t, "ended: kernel storage_bw killed by signal 9")
	}
}

// The worked examples of the README, for a moment each.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(examplesDir, "*", "*.nomad.hcl"))
	if err != nil || len(files) < 3 {
		t.Fatalf("%d examples, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(filepath.Dir(file)), func(t *testing.T) {
			job := load(t, mainNode, file, nil)
			k := running(t, register(t, job))
			k.exec(t, "set", "10") // one of them waits for orders
			first := k.kernels(t)[0]
			eventually(t, "the kernel works", func() (bool, string) {
				now := k.kernels(t)[0]
				return now.Ops > first.Ops, fmt.Sprintf("%+v", now)
			})
		})
	}
}

// The script of the memory example prints one line for each level, with what was
// reached.
func TestKneeScript(t *testing.T) {
	dir := filepath.Join(examplesDir, "memory-knee")
	k := running(t, register(t, load(t, mainNode, filepath.Join(dir, "memory-knee.nomad.hcl"), nil)))
	cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "knee.sh"), k.alloc)
	// The script asks for nomad by name; NOMAD_BIN may have another one.
	named := t.TempDir()
	nomad, err := filepath.Abs(shared.Nomad())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(nomad, filepath.Join(named, "nomad")); err != nil {
		t.Fatal(err)
	}
	path := "PATH=" + named + string(os.PathListSeparator) + os.Getenv("PATH")
	cmd.Env = append(shared.Env(os.Environ()), path, "STEP=50", "DWELL=1")
	// Nomad 1.11.2 may complain of a stream it closed early, on a loaded machine.
	var complaints strings.Builder
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s%s", err, out, complaints.String())
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != 4 || !regexp.MustCompile(`^ +50 % +\d+ % +[0-9.e+]+$`).MatchString(lines[2]) {
		t.Errorf("printed\n%s%s", out, complaints.String())
	}
}

// restart lets the tasks of a job fail so often, with hardly a pause.
func restart(job *api.Job, attempts int) {
	policy := &api.RestartPolicy{Attempts: ptr(attempts), Delay: ptr(10 * time.Millisecond), Interval: ptr(time.Minute), Mode: ptr("fail")}
	for _, group := range job.TaskGroups {
		group.RestartPolicy = policy
		for _, task := range group.Tasks {
			task.RestartPolicy = policy
		}
	}
}
