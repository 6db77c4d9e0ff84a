package nomadapi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi/nomadtest"
)

const recipientID = "a1b2c3d4-0000-0000-0000-000000000001"

var transferID = cluster.JobID{Namespace: "default", ID: transferJobPrefix + "a1b2c3d4"}

// transferWorld is a job that runs once, with 100 MHz and 64 MB, on a node whose
// driver transfers whatever it is asked to.
func transferWorld(t *testing.T, change ...func(group nomadtest.Object)) (*World, *nomadtest.Server, context.Context, cluster.WorkloadID) {
	t.Helper()
	w, server, ctx, job := runningJob(t, change...)
	putRecipient(server, "n1")
	server.AutoPlace = true
	server.OnAlloc = func(alloc nomadtest.Object) {
		said := nomadtest.Object{"Type": "Driver", "DisplayMessage": `lends to task "main" of allocation ` + recipientID}
		alloc["TaskStates"] = nomadtest.Object{transferTask: nomadtest.Object{"State": "running", "Events": []any{said}}}
	}
	return w, server, ctx, job.Workloads[0].ID
}

func putRecipient(server *nomadtest.Server, node string) {
	held := nomadtest.Object{"Cpu": nomadtest.Object{"CpuShares": 100}, "Memory": nomadtest.Object{"MemoryMB": 64}}
	server.PutAlloc(nomadtest.Object{
		"ID": recipientID, "Name": "web.g[0]", "Namespace": "default", "JobID": "web", "TaskGroup": "g", "NodeID": node,
		"DesiredStatus": "run", "ClientStatus": "running",
		"AllocatedResources": nomadtest.Object{"Tasks": nomadtest.Object{"main": held}, "Shared": nomadtest.Object{"DiskMB": 300}},
	})
}

func sizeOfRecipient(t *testing.T, w *World, ctx context.Context) cluster.Allocation {
	t.Helper()
	s, err := w.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if list := s.Allocations["n1"]; len(list) != 1 || list[0].ID != recipientID {
		t.Fatalf("on its node %+v, want the borrower alone", list)
	}
	return s.Allocations["n1"][0]
}

func TestResizeTransfers(t *testing.T) {
	t.Parallel()
	w, server, ctx, id := transferWorld(t)
	before := sizeOfRecipient(t, w, ctx)
	resize := func(mhz, mb int) {
		t.Helper()
		if err := w.Resize(ctx, id, recipientID, cluster.Resources{CPUMHz: mhz, MemoryMB: mb, DiskMB: 300}); err != nil {
			t.Fatal(err)
		}
	}
	resize(150, 164)
	job := object(server.Job("default", transferID.ID))
	task := transferTasks(job)[0]
	transfer := task.object("Config").objects("lend")[0]
	if job.text("Type") != "batch" || job.text("NodePool") != "prod" || job.object("Meta").text(metaOwner) != DefaultOwner ||
		transfer.text("allocation") != recipientID || transfer.text("task") != "main" || transfer.number("cpu_mhz") != 100 ||
		ownAsk(task) != (cluster.Resources{CPUMHz: 50, MemoryMB: 100}) {
		t.Errorf("job %v", job)
	}
	if c := job.objects("Constraints"); len(c) != 1 || c[0].text("LTarget") != nodeIDTarget || c[0].text("RTarget") != "n1" {
		t.Errorf("constraints %v", c)
	}
	if a := sizeOfRecipient(t, w, ctx); a.Resources.CPUMHz != 150 || a.Resources.MemoryMB != 164 || a.Given() != before.Resources {
		t.Errorf("with the loan %+v", a)
	}
	if jobs, err := w.Jobs(ctx); err != nil || len(jobs) != 1 {
		t.Errorf("the loan counts as somebody's job: %v, %v", jobs, err)
	}
	index := job.index("JobModifyIndex")
	resize(150, 164) // as it is
	if now := object(server.Job("default", transferID.ID)).index("JobModifyIndex"); now != index {
		t.Error("a loan that is out was made again")
	}
	// Memory alone: no CPU is transferred, though Nomad has the task hold some.
	resize(100, 65)
	task = transferTasks(object(server.Job("default", transferID.ID)))[0]
	if _, ok := task.object("Config").objects("lend")[0]["cpu_mhz"]; ok || ownAsk(task) != (cluster.Resources{CPUMHz: leastCPUMHz, MemoryMB: leastMemoryMB}) {
		t.Errorf("task %v", task)
	}
	// A larger one, of an allocation that holds that much more already.
	resize(101, 90)
	task = transferTasks(object(server.Job("default", transferID.ID)))[0]
	if _, ok := task.object("Config").objects("lend")[0]["cpu_mhz"]; ok || ownAsk(task).MemoryMB != 26 {
		t.Errorf("task %v", task)
	}
	resize(100, 64)
	if ids := server.JobIDs(); !slices.Equal(ids, []string{"web"}) {
		t.Errorf("jobs %v after the loan", ids)
	}
	resize(100, 64) // nothing is transferred
	if a := sizeOfRecipient(t, w, ctx); a != before {
		t.Errorf("%+v after the loan, want %+v", a, before)
	}
}

func TestResizeRefuses(t *testing.T) {
	t.Parallel()
	more := cluster.Resources{CPUMHz: 100, MemoryMB: 128, DiskMB: 300}
	driver := func(name string) func(nomadtest.Object) {
		return func(g nomadtest.Object) { g["Tasks"].([]any)[0].(nomadtest.Object)["Driver"] = name }
	}
	for name, c := range map[string]struct {
		group  func(nomadtest.Object)
		before func(s *nomadtest.Server)
		size   cluster.Resources
		want   error
		says   string
	}{
		"cores":     {nil, nil, cluster.Resources{Cores: 1, MemoryMB: 64}, cluster.ErrImpossible, "cores"},
		"less":      {nil, nil, cluster.Resources{CPUMHz: 100, MemoryMB: 32}, cluster.ErrImpossible, "less than Nomad reserved"},
		"container": {driver("docker"), nil, more, cluster.ErrImpossible, `under the driver "docker"`},
		"autoscaled": {func(g nomadtest.Object) {
			g["Tasks"].([]any)[0].(nomadtest.Object)["ScalingPolicies"] = []any{nomadtest.Object{"Enabled": true}}
		}, nil, more, cluster.ErrImpossible, "scaling blocks"},
		"no driver": {nil, func(s *nomadtest.Server) { putRecipient(s, "n2") }, more, cluster.ErrImpossible, "no healthy ibench driver"},
		"not allowed": {nil, func(s *nomadtest.Server) {
			s.AddNode(nomadtest.Node{ID: "n1", Name: "alpha", Pool: "prod", Drivers: []string{KernelDriver}, Attributes: map[string]string{driverAllow: "kernels,profile"}})
		}, more, cluster.ErrImpossible, `the operator of node alpha does not allow in-place resizes; to allow them, add "lend"`},
		"another version": {nil, func(s *nomadtest.Server) { s.Submit(fatter(), "") }, more, cluster.ErrStale, "another version"},
		"stopped":         {nil, func(s *nomadtest.Server) { s.Stop("default", "web") }, more, cluster.ErrGone, "a1b2c3d4"},
		"no room":         {nil, func(s *nomadtest.Server) { s.AutoPlace = false }, more, cluster.ErrImpossible, "did not begin within"},
		"ends": {nil, func(s *nomadtest.Server) {
			s.OnAlloc = func(a nomadtest.Object) {
				said := nomadtest.Object{"Type": "Driver Failure", "DisplayMessage": "lend.task: the reason"}
				a["ClientStatus"], a["TaskStates"] = "failed", nomadtest.Object{transferTask: nomadtest.Object{"State": "dead", "Events": []any{said}}}
			}
		}, more, cluster.ErrImpossible, "lend.task: the reason"},
		"a name taken": {nil, func(s *nomadtest.Server) { s.Submit(testJob(transferID.ID, ""), "") }, more, cluster.ErrImpossible, "is not a reservation transfer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var changes []func(nomadtest.Object)
			if c.group != nil {
				changes = append(changes, c.group)
			}
			w, server, ctx, id := transferWorld(t, changes...)
			if c.before != nil {
				c.before(server)
			}
			before := server.JobIDs()
			if err := w.Resize(ctx, id, recipientID, c.size); !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want %v and %q", err, c.want, c.says)
			}
			if after := server.JobIDs(); !slices.Equal(after, before) {
				t.Errorf("jobs %v, before %v", after, before)
			}
		})
	}
}

// fatter is the next version of the recipient's job.
func fatter() nomadtest.Object {
	spec := testJob("web", "ok")
	spec["TaskGroups"].([]any)[0].(nomadtest.Object)["Tasks"].([]any)[0].(nomadtest.Object)["Resources"] = nomadtest.Object{"CPU": 900, "MemoryMB": 64}
	return spec
}

// A transfer outlives neither its recipient nor its own end, and is no resident
// meanwhile.
func TestSweepTransfers(t *testing.T) {
	t.Parallel()
	w, server, ctx, id := transferWorld(t)
	if err := w.Resize(ctx, id, recipientID, cluster.Resources{CPUMHz: 100, MemoryMB: 128}); err != nil {
		t.Fatal(err)
	}
	theirs := testJob(transferJobPrefix+"theirs", "")
	server.Submit(theirs, "")
	sweep := func(want ...string) {
		t.Helper()
		if err := w.Sweep(ctx, nil); err != nil {
			t.Fatal(err)
		}
		if ids := server.JobIDs(); !slices.Equal(ids, want) {
			t.Errorf("left %v, want %v", ids, want)
		}
	}
	sweep(transferID.ID, transferJobPrefix+"theirs", "web")
	server.UpdateAllocs("default", "web", func(a nomadtest.Object) { a["ClientStatus"] = "complete" })
	s, err := w.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range s.Allocations["n1"] {
		if !a.Profiling {
			t.Errorf("a loan without a borrower is a resident: %+v", a)
		}
	}
	sweep(transferJobPrefix+"theirs", "web")
}

// twoTasks gives the recipient's group a second task with a third of its CPU, and one
// that ends before they start.
func twoTasks(group nomadtest.Object) {
	task := func(name string, mhz int) nomadtest.Object {
		return nomadtest.Object{"Name": name, "Driver": "raw_exec", "Resources": nomadtest.Object{"CPU": mhz, "MemoryMB": 32}}
	}
	before := task("before", 10)
	before["Lifecycle"] = nomadtest.Object{"Hook": "prestart"}
	group["Tasks"] = []any{before, task("server", 75), task("log", 25)}
}

// What a request waits for may be any task of its group, so all get CPU.
func TestCPUIsTransferredToAllTasks(t *testing.T) {
	t.Parallel()
	w, server, ctx, id := transferWorld(t, twoTasks)
	server.OnAlloc = func(alloc nomadtest.Object) {
		said := nomadtest.Object{"State": "running", "Events": []any{nomadtest.Object{"DisplayMessage": "lends to task"}}}
		alloc["TaskStates"] = nomadtest.Object{"lend": said, "lend-2": said}
	}
	for _, mhz := range []int{180, 260} {
		held := sizeOfRecipient(t, w, ctx).Resources
		held.CPUMHz = mhz
		if err := w.Resize(ctx, id, recipientID, held); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, task := range transferTasks(object(server.Job("default", transferID.ID))) {
			block := task.object("Config").objects("lend")[0]
			got = append(got, fmt.Sprint(task.text("Name"), " ", block.text("task"), " ", block.number("cpu_mhz"), " ", ownAsk(task)))
		}
		want := []string{
			fmt.Sprint("lend server 75 ", cluster.Resources{CPUMHz: (mhz - 100) * 3 / 4, MemoryMB: leastMemoryMB}),
			fmt.Sprint("lend-2 log 25 ", cluster.Resources{CPUMHz: (mhz - 100) / 4, MemoryMB: leastMemoryMB}),
		}
		if !slices.Equal(got, want) {
			t.Errorf("lenders %q, want %q", got, want)
		}
	}
}

// CPU that another job is blocked on is neither transferred nor kept; memory is.
func TestCPUThatIsWaitedForIsNotTransferred(t *testing.T) {
	t.Parallel()
	w, server, ctx, id := transferWorld(t)
	more := cluster.Resources{CPUMHz: 200, MemoryMB: 64, DiskMB: 300}
	blocked := func(job, pool string, dimension string) {
		server.Blocked = []nomadtest.Object{{"JobID": job, "FailedTGAllocs": nomadtest.Object{
			"g": nomadtest.Object{"NodePool": pool, "DimensionExhausted": nomadtest.Object{dimension: 2}},
		}}}
	}
	for _, harmless := range []func(){
		func() { blocked("other", "test", "cpu") },
		func() { blocked("other", "prod", "memory") },
		func() { blocked(transferJobPrefix+"x", "prod", "cpu") },
	} {
		harmless()
		if err := w.Resize(ctx, id, recipientID, more); err != nil {
			t.Fatal(err)
		}
		if err := w.Sweep(ctx, nil); err != nil || server.Job("default", transferID.ID) == nil {
			t.Fatalf("the loan is gone, %v", err)
		}
	}
	blocked("other", "prod", "cpu")
	if err := w.Sweep(ctx, nil); err != nil || server.Job("default", transferID.ID) != nil {
		t.Errorf("the loan is still out, %v", err)
	}
	if err := w.Resize(ctx, id, recipientID, more); !errors.Is(err, cluster.ErrImpossible) {
		t.Errorf("%v, want impossible", err)
	}
	if err := w.Resize(ctx, id, recipientID, cluster.Resources{CPUMHz: 100, MemoryMB: 128, DiskMB: 300}); err != nil {
		t.Fatal(err)
	}
	if err := w.Sweep(ctx, nil); err != nil || server.Job("default", transferID.ID) == nil {
		t.Errorf("the loan of memory is gone, %v", err)
	}
}

// Where a larger transfer has no room the present one goes on.
func TestALargerTransferWithoutRoom(t *testing.T) {
	t.Parallel()
	w, server, ctx, id := transferWorld(t)
	size := func(mb int) cluster.Resources { return cluster.Resources{CPUMHz: 100, MemoryMB: mb, DiskMB: 300} }
	if err := w.Resize(ctx, id, recipientID, size(128)); err != nil {
		t.Fatal(err)
	}
	server.AutoPlace = false
	if err := w.Resize(ctx, id, recipientID, size(256)); !errors.Is(err, cluster.ErrImpossible) {
		t.Errorf("%v, want impossible", err)
	}
	if held := ownAsk(transferTasks(object(server.Job("default", transferID.ID)))[0]); held.MemoryMB != 64 {
		t.Errorf("the job lends %d MB, want the 64 of before", held.MemoryMB)
	}
	if a := sizeOfRecipient(t, w, ctx); a.Resources.MemoryMB != 128 {
		t.Errorf("with the loan %+v", a)
	}
	server.AutoPlace = true
	if err := w.Resize(ctx, id, recipientID, size(256)); err != nil {
		t.Fatal(err)
	}
	if a := sizeOfRecipient(t, w, ctx); a.Resources.MemoryMB != 256 {
		t.Errorf("with the larger loan %+v", a)
	}
}

// A placer that dies during a transfer leaves a transfer that counts; the next one adopts
// it. A transfer that was stopped is made anew.
func TestATransferOutlivesThePlacer(t *testing.T) {
	t.Parallel()
	w, server, ctx, id := transferWorld(t)
	size := cluster.Resources{CPUMHz: 100, MemoryMB: 128, DiskMB: 300}
	dying, die := context.WithCancel(ctx)
	said := server.OnAlloc
	server.OnAlloc = func(nomadtest.Object) { die() }
	if err := w.Resize(dying, id, recipientID, size); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if a := sizeOfRecipient(t, w, ctx); a.Resources.MemoryMB != 128 {
		t.Errorf("with the loan %+v", a)
	}
	server.OnAlloc = said
	server.UpdateAllocs("default", transferID.ID, func(a nomadtest.Object) { said(a) })
	index := object(server.Job("default", transferID.ID)).index("JobModifyIndex")
	if err := w.Resize(ctx, id, recipientID, size); err != nil {
		t.Fatal(err)
	}
	if now := object(server.Job("default", transferID.ID)).index("JobModifyIndex"); now != index {
		t.Error("the loan was not adopted")
	}
	server.Stop("default", transferID.ID)
	if a := sizeOfRecipient(t, w, ctx); a.Transferred != (cluster.Resources{}) {
		t.Errorf("without the loan %+v", a)
	}
	if err := w.Resize(ctx, id, recipientID, size); err != nil {
		t.Fatal(err)
	}
	if a := sizeOfRecipient(t, w, ctx); a.Resources.MemoryMB != 128 {
		t.Errorf("with the loan %+v", a)
	}
}
