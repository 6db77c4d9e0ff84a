//go:build e2e

package placement

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/e2e/rig"
	placer "github.com/nomad-placer/nomad-placer/placer/cluster"
)

// gateSubmissions is how many jobs in a row must pass the gate in order.
const gateSubmissions = 50

// TestNoAllocationBeforeTheRewrite submits one workload many times under many
// names: it is profiled once and known after. Nomad's own indexes must show
// that no allocation was ever made for a version that was held.
func TestNoAllocationBeforeTheRewrite(t *testing.T) {
	ctx := t.Context()
	// Fifty copies run at once in the end: each does little.
	script := strings.Replace(counting, "sleep 0.01", "sleep 0.1", 1)
	block := strings.Replace(countingBlock, "rate = 50", "rate = 5", 1)
	idle := func(j *api.Job) {
		j.TaskGroups[0].Tasks[0].Resources = &api.Resources{CPU: ptr(20), MemoryMB: ptr(16)}
	}
	submit(ctx, t, held("gate-first", block, script, idle))
	released(ctx, t, "gate-first", 2*time.Minute)
	t.Cleanup(func() { purgeGated(t) })
	for i := range gateSubmissions {
		id := fmt.Sprintf("gate-%02d", i)
		if _, _, err := shared.API().Jobs().Register(held(id, block, script, idle), nil); err != nil {
			t.Fatal(err)
		}
	}
	for i := range gateSubmissions {
		id := fmt.Sprintf("gate-%02d", i)
		released(ctx, t, id, time.Minute)
		eventually(ctx, t, id+" has an allocation", time.Minute, func() bool {
			allocs, _, err := shared.API().Jobs().Allocations(id, true, nil)
			return err == nil && len(allocs) > 0
		})
		checkOrder(t, id)
	}
}

// purgeGated purges the jobs side by side: each waits for the end of its allocation.
func purgeGated(t *testing.T) {
	var all sync.WaitGroup
	for i := range gateSubmissions {
		all.Go(func() {
			if err := shared.Purge(context.Background(), fmt.Sprintf("gate-%02d", i)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// checkOrder compares the indexes of one job's versions and allocations.
func checkOrder(t *testing.T, id string) {
	t.Helper()
	versions, _, _, err := shared.API().Jobs().Versions(id, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	pools := map[uint64]string{}
	var rewritten uint64
	for _, v := range versions {
		pools[*v.Version] = *v.NodePool
		if *v.NodePool != rig.HoldPool && (rewritten == 0 || *v.JobModifyIndex < rewritten) {
			rewritten = *v.JobModifyIndex
		}
	}
	if pools[0] != rig.HoldPool || rewritten == 0 {
		t.Fatalf("%s: versions by pool %v", id, pools)
	}
	allocs, _, err := shared.API().Jobs().Allocations(id, true, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range allocs {
		if pools[a.JobVersion] == rig.HoldPool || a.CreateIndex <= rewritten {
			t.Errorf("%s: allocation %s of version %d was made at index %d, the rewrite at %d",
				id, a.ID[:8], a.JobVersion, a.CreateIndex, rewritten)
		}
	}
}

func TestTheUsersNewerVersionWins(t *testing.T) {
	ctx := t.Context()
	submit(ctx, t, held("newer", countingBlock, counting+" # first"))
	waitStage(ctx, t, "newer", placer.StageProfile)
	if _, _, err := shared.API().Jobs().Register(held("newer", countingBlock, counting+" # second"), nil); err != nil {
		t.Fatal(err)
	}
	job := released(ctx, t, "newer", 2*time.Minute)
	args := fmt.Sprint(job.TaskGroups[0].Tasks[0].Config["args"])
	if want := "# second"; !contains(args, want) {
		t.Errorf("the released job runs %q, want the newer version's %q", args, want)
	}
	noProfilesLeft(ctx, t, soon)
}

func TestAJobStoppedWhileHeldStaysStopped(t *testing.T) {
	ctx := t.Context()
	submit(ctx, t, held("stopped", countingBlock, counting+" # stopped"))
	waitStage(ctx, t, "stopped", placer.StageProfile)
	if _, _, err := shared.API().Jobs().Deregister("stopped", false, nil); err != nil {
		t.Fatal(err)
	}
	noProfilesLeft(ctx, t, soon)
	time.Sleep(3 * time.Second) // a wrong release would come within a poll
	job, _, err := shared.API().Jobs().Info("stopped", nil)
	if err != nil || !*job.Stop || *job.NodePool != rig.HoldPool {
		t.Errorf("the stopped job was touched: stop %v, pool %s, %v", *job.Stop, *job.NodePool, err)
	}
}

// A job that is dispatched while its parent is held waits with it, and runs where that was
// placed: once, as another job, since Nomad lets nobody change a dispatched one.
func TestAJobDispatchedWhileItsParentIsHeld(t *testing.T) {
	ctx := t.Context()
	// Only what was dispatched ends: the copy that is profiled counts.
	submit(ctx, t, held("parent", countingBlock, `[ "$NOMAD_META_order" = 7 ] && exit 0; `+counting, func(j *api.Job) {
		j.Type, j.ParameterizedJob = ptr("batch"), &api.ParameterizedJobConfig{Payload: "optional", MetaRequired: []string{"order"}}
	}))
	waitStage(ctx, t, "parent", placer.StageProfile)
	answer, _, err := shared.API().Jobs().Dispatch("parent", map[string]string{"order": "7"}, []byte("hello"), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	early := answer.DispatchedJobID
	t.Cleanup(func() { purgeChildren(t, "parent") })
	parent := released(ctx, t, "parent", 2*time.Minute)
	var next *api.Job
	eventually(ctx, t, "another job is dispatched and has run", time.Minute, func() bool {
		next = nil
		for _, stub := range children(t, "parent") {
			if stub.ID != early && stub.JobSummary.Summary["main"].Complete == 1 {
				next, _, err = shared.API().Jobs().Info(stub.ID, nil)
			}
		}
		return next != nil
	})
	if got, want := next.TaskGroups[0].Constraints, parent.TaskGroups[0].Constraints; !reflect.DeepEqual(got, want) || string(next.Payload) != "hello" {
		t.Errorf("it is bound by %v with payload %q, its parent by %v", got, next.Payload, want)
	}
	if n := len(children(t, "parent")); n != 2 {
		t.Errorf("%d jobs were dispatched, want the held one and one in its place", n)
	}
	held, _, err := shared.API().Jobs().Info(early, nil)
	if err != nil || !*held.Stop {
		t.Errorf("the held job is not stopped: %v", err)
	}
	wantEvent(ctx, t, early, "dispatched again as "+*next.ID)
}

func children(t *testing.T, parent string) []*api.JobListStub {
	t.Helper()
	list, _, err := shared.API().Jobs().PrefixList(parent + "/")
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func purgeChildren(t *testing.T, parent string) {
	for _, stub := range children(t, parent) {
		if err := shared.Purge(context.Background(), stub.ID); err != nil {
			t.Error(err)
		}
	}
}

// waitStage waits until the placer reached the stage with the job.
func waitStage(ctx context.Context, t *testing.T, id string, stage placer.Stage) {
	t.Helper()
	eventually(ctx, t, id+" is at stage "+string(stage), 30*time.Second, func() bool {
		e, err := book(t).Evaluation(ctx, placer.JobID{Namespace: "default", ID: id})
		return err == nil && e.Stage == stage && profilesRunning(t) > 0
	})
}
