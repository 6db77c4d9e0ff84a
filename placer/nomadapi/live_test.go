//go:build e2e

package nomadapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/probe"
)

// The tests of this file want a Nomad whose clients are in one pool that is not
// the hold pool and run raw_exec, at NOMAD_ADDR.

const livePatience = 30 * time.Second

func liveWorld(t *testing.T) (*World, context.Context) {
	t.Helper()
	if os.Getenv("NOMAD_ADDR") == "" {
		t.Skip("NOMAD_ADDR is not set: these tests need a real Nomad with raw_exec")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	w, err := New(Options{HoldPool: "placer-live", Decode: bestEffortOrRate, Probe: listedProbe})
	if err != nil {
		t.Fatal(err)
	}
	snapshot, err := w.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if len(snapshot.Nodes) == 0 {
		t.Fatal("the cluster has no node")
	}
	w.opts.RunPool = snapshot.Nodes[0].Pool
	if intruders, err := w.EnsureHoldPool(ctx); err != nil || len(intruders) > 0 {
		t.Fatalf("hold pool: intruders %v, error %v", intruders, err)
	}
	return w, ctx
}

func bestEffortOrRate(text, _ string) (performance.Spec, []string, error) {
	spec := performance.Spec{Target: performance.Target{Kind: performance.BestEffort}, SlowdownMaxPercent: 5}
	switch {
	case strings.Contains(text, "rate"):
		spec.Target = performance.Target{Kind: performance.Rate, Rate: 1}
		spec.Probe = &performance.ProbeSpec{Type: "log", Pattern: `work=(\d+)`}
	case !strings.Contains(text, "best_effort"):
		return spec, nil, fmt.Errorf("line 1: %q is no target", text)
	}
	return spec, nil, nil
}

func listedProbe(spec performance.ProbeSpec, reach probe.Reach, task string) (probe.Probe, error) {
	d, ok := probe.Lookup(spec.Type)
	if !ok {
		return nil, fmt.Errorf("no probe %q", spec.Type)
	}
	return d.New(spec, reach, task)
}

const liveSource = `# kept comment
job "%s" {
  node_pool = "%s"
  type      = "%s"
  group "g" {
    meta {
      performance = "rate"
    }
    task "main" {
      driver = "raw_exec"
      config {
        command = "/bin/sh"
        args    = ["-c", "i=0; while [ $i -lt %d ]; do i=$((i+1)); echo work=$i; sleep 0.1; done"]
      }
      resources {
        cpu    = 50
        memory = 20
      }
    }
  }
  ui {
    description = "my own words"
  }
}
`

// submit registers source as `nomad job run` does, with its text.
func submit(t *testing.T, w *World, ctx context.Context, kind string, lines int) cluster.JobID {
	t.Helper()
	name := "live-" + regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(t.Name()), "-")
	source := fmt.Sprintf(liveSource, name, w.opts.HoldPool, kind, lines)
	job, err := w.API().Jobs().ParseHCL(source, true)
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = w.API().Jobs().RegisterOpts(job, &api.RegisterOptions{Submission: &api.JobSubmission{Source: source, Format: "hcl2"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.RemoveJob(context.Background(), cluster.JobID{Namespace: "default", ID: name}); err != nil {
			t.Error(err)
		}
	})
	return cluster.JobID{Namespace: "default", ID: name}
}

func findJob(t *testing.T, w *World, ctx context.Context, id cluster.JobID) cluster.Job {
	t.Helper()
	jobs, err := w.Jobs(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range jobs {
		if j.ID == id {
			return j
		}
	}
	t.Fatalf("job %s is not listed in %v", id, jobs)
	return cluster.Job{}
}

func planFor(t *testing.T, w *World, ctx context.Context, job cluster.Job) cluster.Plan {
	t.Helper()
	s, err := w.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	d := cluster.Decision{
		Workload: job.Workloads[0].ID, Outcome: cluster.Placed, Policy: "test", Count: 1,
		Resources: job.Workloads[0].Ask, Considered: len(s.Nodes),
	}
	for i, n := range s.Nodes {
		d.Candidates = append(d.Candidates, cluster.Candidate{Node: n.ID, Name: n.Name, Score: 1 / float64(i+1)})
	}
	return cluster.Plan{
		Job: job, Decisions: []cluster.Decision{d},
		Page: "### chosen\nby the test", Link: "http://127.0.0.1:1/job", Message: "placed by the live test",
	}
}

func eventuallyLive(t *testing.T, ctx context.Context, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(livePatience); time.Now().Before(deadline) && ctx.Err() == nil; {
		if holds() {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("%s did not happen within %s", what, livePatience)
}

func allocsOf(t *testing.T, w *World, id cluster.JobID) []*api.AllocationListStub {
	t.Helper()
	list, _, err := w.API().Jobs().Allocations(id.ID, true, nil)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestLiveHoldAndRelease(t *testing.T) {
	w, ctx := liveWorld(t)
	id := submit(t, w, ctx, "service", 100000)
	job := findJob(t, w, ctx, id)
	if !job.Held || len(job.Workloads) != 1 || len(job.Problems) != 0 {
		t.Fatalf("held job reads as %+v", job)
	}
	if got := job.Workloads[0].Ask; got != (cluster.Resources{CPUMHz: 50, MemoryMB: 20, DiskMB: 300}) {
		t.Errorf("ask is %+v", got)
	}
	if held := allocsOf(t, w, id); len(held) != 0 {
		t.Fatalf("a held job has %d allocations", len(held))
	}
	before, err := w.nomad.rawJob(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	plan := planFor(t, w, ctx, job)
	result, err := w.Apply(ctx, plan)
	if err != nil {
		t.Fatal(err)
	}
	if result.Version != 1 || result.Unchanged {
		t.Errorf("result %+v", result)
	}
	if s, _ := w.Snapshot(ctx); len(s.Reserved)+len(s.Allocations) == 0 {
		t.Error("neither reserved nor allocated right after the release")
	}
	eventuallyLive(t, ctx, "the allocation running", func() bool {
		list := allocsOf(t, w, id)
		return len(list) == 1 && list[0].ClientStatus == "running"
	})
	if got := allocsOf(t, w, id)[0].JobVersion; got != result.Version {
		t.Errorf("the first allocation is of version %d, the release is %d", got, result.Version)
	}
	s, err := w.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Reserved) != 0 {
		t.Errorf("still reserved beside its allocation: %v", s.Reserved)
	}
	checkReleased(t, w, ctx, id, before)

	again, err := w.Job(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	if again.Held || again.ModifyIndex != result.ModifyIndex {
		t.Errorf("after release: %+v, result %+v", again, result)
	}
	plan.Job = again
	if result, err = w.Apply(ctx, plan); err != nil || !result.Unchanged {
		t.Errorf("the same plan again: %+v, %v", result, err)
	}
	plan.Job = job
	if _, err = w.Apply(ctx, plan); !errors.Is(err, cluster.ErrStale) {
		t.Errorf("a plan for the old version: %v", err)
	}
}

// checkReleased looks at the job as its user does.
func checkReleased(t *testing.T, w *World, ctx context.Context, id cluster.JobID, before object) {
	t.Helper()
	after, err := w.nomad.rawJob(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	ui := after.object("UI")
	if got := ui.text("Description"); !strings.HasPrefix(got, "my own words") || !strings.Contains(got, "### chosen") {
		t.Errorf("description %q", got)
	}
	if links := ui.objects("Links"); len(links) != 1 || links[0].text("Label") != linkLabel {
		t.Errorf("links %v", links)
	}
	sub, _, err := w.API().Jobs().Submission(id.ID, 1, nil)
	if err != nil || !strings.HasPrefix(sub.Source, "# kept comment") {
		t.Errorf("submission of the released version: %+v, %v", sub, err)
	}
	scale, _, err := w.API().Jobs().ScaleStatus(id.ID, nil)
	if err != nil {
		t.Fatal(err)
	}
	events := scale.TaskGroups["g"].Events
	if len(events) == 0 || events[0].Message != "placed by the live test" {
		t.Errorf("scaling events %+v", events)
	}
	// Everything else is as the user sent it.
	stripped := object(Strip(after))
	for _, key := range []string{"Version", "JobModifyIndex", "ModifyIndex", "SubmitTime", "Status", "Stable", "NodePool"} {
		delete(before, key)
		delete(stripped, key)
	}
	if !sameContent(before, stripped) {
		t.Errorf("the release changed more than it may:\nbefore %s\nafter  %s", canonical(before), canonical(stripped))
	}
}

func TestLiveConflictAndGone(t *testing.T) {
	w, ctx := liveWorld(t)
	id := submit(t, w, ctx, "service", 100000)
	job := findJob(t, w, ctx, id)
	raw, err := w.nomad.rawJob(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	user := raw.clone()
	user["Priority"] = json.Number("60")
	if err := w.nomad.write(ctx, jobPath(id, ""), id.Namespace, registration{Job: user}, nil); err != nil {
		t.Fatal(err)
	}
	// Past Apply's own look: the registration itself must be refused.
	if _, err := w.register(ctx, raw, object(Release(raw, w.opts.HoldPool, w.opts.RunPool))); !errors.Is(err, cluster.ErrStale) {
		t.Errorf("a registration over a newer version: %v", err)
	}
	if _, _, err := w.API().Jobs().Deregister(id.ID, false, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Apply(ctx, planFor(t, w, ctx, job)); !errors.Is(err, cluster.ErrGone) {
		t.Errorf("a stopped job: %v", err)
	}
	if _, err := w.register(ctx, raw, object(Release(raw, w.opts.HoldPool, w.opts.RunPool))); !errors.Is(err, cluster.ErrGone) {
		t.Errorf("a registration over a stopped job: %v", err)
	}
}

func TestLiveJobTypes(t *testing.T) {
	for _, kind := range []string{"batch", "system", "sysbatch"} {
		t.Run(kind, func(t *testing.T) {
			w, ctx := liveWorld(t)
			id := submit(t, w, ctx, kind, 100000)
			if _, err := w.Apply(ctx, planFor(t, w, ctx, findJob(t, w, ctx, id))); err != nil {
				t.Fatal(err)
			}
			eventuallyLive(t, ctx, "the allocation running", func() bool {
				list := allocsOf(t, w, id)
				return len(list) == 1 && list[0].ClientStatus == "running"
			})
			if err := w.Note(ctx, cluster.WorkloadID{Namespace: id.Namespace, Job: id.ID, Group: "g"}, "a note", false); err != nil {
				t.Errorf("note: %v", err)
			}
			if _, err := w.StripJob(ctx, id); err != nil {
				t.Errorf("strip: %v", err)
			}
		})
	}
}

func TestLiveDispatch(t *testing.T) {
	w, ctx := liveWorld(t)
	const parent = "live-dispatch"
	source := fmt.Sprintf(strings.Replace(liveSource, "  group", "  parameterized {\n    payload = \"optional\"\n  }\n  group", 1), parent, w.opts.HoldPool, "batch", 3)
	job, err := w.API().Jobs().ParseHCL(source, true)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.API().Jobs().Register(job, nil); err != nil {
		t.Fatal(err)
	}
	id := cluster.JobID{Namespace: "default", ID: parent}
	dispatch := func() cluster.JobID {
		t.Helper()
		answer, _, err := w.API().Jobs().Dispatch(parent, nil, []byte("hello"), "", nil)
		if err != nil {
			t.Fatal(err)
		}
		child := cluster.JobID{Namespace: "default", ID: answer.DispatchedJobID}
		t.Cleanup(func() {
			if err := w.RemoveJob(context.Background(), child); err != nil {
				t.Error(err)
			}
		})
		return child
	}
	t.Cleanup(func() {
		if err := w.RemoveJob(context.Background(), id); err != nil {
			t.Error(err)
		}
	})
	early := findJob(t, w, ctx, dispatch())
	if !early.Held {
		t.Errorf("a child of the held parent: %+v", early)
	}
	leading := cluster.WithLease(ctx, func() error { return nil })
	if result, err := w.Apply(leading, cluster.Plan{Job: early}); err == nil {
		t.Errorf("it was released before its parent: %+v", result)
	}
	if _, err := w.Apply(ctx, planFor(t, w, ctx, findJob(t, w, ctx, id))); err != nil {
		t.Fatal(err)
	}
	result, err := w.Apply(leading, cluster.Plan{Job: early})
	if err != nil {
		t.Fatal(err)
	}
	again := cluster.JobID{Namespace: "default", ID: result.DispatchedAs}
	t.Cleanup(func() {
		if err := w.RemoveJob(context.Background(), again); err != nil {
			t.Error(err)
		}
	})
	eventuallyLive(t, ctx, "the allocation of the job that was dispatched again complete", func() bool {
		list := allocsOf(t, w, again)
		return len(list) == 1 && list[0].ClientStatus == "complete"
	})
	if info, _, err := w.API().Jobs().Info(early.ID.ID, nil); err != nil || !*info.Stop || len(allocsOf(t, w, early.ID)) > 0 {
		t.Errorf("the held job is left: %v", err)
	}
	child := dispatch()
	eventuallyLive(t, ctx, "the child's allocation complete", func() bool {
		list := allocsOf(t, w, child)
		return len(list) == 1 && list[0].ClientStatus == "complete"
	})
	if got := findJob(t, w, ctx, child); got.Held || len(got.Workloads) != 1 {
		t.Errorf("the child of the released parent: %+v", got)
	}
}

func TestLiveOtherNamespace(t *testing.T) {
	w, ctx := liveWorld(t)
	const namespace = "live-team"
	if _, err := w.API().Namespaces().Register(&api.Namespace{Name: namespace}, nil); err != nil && statusOf(err) != 403 {
		t.Fatal(err)
	}
	job, err := w.API().Jobs().ParseHCL(fmt.Sprintf(liveSource, "live-other", w.opts.HoldPool, "service", 100000), true)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.API().Jobs().Register(job, &api.WriteOptions{Namespace: namespace}); err != nil {
		t.Skipf("namespace %s is not there and this token may not make it: %v", namespace, err)
	}
	id := cluster.JobID{Namespace: namespace, ID: "live-other"}
	t.Cleanup(func() {
		if err := w.RemoveJob(context.Background(), id); err != nil {
			t.Error(err)
		}
	})
	held := findJob(t, w, ctx, id)
	if _, err := w.Apply(ctx, planFor(t, w, ctx, held)); err != nil {
		t.Fatal(err)
	}
	eventuallyLive(t, ctx, "a measured rate in the other namespace", func() bool {
		list, err := w.Observe(ctx, held.Workloads[0], time.Second)
		if err != nil {
			t.Fatal(err)
		}
		return len(list) == 1 && list[0].Measure.RatePerSec > 1
	})
}

func TestLiveObserve(t *testing.T) {
	w, ctx := liveWorld(t)
	id := submit(t, w, ctx, "service", 100000)
	job := findJob(t, w, ctx, id)
	if _, err := w.ReleaseJob(ctx, id); err != nil {
		t.Fatal(err)
	}
	workload := job.Workloads[0]
	eventuallyLive(t, ctx, "a measured rate", func() bool {
		list, err := w.Observe(ctx, workload, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		return len(list) == 1 && list[0].Measure.RatePerSec > 1 && list[0].Measure.RatePerSec < 11 && list[0].Unavailable == ""
	})
	workload.Spec.Probe = &performance.ProbeSpec{Type: "exec", Command: []string{"/bin/echo", "7"}, Mode: performance.ModeRate}
	list, err := w.Observe(ctx, workload, 100*time.Millisecond)
	if err != nil || len(list) != 1 || list[0].Measure.RatePerSec != 7 {
		t.Errorf("exec probe: %+v, %v", list, err)
	}
}

func TestLiveObserveFinished(t *testing.T) {
	w, ctx := liveWorld(t)
	id := submit(t, w, ctx, "batch", 5)
	job := findJob(t, w, ctx, id)
	if _, err := w.ReleaseJob(ctx, id); err != nil {
		t.Fatal(err)
	}
	eventuallyLive(t, ctx, "the finish time", func() bool {
		list, err := w.Observe(ctx, job.Workloads[0], 100*time.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		return len(list) == 1 && list[0].FinishedIn >= 400*time.Millisecond
	})
}

func TestLiveWatch(t *testing.T) {
	w, ctx := liveWorld(t)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stopped := make(chan error, 1)
	go func() { stopped <- w.readEvents(ctx) }()
	<-w.Changed() // connected
	submit(t, w, ctx, "service", 1)
	select {
	case <-w.Changed():
	case <-time.After(livePatience):
		t.Error("a registration woke nobody")
	}
	cancel()
	if err := <-stopped; !errors.Is(err, context.Canceled) {
		t.Errorf("the stream ended with %v", err)
	}
}

func TestLiveLeader(t *testing.T) {
	w, ctx := liveWorld(t)
	path := LeaderPath
	first, second := w.NewElector(Leader{Address: "first"}), w.NewElector(Leader{Address: "second"})
	first.path, second.path = path, path
	firstCtx, stopFirst := context.WithCancel(ctx)
	leading := make(chan string, 2)
	done := make(chan error, 2)
	lead := func(name string) func(context.Context) error {
		return func(ctx context.Context) error {
			leading <- name
			<-ctx.Done()
			return ctx.Err()
		}
	}
	go func() { done <- first.Run(firstCtx, lead("first")) }()
	if got := <-leading; got != "first" {
		t.Fatalf("%s leads", got)
	}
	if got, err := w.Leader(ctx); got.Address != "first" || err != nil {
		t.Errorf("leader is %+v, %v", got, err)
	}
	secondCtx, stopSecond := context.WithCancel(ctx)
	go func() { done <- second.Run(secondCtx, lead("second")) }()
	select {
	case name := <-leading:
		t.Fatalf("%s leads beside the first", name)
	case <-time.After(2 * time.Second):
	}
	stopFirst()
	select {
	case <-leading:
	case <-time.After(livePatience):
		t.Error("nobody leads after the first gave up")
	}
	stopSecond()
	for range 2 {
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Run ended with %v", err)
		}
	}
}

func TestLivePressure(t *testing.T) {
	w, ctx := liveWorld(t)
	s, err := w.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	node := s.Nodes[0].ID
	percent := float64(time.Now().UnixNano()%90) + 0.5
	p := cluster.Pressure{
		Tolerated: interference.Scores{interference.MemoryBandwidth: {Score: interference.Percent(percent)}, interference.TLB: {}},
		Caused:    interference.Scores{interference.MemoryBandwidth: {Score: interference.Percent(percent)}},
	}
	if err := w.Publish(ctx, maps.All(map[cluster.NodeID]cluster.Pressure{node: p})); err != nil {
		t.Fatal(err)
	}
	key := metaHeadroomPrefix + "mem_bw"
	want := fmt.Sprint(int(percent))
	eventuallyLive(t, ctx, "the headroom at the server", func() bool {
		s, err := w.Snapshot(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return s.Nodes[0].Meta[key] == want
	})
}

func TestLiveProfile(t *testing.T) {
	w, ctx := liveWorld(t)
	s, err := w.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if !s.Nodes[0].Kernels {
		t.Skip("the node has no healthy ibench driver; start the agent with nomad-driver-ibench in its plugin_dir")
	}
	id := submit(t, w, ctx, "service", 1000000)
	job := findJob(t, w, ctx, id)
	progress := 0
	w.opts.OnProgress = func(_ string, p profiler.Progress) {
		progress++
		t.Logf("%s %s %.0f %%: %s", p.Phase, p.Source, 100*p.Fraction, p.Message)
	}
	request := cluster.ProfileRequest{
		ID: "live-1", Job: job, Workload: job.Workloads[0], Node: *s.Nodes[0],
		Seconds: 10, Deadline: time.Now().Add(time.Minute),
	}
	p, err := w.Profile(ctx, request)
	t.Logf("profile %+v, error %v", p, err)
	if err != nil || !p.Complete || len(p.Isolated) == 0 {
		t.Errorf("the profile is not complete")
	}
	if progress == 0 {
		t.Error("no progress was seen")
	}
	if _, err := w.nomad.rawJob(ctx, cluster.JobID{Namespace: "default", ID: labJobID("live-1")}); !errors.Is(err, cluster.ErrGone) {
		t.Errorf("the profiling job is still there: %v", err)
	}
	if held := allocsOf(t, w, id); len(held) != 0 {
		t.Errorf("profiling gave the held job %d allocations", len(held))
	}

	// A workload that ends while it is measured.
	if err := w.RemoveJob(ctx, id); err != nil {
		t.Fatal(err)
	}
	id = submit(t, w, ctx, "batch", 20)
	request.Job = findJob(t, w, ctx, id)
	request.Workload, request.ID = request.Job.Workloads[0], "live-2"
	request.Deadline = time.Now().Add(time.Minute)
	p, err = w.Profile(ctx, request)
	t.Logf("profile %+v, error %v", p, err)
	if !errors.Is(err, cluster.ErrWorkloadFailed) || p.Complete {
		t.Errorf("a workload that ended early: %+v, %v", p, err)
	}

	// A run whose time is over gives what it has.
	if err := w.RemoveJob(ctx, id); err != nil {
		t.Fatal(err)
	}
	id = submit(t, w, ctx, "service", 1000000)
	request.Job = findJob(t, w, ctx, id)
	request.Workload, request.ID, request.Seconds = request.Job.Workloads[0], "live-3", 60
	request.Deadline = time.Now().Add(8 * time.Second)
	p, err = w.Profile(ctx, request)
	t.Logf("profile %+v, error %v", p, err)
	if !errors.Is(err, context.DeadlineExceeded) || p.Complete || p.Format == 0 {
		t.Errorf("a run cut short: %+v, %v", p, err)
	}
	if err := w.Sweep(ctx, nil); err != nil {
		t.Error(err)
	}
}
