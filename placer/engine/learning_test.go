package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/engine"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/store"
	"github.com/nomad-placer/nomad-placer/profiler/store/mem"
)

// countingStore counts writes by the first segment of their path.
type countingStore struct {
	store.Store
	mu   sync.Mutex
	puts map[string]int
}

func (s *countingStore) Put(ctx context.Context, path string, data []byte, ifIndex uint64) (uint64, error) {
	s.mu.Lock()
	class, _, _ := strings.Cut(path, "/")
	if s.puts == nil {
		s.puts = map[string]int{}
	}
	s.puts[class]++
	s.mu.Unlock()
	return s.Store.Put(ctx, path, data, ifIndex)
}

func (s *countingStore) count(class string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.puts[class]
}

// planted is a laboratory that finds of each job what a test says.
func planted(of map[string]interference.Sensitivity) func(context.Context, cluster.ProfileRequest) (profile.Profile, error) {
	return func(ctx context.Context, r cluster.ProfileRequest) (profile.Profile, error) {
		p, err := plantedRun(ctx, r)
		isolated := unitsPerSecond(r.Node.Configuration)
		isolated.Unit = r.Workload.Spec.Target.RateUnit()
		p.Isolated = map[string]profile.Measurement{r.Node.Configuration: isolated}
		p.Sensitivity = interference.Sensitivity{Tolerated: interference.Scores{}, Caused: interference.Scores{}}
		if r.Purpose == cluster.PurposeInterference {
			p.Sensitivity = of[r.Workload.ID.Job]
		}
		return p, err
	}
}

func unitsPerSecond(configuration string) profile.Measurement {
	v := map[string]float64{"fast": 100, "slow": 80}[configuration]
	return profile.Measurement{Value: v, Low: 0.97 * v, High: 1.03 * v, Unit: "units/s", Windows: 10}
}

func measuredAs(v, low, high float64) interference.Estimate {
	return interference.Estimate{Score: interference.Percent(v), Low: interference.Percent(low), High: interference.Percent(high), Origin: interference.Measured}
}

// besidePresser is what the web job does: 65 % next to the job that presses.
func besidePresser(w *liveWorld, a cluster.Allocation, at time.Time) cluster.Observation {
	rate := 100.0
	if a.Node == "id-omega" {
		rate = 80
	}
	if p := w.jobs[presserGroup.JobID()]; a.Workload == webGroup && p != nil {
		for _, o := range p.allocs {
			if o.Node == a.Node {
				rate *= 0.65
			}
		}
	}
	return gives(rate, a, at)
}

var presserGroup = cluster.WorkloadID{Namespace: "default", Job: "presser", Group: "web"}

func wantsRate(rate float64) func(*cluster.Job) {
	return func(j *cluster.Job) {
		j.Workloads[0].Spec.Target = performance.Target{Kind: performance.Rate, Rate: rate}
	}
}

// ofOthers are training rows by which everything tolerates most pressure on memory bandwidth.
func ofOthers(c *engine.Config) {
	c.Columns = []interference.Source{interference.MemoryBandwidth, interference.LLCCapacity}
	for i := range 30 {
		v := 80 + 5*float64(i%4)
		p := profile.Profile{Format: profile.Format, Key: fmt.Sprint("row", i), Workload: "shipped/row/row"}
		p.Sensitivity.Tolerated = interference.Scores{
			interference.MemoryBandwidth: measuredAs(v, v-5, min(100, v+5)), interference.LLCCapacity: measuredAs(v-5, v-10, v),
		}
		p.Sensitivity.Caused = interference.Scores{interference.MemoryBandwidth: measuredAs(95-v, 90-v, 100-v), interference.LLCCapacity: measuredAs(5, 0, 10)}
		c.Training = append(c.Training, p)
	}
}

// startsMispredicted has the web job placed next to one that it was predicted to tolerate, and
// does not.
func startsMispredicted(t *testing.T, change ...func(*engine.Config)) (*liveWorld, *bench, *countingStore) {
	t.Helper()
	return startsNextTo(t, testJob("presser", wantsRate(95)), besidePresser, change...)
}

func startsNextTo(t *testing.T, presser cluster.Job, perform func(*liveWorld, cluster.Allocation, time.Time) cluster.Observation, change ...func(*engine.Config)) (*liveWorld, *bench, *countingStore) {
	t.Helper()
	w := newLiveWorld(testNode("alpha", "fast"), testNode("omega", "slow"))
	w.lab = planted(map[string]interference.Sensitivity{
		"web": {
			Tolerated: interference.Scores{interference.LLCCapacity: measuredAs(80, 75, 85)},
			Caused:    interference.Scores{interference.MemoryBandwidth: measuredAs(5, 0, 10), interference.LLCCapacity: measuredAs(5, 0, 10)},
		},
		"presser": {
			Tolerated: interference.Scores{interference.MemoryBandwidth: measuredAs(95, 90, 100), interference.LLCCapacity: measuredAs(90, 85, 95)},
			Caused:    interference.Scores{interference.MemoryBandwidth: measuredAs(60, 55, 65), interference.LLCCapacity: measuredAs(5, 0, 10)},
		},
	})
	w.perform = perform
	s := &countingStore{Store: mem.New()}
	b := startLive(t, w, nil, append(change, ofOthers, func(c *engine.Config) { c.Store = s })...)
	w.submit(presser)
	settle(2 * time.Minute)
	w.submit(testJob("web", wantsRate(75)))
	settle(2 * time.Minute)
	if j := w.get(webJob); len(j.allocs) != 1 || j.allocs[0].Node != "id-alpha" {
		t.Fatalf("the web job is not next to the other: %+v", j.allocs)
	}
	return w, b, s
}

func (b *bench) said(key string) profile.Production {
	b.t.Helper()
	said, _, err := store.Productions{Store: b.store}.Get(context.Background(), key)
	if err != nil {
		b.t.Fatal(err)
	}
	return said
}

// TestProductionTeaches: a job whose tolerance was predicted wrong is learnt while it runs, and
// goes elsewhere when it is submitted again.
func TestProductionTeaches(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		w, b, s := startsMispredicted(t)
		b.store = s
		settle(40 * time.Minute)
		said := b.said("keyweb")
		if said.Workload != webGroup.String() || said.Counted == 0 || len(said.Experiments) == 0 {
			t.Fatalf("stored: %+v", said)
		}
		e := said.Experiments[0]
		if e.Ratio < 0.63 || e.Ratio > 0.67 || len(e.Neighbours) != 1 || e.Neighbours[0] != presserGroup.String() || !(e.Predicted > e.High) {
			t.Errorf("the experiment on record is %+v", e)
		}
		if n := s.count("production"); n > 12 {
			t.Errorf("%d writes for two jobs in 44 minutes", n)
		}
		web := b.decision(webGroup).Sensitivity.Tolerated[interference.MemoryBandwidth]
		t.Logf("%+v; %d writes", web, s.count("production"))
		if v := web.Score.Or(100); v > 60 || !strings.Contains(web.Note, "in production") {
			t.Errorf("the decision it runs under says %+v", web)
		}
		w.submit(testJob("web", wantsRate(75)))
		settle(2 * time.Minute)
		if j := w.get(webJob); len(j.allocs) != 1 || j.allocs[0].Node != "id-omega" {
			t.Errorf("submitted again it is on %+v", j.allocs)
		}
	})
}

// TestNothingIsLearntNextToAnIdleCoRunner: a service next to which nothing is lost while it has
// hardly a request does not teach that its neighbours tolerate it.
func TestNothingIsLearntNextToAnIdleCoRunner(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		idle := testJob("presser", func(j *cluster.Job) {
			j.Workloads[0].Spec.Target = performance.Target{Kind: performance.QPS, QPS: 95, Latency: &performance.Latency{Percentile: 99, Max: 10 * time.Millisecond}}
		})
		_, b, s := startsNextTo(t, idle, func(_ *liveWorld, a cluster.Allocation, at time.Time) cluster.Observation {
			if a.Workload != presserGroup {
				return gives(100, a, at)
			}
			o := gives(2, a, at)
			o.Measure.LatencyTail = time.Millisecond
			return o
		})
		b.store = s
		settle(40 * time.Minute)
		said := b.said("keyweb")
		if len(said.Experiments) == 0 || !strings.HasPrefix(said.Experiments[0].Says, "little: what ran next to it was idle, at 2 %") {
			t.Errorf("on record: %+v", said.Experiments)
		}
		// Two percent of what it can cause is not nothing; busy, it would move the odds by e^3.
		if l := said.Tolerated[interference.MemoryBandwidth].Own; len(l) > 0 && slices.Min(l) < -0.25 {
			t.Errorf("learnt next to an idle co-runner: %v", l)
		}
		ofIdle, _, err := store.Productions{Store: s}.Get(t.Context(), "keypresser")
		if l := ofIdle.Caused[interference.MemoryBandwidth].Own; len(l) > 0 && slices.Min(l) < -0.25 {
			t.Errorf("learnt of an idle co-runner: %v (%v)", l, err)
		}
	})
}

// TestAnotherBehaviourIsProfiledAgain: what runs under the same name does half of what it did.
func TestAnotherBehaviourIsProfiledAgain(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		w, b, s := startsMispredicted(t)
		b.store = s
		settle(40 * time.Minute)
		runs := func() (n int) {
			w.mu.Lock()
			defer w.mu.Unlock()
			for _, r := range w.ran {
				if r.Workload.ID == webGroup && r.Purpose == cluster.PurposeInterference {
					n++
				}
			}
			return n
		}
		before := runs()
		w.mu.Lock()
		w.perform = func(w *liveWorld, a cluster.Allocation, at time.Time) cluster.Observation {
			o := besidePresser(w, a, at)
			if a.Workload == webGroup {
				o.Measure.Goodput, o.Measure.RatePerSec = o.Measure.Goodput/3, o.Measure.RatePerSec/3
			}
			return o
		}
		w.mu.Unlock()
		settle(4 * time.Hour)
		said := b.said("keyweb")
		if said.Distrust == nil || !strings.Contains(said.Distrust.Reason, "it did less than its profile and production say") {
			t.Fatalf("%+v, %+v", said.Distrust, said.Suspicion)
		}
		t.Log(said.Distrust.Reason)
		if d := b.decision(webGroup); !slices.ContainsFunc(d.Warnings, func(w string) bool { return strings.Contains(w, said.Distrust.Reason) }) {
			t.Errorf("the decision says %v", d.Warnings)
		}
		if presser := b.said("keypresser"); presser.Distrust != nil {
			t.Errorf("the other job was given up: %+v", presser.Distrust)
		}
		w.mu.Lock()
		w.perform = besidePresser // the copy is as fast as ever
		w.mu.Unlock()
		w.submit(testJob("web", wantsRate(75)))
		settle(2 * time.Minute)
		if runs() != before+1 {
			t.Errorf("it was profiled %d times, want once more than %d", runs(), before)
		}
		settle(3 * time.Hour)
		if said := b.said("keyweb"); said.Distrust != nil {
			t.Errorf("the new profile is not trusted: %+v", said.Distrust)
		}
	})
}

// TestTheNextLeaderKnows what was written.
func TestTheNextLeaderKnows(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		w, b, s := startsMispredicted(t)
		settle(40 * time.Minute)
		b.stop()
		next := startLive(t, w, nil, ofOthers, func(c *engine.Config) { c.Store = s })
		w.submit(testJob("web", wantsRate(75)))
		settle(2 * time.Minute)
		if j := w.get(webJob); len(j.allocs) != 1 || j.allocs[0].Node != "id-omega" {
			t.Errorf("under the next leader it is on %+v: %s", j.allocs, next.decision(webGroup).Reason)
		}
	})
}

// TestAProbeDoesNotSpeakOfAnotherTenant: what the web job reports next to a job of another
// namespace says nothing of that job, and hardly anything of its own tolerance.
func TestAProbeDoesNotSpeakOfAnotherTenant(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		elsewhere := cluster.WorkloadID{Namespace: "other", Job: "presser", Group: "web"}
		w, b, s := startsMispredicted(t)
		b.store = s
		w.stop(presserGroup.JobID())
		settle(time.Minute)
		other := testJob("presser", wantsRate(95), func(j *cluster.Job) {
			j.ID.Namespace, j.Workloads[0].ID, j.Workloads[0].ProfileKey = "other", elsewhere, "keyother"
		})
		w.mu.Lock()
		w.perform = func(w *liveWorld, a cluster.Allocation, at time.Time) cluster.Observation {
			if a.Workload == webGroup && w.jobs[other.ID] != nil {
				return gives(1, a, at) // a probe that lies
			}
			return gives(100, a, at)
		}
		w.mu.Unlock()
		w.plant(other, "id-alpha")
		if _, err := (store.Profiles{Store: s}).Put(t.Context(), otherProfile(), store.Any); err != nil {
			t.Fatal(err)
		}
		settle(3 * time.Hour)
		if keys, err := (store.Productions{Store: s}).Keys(t.Context()); err != nil || slices.Contains(keys, "keyother") {
			// Its own windows may say something; those of the web job may not.
			if said := b.said("keyother"); len(said.Caused) > 0 {
				t.Errorf("of the other tenant's job it is said: %+v, %v", said.Caused, err)
			}
		}
		said := b.said("keyweb")
		for source, l := range said.Tolerated {
			for _, v := range l.Foreign {
				if v < -1 {
					t.Errorf("%s: a log-likelihood of %g", source, v)
				}
			}
		}
		last := said.Experiments[len(said.Experiments)-1]
		if last.Others != 1 || len(last.Neighbours) != 0 {
			t.Errorf("the record names another tenant's job: %+v", last)
		}
	})
}

func otherProfile() profile.Profile {
	return profile.Profile{
		Format: profile.Format, Key: "keyother", Workload: "other/presser/web", Taken: time.Now(), SlowdownMax: 5,
		Isolated: map[string]profile.Measurement{"fast": unitsPerSecond("fast")},
		Sensitivity: interference.Sensitivity{
			Tolerated: interference.Scores{interference.MemoryBandwidth: measuredAs(95, 90, 100)},
			Caused:    interference.Scores{interference.MemoryBandwidth: measuredAs(20, 0, 80)},
		},
	}
}

// TestWhatIsForgottenStaysForgotten: an operator deletes what production says, and the leader
// does not write it again from memory.
func TestWhatIsForgottenStaysForgotten(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		_, b, s := startsMispredicted(t)
		b.store = s
		settle(12 * time.Minute)
		if b.said("keyweb").Counted == 0 {
			t.Fatal("nothing was learnt")
		}
		productions := store.Productions{Store: s}
		if err := productions.Delete(t.Context(), "keyweb"); err != nil {
			t.Fatal(err)
		}
		settle(30 * time.Minute)
		said, _, err := productions.Get(t.Context(), "keyweb")
		if err == nil && said.Since.Before(time.Now().Add(-30*time.Minute)) {
			t.Errorf("what was forgotten is back: since %s, %d experiments", said.Since, said.Counted)
		}
	})
}

// TestDamagedProductionIsNotUsed: what somebody else wrote there changes nothing.
func TestDamagedProductionIsNotUsed(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		s := mem.New()
		for key, text := range map[string]string{
			"keyweb": `{"format":1,"key":"keyweb","workload":"default/web/web","tolerated":{"mem_bw":{"own":[1e300]}}}`,
			"other":  `{"format":7}`, "more": `nonsense`,
		} {
			if _, err := s.Put(t.Context(), "production/"+key, []byte(text), store.Any); err != nil {
				t.Fatal(err)
			}
		}
		w := newLiveWorld(testNode("alpha", "fast"), testNode("omega", "slow"))
		b := startLive(t, w, s)
		runsOn(t, w)
		if d := b.decision(webGroup); d.Outcome != cluster.Placed {
			t.Errorf("%+v", d)
		}
	})
}
