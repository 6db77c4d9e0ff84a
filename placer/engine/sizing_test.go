package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/engine"
	"github.com/nomad-placer/nomad-placer/placer/journal"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/store/mem"
)

// wideNode has four cores, and room for a profiler in addition.
func wideNode(name, configuration string) *cluster.Node {
	n := testNode(name, configuration)
	n.Total = cluster.Resources{CPUMHz: 5 * n.CoreMHz, Cores: 4, MemoryMB: 4096, DiskMB: 10000}
	return n
}

// sizedJob asks for one core and lets the placer choose one, two or four.
func sizedJob(change ...func(*cluster.Workload)) cluster.Job {
	return testJob("web", func(j *cluster.Job) {
		w := &j.Workloads[0]
		w.Spec.Policy = "quasar"
		w.Spec.Target = performance.Target{Kind: performance.Rate, Rate: 150}
		w.Spec.Scale = performance.ScaleSpec{Cores: []int{1, 2, 4}}
		w.Ask = cluster.Resources{Cores: 1, MemoryMB: 256}
		w.Sizable = cluster.Sizable{Task: "main", Own: w.Ask}
		for _, c := range change {
			c(w)
		}
	})
}

// scalingLab finds a workload that does 100 units/s on a core and 0.9 of that on
// each further one, and uses the memory given.
func scalingLab(memoryMB float64) func(context.Context, cluster.ProfileRequest) (profile.Profile, error) {
	return func(ctx context.Context, r cluster.ProfileRequest) (profile.Profile, error) {
		p, err := plantedRun(ctx, r)
		cores := r.Size.Cores
		if cores == 0 {
			cores = r.Workload.Ask.Cores
		}
		p.Machine.CPUs = make([]int, cores)
		speed := speedOn(r.Node.Configuration) * (1 + 0.9*float64(cores-1))
		p.Isolated = map[string]profile.Measurement{r.Node.Configuration: {Value: speed, Low: speed * 0.99, High: speed * 1.01, Unit: "units/s", Windows: 10}}
		p.MemoryPeakMB = memoryMB
		return p, err
	}
}

func sizingWorld() *memWorld {
	world := newWorld(wideNode("alpha", "fast"), wideNode("beta", "fast"), wideNode("omega", "slow"))
	world.lab = scalingLab(100)
	return world
}

// decide submits the job, lets it settle, and returns its decision.
func decide(t *testing.T, world *memWorld, job cluster.Job, change ...func(*engine.Config)) cluster.Decision {
	t.Helper()
	b := start(t, world, mem.New(), change...)
	world.submit(job)
	settle(2 * time.Minute)
	if world.get(webJob).job.Held {
		t.Fatal("the job is still held")
	}
	return b.decision(webGroup)
}

func TestTheLeastSizeThatReachesTheTargetIsGiven(t *testing.T) {
	t.Parallel()
	four := cluster.Resources{Cores: 4, MemoryMB: 256}
	two := cluster.Resources{Cores: 2, MemoryMB: 256}
	qps := func(w *cluster.Workload) {
		w.Spec.Target = performance.Target{Kind: performance.QPS, QPS: 700, Latency: &performance.Latency{Percentile: 99, Max: time.Millisecond}}
		w.Spec.Scale.Count = []int{1, 2, 4}
	}
	for name, c := range map[string]struct {
		change func(*cluster.Workload)
		count  int
		own    cluster.Resources
	}{
		"one core is enough": {func(w *cluster.Workload) { w.Spec.Target.Rate = 90 }, 1, cluster.Resources{Cores: 1, MemoryMB: 256}},
		"a rate":             {func(*cluster.Workload) {}, 1, two},
		"a finish time": {func(w *cluster.Workload) {
			w.Spec.Target = performance.Target{Kind: performance.FinishWithin, FinishWithin: 10 * time.Second}
			w.Spec.Probe.Work = 3000
		}, 1, four},
		"a service on several nodes": {qps, 2, four},
		"best effort": {func(w *cluster.Workload) {
			w.Spec.Target = performance.Target{Kind: performance.BestEffort}
			w.Ask.Cores = 4
		}, 1, cluster.Resources{Cores: 1, MemoryMB: 256}},
		"MHz as the user wrote": {func(w *cluster.Workload) {
			w.Ask = cluster.Resources{CPUMHz: 500, MemoryMB: 256}
			w.Sizable.Own = w.Ask
		}, 1, cluster.Resources{CPUMHz: 5200, MemoryMB: 256}},
		"memory that holds what was seen": {func(w *cluster.Workload) { w.Spec.Scale.MemoryMB = []int{64, 128, 1024} }, 1, cluster.Resources{Cores: 2, MemoryMB: 128}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T) {
				world := sizingWorld()
				if name == "a service on several nodes" {
					lab := world.lab
					world.lab = func(ctx context.Context, r cluster.ProfileRequest) (profile.Profile, error) {
						p, err := lab(ctx, r)
						m := p.Isolated[r.Node.Configuration]
						m.Unit = "requests/s"
						p.Isolated[r.Node.Configuration] = m
						return p, err
					}
				}
				d := decide(t, world, sizedJob(c.change))
				if d.Sizing == nil || !d.Sizing.Chosen || d.Sizing.Own != c.own || d.Count != c.count {
					t.Fatalf("%d × %+v, want %d × %+v; warnings %q", d.Count, d.Sizing, c.count, c.own, d.Warnings)
				}
				if d.Resources != c.own || !d.Sizing.Reaches || d.Sizing.Why == "" {
					t.Errorf("resources %+v, sizing %+v", d.Resources, d.Sizing)
				}
				for _, a := range world.get(webJob).allocs {
					if a.Resources != c.own {
						t.Errorf("allocation of %+v", a.Resources)
					}
				}
				if p := d.Predicted; name == "a rate" && math.Abs(p.RatePerSec-190) > 0.5 {
					t.Errorf("predicted %+v, want 190", p)
				}
			})
		})
	}
}

func TestSizesAreMeasuredOnce(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		world := sizingWorld()
		b := start(t, world, mem.New())
		world.submit(sizedJob())
		settle(2 * time.Minute)
		var runs []string
		for _, r := range world.ran {
			runs = append(runs, fmt.Sprintf("%s %s %d", r.Purpose, r.Node.Configuration, r.Size.Cores))
		}
		slices.Sort(runs)
		if want := []string{"alone slow 0", "interference fast 0", "size fast 4"}; !slices.Equal(runs, want) {
			t.Errorf("runs %q, want %q", runs, want)
		}
		p, err := b.engine.Book().Profile(t.Context(), "keyweb")
		if err != nil || len(p.ScaleUp) != 2 || p.Isolated["fast"].Value != 100 || len(p.Machine.CPUs) != 1 {
			t.Errorf("stored %+v, %v", p, err)
		}
		world.stop(webJob)
		world.submit(sizedJob())
		settle(10 * time.Second)
		if len(world.ran) != 3 || world.get(webJob).job.Held {
			t.Errorf("%d runs, held %v", len(world.ran), world.get(webJob).job.Held)
		}
	})
}

// A profile of before sizes mattered lacks one run only.
func TestAStoredProfileLacksTheSecondSizeOnly(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		world := sizingWorld()
		b := start(t, world, mem.New())
		world.submit(sizedJob(func(w *cluster.Workload) { w.Spec.Policy = "paragon" }))
		settle(2 * time.Minute)
		if d := b.decision(webGroup); d.Sizing != nil || d.Count != 1 {
			t.Fatalf("a policy that does not size sized: %+v", d.Sizing)
		}
		before := len(world.ran)
		world.stop(webJob)
		world.submit(sizedJob())
		settle(time.Minute)
		if more := world.ran[before:]; len(more) != 1 || more[0].Purpose != cluster.PurposeSize || more[0].Node.Configuration != "fast" {
			t.Errorf("runs %+v", more)
		}
		if d := b.decision(webGroup); d.Resources.Cores != 2 {
			t.Errorf("%+v, %q", d.Sizing, d.Warnings)
		}
	})
}

// Where only one node is there, the second size is measured after the first run,
// not at the same time.
func TestRunsOnOneNodeFollowEachOther(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		world := newWorld(wideNode("alpha", "fast"))
		inner, running := scalingLab(100), 0
		world.lab = func(ctx context.Context, r cluster.ProfileRequest) (profile.Profile, error) {
			world.mu.Lock()
			running++
			if running > 1 {
				t.Error("two runs on one node at once")
			}
			world.mu.Unlock()
			p, err := inner(ctx, r)
			world.mu.Lock()
			running--
			world.mu.Unlock()
			return p, err
		}
		if d := decide(t, world, sizedJob()); d.Resources.Cores != 2 || len(world.ran) != 2 {
			t.Errorf("%+v after %d runs", d.Resources, len(world.ran))
		}
	})
}

func TestWhatCannotBeMeasuredIsNotGuessed(t *testing.T) {
	t.Parallel()
	failing := func(world *memWorld) {
		inner := world.lab
		world.lab = func(ctx context.Context, r cluster.ProfileRequest) (profile.Profile, error) {
			if r.Purpose == cluster.PurposeSize {
				return profile.Profile{}, errors.New("no room after all")
			}
			return inner(ctx, r)
		}
	}
	for name, c := range map[string]struct {
		world  func(*memWorld)
		change func(*cluster.Workload)
		warned string
	}{
		"the run fails": {failing, func(*cluster.Workload) {}, "no room after all"},
		"no time is left": {
			func(w *memWorld) { w.nodes = w.nodes[:1] },
			func(w *cluster.Workload) { w.Spec.Hold = time.Minute }, "no time was left",
		},
		"no node has as many cores": {
			func(w *memWorld) { w.nodes = []*cluster.Node{testNode("alpha", "fast")} },
			func(*cluster.Workload) {}, "another size",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T) {
				world := sizingWorld()
				c.world(world)
				d := decide(t, world, sizedJob(c.change))
				if d.Outcome != cluster.Placed || d.Resources.Cores != 1 || d.Sizing.Reaches {
					t.Errorf("%s %+v %+v", d.Outcome, d.Resources, d.Sizing)
				}
				if all := strings.Join(d.Warnings, "\n"); !strings.Contains(all, c.warned) {
					t.Errorf("no warning of %q:\n%s", c.warned, all)
				}
			})
		})
	}
}

func TestATargetOutOfReachRunsAtTheBestPossible(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		d := decide(t, sizingWorld(), sizedJob(func(w *cluster.Workload) { w.Spec.Target.Rate = 1e6 }))
		if d.Outcome != cluster.Placed || d.Resources.Cores != 4 || d.Sizing.Reaches {
			t.Fatalf("%s %+v %+v", d.Outcome, d.Resources, d.Sizing)
		}
		for _, text := range []string{d.Sizing.Why, journal.Page([]cluster.Decision{d}, "")} {
			if !strings.Contains(text, "best possible") {
				t.Errorf("does not say that it is the best possible: %s", text)
			}
		}
		if text := strings.Join(d.Warnings, "\n"); !strings.Contains(text, "is not reached on any node: the best prediction is") {
			t.Errorf("does not warn that no node reaches the target: %s", text)
		}
	})
}

func TestAnAutoscalersCountIsLeftAlone(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		d := decide(t, sizingWorld(), sizedJob(func(w *cluster.Workload) {
			w.Spec.Target.Rate, w.Spec.Scale.Count, w.Count = 1000, []int{1, 2, 4}, 2
			w.Sizable.CountFixed = "the group's own scaling block controls it"
		}))
		if d.Count != 2 || d.Resources.Cores != 4 || !strings.Contains(strings.Join(d.Warnings, "\n"), "scaling block") {
			t.Errorf("%d × %+v, %q", d.Count, d.Resources, d.Warnings)
		}
	})
}

// The same job submitted again while it runs keeps what it was given; what a user has
// changed stays as they set it.
func TestASizeStaysUntilTheUserChangesIt(t *testing.T) {
	t.Parallel()
	given := func(w *cluster.Workload) { w.Spec.Scale.Count, w.Spec.Target.Rate = []int{1, 2}, 600 }
	for name, c := range map[string]struct {
		between func(*memWorld)
		change  func(*cluster.Workload)
		count   int
		cores   int
	}{
		"unchanged": {func(*memWorld) {}, given, 2, 4},
		"another size by the user": {func(*memWorld) {}, func(w *cluster.Workload) {
			given(w)
			w.Ask.Cores, w.Sizable.Own.Cores = 3, 3
		}, 2, 3},
		"another count by the user": {func(*memWorld) {}, func(w *cluster.Workload) {
			given(w)
			w.Count = 3
		}, 3, 4},
		"scaled by hand": {func(w *memWorld) {
			w.mu.Lock()
			j := w.jobs[webJob]
			j.allocs = append(j.allocs, j.allocs[0])
			w.mu.Unlock()
		}, given, 1, 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T) {
				world := sizingWorld()
				b := start(t, world, mem.New())
				world.submit(sizedJob(given))
				settle(2 * time.Minute)
				if d := b.decision(webGroup); d.Count != 2 || d.Resources.Cores != 4 {
					t.Fatalf("%d × %+v", d.Count, d.Resources)
				}
				c.between(world)
				world.submit(sizedJob(c.change))
				settle(2 * time.Minute)
				if d := b.decision(webGroup); d.Count != c.count || d.Resources.Cores != c.cores {
					t.Errorf("%d × %d cores, want %d × %d; %+v", d.Count, d.Resources.Cores, c.count, c.cores, d.Sizing)
				}
			})
		})
	}
}
