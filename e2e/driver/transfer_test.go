//go:build e2e

package driver

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/hashicorp/nomad/api"
)

// recipient is a running task of Nomad's own driver, as the kernel sees it.
type recipient struct {
	alloc string
	pid   int
	// share is its part of contended CPU time, memory its limit in bytes.
	share, memory int64
}

// readRecipient waits until the web task of a job runs and reads its control group.
func readRecipient(tb testing.TB, job string) recipient {
	tb.Helper()
	var out recipient
	eventually(tb, job+" runs", func() (bool, string) {
		for _, a := range allocations(tb, job) {
			s := a.TaskStates["web"]
			if a.ClientStatus != api.AllocClientStatusRunning || s == nil || s.State != "running" {
				continue
			}
			out = recipient{alloc: a.ID}
			var errs [3]error
			out.pid, errs[0] = atoi(tb, a.ID, "freezer", "cgroup.procs", "cgroup.procs")
			var share, memory int
			share, errs[1] = atoi(tb, a.ID, "cpu", "cpu.shares", "cpu.weight")
			memory, errs[2] = atoi(tb, a.ID, "memory", "memory.limit_in_bytes", "memory.max")
			out.share, out.memory = int64(share), int64(memory)
			for _, err := range errs {
				if err != nil {
					return false, err.Error()
				}
			}
			return true, ""
		}
		return false, describe(allocations(tb, job))
	})
	return out
}

// atoi reads the first number of a file of a task's group.
func atoi(tb testing.TB, alloc, controller, v1, v2 string) (int, error) {
	tb.Helper()
	tasks := shared.TaskGroup(clientNamed(tb, mainNode), controller)
	data, err := os.ReadFile(filepath.Join(tasks, alloc+".web", v1))
	if os.IsNotExist(err) {
		data, err = os.ReadFile(filepath.Join(tasks, "share.slice", alloc+".web.scope", v2))
	}
	if err != nil {
		return 0, err
	}
	words := strings.Fields(string(data))
	if len(words) == 0 {
		return 0, fmt.Errorf("%s of %s is empty", v1, alloc)
	}
	return strconv.Atoi(words[0])
}

// shows waits until the recipient has so much; it must be the same process of the
// same allocation all the time.
func (b recipient) shows(tb testing.TB, job string, want recipient, when string) {
	tb.Helper()
	eventually(tb, when, func() (bool, string) {
		got := readRecipient(tb, job)
		if got.alloc != b.alloc || got.pid != b.pid {
			tb.Fatalf("%s: allocation %s, process %d: it was started anew; before %+v", when, got.alloc, got.pid, b)
		}
		return got == want, fmt.Sprintf("%+v, want %+v", got, want)
	})
}

// A running task of Nomad's own driver gets more CPU weight and memory, is not
// started anew, and Nomad's books hold what is transferred; the end of the transfer, in order
// or not, gives everything back.
func TestTransfer(t *testing.T) {
	job := register(t, load(t, mainNode, filepath.Join(jobsDir, "driver-recipient.hcl"), nil))
	before := readRecipient(t, job)
	with := before
	// cpu_mhz = 200, and 100 more; 16 MB more.
	with.share, with.memory = (before.share*3+1)/2, before.memory+16<<20

	variables := map[string]string{"allocation": strconv.Quote(before.alloc)}
	transfer := load(t, mainNode, filepath.Join(jobsDir, "driver-transfer.hcl"), variables)
	k := running(t, register(t, transfer))
	before.shows(t, job, with, "the transfer is made")
	k.says(t, fmt.Sprintf("memory limit %d → %d MiB", before.memory>>20, with.memory>>20))
	if out := k.exec(t, "stats"); !strings.Contains(out, fmt.Sprintf("CPU share %d → %d", before.share, with.share)) {
		t.Errorf("stats: %s", out)
	}
	alloc, _, err := shared.API().Allocations().Info(k.alloc, nil)
	if err != nil {
		t.Fatal(err)
	}
	held := alloc.AllocatedResources.Tasks["noise"]
	if held.Cpu.CpuShares != 100 || held.Memory.MemoryMB != 16 || alloc.NodeName != mainNode {
		t.Errorf("Nomad holds %+v, %+v on %s, want 100 MHz and 16 MB on %s", held.Cpu, held.Memory, alloc.NodeName, mainNode)
	}
	stop(t, k.job)
	before.shows(t, job, before, "the transfer is undone")

	k = running(t, register(t, load(t, mainNode, filepath.Join(jobsDir, "driver-transfer.hcl"), variables)))
	before.shows(t, job, with, "the second transfer is made")
	kill(t, processes(t, mainNode, "task")...)
	before.shows(t, job, before, "the transfer of a killed process is undone")
	stop(t, k.job)

	_, state := ends(t, register(t, load(t, mainNode, filepath.Join(jobsDir, "driver-transfer.hcl"), map[string]string{"allocation": `"stranger"`})))
	if !state.Failed {
		t.Error("a transfer to an allocation that is not there did not fail")
	}
}
