package engine_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/engine"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/store/mem"
)

// liveWorld is a memWorld whose running jobs can be changed and perform as a test says.
type liveWorld struct {
	*memWorld
	perform func(w *liveWorld, a cluster.Allocation, at time.Time) cluster.Observation
	scaled  bool          // groups have a scaling block of their own
	busy    error         // what Adjust answers
	holder  bool          // allocations may be given more memory while they run
	takes   time.Duration // a resize
	resized []cluster.Resources
	changes []cluster.Change
	stopped []string
	at      []time.Time
}

func newLiveWorld(nodes ...*cluster.Node) *liveWorld {
	return &liveWorld{memWorld: newWorld(nodes...), perform: steadily(97)}
}

// gives is an allocation's observation at a rate.
func gives(rate float64, a cluster.Allocation, at time.Time) cluster.Observation {
	return cluster.Observation{
		Allocation: a.ID, Node: a.Node, At: at, Window: 2 * time.Second, Measure: performance.Measure{RatePerSec: rate, Goodput: rate},
	}
}

func steadily(rate float64) func(*liveWorld, cluster.Allocation, time.Time) cluster.Observation {
	return func(_ *liveWorld, a cluster.Allocation, at time.Time) cluster.Observation { return gives(rate, a, at) }
}

func (w *liveWorld) Observe(_ context.Context, wl cluster.Workload, _ time.Duration) ([]cluster.Observation, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []cluster.Observation
	for _, a := range w.jobs[wl.ID.JobID()].allocs {
		if a.Workload == wl.ID {
			out = append(out, w.perform(w, a, time.Now()))
		}
	}
	return out, nil
}

// Apply gives allocations the version they are of.
func (w *liveWorld) Apply(ctx context.Context, p cluster.Plan) (cluster.PlanResult, error) {
	result, err := w.memWorld.Apply(ctx, p)
	if err == nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		j := w.jobs[p.Job.ID]
		for i := range j.allocs {
			j.allocs[i].Version = j.job.Version
		}
	}
	return result, err
}

func (w *liveWorld) Bounds(_ context.Context, id cluster.WorkloadID) (cluster.Bounds, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	j := w.jobs[id.JobID()]
	return cluster.Bounds{ModifyIndex: j.job.ModifyIndex, Count: j.job.Workloads[0].Count, Scaled: w.scaled, Bound: true}, nil
}

func (w *liveWorld) Adjust(_ context.Context, c cluster.Change) (cluster.PlanResult, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	j := w.jobs[c.Workload.JobID()]
	if w.busy != nil {
		return cluster.PlanResult{}, w.busy
	}
	if j.job.ModifyIndex != c.ModifyIndex {
		return cluster.PlanResult{}, cluster.ErrStale
	}
	w.changes, w.at = append(w.changes, c), append(w.at, time.Now())
	w.index++
	j.job.ModifyIndex, j.job.Version = w.index, j.job.Version+1
	j.job.Workloads = slices.Clone(j.job.Workloads) // jobs that were read before stay as they are
	wl := &j.job.Workloads[0]
	if c.Count > 0 {
		wl.Count = c.Count
	}
	old := j.allocs
	j.allocs = nil
	for i := range wl.Count {
		var a cluster.Allocation
		if i < len(old) {
			a = old[i]
		} else {
			a = cluster.Allocation{Workload: wl.ID, Resources: wl.Ask}
		}
		allowed := !c.Rebind || slices.ContainsFunc(c.Nodes, func(n cluster.Candidate) bool { return n.Node == a.Node })
		if a.ID == "" || !allowed {
			if c.Rebind && len(c.Nodes) == 0 {
				continue
			}
			a.ID = fmt.Sprintf("%s-%d-%d", wl.ID, i, w.index)
			if c.Rebind {
				a.Node = c.Nodes[i%len(c.Nodes)].Node
			} else {
				a.Node = w.nodes[0].ID
			}
		}
		a.Version = j.job.Version
		if c.Rebind {
			wl.Bound = digestOf(c.Nodes)
		}
		j.allocs = append(j.allocs, a)
	}
	w.wake()
	return cluster.PlanResult{Version: j.job.Version, ModifyIndex: w.index}, nil
}

func digestOf(nodes []cluster.Candidate) cluster.ShortlistDigest {
	var ids []cluster.NodeID
	for _, n := range nodes {
		ids = append(ids, n.Node)
	}
	return cluster.DigestShortlist(ids)
}

func (w *liveWorld) StopAllocation(_ context.Context, _ cluster.WorkloadID, id string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = append(w.stopped, id)
	return nil
}

func (w *liveWorld) Resize(ctx context.Context, id cluster.WorkloadID, allocation string, size cluster.Resources) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(w.takes):
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.holder {
		return fmt.Errorf("nobody may: %w", cluster.ErrImpossible)
	}
	w.resized = append(w.resized, size)
	j := w.jobs[id.JobID()]
	for i := range j.allocs {
		if a := &j.allocs[i]; a.ID == allocation {
			given := a.Given()
			a.Transferred = cluster.Resources{CPUMHz: size.CPUMHz - given.CPUMHz, MemoryMB: size.MemoryMB - given.MemoryMB}
			a.Resources = size
		}
	}
	return nil
}

// plant puts a job into the world as it runs, past the gate.
func (w *liveWorld) plant(job cluster.Job, nodes ...cluster.NodeID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.index++
	job.Held, job.ModifyIndex, job.SubmittedAt = false, w.index, time.Now()
	j := &memJob{job: job}
	for i, n := range nodes {
		j.allocs = append(j.allocs, cluster.Allocation{
			ID: fmt.Sprintf("%s-%d", job.ID, i), Workload: job.Workloads[0].ID, Node: n, Resources: job.Workloads[0].Ask, Version: job.Version,
		})
	}
	w.jobs[job.ID] = j
	w.wake()
}

// performs makes every allocation steadily give a rate from now on.
func (w *liveWorld) performs(rate float64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.perform = steadily(rate)
}

func (w *liveWorld) written() []cluster.Change {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.changes)
}

func startLive(t *testing.T, w *liveWorld, s *mem.Store, change ...func(*engine.Config)) *bench {
	t.Helper()
	change = append(change, func(c *engine.Config) { c.World = w })
	return start(t, w.memWorld, s, change...)
}

func rated(j *cluster.Job) {
	j.Workloads[0].Spec.Target = performance.Target{Kind: performance.Rate, Rate: 90}
}

func counts(allowed ...int) func(*cluster.Job) {
	return func(j *cluster.Job) { j.Workloads[0].Spec.Scale.Count = allowed }
}

func movable(j *cluster.Job) { j.Workloads[0].Spec.Move = true }

var noisyGroup = cluster.WorkloadID{Namespace: "default", Job: "noisy", Group: "web"}

func bestEffort(j *cluster.Job) {
	j.Workloads[0].Spec = performance.Spec{Target: performance.Target{Kind: performance.BestEffort}}
}

// besideNoise is slow while a best-effort job shares its node.
func besideNoise(w *liveWorld, a cluster.Allocation, at time.Time) cluster.Observation {
	if noisy := w.jobs[noisyGroup.JobID()]; noisy != nil {
		for _, n := range noisy.allocs {
			if n.Node == a.Node {
				return gives(55, a, at)
			}
		}
	}
	return gives(97, a, at)
}

// runsOn submits the web job and returns its node.
func runsOn(t *testing.T, w *liveWorld, change ...func(*cluster.Job)) cluster.NodeID {
	t.Helper()
	w.submit(testJob("web", append([]func(*cluster.Job){rated}, change...)...))
	settle(90 * time.Second)
	j := w.get(webJob)
	if j.job.Held || len(j.allocs) != 1 {
		t.Fatalf("the job does not run: %+v", j.job)
	}
	return j.allocs[0].Node
}

func (b *bench) actions(w cluster.WorkloadID) []cluster.ActionRecord {
	b.t.Helper()
	list, err := b.engine.Book().Actions(context.Background(), w)
	if err != nil {
		b.t.Fatal(err)
	}
	return list
}

func TestANoisyNeighbourLeaves(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		w := newLiveWorld(testNode("alpha", "fast"), testNode("omega", "slow"))
		w.perform = besideNoise
		b := startLive(t, w, mem.New())
		node := runsOn(t, w)
		w.plant(testJob("noisy", bestEffort), node)
		planted := time.Now()
		settle(30 * time.Second)
		noisy := w.get(noisyGroup.JobID())
		if len(noisy.allocs) != 1 || noisy.allocs[0].Node == node {
			t.Fatalf("after 30 s the neighbour is on %v", noisy.allocs)
		}
		t.Logf("cured after %s", w.at[0].Sub(planted))
		list := b.actions(noisyGroup)
		if len(list) != 1 || list[0].Kind != "evict" || list[0].Result != "done" || !strings.Contains(list[0].Reason, "web/web") {
			t.Errorf("recorded %+v", list)
		}
		if web := w.get(webJob); web.allocs[0].Node != node {
			t.Error("the workload with the target was moved")
		}
		settle(10 * time.Minute)
		if n := len(w.written()); n != 1 {
			t.Errorf("%d changes in ten minutes, want the one", n)
		}
	})
}

// With one node the co-runner waits, and returns when the workload it left for ends.
func TestACoRunnerWithNowhereToGoWaitsAndReturns(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		w := newLiveWorld(testNode("alpha", "fast"))
		w.perform = besideNoise
		b := startLive(t, w, mem.New())
		node := runsOn(t, w)
		w.plant(testJob("noisy", bestEffort), node)
		settle(30 * time.Second)
		if noisy := w.get(noisyGroup.JobID()); len(noisy.allocs) != 0 {
			t.Fatalf("it still runs: %v", noisy.allocs)
		}
		if len(w.stopped) != 1 {
			t.Errorf("stopped %v", w.stopped)
		}
		w.stop(webJob)
		settle(2 * time.Minute)
		if noisy := w.get(noisyGroup.JobID()); len(noisy.allocs) != 1 || noisy.allocs[0].Node != node {
			t.Fatalf("it did not return: %v, %+v", noisy.allocs, b.actions(noisyGroup))
		}
	})
}

func TestALoadSpikeIsAnswered(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		w := newLiveWorld(testNode("alpha", "fast"), testNode("omega", "fast"))
		var each float64 = 97
		w.perform = func(_ *liveWorld, a cluster.Allocation, at time.Time) cluster.Observation { return gives(each, a, at) }
		b := startLive(t, w, mem.New())
		runsOn(t, w, counts(1, 2, 4))
		w.mu.Lock()
		each = 50 // each unit of work became harder
		w.mu.Unlock()
		spike := time.Now()
		settle(15 * time.Second)
		if web := w.get(webJob); len(web.allocs) != 2 {
			t.Fatalf("after 15 s there are %d allocations; %+v", len(web.allocs), b.actions(webGroup))
		}
		t.Logf("answered after %s", w.at[0].Sub(spike))
		if c := w.written()[0]; c.Count != 2 || !c.Rebind || !strings.Contains(c.Message, "2 allocations instead of 1") {
			t.Errorf("change %+v", c)
		}
		settle(10 * time.Minute)
		if n := len(w.written()); n != 1 {
			t.Errorf("%d changes in ten minutes, want the one", n)
		}
		// Nobody thinks that the version we wrote went past the gate.
		if d := b.decision(webGroup); d.Outcome != cluster.Placed || d.Count != 2 {
			t.Errorf("decision %s of %d", d.Outcome, d.Count)
		}
		for _, note := range w.notes {
			if strings.Contains(note, "hold pool") {
				t.Errorf("note %q", note)
			}
		}
	})
}

func TestWhatWasGrownIsGivenBackLateAndOnce(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		w := newLiveWorld(testNode("alpha", "fast"), testNode("omega", "fast"))
		var each float64 = 50
		w.perform = func(_ *liveWorld, a cluster.Allocation, at time.Time) cluster.Observation { return gives(each, a, at) }
		startLive(t, w, mem.New())
		w.submit(testJob("web", rated, counts(1, 2)))
		settle(2 * time.Minute)
		if n := len(w.get(webJob).allocs); n != 2 {
			t.Fatalf("%d allocations", n)
		}
		w.mu.Lock()
		each = 110
		w.mu.Unlock()
		settle(8 * time.Minute)
		if n := len(w.get(webJob).allocs); n != 2 {
			t.Fatalf("%d allocations after eight minutes", n)
		}
		settle(30 * time.Minute)
		if n := len(w.get(webJob).allocs); n != 1 || len(w.written()) != 2 {
			t.Errorf("%d allocations after %d changes", n, len(w.written()))
		}
	})
}

// Noise around the target, and a load that comes and goes each minute, must not
// make the count swing.
func TestNoOscillation(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		w := newLiveWorld(testNode("alpha", "fast"), testNode("omega", "fast"))
		began := time.Now()
		w.perform = func(w *liveWorld, a cluster.Allocation, at time.Time) cluster.Observation {
			rate := 92 + 6*math.Sin(at.Sub(began).Seconds())
			if int(at.Sub(began).Minutes())%2 == 1 {
				rate /= 2
			}
			return gives(rate, a, at)
		}
		startLive(t, w, mem.New())
		w.submit(testJob("web", rated, counts(1, 2, 4)))
		settle(2 * time.Hour)
		var text []string
		for _, c := range w.written() {
			text = append(text, fmt.Sprint(c.Count))
		}
		if len(text) > 6 {
			t.Errorf("%d changes in two hours: %s", len(text), strings.Join(text, " "))
		}
	})
}

func TestHostileProbesCauseNothing(t *testing.T) {
	t.Parallel()
	observed := map[string]func(o *cluster.Observation, n int){
		"negative":   func(o *cluster.Observation, _ int) { o.Measure.RatePerSec, o.Measure.Goodput = -5, -5 },
		"nan":        func(o *cluster.Observation, _ int) { o.Measure.RatePerSec, o.Measure.Goodput = math.NaN(), math.NaN() },
		"infinite":   func(o *cluster.Observation, _ int) { o.Measure.RatePerSec = math.Inf(1) },
		"stuck":      func(o *cluster.Observation, _ int) { o.Measure.RatePerSec, o.Measure.Goodput = 0, 0 },
		"no window":  func(o *cluster.Observation, _ int) { o.Window, o.Measure.Goodput = 0, 1 },
		"the past":   func(o *cluster.Observation, _ int) { o.At, o.Measure.Goodput = o.At.Add(-time.Hour), 1 },
		"the future": func(o *cluster.Observation, _ int) { o.At, o.Measure.Goodput = o.At.Add(time.Hour), 1 },
		"back and forth": func(o *cluster.Observation, n int) {
			o.Measure.Goodput = 1
			o.At = o.At.Add(time.Duration(n%2) * 50 * time.Second)
		},
		"lost one in two": func(o *cluster.Observation, n int) {
			o.Measure.RatePerSec, o.Measure.Goodput = 1, 1
			if n%2 == 0 {
				*o = cluster.Observation{Allocation: o.Allocation, At: o.At, Unavailable: "timeout"}
			}
		},
	}
	for name, spoil := range observed {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T) {
				w := newLiveWorld(testNode("alpha", "fast"), testNode("omega", "fast"))
				n := 0
				w.perform = func(_ *liveWorld, a cluster.Allocation, at time.Time) cluster.Observation {
					o := gives(97, a, at)
					n++
					spoil(&o, n)
					return o
				}
				b := startLive(t, w, mem.New())
				node := runsOn(t, w, counts(1, 2, 4), movable)
				w.plant(testJob("noisy", bestEffort), node)
				settle(20 * time.Minute)
				if c := w.written(); len(c) != 0 {
					t.Errorf("changes %+v", c)
				}
				readings, err := b.engine.Book().Observations(t.Context(), webGroup)
				if err != nil || len(readings) == 0 {
					t.Fatalf("%d readings, %v", len(readings), err)
				}
				for _, o := range readings {
					if o.Unavailable == "" && (o.Measure.Goodput <= 0 || math.IsInf(o.Measure.RatePerSec, 0)) {
						t.Errorf("a lie was recorded as a number: %+v", o)
					}
				}
			})
		})
	}
}

func TestAScalingBlockOfTheirOwnIsLeftAlone(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		w := newLiveWorld(testNode("alpha", "fast"), testNode("omega", "fast"))
		w.scaled, w.perform = true, steadily(40)
		startLive(t, w, mem.New())
		runsOn(t, w, counts(1, 2, 4))
		settle(10 * time.Minute)
		if c := w.written(); len(c) != 0 {
			t.Errorf("changes %+v", c)
		}
	})
}

func TestTheCountStaysInItsBounds(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		w := newLiveWorld(testNode("alpha", "fast"), testNode("omega", "fast"))
		startLive(t, w, mem.New())
		runsOn(t, w, counts(1, 3))
		w.performs(10)
		settle(time.Hour)
		if n := w.get(webJob).job.Workloads[0].Count; n != 3 {
			t.Errorf("count %d, want the 3 that is allowed", n)
		}
		if c := w.written(); len(c) != 1 {
			t.Errorf("%d changes", len(c))
		}
	})
}

func TestMovesAreOptIn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change []func(*cluster.Job)
		moves  int
		want   string
	}{
		"advice": {nil, 0, "not done"},
		"moved":  {[]func(*cluster.Job){movable}, 1, "done"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T) {
				w := newLiveWorld(testNode("alpha", "fast"), testNode("omega", "fast"))
				b := startLive(t, w, mem.New())
				node := runsOn(t, w, c.change...)
				w.mu.Lock()
				w.perform = func(_ *liveWorld, a cluster.Allocation, at time.Time) cluster.Observation {
					if a.Node == node {
						return gives(50, a, at) // whoever makes it slow is not ours
					}
					return gives(97, a, at)
				}
				w.mu.Unlock()
				settle(30 * time.Minute)
				moved := w.get(webJob).allocs[0].Node != node
				if moved != (c.moves == 1) || len(w.written()) != c.moves {
					t.Errorf("moved %v after %d changes", moved, len(w.written()))
				}
				list := b.actions(webGroup)
				if len(list) != 1 || list[0].Kind != "move" || !strings.HasPrefix(list[0].Result, c.want) {
					t.Errorf("recorded %+v", list)
				}
			})
		})
	}
}

// A resize that this world cannot do is said, and the next kind in order is taken.
func TestWhatCannotBeResizedGrows(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		w := newLiveWorld(testNode("alpha", "fast"), testNode("omega", "fast"))
		b := startLive(t, w, mem.New())
		runsOn(t, w, counts(1, 2), func(j *cluster.Job) { j.Workloads[0].Spec.Scale.Cores = []int{1, 2} })
		w.performs(50)
		settle(time.Minute)
		list := b.actions(webGroup)
		if len(list) != 2 || list[0].Kind != "resize" || !strings.Contains(list[0].Result, "not possible") || list[1].Kind != "grow" || list[1].Result != "done" {
			t.Errorf("recorded %+v", list)
		}
	})
}

// A leader that dies between the change and its own record, and one that dies
// after, repeat nothing.
func TestANewLeaderRepeatsNothing(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		w := newLiveWorld(testNode("alpha", "fast"), testNode("omega", "fast"))
		w.perform = steadily(97)
		s := mem.New()
		b := startLive(t, w, s)
		runsOn(t, w, counts(1, 2, 3, 4))
		w.performs(20)
		for len(w.written()) == 0 {
			settle(100 * time.Millisecond)
		}
		b.stop()
		b = startLive(t, w, s)
		settle(28 * time.Second)
		if n := len(w.written()); n != 1 {
			t.Errorf("%d changes, want the one of the first leader", n)
		}
		if d := b.decision(webGroup); d.Outcome != cluster.Placed {
			t.Errorf("the new leader takes our own version for the user's: %s", d.Reason)
		}
	})
}

func TestAJobThatDeploysIsLeftAlone(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		w := newLiveWorld(testNode("alpha", "fast"), testNode("omega", "fast"))
		w.busy = cluster.ErrBusy
		b := startLive(t, w, mem.New())
		runsOn(t, w, counts(1, 2))
		w.performs(50)
		settle(3 * time.Minute)
		if n := len(w.written()); n != 0 {
			t.Errorf("%d changes", n)
		}
		if list := b.actions(webGroup); len(list) != 1 {
			t.Errorf("the same is said over and over: %+v", list)
		}
		if s := b.engine.AdaptationStats(); s.Actions[cluster.ActionCount{Kind: "grow", Result: "refused"}] == 0 || s.Actions[cluster.ActionCount{Kind: "grow", Result: "failed"}] != 0 {
			t.Errorf("counts %v", s.Actions)
		}
		w.mu.Lock()
		w.busy = nil
		w.mu.Unlock()
		settle(15 * time.Second)
		if n := len(w.written()); n != 1 {
			t.Errorf("%d changes when the deployment was over", n)
		}
	})
}

func TestNoAdapterMeansNoChange(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		w := newLiveWorld(testNode("alpha", "fast"), testNode("omega", "fast"))
		w.perform = steadily(10)
		b := startLive(t, w, mem.New(), func(c *engine.Config) { c.Adapter = "none" })
		runsOn(t, w, counts(1, 2))
		settle(5 * time.Minute)
		if n := len(w.written()); n != 0 {
			t.Errorf("%d changes", n)
		}
		if o, _ := b.engine.Book().Observations(t.Context(), webGroup); len(o) == 0 {
			t.Error("nothing was observed")
		}
	})
}

func TestAnUnknownAdapterIsRefused(t *testing.T) {
	t.Parallel()
	_, err := engine.New(engine.Config{World: newLiveWorld(), Store: mem.New(), Clock: wallClock{}, Adapter: "quux"})
	if err == nil || !strings.Contains(err.Error(), "known: close, enlarge, expected, kflr, none, obfit, pp-rtte, quasar, rtte") {
		t.Errorf("got %v", err)
	}
}

// A co-runner whose eviction did not help returns, with that reason, and is left alone
// afterwards.
func TestACoRunnerWhoseEvictionDidNotHelpReturns(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		w := newLiveWorld(testNode("alpha", "fast"))
		b := startLive(t, w, mem.New())
		node := runsOn(t, w)
		w.performs(60)
		w.plant(testJob("noisy", bestEffort), node)
		settle(2 * time.Minute)
		list := b.actions(noisyGroup)
		if len(list) != 2 || list[0].Kind != "evict" || list[1].Kind != "return" || !strings.Contains(list[1].Reason, "no better off") {
			t.Errorf("recorded %+v", list)
		}
		if noisy := w.get(noisyGroup.JobID()); len(noisy.allocs) != 1 {
			t.Error("it still waits")
		}
		settle(10 * time.Hour)
		if n := len(b.actions(noisyGroup)); n > 12 {
			t.Errorf("%d times it left or returned in ten hours", n)
		}
	})
}
