package nomadapi

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/disk"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi/nomadtest"
	"github.com/nomad-placer/nomad-placer/profiler"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/probe"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		// Idle connections of the api package's own transport.
		goleak.IgnoreTopFunction("net/http.(*persistConn).readLoop"),
		goleak.IgnoreTopFunction("net/http.(*persistConn).writeLoop"),
		goleak.IgnoreTopFunction("internal/poll.runtime_pollWait"))
}

// jumpClock jumps ahead instead of waiting; a moment passes all the same, so that
// a loop does not spin.
type jumpClock struct {
	mu  sync.Mutex
	now time.Time
}

func newJumpClock() *jumpClock { return &jumpClock{now: time.Unix(1_800_000_000, 0)} }

func (c *jumpClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *jumpClock) After(d time.Duration) <-chan time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	return time.After(time.Millisecond)
}

func decodeForTest(text, file string) (performance.Spec, []string, error) {
	if text == "broken" {
		return performance.Spec{}, nil, fmt.Errorf("%s:1:1: nothing is known of %q", file, text)
	}
	return performance.Spec{
		Target: performance.Target{Kind: performance.Rate, Rate: 10}, SlowdownMaxPercent: 5,
		Probe: &performance.ProbeSpec{Type: "log", Pattern: `work=(\d+) ${x}`},
	}, []string{"a warning"}, nil
}

func testWorld(t *testing.T) (*World, *nomadtest.Server, context.Context) {
	t.Helper()
	server := nomadtest.New(t)
	server.AddNode(nomadtest.Node{ID: "n1", Name: "alpha", Pool: "prod", Class: "fast", CPUMHz: 4000, MemoryMB: 4096, Drivers: []string{"exec", "ibench"}})
	server.AddNode(nomadtest.Node{ID: "n2", Name: "beta", Pool: "prod", CPUMHz: 2000, MemoryMB: 2048, Drivers: []string{"exec"}, Meta: map[string]string{"placer_sc": "odd"}})
	w, err := New(Options{
		Address: server.URL, RunPool: "prod", Decode: decodeForTest, Probe: countingProbe,
		Clock: newJumpClock(), Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), NodeMetadata: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	w.nomad.book.Unlisted = func(r *http.Request) { t.Errorf("%s %s is not in the list of rights", r.Method, r.URL.Path) }
	t.Cleanup(w.API().Close)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	if _, err := w.EnsureHoldPool(ctx); err != nil {
		t.Fatal(err)
	}
	return w, server, ctx
}

func testJob(id, performanceText string) nomadtest.Object {
	group := nomadtest.Object{
		"Name": "g", "Count": 1, "EphemeralDisk": nomadtest.Object{"SizeMB": 300},
		"Tasks": []any{nomadtest.Object{"Name": "main", "Driver": "exec", "Resources": nomadtest.Object{"CPU": 100, "MemoryMB": 64}}},
	}
	if performanceText != "" {
		group["Meta"] = nomadtest.Object{MetaKey: performanceText}
	}
	return nomadtest.Object{"ID": id, "NodePool": DefaultHoldPool, "TaskGroups": []any{group}}
}

func mustJob(t *testing.T, w *World, ctx context.Context, id string) cluster.Job {
	t.Helper()
	job, err := w.Job(ctx, cluster.JobID{Namespace: "default", ID: id})
	if err != nil {
		t.Fatal(err)
	}
	return job
}

func placedOn(job cluster.Job, nodes ...cluster.NodeID) cluster.Plan {
	d := cluster.Decision{Workload: job.Workloads[0].ID, Outcome: cluster.Placed, Count: 1, Resources: job.Workloads[0].Ask}
	for i, n := range nodes {
		d.Candidates = append(d.Candidates, cluster.Candidate{Node: n, Name: string(n), Score: 1 - float64(i)/10})
	}
	return cluster.Plan{Job: job, Decisions: []cluster.Decision{d}, Page: "why", Message: "placed"}
}

func TestJobs(t *testing.T) {
	t.Parallel()
	w, server, ctx := testWorld(t)
	server.Submit(testJob("held", "ok"), "")
	server.Submit(testJob("plain", ""), "")
	server.Submit(testJob("bad", "broken"), "")
	bypassed := testJob("bypassed", "ok")
	bypassed["NodePool"] = "prod"
	server.Submit(bypassed, "")
	other := testJob("other", "")
	other["NodePool"] = "prod"
	server.Submit(other, "")
	ours := testJob(labJobPrefix+"1", "ok")
	ours["NodePool"], ours["Meta"] = "prod", nomadtest.Object{metaOwner: DefaultOwner}
	server.Submit(ours, "")
	server.Submit(testJob("stopped", "ok"), "")
	server.Stop("default", "stopped")

	jobs, err := w.Jobs(ctx)
	if err != nil {
		t.Fatal(err)
	}
	byID := map[string]cluster.Job{}
	for _, j := range jobs {
		byID[j.ID.ID] = j
	}
	if len(jobs) != 4 {
		t.Fatalf("%d jobs: %v", len(jobs), byID)
	}
	if j := byID["held"]; !j.Held || j.RunPool != "prod" || len(j.Workloads) != 1 || j.Workloads[0].Ask != (cluster.Resources{CPUMHz: 100, MemoryMB: 64, DiskMB: 300}) {
		t.Errorf("held: %+v", j)
	}
	if j := byID["plain"]; !j.Held || len(j.Workloads) != 0 || len(j.Problems) != 0 {
		t.Errorf("a held job without a block: %+v", j)
	}
	if j := byID["bad"]; len(j.Workloads) != 0 || len(j.Problems) != 1 || !strings.Contains(j.Problems[0], "bad/g/performance:1:1") {
		t.Errorf("bad: %+v", j)
	}
	if j := byID["bypassed"]; j.Held || j.RunPool != "prod" {
		t.Errorf("bypassed: %+v", j)
	}
	if _, err := w.Job(ctx, cluster.JobID{Namespace: "default", ID: "stopped"}); !errors.Is(err, cluster.ErrGone) {
		t.Errorf("stopped: %v", err)
	}
	if _, err := w.Job(ctx, cluster.JobID{Namespace: "default", ID: "never"}); !errors.Is(err, cluster.ErrGone) {
		t.Errorf("never: %v", err)
	}
}

// What becomes of a group's data when an allocation moves is read with it.
func TestJobsSayWhereTheirDataAre(t *testing.T) {
	t.Parallel()
	w, server, ctx := testWorld(t)
	job := testJob("store", "ok")
	group := job["TaskGroups"].([]any)[0].(nomadtest.Object)
	group["EphemeralDisk"] = nomadtest.Object{"SizeMB": 300, "Migrate": true}
	group["Volumes"] = nomadtest.Object{
		"a": nomadtest.Object{"Type": "csi", "Source": "remote"},
		"b": nomadtest.Object{"Type": "host", "Source": "pg-1"},
	}
	server.Submit(job, "")
	server.Submit(testJob("plain", "ok"), "")
	if got := mustJob(t, w, ctx, "store").Workloads[0]; got.Pinned != "pg-1" || !got.Migrates {
		t.Errorf("%+v", got)
	}
	if got := mustJob(t, w, ctx, "plain").Workloads[0]; got.Pinned != "" || got.Migrates {
		t.Errorf("%+v", got)
	}
}

// What may still be promised of a disk is shown in whole MB/s, never more than there is, and
// taken away where it is not known any more.
func TestFreeDiskBandwidthIsShown(t *testing.T) {
	t.Parallel()
	w, server, ctx := testWorld(t)
	free := 38.9
	for _, c := range []struct {
		free *float64
		want string
	}{{&free, "38"}, {nil, ""}} {
		if err := w.Publish(ctx, maps.All(map[cluster.NodeID]cluster.Pressure{"n1": {DiskFreeMBPerSec: c.free}})); err != nil {
			t.Fatal(err)
		}
		if got := server.NodeMeta("n1")[disk.FreeKey]; got != c.want {
			t.Errorf("shown is %q, want %q", got, c.want)
		}
		<-w.clock.After(time.Minute) // a node is not written at once again
	}
}

// The mark of jobs made here hides no user's job: not one that waits in the hold pool,
// whatever its name, and not one that passed it.
func TestTheOwnersMarkHidesNoUsersJob(t *testing.T) {
	t.Parallel()
	w, server, ctx := testWorld(t)
	for _, id := range []string{"web", labJobPrefix + "mine", transferJobPrefix + "mine"} {
		job := testJob(id, "ok")
		job["Meta"] = nomadtest.Object{metaOwner: DefaultOwner}
		server.Submit(job, "")
	}
	passed := testJob("passed", "ok")
	passed["NodePool"], passed["Meta"] = "prod", nomadtest.Object{metaOwner: "me"}
	server.Submit(passed, "")
	jobs, err := w.Jobs(ctx)
	if err != nil || len(jobs) != 4 {
		t.Fatalf("%d jobs, %v: want all four", len(jobs), err)
	}
	for _, job := range jobs {
		if len(job.Warnings) != 1 || !strings.Contains(job.Warnings[0], metaOwner) {
			t.Errorf("%s: warnings %q", job.ID, job.Warnings)
		}
	}
}

// A batch job that has ended is known as such, from the list and from events.
func TestACompleteJobIsKnown(t *testing.T) {
	t.Parallel()
	w, server, ctx := testWorld(t)
	job := testJob("digest", "ok")
	job["Type"] = "batch"
	server.Submit(job, "")
	if j := mustJob(t, w, ctx, "digest"); j.Complete {
		t.Error("complete before it ran")
	}
	if _, err := w.Jobs(ctx); err != nil { // now it is in the cache
		t.Fatal(err)
	}
	server.SetStatus("default", "digest", "dead")
	jobs, err := w.Jobs(ctx)
	if err != nil || len(jobs) != 1 || !jobs[0].Complete {
		t.Errorf("jobs %+v, %v", jobs, err)
	}
}

func TestJobsReadsOnlyWhatChanged(t *testing.T) {
	t.Parallel()
	w, server, ctx := testWorld(t)
	server.Submit(testJob("a", "ok"), "")
	server.Submit(testJob("b", "ok"), "")
	if _, err := w.Jobs(ctx); err != nil {
		t.Fatal(err)
	}
	server.Fail(http.MethodGet, "/v1/job/a", http.StatusForbidden, 1, "must not be read again")
	server.Submit(testJob("b", "ok"), "")
	jobs, err := w.Jobs(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if len(jobs) != 2 || jobs[1].Version != 1 {
		t.Errorf("jobs %+v", jobs)
	}
}

func TestSnapshot(t *testing.T) {
	t.Parallel()
	w, server, ctx := testWorld(t)
	server.PutAlloc(nomadtest.Object{
		"ID": "a1", "Namespace": "ns", "JobID": "x", "TaskGroup": "g", "NodeID": "n1", "JobVersion": 4,
		"DesiredStatus": "run", "ClientStatus": "running",
		"AllocatedResources": nomadtest.Object{
			"Tasks": nomadtest.Object{
				"main": nomadtest.Object{"Cpu": nomadtest.Object{"CpuShares": 4000, "ReservedCores": []int{0, 1}}, "Memory": nomadtest.Object{"MemoryMB": 100}},
				"init": nomadtest.Object{"Cpu": nomadtest.Object{"CpuShares": 500}, "Memory": nomadtest.Object{"MemoryMB": 30}},
			},
			"TaskLifecycles": nomadtest.Object{"main": nil, "init": nomadtest.Object{"Hook": "prestart"}},
			"Shared":         nomadtest.Object{"DiskMB": 300},
		},
	})
	server.PutAlloc(nomadtest.Object{"ID": "a2", "Namespace": "default", "JobID": labJobPrefix + "1", "NodeID": "n2", "DesiredStatus": "run", "ClientStatus": "pending"})
	server.PutAlloc(nomadtest.Object{"ID": "a3", "Namespace": "default", "JobID": "x", "NodeID": "n2", "DesiredStatus": "stop", "ClientStatus": "running"})
	server.PutAlloc(nomadtest.Object{"ID": "a4", "Namespace": "default", "JobID": "x", "NodeID": "n2", "DesiredStatus": "run", "ClientStatus": "complete"})

	s, err := w.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Nodes) != 2 || s.Nodes[0].ID != "n1" || s.Known != nil {
		t.Fatalf("snapshot %+v", s)
	}
	n1, n2 := s.Nodes[0], s.Nodes[1]
	if !n1.Ready || !n1.Kernels || n1.Configuration != "fast" || n1.CoreMHz != 2000 || n1.Total != (cluster.Resources{CPUMHz: 4000, Cores: 2, MemoryMB: 4096, DiskMB: 10000}) {
		t.Errorf("n1 %+v", n1)
	}
	if n2.Kernels || n2.Configuration != "odd" {
		t.Errorf("n2 %+v", n2)
	}
	a := s.Allocations["n1"]
	if len(a) != 1 || a[0].Version != 4 || a[0].Profiling || a[0].Resources != (cluster.Resources{CPUMHz: 500, Cores: 2, MemoryMB: 100, DiskMB: 300}) {
		t.Errorf("allocations of n1: %+v", a)
	}
	if a := s.Allocations["n2"]; len(a) != 1 || !a[0].Profiling {
		t.Errorf("allocations of n2: %+v", a)
	}
	// Nothing changed: nothing but the two index questions is asked.
	server.Fail(http.MethodGet, "/v1/node/", http.StatusForbidden, 100, "must not be read again")
	again, err := w.Snapshot(ctx)
	if err != nil || again.Index != s.Index {
		t.Errorf("again %+v, %v", again, err)
	}
}

func TestApply(t *testing.T) {
	t.Parallel()
	w, server, ctx := testWorld(t)
	server.AutoPlace = true
	server.Submit(testJob("web", "ok"), "# the source")
	job := mustJob(t, w, ctx, "web")
	plan := placedOn(job, "n2", "n1")
	result, err := w.Apply(ctx, plan)
	if err != nil {
		t.Fatal(err)
	}
	stored := object(server.Job("default", "web"))
	if result.Version != 1 || result.Unchanged || result.ModifyIndex != stored.index("JobModifyIndex") {
		t.Errorf("result %+v, stored %v", result, stored)
	}
	if stored.text("NodePool") != "prod" || server.Source("default", "web", 1) != "# the source" {
		t.Errorf("pool %q, source %q", stored.text("NodePool"), server.Source("default", "web", 1))
	}
	if notes := server.Notes(); len(notes) != 1 || notes[0].Message != "placed" || notes[0].Group != "g" {
		t.Errorf("notes %+v", notes)
	}
	again := plan
	again.Job = mustJob(t, w, ctx, "web")
	if r, err := w.Apply(ctx, again); err != nil || !r.Unchanged || r.ModifyIndex != result.ModifyIndex {
		t.Errorf("again: %+v, %v", r, err)
	}
	if notes := server.Notes(); len(notes) != 1 {
		t.Errorf("an unchanged job was noted again: %+v", notes)
	}
	if _, err := w.Apply(ctx, plan); !errors.Is(err, cluster.ErrStale) {
		t.Errorf("stale: %v", err)
	}
	server.Stop("default", "web")
	if _, err := w.Apply(ctx, again); !errors.Is(err, cluster.ErrGone) {
		t.Errorf("gone: %v", err)
	}
}

// A job that was registered as decided is not written again, and its books are kept.
func TestAdopt(t *testing.T) {
	t.Parallel()
	w, server, ctx := testWorld(t)
	server.Submit(testJob("web", "ok"), "# the source")
	plan := placedOn(mustJob(t, w, ctx, "web"), "n2", "n1")
	w.Adopt(plan)
	if stored := object(server.Job("default", "web")); stored.index("Version") != 0 || stored.text("NodePool") != "placer" {
		t.Errorf("the job was written: %v", stored)
	}
	if notes := server.Notes(); len(notes) > 0 {
		t.Errorf("notes %+v: each is a write, and the job says the same", notes)
	}
	s, err := w.Snapshot(ctx)
	if err != nil || len(s.Reserved["n2"]) != 1 {
		t.Errorf("reserved %v, %v", s.Reserved, err)
	}
}

func TestApplyWithoutDecision(t *testing.T) {
	t.Parallel()
	w, server, ctx := testWorld(t)
	server.Submit(testJob("bad", "broken"), "")
	job := mustJob(t, w, ctx, "bad")
	if _, err := w.Apply(ctx, cluster.Plan{Job: job, Page: job.Problems[0], Message: "released to stock rules"}); err != nil {
		t.Fatal(err)
	}
	stored := object(server.Job("default", "bad"))
	if stored.text("NodePool") != "prod" || !strings.Contains(stored.object("UI").text("Description"), "nothing is known") {
		t.Errorf("stored %v", stored)
	}
	if notes := server.Notes(); len(notes) != 1 || notes[0].Message != "released to stock rules" {
		t.Errorf("notes %+v", notes)
	}
}

func TestApplyLosesTheRace(t *testing.T) {
	t.Parallel()
	w, server, ctx := testWorld(t)
	server.Submit(testJob("web", "ok"), "")
	raw, err := w.nomad.rawJob(ctx, cluster.JobID{Namespace: "default", ID: "web"})
	if err != nil {
		t.Fatal(err)
	}
	next := object(Release(raw, "placer", "prod"))
	server.Submit(testJob("web", "ok"), "")
	if _, err := w.register(ctx, raw, next); !errors.Is(err, cluster.ErrStale) {
		t.Errorf("a newer version: %v", err)
	}
	server.Stop("default", "web")
	if _, err := w.register(ctx, raw, next); !errors.Is(err, cluster.ErrGone) {
		t.Errorf("stopped: %v", err)
	}
}

func TestApplyRetries(t *testing.T) {
	t.Parallel()
	w, server, ctx := testWorld(t)
	server.Submit(testJob("web", "ok"), "")
	plan := placedOn(mustJob(t, w, ctx, "web"), "n1")
	server.Fail(http.MethodGet, "/v1/job/web", http.StatusInternalServerError, 2, "No cluster leader")
	server.Fail(http.MethodPut, "/v1/job/web", http.StatusInternalServerError, 2, "No cluster leader")
	if _, err := w.Apply(ctx, plan); err != nil {
		t.Errorf("with a leader election under way: %v", err)
	}
	server.Submit(testJob("web", "ok"), "")
	plan = placedOn(mustJob(t, w, ctx, "web"), "n1")
	server.Fail(http.MethodPut, "/v1/job/web", http.StatusForbidden, 1, "Permission denied")
	if _, err := w.Apply(ctx, plan); statusOf(err) != http.StatusForbidden || !errors.Is(err, cluster.ErrRefused) {
		t.Errorf("a refusal is not retried: %v", err)
	}
}

func TestSystemJobsGetNoNote(t *testing.T) {
	t.Parallel()
	w, server, ctx := testWorld(t)
	spec := testJob("sys", "ok")
	spec["Type"] = "system"
	server.Submit(spec, "")
	job := mustJob(t, w, ctx, "sys")
	if _, err := w.Apply(ctx, placedOn(job, "n1", "n2")); err != nil {
		t.Fatal(err)
	}
	if err := w.Note(ctx, job.Workloads[0].ID, "a note", false); err != nil {
		t.Error(err)
	}
	if notes := server.Notes(); len(notes) != 0 {
		t.Errorf("notes %+v", notes)
	}
}

func TestReservations(t *testing.T) {
	t.Parallel()
	w, server, ctx := testWorld(t)
	server.Submit(testJob("web", "ok"), "")
	plan := placedOn(mustJob(t, w, ctx, "web"), "n2", "n1")
	plan.Decisions[0].Count = 3
	if _, err := w.Apply(ctx, plan); err != nil {
		t.Fatal(err)
	}
	reserved := func() string {
		s, err := w.Snapshot(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("n1:%d n2:%d", len(s.Reserved["n1"]), len(s.Reserved["n2"]))
	}
	if got := reserved(); got != "n1:1 n2:2" {
		t.Errorf("after the plan %s", got)
	}
	alloc := func(id, node string, version int) {
		server.PutAlloc(nomadtest.Object{"ID": id, "Namespace": "default", "JobID": "web", "TaskGroup": "g", "NodeID": node,
			"JobVersion": version, "DesiredStatus": "run", "ClientStatus": "pending"})
	}
	alloc("old", "n1", 0)
	if got := reserved(); got != "n1:1 n2:2" {
		t.Errorf("an allocation of the old version: %s", got)
	}
	alloc("new", "n2", 1)
	if got := reserved(); got != "n1:1 n2:1" {
		t.Errorf("one seen: %s", got)
	}
	alloc("elsewhere", "n9", 1)
	if got := reserved(); got != "n1:1 n2:0" {
		t.Errorf("one seen on another node: %s", got)
	}
	w.clock.After(reservationTTL + time.Second)
	if got := reserved(); got != "n1:0 n2:0" {
		t.Errorf("expired: %s", got)
	}
}

func TestHoldPool(t *testing.T) {
	t.Parallel()
	w, server, ctx := testWorld(t)
	server.AddNode(nomadtest.Node{ID: "n3", Name: "lost", Pool: DefaultHoldPool})
	intruders, err := w.EnsureHoldPool(ctx)
	if err != nil || len(intruders) != 1 || intruders[0] != "lost" {
		t.Errorf("intruders %v, %v", intruders, err)
	}
	w.opts.RunPool = w.opts.HoldPool
	if _, err := w.EnsureHoldPool(ctx); err == nil {
		t.Error("hold pool and run pool may be the same")
	}
}

func TestPublish(t *testing.T) {
	t.Parallel()
	w, server, ctx := testWorld(t)
	if _, err := w.Snapshot(ctx); err != nil {
		t.Fatal(err)
	}
	clock := w.clock.(*jumpClock)
	publish := func(tolerated, caused interference.Score) map[string]string {
		t.Helper()
		err := w.Publish(ctx, maps.All(map[cluster.NodeID]cluster.Pressure{"n1": {
			Tolerated: interference.Scores{interference.TLB: {Score: tolerated}},
			Caused:    interference.Scores{interference.TLB: {Score: caused}},
		}}))
		if err != nil {
			t.Fatal(err)
		}
		return server.NodeMeta("n1")
	}
	if m := publish(interference.Percent(70.9), interference.Percent(10.1)); m["unique.placer_headroom_tlb"] != "70" || m["unique.placer_caused_tlb"] != "11" {
		t.Errorf("meta %v", m)
	}
	if m := publish(interference.Percent(50), interference.Unknown); m["unique.placer_headroom_tlb"] != "70" {
		t.Errorf("written again within %s: %v", pressureMinInterval, m)
	}
	clock.After(pressureMinInterval)
	m := publish(interference.Percent(50), interference.Unknown)
	if _, shown := m["unique.placer_caused_tlb"]; shown || m["unique.placer_headroom_tlb"] != "50" {
		t.Errorf("unknown is shown as a number: %v", m)
	}
}

func TestPressureBudget(t *testing.T) {
	t.Parallel()
	b := newPressureBoard()
	now := time.Unix(1, 0)
	writes := 0
	for i := range 100 {
		if len(b.take(cluster.NodeID(fmt.Sprint(i)), map[string]string{"k": "1"}, nil, now)) > 0 {
			writes++
		}
	}
	if writes != pressureBurst {
		t.Errorf("%d writes at once", writes)
	}
}

func TestElection(t *testing.T) {
	t.Parallel()
	w, server, ctx := testWorld(t)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	elected := make(chan context.Context, 4)
	ended := make(chan error, 2)
	lead := func(ctx context.Context) error {
		elected <- ctx
		<-ctx.Done()
		return ctx.Err()
	}
	want := Leader{Address: "a:1", Instance: "made-up", Loopback: "here"}
	go func() { ended <- w.NewElector(want).Run(ctx, lead) }()
	first := <-elected
	if got, err := w.Leader(ctx); got != want || err != nil {
		t.Errorf("leader %+v, %v", got, err)
	}
	go func() { ended <- w.NewElector(Leader{Address: "b:1"}).Run(ctx, lead) }()
	server.ExpireLock("default", LeaderPath)
	<-first.Done() // the loss is noticed
	<-elected      // one leads again
	cancel()
	for range 2 {
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Run ended with %v", err)
		}
	}
	elector := w.NewElector(Leader{Address: "c:1"})
	if _, err := elector.tryAcquire(context.Background()); err != nil {
		t.Errorf("the lock was not given up: %v", err)
	}
}

// The lock is where the records are, which may be a namespace of its own.
func TestElectionInANamespaceOfItsOwn(t *testing.T) {
	t.Parallel()
	w, _, ctx := testWorld(t)
	w.opts.RecordsNamespace = "own"
	want := Leader{Address: "a:1"}
	if _, err := w.NewElector(want).tryAcquire(ctx); err != nil {
		t.Fatal(err)
	}
	if got, err := w.Leader(ctx); got != want || err != nil {
		t.Errorf("leader %+v, %v", got, err)
	}
	w.opts.RecordsNamespace = ""
	if got, err := w.Leader(ctx); got != (Leader{}) || err != nil {
		t.Errorf("the namespace default has the leader %+v, %v", got, err)
	}
}

func TestElectionReturnsTheError(t *testing.T) {
	t.Parallel()
	w, _, ctx := testWorld(t)
	broken := errors.New("broken")
	if err := w.NewElector(Leader{Address: "a:1"}).Run(ctx, func(context.Context) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("Run ended with %v", err)
	}
}

func TestEventsWake(t *testing.T) {
	t.Parallel()
	w, server, ctx := testWorld(t)
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- w.readEvents(ctx) }()
	awaitFollowed(t, w)
	server.Submit(testJob("web", "ok"), "")
	<-w.Changed()
	cancel()
	<-ended
}

func TestProfile(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		complete  bool
		status    string
		userEvent nomadtest.Object
		want      error
		text      string
	}{
		"complete":          {true, "complete", nomadtest.Object{"Type": "Leader Task Dead"}, nil, ""},
		"crashed":           {false, "failed", nomadtest.Object{"Type": "Terminated", "ExitCode": 3}, cluster.ErrWorkloadFailed, "exit code 3; its last output: out of luck"},
		"finished early":    {false, "complete", nomadtest.Object{"Type": "Terminated", "ExitCode": 0}, cluster.ErrWorkloadFailed, "exit code 0"},
		"profiler gave up":  {false, "complete", nomadtest.Object{"Type": "Leader Task Dead"}, ErrNoResult, "too noisy"},
		"node went missing": {false, "lost", nil, cluster.ErrNodeLost, "alpha"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, server, ctx := testWorld(t)
			spec := testJob("web", "ok")
			server.Submit(spec, "")
			job := mustJob(t, w, ctx, "web")
			s, err := w.Snapshot(ctx)
			if err != nil {
				t.Fatal(err)
			}
			var seen []profiler.Progress
			w.opts.OnProgress = func(id string, p profiler.Progress) { seen = append(seen, p) }
			server.AutoPlace = true
			server.OnAlloc = func(alloc nomadtest.Object) {
				alloc["ClientStatus"] = c.status
				events := []any{}
				if c.userEvent != nil {
					events = append(events, c.userEvent)
				}
				alloc["TaskStates"] = nomadtest.Object{
					"main":  nomadtest.Object{"State": "dead", "Failed": c.status == "failed", "Events": events},
					labTask: nomadtest.Object{"State": "dead", "Events": []any{}},
				}
			}
			const allocID = "00000000-0000-0000-0000-000000000001"
			p := profile.Profile{Format: profile.Format, Key: job.Workloads[0].ProfileKey, Machine: onAlpha, Complete: c.complete, Warnings: []string{"too noisy"}}
			writeJSON(t, server, allocID, profiler.ResultDir+"/"+profiler.ResultFile, p)
			writeJSON(t, server, allocID, profiler.ResultDir+"/"+profiler.ProgressFile, profiler.Progress{Phase: "done", Fraction: 1})
			server.WriteFile(allocID, "alloc/logs/main.stderr.0", []byte("out of luck\n"))
			got, err := w.Profile(ctx, cluster.ProfileRequest{ID: "run/1", Job: job, Workload: job.Workloads[0], Node: *s.Nodes[0], Seconds: 10})
			if !errors.Is(err, c.want) || c.want != nil && !strings.Contains(err.Error(), c.text) {
				t.Errorf("error %v, want %v with %q", err, c.want, c.text)
			}
			if got.Complete != c.complete {
				t.Errorf("profile %+v", got)
			}
			if c.status != "lost" && (len(seen) != 1 || seen[0].Phase != "done") {
				t.Errorf("progress %+v", seen)
			}
			if ids := server.JobIDs(); len(ids) != 1 {
				t.Errorf("left behind: %v", ids)
			}
		})
	}
}

// told gives the same advice to every look.
type told struct {
	advice profile.Advice
	looks  []profile.SoFar
}

func (r *told) Review(now profile.SoFar) profile.Advice {
	r.looks = append(r.looks, now)
	return r.advice
}

func (r *told) Ended() string { return "" }

// A run under way is shown once per state, and told once per advice; what is not of this run
// is not shown.
func TestARunIsAdvised(t *testing.T) {
	t.Parallel()
	const allocID = "00000000-0000-0000-0000-000000000001"
	for name, c := range map[string]struct {
		change func(*profile.SoFar)
		advice profile.Advice
		looks  int
		want   []string
	}{
		"advised":     {nil, profile.Advice{Leave: "mem_bw", Sources: []interference.Source{"llc_cap"}}, 1, []string{labTask + " ADVICE=mem_bw:llc_cap"}},
		"enough":      {nil, profile.Advice{Leave: "mem_bw", Sources: []interference.Source{}}, 1, []string{labTask + " ADVICE=mem_bw:"}},
		"no advice":   {nil, profile.Advice{}, 1, nil},
		"of another":  {func(now *profile.SoFar) { now.Profile.Key = "other" }, profile.Advice{Sources: []interference.Source{}}, 0, nil},
		"no run says": {func(now *profile.SoFar) { now.Seconds = -1 }, profile.Advice{Sources: []interference.Source{}}, 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, server, ctx, job := runningJob(t)
			server.AutoPlace = true
			server.OnAlloc = func(alloc nomadtest.Object) {
				alloc["ClientStatus"] = "running"
				alloc["TaskStates"] = nomadtest.Object{labTask: nomadtest.Object{"State": "running", "Events": []any{}}}
			}
			s, err := w.Snapshot(ctx)
			if err != nil {
				t.Fatal(err)
			}
			p := profile.Profile{Format: profile.Format, Key: job.Workloads[0].ProfileKey, Machine: onAlpha}
			now := profile.SoFar{Profile: p, Source: "mem_bw", SourceSeconds: 2, Seconds: 5}
			if c.change != nil {
				c.change(&now)
			}
			writeJSON(t, server, allocID, profiler.ResultDir+"/"+profiler.SoFarFile, now)
			writeJSON(t, server, allocID, profiler.ResultDir+"/"+profiler.ProgressFile, profiler.Progress{Phase: profiler.PhaseRamp, Fraction: 0.1})
			polls := 0
			w.opts.OnProgress = func(string, profiler.Progress) {
				if polls++; polls < 3 { // a new state of the run, with nothing new measured
					writeJSON(t, server, allocID, profiler.ResultDir+"/"+profiler.ProgressFile, profiler.Progress{Phase: profiler.PhaseRamp, Fraction: 0.1 * float64(1+polls)})
					return
				}
				p.Complete, p.Ended = true, "it says so itself"
				writeJSON(t, server, allocID, profiler.ResultDir+"/"+profiler.ResultFile, p)
				server.UpdateAllocs(job.ID.Namespace, labJobOf(server), func(alloc nomadtest.Object) { alloc["ClientStatus"] = "complete" })
			}
			reviewer := &told{advice: c.advice}
			got, err := w.Profile(ctx, cluster.ProfileRequest{ID: "1", Job: job, Workload: job.Workloads[0], Node: *s.Nodes[0], Seconds: 10, Reviewer: reviewer})
			if err != nil || !got.Complete || got.Ended != "" {
				t.Errorf("%+v, %v", got, err)
			}
			if len(reviewer.looks) != c.looks || !slices.Equal(server.Signals(), c.want) {
				t.Errorf("%d looks, signals %q, want %d and %q", len(reviewer.looks), server.Signals(), c.looks, c.want)
			}
		})
	}
}

// labJobOf is the id of the profiling job.
func labJobOf(server *nomadtest.Server) string {
	for _, id := range server.JobIDs() {
		if strings.HasPrefix(id, labJobPrefix) {
			return id
		}
	}
	return ""
}

// onAlpha is what a profile says of the node on which these runs are.
var onAlpha = profile.Machine{NodeID: "n1", Configuration: "fast"}

// What lies where tasks can write is not read, and what no run can have measured is not taken.
func TestAResultIsNotBelieved(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		dir    string
		change func(*profile.Profile)
		want   string
	}{
		"in the shared directory": {"alloc/", nil, "wrote no profile"},
		"of another workload":     {"", func(p *profile.Profile) { p.Key = "other" }, "belongs to another workload"},
		"of another node":         {"", func(p *profile.Profile) { p.Machine.NodeID = "n2" }, `it is of node "n2"`},
		"of another configuration": {"", func(p *profile.Profile) {
			p.Isolated = map[string]profile.Measurement{"slow": {Value: 1}}
		}, "where it did not run"},
		"of others":      {"", func(p *profile.Profile) { p.Provenance = &profile.Provenance{} }, "where it comes from"},
		"no measurement": {"", func(p *profile.Profile) { p.Isolated = map[string]profile.Measurement{"fast": {Value: -1}} }, "alone.value"},
		"a newer format": {"", func(p *profile.Profile) { p.Format++ }, "of one release"},
		"too large":      {"", func(p *profile.Profile) { p.Key = strings.Repeat("x", maxResultBytes) }, "larger than 1024 KiB"},
	} {
		w, server, ctx, job := runningJob(t)
		server.AutoPlace = true
		server.OnAlloc = func(alloc nomadtest.Object) { alloc["ClientStatus"] = "complete" }
		s, err := w.Snapshot(ctx)
		if err != nil {
			t.Fatal(err)
		}
		p := profile.Profile{Format: profile.Format, Key: job.Workloads[0].ProfileKey, Machine: onAlpha, Complete: true}
		if c.change != nil {
			c.change(&p)
		}
		writeJSON(t, server, "00000000-0000-0000-0000-000000000001", cmp.Or(c.dir, profiler.ResultDir+"/")+profiler.ResultFile, p)
		got, err := w.Profile(ctx, cluster.ProfileRequest{ID: "1", Job: job, Workload: job.Workloads[0], Node: *s.Nodes[0], Seconds: 10})
		if err == nil || !strings.Contains(err.Error(), c.want) || got.Complete {
			t.Errorf("%s: %v, want %q; %+v", name, err, c.want, got)
		}
	}
}

func writeJSON(t *testing.T, server *nomadtest.Server, allocID, path string, v any) {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	server.WriteFile(allocID, path, b)
}

func TestProfileRefusals(t *testing.T) {
	t.Parallel()
	w, server, ctx := testWorld(t)
	server.Submit(testJob("web", "ok"), "")
	job := mustJob(t, w, ctx, "web")
	s, err := w.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	request := cluster.ProfileRequest{ID: "1", Job: job, Workload: job.Workloads[0], Node: *s.Nodes[1], Seconds: 10}
	if _, err := w.Profile(ctx, request); !errors.Is(err, cluster.ErrNoKernels) {
		t.Errorf("no driver: %v", err)
	}
	request.Node = *s.Nodes[0]
	if _, err := w.Profile(ctx, request); !errors.Is(err, ErrNotPlaced) { // AutoPlace is off
		t.Errorf("never placed: %v", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	server.AutoPlace = true
	server.OnAlloc = func(nomadtest.Object) { cancel() }
	if _, err := w.Profile(ctx, request); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if ids := server.JobIDs(); len(ids) != 1 {
		t.Errorf("left behind: %v", ids)
	}
}

// The result of a run is of its node, so one that is on another node is not adopted.
func TestARunOnAnotherNodeIsReplaced(t *testing.T) {
	t.Parallel()
	w, server, ctx := testWorld(t)
	server.Submit(testJob("web", "ok"), "")
	job := mustJob(t, w, ctx, "web")
	s, err := w.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	request := cluster.ProfileRequest{ID: "1", Job: job, Workload: job.Workloads[0], Node: *s.Nodes[1], Seconds: 10}
	raw, err := w.nomad.rawJob(ctx, job.ID)
	if err != nil {
		t.Fatal(err)
	}
	elsewhere, err := labJob(raw, request, DefaultOwner)
	if err != nil {
		t.Fatal(err)
	}
	server.Submit(elsewhere, "")
	server.Submit(testJob(labJobPrefix+"2", ""), "") // somebody else's
	if runs, err := w.Runs(ctx); err != nil || !maps.Equal(runs, map[string]cluster.NodeID{"1": s.Nodes[1].ID}) {
		t.Errorf("runs %v, %v", runs, err)
	}
	var placed []string
	server.AutoPlace = true
	server.OnAlloc = func(alloc nomadtest.Object) {
		placed = append(placed, alloc["NodeID"].(string))
		alloc["ClientStatus"] = "failed"
	}
	request.Node = *s.Nodes[0]
	if _, err := w.Profile(ctx, request); err == nil {
		t.Error("a run that failed was no error")
	}
	if len(placed) != 1 || placed[0] != string(s.Nodes[0].ID) {
		t.Errorf("placed on %v, asked for on %s", placed, s.Nodes[0].ID)
	}
}

func TestProfileAdopts(t *testing.T) {
	t.Parallel()
	w, server, ctx := testWorld(t)
	server.Submit(testJob("web", "ok"), "")
	job := mustJob(t, w, ctx, "web")
	s, _ := w.Snapshot(ctx)
	request := cluster.ProfileRequest{ID: "1", Job: job, Workload: job.Workloads[0], Node: *s.Nodes[0], Seconds: 10}
	raw, err := w.nomad.rawJob(ctx, job.ID)
	if err != nil {
		t.Fatal(err)
	}
	running, err := labJob(raw, request, DefaultOwner)
	if err != nil {
		t.Fatal(err)
	}
	server.AutoPlace = true
	server.OnAlloc = func(alloc nomadtest.Object) { alloc["ClientStatus"] = "complete" }
	server.Submit(running, "")
	writeJSON(t, server, "00000000-0000-0000-0000-000000000001", profiler.ResultDir+"/"+profiler.ResultFile,
		profile.Profile{Format: profile.Format, Key: request.Workload.ProfileKey, Machine: onAlpha, Complete: true})
	if p, err := w.Profile(ctx, request); err != nil || !p.Complete {
		t.Errorf("adopted run: %+v, %v", p, err)
	}
	foreign := testJob(labJobID("1"), "")
	server.Submit(foreign, "")
	if _, err := w.Profile(ctx, request); err == nil || !strings.Contains(err.Error(), "not created by the placer") {
		t.Errorf("somebody else's job of that name: %v", err)
	}
}

func TestSweep(t *testing.T) {
	t.Parallel()
	w, server, ctx := testWorld(t)
	for _, id := range []string{"keep", "drop"} {
		spec := testJob(labJobID(id), "")
		spec["Meta"] = nomadtest.Object{metaOwner: DefaultOwner, metaProfileID: id}
		server.Submit(spec, "")
	}
	server.Submit(testJob(labJobPrefix+"theirs", ""), "")
	if err := w.Sweep(ctx, map[string]bool{"keep": true}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(server.JobIDs(), " "); got != labJobPrefix+"keep "+labJobPrefix+"theirs" {
		t.Errorf("left: %s", got)
	}
}

// countingProbe reads the last work=N of the log.
func countingProbe(spec performance.ProbeSpec, r probe.Reach, task string) (probe.Probe, error) {
	return probeFunc(func(ctx context.Context) (performance.Reading, error) {
		b, _, err := r.ReadLog(ctx, task, "stdout", 0, 1<<20)
		if err != nil {
			return performance.Reading{}, err
		}
		at := strings.LastIndex(string(b), "work=")
		if at < 0 {
			return performance.Reading{}, probe.ErrNoSuchData
		}
		var n, second float64
		if _, err := fmt.Sscanf(string(b[at:]), "work=%f at=%f", &n, &second); err != nil {
			return performance.Reading{}, err
		}
		return performance.Reading{At: time.Unix(int64(second), 0), Work: n, RateNow: math.NaN()}, nil
	}), nil
}

type probeFunc func(ctx context.Context) (performance.Reading, error)

func (f probeFunc) Read(ctx context.Context) (performance.Reading, error) { return f(ctx) }

func TestObserve(t *testing.T) {
	t.Parallel()
	w, server, ctx := testWorld(t)
	server.Submit(testJob("web", "ok"), "")
	workload := mustJob(t, w, ctx, "web").Workloads[0]
	alloc := func(id, status string, version int, state nomadtest.Object) {
		server.PutAlloc(nomadtest.Object{"ID": id, "Namespace": "default", "JobID": "web", "TaskGroup": "g", "NodeID": "n1",
			"JobVersion": version, "DesiredStatus": "run", "ClientStatus": status, "TaskStates": nomadtest.Object{"main": state}})
	}
	running := nomadtest.Object{"State": "running"}
	alloc("a-runs", "running", 2, running)
	alloc("b-mute", "running", 2, running)
	alloc("c-done", "complete", 2, nomadtest.Object{"State": "dead", "StartedAt": "2026-01-01T00:00:00Z", "FinishedAt": "2026-01-01T00:01:30Z"})
	alloc("d-dead", "failed", 2, nomadtest.Object{"State": "dead", "Failed": true, "Events": []any{nomadtest.Object{"Type": "Terminated", "ExitCode": 9}}})
	alloc("e-wait", "pending", 2, nomadtest.Object{"State": "pending"})
	alloc("f-old", "running", 1, running)
	server.WriteFile("a-runs", "alloc/logs/main.stdout.0", []byte("work=10 at=100\n"))
	server.WriteFile("b-mute", "alloc/logs/main.stdout.0", []byte("nothing to see\n"))
	w.clock = hookClock{w.clock, func() {
		server.WriteFile("a-runs", "alloc/logs/main.stdout.0", []byte("work=10 at=100\nwork=60 at=105\n"))
	}}
	list, err := w.Observe(ctx, workload, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 5 {
		t.Fatalf("%d observations: %+v", len(list), list)
	}
	if o := list[0]; o.Measure.RatePerSec != 10 || o.Window != 5*time.Second || o.Unavailable != "" || o.Node != "n1" {
		t.Errorf("running: %+v", o)
	}
	if o := list[2]; o.FinishedIn != 90*time.Second || o.Unavailable != "" {
		t.Errorf("done: %+v", o)
	}
	for i, text := range map[int]string{1: probe.ErrNoSuchData.Error(), 3: "code 9", 4: "not started"} {
		if !strings.Contains(list[i].Unavailable, text) {
			t.Errorf("observation %d: %+v, want why with %q", i, list[i], text)
		}
	}
}

// hookClock does something while a window passes.
type hookClock struct {
	cluster.Clock
	passing func()
}

func (c hookClock) After(d time.Duration) <-chan time.Time {
	c.passing()
	return c.Clock.After(d)
}

func TestReadLogAcrossRotation(t *testing.T) {
	t.Parallel()
	w, server, ctx := testWorld(t)
	r := w.newReach(observedStub{ID: "a", Namespace: "default"})
	file := func(n int, content string) {
		server.WriteFile("a", fmt.Sprintf("alloc/logs/main.stdout.%d", n), []byte(content))
	}
	var offset int64
	read := func() string {
		t.Helper()
		data, next, err := r.ReadLog(ctx, "main", "stdout", offset, 5)
		if err != nil {
			t.Fatal(err)
		}
		offset = next
		return string(data)
	}
	if got := read(); got != "" {
		t.Errorf("a log that is not there: %q", got)
	}
	file(3, "abcdefg")
	for i, want := range []string{"abcde", "fg", ""} {
		if got := read(); got != want {
			t.Errorf("read %d: %q, want %q", i, got, want)
		}
	}
	file(3, "abcdefgh")
	file(4, "ij")
	for i, want := range []string{"h", "ij", ""} {
		if got := read(); got != want {
			t.Errorf("after rotation, read %d: %q, want %q", i, got, want)
		}
	}
}

func TestReadLogStartsNearTheEnd(t *testing.T) {
	t.Parallel()
	w, server, ctx := testWorld(t)
	content := strings.Repeat("0123456789abcde\n", logTailBytes/8)
	server.WriteFile("a", "alloc/logs/main.stdout.0", []byte("12"+content))
	r := w.newReach(observedStub{ID: "a", Namespace: "default"})
	data, next, err := r.ReadLog(ctx, "main", "stdout", 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(data), "0123456789abcde\n") || next < int64(logTailBytes) {
		t.Errorf("first read gives %q and goes on at %d", data, next)
	}
}

// What is read while the list is in use is in the next list.
func TestAReadIsNotLostWhereTheListIsInUse(t *testing.T) {
	t.Parallel()
	w, server, ctx := testWorld(t)
	server.Submit(testJob("web", "ok"), "")
	if err := w.jobs.start(func() error { return w.readJobs(ctx) }); err != nil { // and no event comes
		t.Fatal(err)
	}
	index := server.Submit(testJob("web", "ok"), "")
	w.jobs.mu.Lock()
	_, err := w.Job(ctx, cluster.JobID{Namespace: "default", ID: "web"})
	w.jobs.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	if jobs, err := w.Jobs(ctx); err != nil || len(jobs) != 1 || jobs[0].ModifyIndex != index {
		t.Errorf("jobs %+v, %v", jobs, err)
	}
}

// An event that was lost leaves the list of jobs as it was. Who finds that out from a write, or
// from a job that is read by itself, is not told of the old version again.
func TestAListThatIsFoundOldIsCorrected(t *testing.T) {
	t.Parallel()
	for name, find := range map[string]func(*World, context.Context, cluster.Job) error{
		"a write": func(w *World, ctx context.Context, job cluster.Job) error {
			_, err := w.Apply(ctx, placedOn(job, "n1"))
			return err
		},
		"a read": func(w *World, ctx context.Context, job cluster.Job) error {
			_, err := w.Job(ctx, job.ID)
			return err
		},
		"a profile": func(w *World, ctx context.Context, job cluster.Job) error {
			_, err := w.Profile(ctx, cluster.ProfileRequest{Job: job, Node: cluster.Node{Kernels: true}})
			return err
		},
		"a release": func(w *World, ctx context.Context, job cluster.Job) error {
			_, err := w.ReleaseVersion(ctx, job.ID, job.ModifyIndex)
			return err
		},
	} {
		w, server, ctx := testWorld(t)
		server.Submit(testJob("web", "ok"), "")
		server.Submit(testJob("gone", "ok"), "")
		if err := w.jobs.start(func() error { return w.readJobs(ctx) }); err != nil { // and no event comes
			t.Fatal(err)
		}
		jobs, err := w.Jobs(ctx)
		if err != nil || len(jobs) != 2 {
			t.Fatalf("jobs %v, %v", jobs, err)
		}
		index := server.Submit(testJob("web", "ok"), "")
		server.Purge("default", "gone")
		for _, job := range jobs {
			if err := find(w, ctx, job); err != nil && !errors.Is(err, cluster.ErrStale) && !errors.Is(err, cluster.ErrGone) {
				t.Errorf("%s: %s: %v", name, job.ID, err)
			}
		}
		if jobs, err = w.Jobs(ctx); err != nil || len(jobs) != 1 || jobs[0].ModifyIndex != index {
			t.Errorf("%s: jobs %+v, %v, want the new version of web", name, jobs, err)
		}
	}
}
