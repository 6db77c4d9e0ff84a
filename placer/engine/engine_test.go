package engine_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/engine"
	"github.com/nomad-placer/nomad-placer/placer/profiling"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/store"
	"github.com/nomad-placer/nomad-placer/profiler/store/mem"
)

var webJob = cluster.JobID{Namespace: "default", ID: "web"}
var webGroup = cluster.WorkloadID{Namespace: "default", Job: "web", Group: "web"}

// bench is an engine over a world, inside a synctest bubble.
type bench struct {
	t      *testing.T
	world  *memWorld
	store  store.Store
	engine *engine.Engine
	stop   func()
}

func start(t *testing.T, world *memWorld, s store.Store, change ...func(*engine.Config)) *bench {
	t.Helper()
	// What the engine does with a decision is tested, with the policy that leaves a job's size as it is.
	cfg := engine.Config{World: world, Store: s, Clock: wallClock{}, Policy: "paragon"}
	for _, c := range change {
		c(&cfg)
	}
	e, err := engine.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- e.Run(ctx) }()
	stopped := false
	b := &bench{t: t, world: world, store: s, engine: e}
	b.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
	}
	t.Cleanup(b.stop)
	return b
}

func (b *bench) decision(w cluster.WorkloadID) cluster.Decision {
	b.t.Helper()
	d, err := b.engine.Book().Decision(context.Background(), w)
	if err != nil {
		b.t.Fatalf("decision of %s: %v", w, err)
	}
	return d
}

// inBubble runs f under a fake clock and ends every engine before the bubble.
func inBubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

// settle lets d pass and everything it set off come to rest.
func settle(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func twoNodes() *memWorld { return newWorld(testNode("alpha", "fast"), testNode("omega", "slow")) }

func TestHeldJobIsProfiledPlacedAndRecorded(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		b := start(t, twoNodes(), mem.New())
		b.world.submit(testJob("web"))
		settle(10 * time.Second)
		if j := b.world.get(webJob); !j.job.Held || len(j.allocs) != 0 {
			t.Fatal("the job ran before its profile was done")
		}
		settle(50 * time.Second)
		j := b.world.get(webJob)
		if j.job.Held || len(j.allocs) != 1 || j.allocs[0].Node != "id-alpha" {
			t.Fatalf("want one allocation on alpha, got held=%v %v", j.job.Held, j.allocs)
		}
		d := b.decision(webGroup)
		if d.Outcome != cluster.Placed || d.Policy != "paragon" || !d.Predicted.Known {
			t.Errorf("decision %+v", d)
		}
		if len(d.Steps) == 0 || d.Considered != 2 {
			t.Errorf("steps %v, considered %d", d.Steps, d.Considered)
		}
		if keys, _ := b.engine.Book().Profiles(t.Context()); len(keys) != 1 {
			t.Errorf("stored profiles %v", keys)
		}
		if o, _ := b.engine.Book().Observations(t.Context(), webGroup); len(o) == 0 {
			t.Error("nothing was observed after release")
		}
	})
}

func TestTheProfileRunsAloneOnAnotherConfiguration(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		b := start(t, twoNodes(), mem.New())
		b.world.submit(testJob("web"))
		settle(time.Minute)
		p, err := b.engine.Book().Profile(t.Context(), "keyweb")
		if err != nil || len(p.Isolated) != 2 {
			t.Fatalf("want speeds on both configurations, got %v, %v", p.Isolated, err)
		}
		var sources []int
		for _, r := range b.world.ran {
			sources = append(sources, len(r.Sources))
		}
		slices.Sort(sources)
		if !slices.Equal(sources, []int{0, 2}) {
			t.Errorf("want one run beside two kernels and one alone, got runs with %v sources", sources)
		}
	})
}

func TestAKnownWorkloadIsNotProfiledAgain(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		b := start(t, twoNodes(), mem.New())
		b.world.submit(testJob("web"))
		settle(time.Minute)
		runs := len(b.world.ran)
		b.world.submit(testJob("web"))
		settle(time.Second)
		if b.world.get(webJob).job.Held || len(b.world.ran) != runs {
			t.Errorf("held %v after a second, %d new runs", b.world.get(webJob).job.Held, len(b.world.ran)-runs)
		}
	})
}

func TestANewerVersionWins(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		b := start(t, twoNodes(), mem.New())
		b.world.submit(testJob("web"))
		settle(10 * time.Second)
		newer := b.world.submit(testJob("web", func(j *cluster.Job) { j.Workloads[0].ProfileKey = "other" }))
		settle(2 * time.Minute)
		j := b.world.get(webJob)
		if j.plan == nil || j.plan.Job.ModifyIndex != newer.ModifyIndex {
			t.Fatalf("the plan was not made for the newer version: %+v", j.plan)
		}
		for _, p := range b.world.applied {
			if p.Job.ModifyIndex != newer.ModifyIndex {
				t.Error("the older version was written")
			}
		}
	})
}

func TestAJobStoppedWhileHeldIsLeftAlone(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		world := twoNodes()
		var cancelled atomic.Bool
		world.lab = func(ctx context.Context, _ cluster.ProfileRequest) (profile.Profile, error) {
			<-ctx.Done()
			cancelled.Store(true)
			return profile.Profile{}, ctx.Err()
		}
		b := start(t, world, mem.New())
		b.world.submit(testJob("web"))
		settle(5 * time.Second)
		b.world.stop(webJob)
		settle(10 * time.Second)
		if !cancelled.Load() || len(b.world.applied) != 0 {
			t.Errorf("profiling cancelled %v, plans %d", cancelled.Load(), len(b.world.applied))
		}
	})
}

func TestStockReleases(t *testing.T) {
	t.Parallel()
	failing := func(err error) func(*memWorld) {
		return func(w *memWorld) {
			w.lab = func(context.Context, cluster.ProfileRequest) (profile.Profile, error) { return profile.Profile{}, err }
		}
	}
	cases := map[string]struct {
		world  func(*memWorld)
		job    func(*cluster.Job)
		reason string
		within time.Duration
	}{
		"a block that could not be read": {
			job:    func(j *cluster.Job) { j.Problems, j.Workloads = []string{"web.hcl:3:5: p200 is no percentile"}, nil },
			reason: "p200 is no percentile", within: 5 * time.Second,
		},
		"the workload crashes while profiled": {
			world: failing(errors.Join(cluster.ErrWorkloadFailed, errors.New("exit code 3"))), reason: "exit code 3", within: 5 * time.Second,
		},
		"a probe that never answers": {
			world: failing(errors.New("the workload never gave a usable reading")), reason: "never gave a usable reading", within: 5 * time.Second,
		},
		"no node with the driver": {
			world: func(w *memWorld) {
				for _, n := range w.nodes {
					n.Kernels = false
				}
			},
			reason: "no node has the ibench driver", within: 5 * time.Second,
		},
		"the node goes away while profiling": {world: failing(cluster.ErrNodeLost), reason: "node was lost", within: 5 * time.Second},
		"a laboratory that hangs": {
			world: func(w *memWorld) {
				w.lab = func(ctx context.Context, r cluster.ProfileRequest) (profile.Profile, error) {
					<-ctx.Done()
					return profile.Profile{}, ctx.Err()
				}
			},
			reason: "hold deadline", within: 6 * time.Minute,
		},
		"no room until the deadline": {
			job:    func(j *cluster.Job) { j.Workloads[0].Ask.MemoryMB = 1 << 20; j.Workloads[0].Spec.Profile.Skip = true },
			reason: "memory", within: 6 * time.Minute,
		},
		"the policy that leaves it to Nomad": {
			job:    func(j *cluster.Job) { j.Workloads[0].Spec.Policy = "nomad" },
			reason: "Nomad", within: 5 * time.Second,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T) {
				world := twoNodes()
				if c.world != nil {
					c.world(world)
				}
				b := start(t, world, mem.New())
				var change []func(*cluster.Job)
				if c.job != nil {
					change = append(change, c.job)
				}
				b.world.submit(testJob("web", change...))
				settle(c.within)
				j := b.world.get(webJob)
				if j.job.Held {
					t.Fatal("the job is still held")
				}
				decisions, err := b.engine.Book().Decisions(t.Context())
				if err != nil || len(decisions) != 1 {
					t.Fatalf("decisions %v, %v", decisions, err)
				}
				if d := decisions[0]; d.Outcome != cluster.Stock || !strings.Contains(d.Reason, c.reason) {
					t.Errorf("outcome %s, reason %q; want stock with %q", d.Outcome, d.Reason, c.reason)
				}
				if page := j.plan.Page; !strings.Contains(page, "stock Nomad") {
					t.Errorf("the job page does not say so: %q", page)
				}
			})
		})
	}
}

func TestAJobWithoutABlockLeavesAsItCame(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		b := start(t, twoNodes(), mem.New())
		b.world.submit(testJob("web", func(j *cluster.Job) { j.Workloads = nil }))
		settle(5 * time.Second)
		j := b.world.get(webJob)
		if j.job.Held || j.plan.Page != "" || len(j.plan.Decisions) != 0 {
			t.Errorf("held %v, plan %+v", j.job.Held, j.plan)
		}
	})
}

func TestPartialProfilesAreUsedWithAWarning(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		world := twoNodes()
		world.lab = func(ctx context.Context, r cluster.ProfileRequest) (profile.Profile, error) {
			p, err := plantedRun(ctx, r)
			p.Complete = false
			return p, errors.Join(err, errors.New("cut short after one source"))
		}
		b := start(t, world, mem.New())
		b.world.submit(testJob("web"))
		settle(time.Minute)
		d := b.decision(webGroup)
		if d.Outcome != cluster.Placed || !strings.Contains(strings.Join(d.Warnings, "\n"), "cut short") {
			t.Errorf("outcome %s, warnings %q", d.Outcome, d.Warnings)
		}
	})
}

func TestPassingWriteErrorsAreRetried(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		world := twoNodes()
		var left atomic.Int32
		left.Store(3)
		world.beforeApply = func(cluster.Plan) error {
			if left.Add(-1) >= 0 {
				return errPassing
			}
			return nil
		}
		b := start(t, world, mem.New())
		b.world.submit(testJob("web"))
		settle(time.Minute)
		if b.world.get(webJob).job.Held {
			t.Error("the job is still held after passing errors")
		}
	})
}

// TestKilledAtEachStep ends the engine without warning at each step, starts a
// new one on the same store and world, and wants the job placed once.
func TestKilledAtEachStep(t *testing.T) {
	t.Parallel()
	for name, after := range map[string]time.Duration{
		"hold": 0, "profile": 20 * time.Second, "just before the profile ends": 45*time.Second - time.Millisecond,
		"classify and rewrite": 45*time.Second + time.Millisecond,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T) {
				world, s := twoNodes(), mem.New()
				first := start(t, world, s)
				world.submit(testJob("web"))
				settle(after)
				first.stop()
				second := start(t, world, s)
				settle(2 * time.Minute)
				if j := world.get(webJob); j.job.Held || len(j.allocs) != 1 {
					t.Fatalf("held %v, allocations %v", j.job.Held, j.allocs)
				}
				if len(world.applied) != 1 {
					t.Errorf("the job was written %d times", len(world.applied))
				}
				if second.decision(webGroup).Outcome != cluster.Placed {
					t.Error("not placed")
				}
				ids := map[string]bool{}
				for _, r := range world.ran {
					ids[r.ID] = true
				}
				if len(ids) != 2 {
					t.Errorf("%d distinct profiling runs; a new leader must adopt, not add", len(ids))
				}
			})
		})
	}
}

// A new leader takes the nodes on which the runs are, whatever it would choose now: the
// result of a run is of its node, and a run on another node would be left over.
func TestRunsAreAdoptedWhereTheyAre(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		faster, slower := testNode("zeta", "fast"), testNode("aleph", "slow")
		faster.Total.CPUMHz *= 2
		full := newWorld(testNode("alpha", "fast"), testNode("omega", "slow"))
		first := start(t, full, mem.New())
		full.submit(testJob("web"))
		settle(5 * time.Second)
		first.stop()
		full.mu.Lock()
		full.nodes = append(full.nodes, faster, slower)
		full.mu.Unlock()
		before := len(full.ran)
		start(t, full, first.store)
		settle(time.Second)
		at := map[string]cluster.NodeID{}
		for _, r := range full.ran[:before] {
			at[r.ID] = r.Node.ID
		}
		if len(full.ran) == before {
			t.Fatal("the second leader began no run")
		}
		for _, r := range full.ran[before:] {
			if at[r.ID] != r.Node.ID {
				t.Errorf("run %s was on %q, and is awaited on %q", r.ID, at[r.ID], r.Node.ID)
			}
		}
	})
}

// TestKilledInsideTheWrite loses the answer of a write that took effect.
func TestKilledInsideTheWrite(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		world, s := twoNodes(), mem.New()
		first := start(t, world, s)
		world.beforeApply = func(p cluster.Plan) error {
			world.beforeApply = nil
			if _, err := world.Apply(context.Background(), p); err != nil {
				return err
			}
			return errPassing
		}
		world.submit(testJob("web"))
		settle(time.Minute)
		first.stop()
		second := start(t, world, s)
		settle(time.Minute)
		if len(world.applied) != 1 || world.get(webJob).job.Held {
			t.Errorf("written %d times, held %v", len(world.applied), world.get(webJob).job.Held)
		}
		if d := second.decision(webGroup); d.Outcome != cluster.Placed || len(world.notes) != 0 {
			t.Errorf("the reasons were lost: %s %q, notes %q", d.Outcome, d.Reason, world.notes)
		}
	})
}

func TestConcurrentJobsSeeEachOther(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		world := newWorld(testNode("alpha", "fast"), testNode("beta", "fast"))
		world.lab = func(ctx context.Context, r cluster.ProfileRequest) (profile.Profile, error) {
			p, err := plantedRun(ctx, r)
			for s := range p.Sensitivity.Tolerated {
				p.Sensitivity.Tolerated[s] = interference.Estimate{Score: interference.Percent(20), Origin: interference.Measured}
				p.Sensitivity.Caused[s] = interference.Estimate{Score: interference.Percent(80), Origin: interference.Measured}
			}
			return p, err
		}
		start(t, world, mem.New(), func(c *engine.Config) { c.ProfileSources = profiling.DefaultColumns() })
		world.submit(testJob("one"))
		world.submit(testJob("two"))
		settle(4 * time.Minute)
		one := world.get(cluster.JobID{Namespace: "default", ID: "one"})
		two := world.get(cluster.JobID{Namespace: "default", ID: "two"})
		if one.job.Held || two.job.Held || one.allocs[0].Node == two.allocs[0].Node {
			t.Errorf("two aggressive workloads share a node: %v %v", one.allocs, two.allocs)
		}
	})
}

// Nodes of one machine are one to whoever is profiled or placed there.
func TestAMachineOfTwoNodes(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		world := newWorld(testNode("alpha", "fast"), testNode("beta", "slow"), testNode("gamma", "slow"))
		world.nodes[0].Machine, world.nodes[1].Machine = "host", "host"
		var mu sync.Mutex
		onHost, most, ran := 0, 0, map[string]bool{}
		world.lab = func(ctx context.Context, r cluster.ProfileRequest) (profile.Profile, error) {
			mu.Lock()
			ran[r.Node.Name] = true
			if r.Node.Machine != "" {
				onHost++
				most = max(most, onHost)
				defer func() { mu.Lock(); defer mu.Unlock(); onHost-- }()
			}
			mu.Unlock()
			p, err := plantedRun(ctx, r)
			for s := range p.Sensitivity.Tolerated {
				p.Sensitivity.Tolerated[s] = interference.Estimate{Score: interference.Percent(20), Origin: interference.Measured}
				p.Sensitivity.Caused[s] = interference.Estimate{Score: interference.Percent(80), Origin: interference.Measured}
			}
			return p, err
		}
		start(t, world, mem.New(), func(c *engine.Config) { c.ProfileSources, c.Concurrency = profiling.DefaultColumns(), 2 })
		world.submit(testJob("one"))
		settle(2 * time.Minute)
		if !ran["gamma"] {
			t.Errorf("profiled on %v: the other configuration is also on a machine that is free", ran)
		}
		world.submit(testJob("two"))
		settle(4 * time.Minute)
		on := map[cluster.NodeID]bool{}
		for _, id := range []string{"one", "two"} {
			job := world.get(cluster.JobID{Namespace: "default", ID: id})
			if job.job.Held {
				t.Fatalf("%s is held", id)
			}
			on[job.allocs[0].Node] = true
		}
		if most != 1 || on["id-alpha"] && on["id-beta"] || len(on) != 2 {
			t.Errorf("%d runs at a time on one machine, the jobs on %v", most, on)
		}
	})
}

func TestAJobThatBypassedTheGateIsOnlyAdvised(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		b := start(t, twoNodes(), mem.New())
		b.world.submit(testJob("web", func(j *cluster.Job) { j.Held = false }))
		settle(10 * time.Second)
		d := b.decision(webGroup)
		if len(b.world.applied) != 0 || d.Outcome != cluster.Stock || !strings.Contains(d.Reason, "did not pass the hold pool") {
			t.Errorf("plans %d, decision %s %q", len(b.world.applied), d.Outcome, d.Reason)
		}
		if len(b.world.notes) != 1 {
			t.Errorf("notes %q", b.world.notes)
		}
	})
}

func TestASystemJobDoesNotMakeANodeShared(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		world := twoNodes()
		world.everywhere = true
		b := start(t, world, mem.New())
		b.world.submit(testJob("web"))
		settle(time.Minute)
		if w := strings.Join(b.decision(webGroup).Warnings, "\n"); strings.Contains(w, "no empty node") {
			t.Errorf("warnings %q", w)
		}
	})
}

func TestAWaitingJobIsPlacedWhenRoomAppears(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		world := twoNodes()
		b := start(t, world, mem.New())
		world.submit(testJob("web", func(j *cluster.Job) { j.Workloads[0].Ask.MemoryMB = 8000; j.Workloads[0].Spec.Profile.Skip = true }))
		settle(30 * time.Second)
		if !world.get(webJob).job.Held {
			t.Fatal("placed where there is no room")
		}
		world.mu.Lock()
		big := testNode("huge", "fast")
		big.Total.MemoryMB = 16000
		world.nodes = append(world.nodes, big)
		world.mu.Unlock()
		settle(10 * time.Second)
		if d := b.decision(webGroup); d.Outcome != cluster.Placed || d.Candidates[0].Node != "id-huge" {
			t.Errorf("decision %s on %v", d.Outcome, d.Candidates)
		}
	})
}

// failingStore is a store that is down.
type failingStore struct{ store.Store }

func (failingStore) Put(context.Context, string, []byte, uint64) (uint64, error) {
	return 0, errPassing
}

func TestAFailingStoreCostsTheExplanationOnly(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		b := start(t, twoNodes(), failingStore{mem.New()})
		b.world.submit(testJob("web"))
		settle(2 * time.Minute)
		if j := b.world.get(webJob); j.job.Held || len(j.plan.Decisions) != 1 {
			t.Errorf("held %v", j.job.Held)
		}
	})
}

func TestAnyReplicaReleasesAnOverdueJob(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		world := twoNodes()
		stop := watchDeadlines(t, engine.Config{World: world, Store: mem.New(), Clock: wallClock{}, Hold: time.Minute})
		world.submit(testJob("web"))
		settle(50 * time.Second)
		if !world.get(webJob).job.Held {
			t.Error("released before its deadline")
		}
		settle(30 * time.Second)
		if world.get(webJob).job.Held {
			t.Error("still held after its deadline")
		}
		stop()
	})
}

func TestAPurgedJobLeavesNoRecords(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		b := start(t, twoNodes(), mem.New())
		b.world.submit(testJob("web"))
		settle(time.Minute)
		b.world.purge(webJob)
		settle(5 * time.Second)
		if d, _ := b.engine.Book().Decisions(t.Context()); len(d) != 0 {
			t.Errorf("decisions left: %v", d)
		}
	})
}

func TestSweepKeepsWhatMayBeAdopted(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		b := start(t, twoNodes(), mem.New())
		b.world.submit(testJob("web"))
		settle(30 * time.Second)
		b.stop()
		start(t, b.world, b.store)
		settle(time.Millisecond)
		last := b.world.swept[len(b.world.swept)-1]
		for _, r := range b.world.ran {
			if !last[r.ID] {
				t.Errorf("run %s would be swept while its job is held", r.ID)
			}
		}
	})
}

// lateLists is a world whose servers take long to list jobs.
type lateLists struct {
	*memWorld
	takes time.Duration
}

func (w *lateLists) Jobs(ctx context.Context) ([]cluster.Job, error) {
	time.Sleep(w.takes)
	return w.memWorld.Jobs(ctx)
}

// Where the servers answer late, a leader does not rest for a multiple of that: a job that is submitted
// while it rests is found with the next look but one, at the latest.
func TestALeaderDoesNotRestForLong(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		late := &lateLists{memWorld: twoNodes(), takes: 8 * time.Second}
		start(t, late.memWorld, mem.New(), func(o *engine.Config) { o.World = late })
		settle(late.takes + 100*time.Millisecond)
		late.submit(testJob("web", func(j *cluster.Job) { j.Workloads[0].Spec.Profile.Skip = true }))
		settle(3 * late.takes)
		if j := late.get(webJob); j.job.Held {
			t.Errorf("it is held after three looks of %s", late.takes)
		}
	})
}
