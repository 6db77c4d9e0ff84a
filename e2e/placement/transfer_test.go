//go:build e2e

package placement

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"

	placer "github.com/nomad-placer/nomad-placer/placer/cluster"
)

// full does at most fifty units a second and holds some 55 of its 64 MB. It starts no
// processes: between fork and exec one has its parent's memory, and Nomad adds up both.
const full = `exec 3<> <(:); for i in {1..52}; do printf -v "a[i]" '%1000000s' ''; done; i=0; while true; do i=$((i+1)); echo "units $i"; read -t 0.02 -u 3; done`

// fullBlock asks for more than it does, and allows it more memory.
const fullBlock = `
target {
  rate = 60
}
probe "log" {
  pattern = "units (\\d+)"
}
scale {
  memory = [64, 96]
}
profile {
  seconds = 8
  sources = ["int"]
}
`

// held64 gives the task 64 MB.
func held64(job *api.Job) {
	job.TaskGroups[0].Tasks[0].Resources.MemoryMB = ptr(64)
}

// TestAdaptTransfersMemory: a workload that falls short and uses its memory gets more of
// it while it runs, as the same process; Nomad's books hold what is transferred, and the
// transfer is gone with its recipient.
func TestAdaptTransfersMemory(t *testing.T) {
	ctx := t.Context()
	const id = "recipient"
	submit(ctx, t, held(id, fullBlock, full, held64))
	runs(ctx, t, id) // it is left alone until its deployment is over: not before its limit was read
	t.Cleanup(func() {
		if t.Failed() {
			readings, err := book(t).Observations(context.Background(), workload(id))
			t.Logf("observed %+v (%v); recorded %+v", readings[max(0, len(readings)-3):], err, recorded(context.Background(), t, id))
		}
	})
	if d, err := book(t).Decision(ctx, workload(id)); err != nil || d.Outcome != placer.Placed {
		t.Fatalf("decision %s (%s), %v", d.Outcome, d.Reason, err)
	}
	alloc := liveAllocation(t, id)
	if mb, err := memoryLimitMB(t, alloc); err != nil || mb != 64 {
		t.Fatalf("it begins with %d MB, %v", mb, err)
	}
	before, began := processOf(t, alloc), time.Now()
	eventually(ctx, t, "more memory is transferred", time.Minute, func() bool {
		if now := liveAllocation(t, id); now.ID != alloc.ID || processOf(t, now) != before {
			t.Fatalf("it was started anew: %s for %s", now.ID, alloc.ID)
		}
		mb, err := memoryLimitMB(t, alloc)
		return err == nil && mb == 96
	})
	t.Logf("transferred after %s", time.Since(began).Round(100*time.Millisecond))
	holderID := holderJob + alloc.ID[:8]
	if err := shared.WaitRunning(ctx, holderID); err != nil {
		t.Fatal(err)
	}
	holder := liveAllocation(t, holderID)
	info, _, err := shared.API().Allocations().Info(holder.ID, nil)
	if err != nil {
		t.Fatal(err)
	}
	if held := info.AllocatedResources.Tasks["lend"].Memory.MemoryMB; held != 32 || holder.NodeID != alloc.NodeID {
		t.Errorf("the holder holds %d MB on %s, want 32 on %s", held, holder.NodeID, alloc.NodeID)
	}
	eventually(ctx, t, "it is on record", time.Minute, func() bool {
		list := recorded(ctx, t, id)
		return len(list) > 0 && list[0].Kind == "resize" && list[0].Result == "done" && contains(list[0].To, "96 MB")
	})
	wantEvent(ctx, t, id, "96 MB instead of")
	// A larger transfer takes the place of the smaller one.
	if err := shared.World.Resize(ctx, workload(id), alloc.ID, placer.Resources{CPUMHz: 100, MemoryMB: 128}); err != nil {
		t.Fatal(err)
	}
	if mb, err := memoryLimitMB(t, alloc); err != nil || mb != 128 || processOf(t, alloc) != before {
		t.Errorf("with the larger transfer it has %d MB, %v", mb, err)
	}
	if _, _, err := shared.API().Jobs().Deregister(id, false, nil); err != nil {
		t.Fatal(err)
	}
	eventually(ctx, t, "the holder is gone with its recipient", time.Minute, func() bool {
		// As the leader does every minute.
		if err := shared.World.Sweep(ctx, nil); err != nil {
			t.Fatal(err)
		}
		jobs, _, err := shared.API().Jobs().PrefixList(holderJob)
		return err == nil && len(jobs) == 0
	})
}

// hastyBlock asks for a tail that the job keeps easily in isolation.
const hastyBlock = `
target {
  qps = 1500
  latency {
    percentile = 99
    max        = "20ms"
  }
}
probe "prometheus" {
  port    = "metrics"
  rate    = "load_requests_total"
  latency = "load_request_seconds"
}
profile {
  seconds = 8
  sources = ["int"]
}
`

// hasty is a job that sends requests to the server of this cluster: for that many it
// needs more of a CPU than the 100 MHz that it holds, which is no matter until others
// want the CPU, too.
func hasty(t *testing.T) *api.Job {
	t.Helper()
	bin, err := filepath.Abs(binDir)
	if err != nil {
		t.Fatal(err)
	}
	job := held("hasty", hastyBlock, "").Constrain(api.NewConstraint("${node.class}", "=", "fast-a"))
	group := job.TaskGroups[0]
	group.Networks = []*api.NetworkResource{{DynamicPorts: []api.Port{{Label: "metrics"}}}}
	group.Tasks[0].SetConfig("command", filepath.Join(bin, "workload")).SetConfig("args", []string{
		"load", "-protocol", "http", "-rate", "1500", "-connections", "16", "-listen", "127.0.0.1:${NOMAD_PORT_metrics}",
		shared.API().Address() + "/v1/status/leader",
	})
	return job
}

// TestAdaptTransfersCPU: a service that misses its tail next to co-runners gets CPU that no job
// holds, as the same process, until another job is blocked on that.
func TestAdaptTransfersCPU(t *testing.T) {
	ctx := t.Context()
	const id = "hasty"
	submit(ctx, t, hasty(t))
	running(ctx, t, id)
	alloc := liveAllocation(t, id)
	before := processOf(t, alloc)
	began, err := groupFile(t, alloc, "cpu", "cpu.shares", "cpu.weight")
	if err != nil {
		t.Fatal(err)
	}
	submit(ctx, t, busy("beside", alloc.NodeID, 1400))
	if err := shared.WaitRunning(ctx, "beside"); err != nil {
		t.Fatal(err)
	}
	pressed := time.Now()
	eventually(ctx, t, "CPU is transferred", time.Minute, func() bool {
		now, err := groupFile(t, alloc, "cpu", "cpu.shares", "cpu.weight")
		return err == nil && number(t, now) > number(t, began)
	})
	t.Logf("transferred after %s", time.Since(pressed).Round(100*time.Millisecond))
	if now := liveAllocation(t, id); now.ID != alloc.ID || processOf(t, now) != before {
		t.Errorf("it was started anew: %s for %s", now.ID, alloc.ID)
	}
	holderID := holderJob + alloc.ID[:8]
	// The driver transfers as soon as the holder starts; its client says a little later that it runs.
	if err := shared.WaitRunning(ctx, holderID); err != nil {
		t.Fatal(err)
	}
	if holder := liveAllocation(t, holderID); holder.NodeID != alloc.NodeID {
		t.Errorf("the holder is on %s, want %s", holder.NodeID, alloc.NodeID)
	}
	eventually(ctx, t, "it is on record", time.Minute, func() bool {
		list := recorded(ctx, t, id)
		return slices.ContainsFunc(list, func(r placer.ActionRecord) bool {
			return r.Kind == "resize" && r.Result == "done" && contains(r.From, "100 MHz") && contains(r.To, "200 MHz")
		})
	})
	wantEvent(ctx, t, id, "200 MHz")
	// Somebody comes for whom there is room but for the transfer.
	submit(ctx, t, busy("waiting", alloc.NodeID, freeMHz(t, alloc.NodeID)+50))
	eventually(ctx, t, "who waits for the CPU gets it", time.Minute, func() bool {
		// As the leader does every minute.
		if err := shared.World.Sweep(ctx, nil); err != nil {
			t.Fatal(err)
		}
		list, _, err := shared.API().Jobs().Allocations("waiting", false, nil)
		return err == nil && len(list) == 1 && list[0].ClientStatus == api.AllocClientStatusRunning
	})
	if now, err := groupFile(t, alloc, "cpu", "cpu.shares", "cpu.weight"); err != nil || now != began {
		t.Errorf("after the transfer its share is %s, want %s (%v)", now, began, err)
	}
}

// busy is a job that never rests, on one node, as stock Nomad runs it.
func busy(id, node string, mhz int) *api.Job {
	return held(id, "", "while true; do :; done", func(job *api.Job) {
		job.NodePool = ptr("default")
		job.TaskGroups[0].Meta = nil
		job.TaskGroups[0].Tasks[0].Resources.CPU = ptr(mhz)
		job.Constrain(api.NewConstraint("${node.unique.id}", "=", node))
	})
}

// freeMHz is the CPU of a node that is not reserved.
func freeMHz(t *testing.T, node string) int {
	t.Helper()
	n, _, err := shared.API().Nodes().Info(node, nil)
	if err != nil {
		t.Fatal(err)
	}
	free := int(n.NodeResources.Cpu.CpuShares) - int(n.ReservedResources.Cpu.CpuShares)
	list, _, err := shared.API().Nodes().Allocations(node, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range list {
		if a.ClientTerminalStatus() || a.ServerTerminalStatus() {
			continue
		}
		for _, task := range a.AllocatedResources.Tasks {
			free -= int(task.Cpu.CpuShares)
		}
	}
	return free
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

const holderJob = "placer-lend-"

// liveAllocation is the one running allocation of a job.
func liveAllocation(t *testing.T, id string) *api.AllocationListStub {
	t.Helper()
	list, _, err := shared.API().Jobs().Allocations(id, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range list {
		if a.ClientStatus == api.AllocClientStatusRunning && a.DesiredStatus == api.AllocDesiredStatusRun {
			return a
		}
	}
	t.Fatalf("%s has no running allocation", id)
	return nil
}

// groupFile reads a file of the control group of an allocation's main task.
func groupFile(t *testing.T, a *api.AllocationListStub, controller, v1, v2 string) (string, error) {
	t.Helper()
	i, ok := shared.ClientNamed(a.NodeName)
	if !ok {
		t.Fatalf("no node %s", a.NodeName)
	}
	tasks := shared.TaskGroup(i, controller)
	data, err := os.ReadFile(filepath.Join(tasks, a.ID+".main", v1))
	if os.IsNotExist(err) {
		data, err = os.ReadFile(filepath.Join(tasks, "share.slice", a.ID+".main.scope", v2))
	}
	return strings.TrimSpace(string(data)), err
}

func memoryLimitMB(t *testing.T, a *api.AllocationListStub) (int, error) {
	t.Helper()
	text, err := groupFile(t, a, "memory", "memory.limit_in_bytes", "memory.max")
	if err != nil {
		return 0, err
	}
	bytes, err := strconv.Atoi(text)
	return bytes >> 20, err
}

// processOf is the process of an allocation's main task that started the others. It
// need not have the smallest number: numbers wrap around.
func processOf(t *testing.T, a *api.AllocationListStub) string {
	t.Helper()
	text, err := groupFile(t, a, "freezer", "cgroup.procs", "cgroup.procs")
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Fields(text)
	at := slices.IndexFunc(all, func(pid string) bool {
		parent, err := parentOf(pid)
		return err == nil && !slices.Contains(all, parent)
	})
	if at < 0 {
		t.Fatalf("none of the processes %v started the others", all)
	}
	return all[at]
}

// parentOf reads the fourth field of a process's stat; the second, its name, ends with
// the last bracket.
func parentOf(pid string) (string, error) {
	stat, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	if err != nil {
		return "", err
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 2 {
		return "", fmt.Errorf("process %s: short stat", pid)
	}
	return fields[1], nil
}
