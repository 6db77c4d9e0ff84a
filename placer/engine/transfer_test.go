package engine_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/engine"
	"github.com/nomad-placer/nomad-placer/placer/profiling"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/store/mem"
)

func memories(mb ...int) func(*cluster.Job) {
	return func(j *cluster.Job) { j.Workloads[0].Spec.Scale.MemoryMB = mb }
}

// uses makes every allocation steadily give a rate and take memory from now on.
func (w *liveWorld) uses(rate, memoryBytes float64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.perform = func(_ *liveWorld, a cluster.Allocation, at time.Time) cluster.Observation {
		o := gives(rate, a, at)
		o.Use = &cluster.Use{At: at, MemoryBytes: memoryBytes}
		return o
	}
}

func (w *liveWorld) resizes() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.resized)
}

// More memory is transferred step by step before allocations are added, and given back long
// after, when it is no longer in use.
func TestMemoryIsTransferredFirst(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		w := newLiveWorld(testNode("alpha", "fast"), testNode("omega", "fast"))
		w.holder = true
		b := startLive(t, w, mem.New())
		runsOn(t, w, counts(1, 2), memories(128, 256, 384, 512))
		w.performs(50)
		settle(3 * time.Minute)
		var kinds []string
		for _, r := range b.actions(webGroup) {
			kinds = append(kinds, r.Kind+" "+r.To+" "+r.Result)
		}
		want := []string{"resize 500 MHz, 384 MB done", "resize 500 MHz, 512 MB done", "grow count 2 done"}
		if !slices.Equal(kinds[:min(3, len(kinds))], want) {
			t.Errorf("recorded %q, want %q", kinds, want)
		}
		w.mu.Lock()
		if !slices.Contains(w.notes, "default/web/web: web has 500 MHz, 384 MB instead of 500 MHz, 256 MB while it runs: at 56 % of its target") {
			t.Errorf("notes %q", w.notes)
		}
		w.mu.Unlock()
		// What is in use is not taken away, however well the workload does.
		w.uses(400, 300<<20)
		settle(time.Hour)
		if n := w.resizes(); n != 2 {
			t.Errorf("%d resizes, want the two: memory in use is not given back", n)
		}
		w.performs(400)
		settle(2 * time.Hour)
		w.mu.Lock()
		given := w.resized[len(w.resized)-1]
		w.mu.Unlock()
		list := b.actions(webGroup)
		if last := list[len(list)-1]; given.MemoryMB != 256 || last.Kind != "shrink" || last.To != "500 MHz, 256 MB" || last.Result != "done" {
			t.Errorf("given back to %+v, recorded %+v", given, list)
		}
	})
}

// A single allocation gives back, too; memory that cannot be transferred is not asked for
// in every window, and nothing else is done that the adapter did not want.
func TestMemoryAlone(t *testing.T) {
	t.Parallel()
	for name, holder := range map[string]bool{"lent": true, "impossible": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T) {
				w := newLiveWorld(testNode("alpha", "fast"))
				w.holder = holder
				b := startLive(t, w, mem.New())
				runsOn(t, w, memories(512))
				w.performs(50)
				settle(5 * time.Minute)
				list := b.actions(webGroup)
				if len(list) == 0 || list[0].Kind != "resize" || (list[0].Result == "done") != holder {
					t.Fatalf("recorded %+v", list)
				}
				w.performs(200)
				settle(time.Hour)
				list = b.actions(webGroup)
				if last := list[len(list)-1]; holder && (last.Kind != "shrink" || last.To != "500 MHz, 256 MB" || last.Result != "done") {
					t.Errorf("recorded %+v", list)
				}
				if n := len(w.written()); n != 0 {
					t.Errorf("%d changes of the job", n)
				}
			})
		})
	}
}

// Memory that is not used is not what an allocation lacks.
func TestMemoryThatIsNotUsedIsNotTransferred(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		w := newLiveWorld(testNode("alpha", "fast"))
		w.holder = true
		startLive(t, w, mem.New())
		runsOn(t, w, memories(512))
		w.uses(50, 100<<20)
		settle(5 * time.Minute)
		if n := w.resizes(); n != 0 {
			t.Errorf("%d resizes", n)
		}
	})
}

// tailed has a bound on its tail.
func tailed(j *cluster.Job) {
	j.Workloads[0].Spec.Target = performance.Target{Kind: performance.QPS, QPS: 90, Latency: &performance.Latency{Percentile: 99, Max: 5 * time.Millisecond}}
}

// answers makes every allocation steadily answer a rate of requests with a tail.
func (w *liveWorld) answers(rate float64, tail time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.perform = func(_ *liveWorld, a cluster.Allocation, at time.Time) cluster.Observation {
		o := gives(rate, a, at)
		o.Measure.LatencyTail = tail
		return o
	}
}

// tailAlone is a world that can transfer reservations and one node, on which a service
// with a bound on its tail latency runs.
func tailAlone(t *testing.T) (*liveWorld, *bench) {
	t.Helper()
	w := newLiveWorld(testNode("alpha", "fast"))
	w.holder = true
	b := startLive(t, w, mem.New())
	runsOn(t, w, tailed)
	return w, b
}

// A service that misses its tail latency next to others gets unreserved CPU, until it has
// no co-runner; that it reaches its target meanwhile is no reason to take it away.
func TestCPUIsTransferredToATailWithCoRunners(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		w, b := tailAlone(t)
		w.answers(90, 20*time.Millisecond)
		settle(2 * time.Minute)
		if n := w.resizes(); n != 0 {
			t.Errorf("%d resizes of one that is alone", n)
		}
		w.plant(testJob("other", rated), w.nodes[0].ID)
		w.answers(90, time.Millisecond)
		settle(time.Minute)
		w.answers(90, 20*time.Millisecond)
		settle(5 * time.Minute)
		var sizes []int
		w.mu.Lock()
		for _, r := range w.resized {
			sizes = append(sizes, r.CPUMHz)
		}
		w.mu.Unlock()
		// The node has 2,600 MHz, the other 500: as much again, then half of what is left,
		// which doubles the transfer; what would be left then does not.
		if want := []int{1000, 1550}; !slices.Equal(sizes, want) {
			t.Errorf("lent up to %v MHz, want %v; recorded %+v", sizes, want, b.actions(webGroup))
		}
		w.answers(400, time.Millisecond)
		settle(2 * time.Hour)
		if n := w.resizes(); n != len(sizes) {
			t.Errorf("CPU was taken back from one that is still beside another: recorded %+v", b.actions(webGroup))
		}
		w.stop(otherGroup.JobID())
		settle(2 * time.Hour)
		w.mu.Lock()
		last := w.resized[len(w.resized)-1]
		w.mu.Unlock()
		if last.CPUMHz != 500 {
			t.Errorf("alone it still has %d MHz; recorded %+v", last.CPUMHz, b.actions(webGroup))
		}
	})
}

// A co-runner on another node of the machine is none for this: the node would divide its own CPU
// time anew among one.
func TestCPUIsNotTransferredForCoRunnersOnOtherNodes(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		alpha, beta := testNode("alpha", "fast"), testNode("beta", "fast")
		alpha.Machine, beta.Machine = "host", "host"
		w := newLiveWorld(alpha, beta)
		w.holder = true
		b := startLive(t, w, mem.New())
		runsOn(t, w, tailed)
		running := w.get(webGroup.JobID()).allocs[0].Node
		other := alpha.ID
		if running == alpha.ID {
			other = beta.ID
		}
		w.plant(testJob("other", rated), other)
		w.answers(90, 20*time.Millisecond)
		settle(5 * time.Minute)
		if n := w.resizes(); n != 0 {
			t.Errorf("%d resizes; recorded %+v", n, b.actions(webGroup))
		}
		w.plant(testJob("third", rated), running)
		settle(5 * time.Minute)
		if n := w.resizes(); n == 0 {
			t.Errorf("no resize next to one on the node; recorded %+v", b.actions(webGroup))
		}
	})
}

// Work that falls short of a rate next to others gets unreserved CPU, too: at once where
// a co-runner has just come, and later where that may be all it lacks.
func TestCPUIsTransferredToARateWithCoRunners(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		wait time.Duration // from when the other comes until it falls short
		rate float64       // of the 90 that it must reach
		want []int
	}{
		"somebody came":          {0, 60, []int{1000, 1550}},
		"far short, at once":     {0, 20, []int{1000, 1550}},
		"later":                  {10 * time.Minute, 50, []int{1000}},
		"later, too far from it": {10 * time.Minute, 20, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T) {
				w := newLiveWorld(testNode("alpha", "fast"))
				w.holder = true
				b := startLive(t, w, mem.New())
				runsOn(t, w)
				w.performs(90)
				settle(5 * time.Minute)
				w.plant(testJob("other", func(j *cluster.Job) { j.Workloads[0].Spec.Target.QPS = 1 }), w.nodes[0].ID)
				settle(c.wait)
				w.performs(c.rate)
				settle(5 * time.Minute)
				var sizes []int
				w.mu.Lock()
				for _, r := range w.resized {
					sizes = append(sizes, r.CPUMHz)
				}
				w.mu.Unlock()
				if !slices.Equal(sizes, c.want) {
					t.Errorf("lent up to %v MHz, want %v; recorded %+v", sizes, c.want, b.actions(webGroup))
				}
			})
		})
	}
}

// Where the scores predict that co-runners lengthen a tail latency, CPU is transferred
// before that is measured, once; where they do not, the measurement decides.
func TestCPUIsTransferredWhereAViolationIsPredicted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		caused      float64
		transferred int
	}{"pressed": {80, 1}, "spared": {10, 0}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T) {
				w := newLiveWorld(testNode("alpha", "fast"))
				w.holder = true
				w.lab = func(ctx context.Context, r cluster.ProfileRequest) (profile.Profile, error) {
					p, err := plantedRun(ctx, r)
					for s := range p.Sensitivity.Caused {
						p.Sensitivity.Caused[s] = interference.Estimate{Score: interference.Percent(c.caused), Origin: interference.Measured}
					}
					return p, err
				}
				b := startLive(t, w, mem.New(), func(c *engine.Config) { c.ProfileSources = profiling.DefaultColumns() })
				w.answers(90, time.Millisecond)
				w.submit(testJob("other", rated))
				settle(90 * time.Second)
				runsOn(t, w, tailed)
				settle(5 * time.Minute)
				list := b.actions(webGroup)
				if len(list) != c.transferred || w.resizes() != c.transferred {
					t.Errorf("recorded %+v, want %d", list, c.transferred)
				}
			})
		})
	}
}

// CPU is transferred after the first window that is too slow, before best effort gives way:
// best effort need not wait to see whether it was enough.
func TestCPUIsTransferredBeforeBestEffortLeaves(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		w, b := tailAlone(t)
		w.plant(testJob("noisy", bestEffort), w.nodes[0].ID)
		w.answers(90, 20*time.Millisecond)
		settle(30 * time.Second)
		gone, transferred := b.actions(noisyGroup), b.actions(webGroup)
		if len(gone) != 1 || gone[0].Kind != "evict" || len(transferred) != 1 || transferred[0].Kind != "resize" || !transferred[0].At.Before(gone[0].At) {
			t.Errorf("recorded %+v and %+v", gone, transferred)
		}
	})
}

// Others keep what they reserved: where nothing is free, or no tail is bounded,
// nothing is transferred.
func TestCPUThatIsHeldIsNotTransferred(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		mhz    int // of the co-runner
		change []func(*cluster.Job)
	}{
		"full node": {2100, []func(*cluster.Job){tailed}},
		"no bound":  {500, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T) {
				w := newLiveWorld(testNode("alpha", "fast"))
				w.holder = true
				startLive(t, w, mem.New())
				runsOn(t, w, c.change...)
				w.plant(testJob("other", rated, func(j *cluster.Job) { j.Workloads[0].Ask.CPUMHz = c.mhz }), w.nodes[0].ID)
				w.answers(90, 20*time.Millisecond)
				settle(5 * time.Minute)
				if n := w.resizes(); n != 0 {
					t.Errorf("%d resizes", n)
				}
			})
		})
	}
}

// A world that takes long over a transfer keeps no other job waiting.
func TestATransferBlocksNoOtherJob(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		w := newLiveWorld(testNode("alpha", "fast"), testNode("omega", "fast"))
		w.holder, w.takes = true, 3*time.Minute
		b := startLive(t, w, mem.New())
		runsOn(t, w, memories(512))
		w.plant(testJob("other", rated, counts(1, 2)), w.nodes[1].ID)
		w.performs(50)
		settle(time.Minute)
		if n := len(w.get(otherGroup.JobID()).allocs); n != 2 || w.resizes() != 0 {
			t.Errorf("the other has %d allocations after a minute, want 2; recorded %+v", n, b.actions(otherGroup))
		}
		if list := b.actions(webGroup); len(list) != 1 || list[0].Result != "under way" {
			t.Errorf("recorded %+v", list)
		}
		settle(3 * time.Minute)
		if list := b.actions(webGroup); list[0].Result != "done" || w.resizes() != 1 {
			t.Errorf("recorded %+v", list)
		}
	})
}

var otherGroup = cluster.WorkloadID{Namespace: "default", Job: "other", Group: "web"}

// A job that is stopped while it is transferred to ends the attempt.
func TestAStoppedJobEndsItsTransfer(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		w := newLiveWorld(testNode("alpha", "fast"))
		w.holder, w.takes = true, 3*time.Minute
		b := startLive(t, w, mem.New())
		runsOn(t, w, memories(512))
		w.performs(50)
		settle(30 * time.Second)
		if list := b.actions(webGroup); len(list) != 1 || list[0].Result != "under way" {
			t.Fatalf("recorded %+v", list)
		}
		w.stop(webJob)
		settle(10 * time.Minute)
		if n := w.resizes(); n != 0 {
			t.Errorf("%d resizes of a job that is gone", n)
		}
		if list := b.actions(webGroup); len(list) != 1 || !strings.Contains(list[0].Result, "changed or stopped meanwhile") {
			t.Errorf("recorded %+v", list)
		}
	})
}

// A new leader neither repeats a transfer nor leaves the workload for good.
func TestALeaderDiesDuringATransfer(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		w := newLiveWorld(testNode("alpha", "fast"))
		w.holder, w.takes = true, 10*time.Second
		s := mem.New()
		b := startLive(t, w, s)
		runsOn(t, w, memories(384, 512))
		w.performs(50)
		for w.resizes() == 0 && len(b.actions(webGroup)) == 0 {
			settle(time.Second)
		}
		b.stop()
		b = startLive(t, w, s)
		settle(20 * time.Second)
		if n := w.resizes(); n != 0 {
			t.Errorf("%d resizes at rest", n)
		}
		settle(2 * time.Minute)
		if list := b.actions(webGroup); w.resizes() == 0 || list[0].Result != "under way" || list[1].Result != "done" {
			t.Errorf("recorded %+v", list)
		}
	})
}
