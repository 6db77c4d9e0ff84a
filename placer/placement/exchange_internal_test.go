package placement

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/clustertest"
	"github.com/nomad-placer/nomad-placer/placer/disk"
	"github.com/nomad-placer/nomad-placer/placer/policy"
	"github.com/nomad-placer/nomad-placer/placer/profiling"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// crossed are two services, each next to a job that fills a CPU and takes so many times
// the memory, on two nodes with room for one of each: none can move by itself.
func crossed(t *testing.T, times int) (*Placer, *cluster.Snapshot, []*placement) {
	t.Helper()
	tail := performance.Target{Kind: performance.QPS, QPS: 99, Latency: &performance.Latency{Percentile: 95, Max: time.Millisecond}}
	e, s, placed := together(t, map[string]struct {
		target            performance.Target
		tolerated, caused float64
	}{
		"cache": {tail, 25, 17}, "web": {tail, 20, 17}, "encode": {rate(20), 100, 95}, "query": {rate(20), 100, 95},
	}, "cache", "web", "encode", "query")
	for i, p := range placed {
		p.undo()
		if ask := &p.known[0].Workload.Ask; i < 2 {
			for _, n := range s.Nodes {
				n.Total.MemoryMB = (1 + times) * ask.MemoryMB
			}
		} else {
			ask.MemoryMB *= times
		}
	}
	for i, node := range []cluster.NodeID{"n1", "n2", "n1", "n2"} {
		var err error
		p := placed[i]
		if p.decisions, p.undo, err = e.decideOn(onlyOn(s, []cluster.NodeID{node}), p.job, p.known); err != nil {
			t.Fatal(err)
		}
	}
	return e, s, placed
}

func TestTwoChangePlacesAtOnce(t *testing.T) {
	t.Parallel()
	e, s, placed := crossed(t, 1)
	cache, web, encode, query := placed[0], placed[1], placed[2], placed[3]
	e.decideAgainOnAll(s, placed)
	if nodeOf(cache) == nodeOf(web) {
		t.Fatal("one by one they get there, too: the test is of no use")
	}
	e.arrange(s, placed)
	if nodeOf(cache) != nodeOf(web) || nodeOf(encode) != nodeOf(query) || nodeOf(encode) == nodeOf(web) {
		t.Errorf("cache %s, web %s, encode %s, query %s; want the services on one node, the others on the other", nodeOf(cache), nodeOf(web), nodeOf(encode), nodeOf(query))
	}
	moved := 0
	for _, p := range placed {
		d := p.decisions[0]
		if !strings.Contains(d.Reason, "submitted together") {
			continue
		}
		moved++
		// Its node of before stays in reserve, so no node is rejected.
		if len(d.RejectedBy)+len(d.Rejected) > 0 || len(d.Candidates) != 2 || d.Candidates[1].Score != 0 {
			t.Errorf("decision %+v", d)
		}
	}
	if moved != 2 {
		t.Errorf("%d jobs say that they were arranged, want 2", moved)
	}
	for _, p := range placed {
		p.undo()
	}
	for node, list := range s.Reserved {
		if len(list) > 0 {
			t.Errorf("%s is still promised to %v", node, list)
		}
	}
}

// What is better but has no room is not done, and all stay where they are.
func TestAnArrangementNeedsRoom(t *testing.T) {
	t.Parallel()
	e, s, placed := crossed(t, 2)
	before := places(placed)
	e.arrange(s, placed)
	if now := places(placed); !slices.Equal(now, before) {
		t.Errorf("places %v, want %v", now, before)
	}
}

// Nor is one done that no disk suffices for: of the two services each is promised more than
// half of what a disk does.
func TestAnArrangementNeedsDiskBandwidth(t *testing.T) {
	t.Parallel()
	e, s, placed := crossed(t, 1)
	for _, p := range placed {
		p.undo()
	}
	for _, n := range s.Nodes {
		n.Meta[disk.RatedKey] = "100"
	}
	for i, node := range []cluster.NodeID{"n1", "n2", "n1", "n2"} {
		p := placed[i]
		if i < 2 {
			p.known[0].Workload.Spec.Disk = &performance.DiskSpec{BandwidthMBPerSec: 60}
		}
		var err error
		if p.decisions, p.undo, err = e.decideOn(onlyOn(s, []cluster.NodeID{node}), p.job, p.known); err != nil {
			t.Fatal(err)
		}
	}
	before := places(placed)
	e.arrange(s, placed)
	if now := places(placed); !slices.Equal(now, before) {
		t.Errorf("places %v, want %v", now, before)
	}
	for _, p := range placed {
		p.undo()
	}
	if len(s.Disk) > 0 {
		t.Errorf("promises to %d workloads are left", len(s.Disk))
	}
}

// Best-effort work that finds room next to a violation that exists already is not there
// when those with a target change places, and waits where it would then cause one.
func TestBestEffortTakesWhatTheOthersLeave(t *testing.T) {
	t.Parallel()
	tail := performance.Target{Kind: performance.QPS, QPS: 99, Latency: &performance.Latency{Percentile: 95}}
	e, s, batch := together(t, map[string]struct {
		target            performance.Target
		tolerated, caused float64
	}{
		"cache": {tail, 25, 17}, "web": {tail, 20, 26}, "encode": {rate(20), 100, 95}, "query": {rate(20), 100, 95},
		"fill": {performance.Target{Kind: performance.BestEffort}, 100, 95},
	}, "cache", "web", "encode", "query", "fill")
	sizes := map[string]int{"cache": 7, "web": 7, "encode": 8, "query": 8, "fill": 1}
	for _, p := range batch {
		p.undo()
		p.known[0].Workload.Ask.MemoryMB = 100 * sizes[p.known[0].Workload.ID.Job]
	}
	for _, n := range s.Nodes {
		n.Total.MemoryMB = 1600 // next to two services there is room for it, next to the others none
	}
	decided := e.decideTogether(s, batch)
	cache, web, encode, query := batch[0], batch[1], batch[2], batch[3]
	if len(decided) != 4 || nodeOf(cache) != nodeOf(web) || nodeOf(encode) != nodeOf(query) || nodeOf(encode) == nodeOf(web) {
		t.Errorf("%d got places: cache %s, web %s, encode %s, query %s; want the services on one node, the others on the other", len(decided), nodeOf(cache), nodeOf(web), nodeOf(encode), nodeOf(query))
	}
	if fill := FirstQueued(batch[4].decisions); fill == nil || !strings.Contains(fill.Reason, "best effort waits") {
		t.Errorf("fill got %+v, want it to wait", batch[4].decisions)
	}
}

// A place is offered where the target is predicted to be reached by the rule by which it is
// judged afterwards; a little slower than the best is enough only where none reaches it.
func TestFastEnough(t *testing.T) {
	t.Parallel()
	requests, work := performance.Target{Kind: performance.QPS, QPS: 100}, rate(100)
	for name, c := range map[string]struct {
		target     performance.Target
		rate, best float64
		want       bool
	}{
		"requests, within the tolerance":     {requests, 98, 120, true},
		"requests, missed":                   {requests, 97, 120, false},
		"requests, the best just reaches it": {requests, 96, 98, false},
		"work, reached":                      {work, 100, 120, true},
		"work, missed":                       {work, 98, 120, false},
		"reached nowhere, as fast":           {work, 57, 60, true},
		"reached nowhere, slower":            {work, 56, 60, false},
		"no target":                          {performance.Target{Kind: performance.BestEffort}, 57, 60, true},
	} {
		if got := fastEnough(performance.Spec{Target: c.target}, c.rate, c.best); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func places(placed []*placement) []cluster.NodeID {
	var out []cluster.NodeID
	for _, p := range placed {
		out = append(out, nodeOf(p))
	}
	return out
}

func BenchmarkArrange(b *testing.B) {
	var t testing.T
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		e, s, placed := crossed(&t, 1)
		b.StartTimer()
		e.arrange(s, placed)
	}
}

// BenchmarkDecideTogether decides on 64 jobs that wait at the same time.
func BenchmarkDecideTogether(b *testing.B) {
	columns := clustertest.Columns(12)
	classes := []string{"one", "two", "three"}
	_, estimator := profiling.New(profiling.Config{Columns: columns})
	for _, nodes := range []int{1000, 10000} {
		s := clustertest.Random(rand.New(rand.NewPCG(1, 2)), nodes, 2, classes, columns)
		s.Cache = &cluster.Cache{}
		for _, name := range []string{"expected", "paragon"} {
			b.Run(fmt.Sprintf("%s/nodes=%d", name, nodes), func(b *testing.B) {
				e := New(Config{Policy: name, Clock: stillClock{}, Estimator: estimator})
				b.ReportAllocs()
				for b.Loop() {
					b.StopTimer()
					batch := waitingJobs(b, columns, classes)
					b.StartTimer()
					decided := e.decideTogether(s, batch)
					b.StopTimer()
					if len(decided) != len(batch) {
						b.Fatalf("%d of %d jobs got a place", len(decided), len(batch))
					}
					for _, p := range decided {
						p.undo()
					}
					b.StartTimer()
				}
			})
		}
	}
}

// waitingJobs are 64 known jobs, each with scores and a target of its own.
func waitingJobs(b *testing.B, columns []interference.Source, classes []string) []*placement {
	random := rand.New(rand.NewPCG(3, 4))
	var out []*placement
	for i := range 64 {
		w := clustertest.Workload(fmt.Sprintf("job-%02d", i), func(w *cluster.Workload) { w.Spec.Target = rate(20 + random.Float64()*60) })
		tolerated, caused, speed := make([]float64, len(columns)), make([]float64, len(columns)), map[string]float64{}
		for c := range columns {
			tolerated[c], caused[c] = 20+80*random.Float64(), 60*random.Float64()
		}
		for _, class := range classes {
			speed[class] = 80 + 40*random.Float64()
		}
		k := clustertest.Knowledge(clustertest.Sensitivity(columns, tolerated, caused), speed)
		out = append(out, &placement{
			ctx: b.Context(), job: cluster.Job{ID: w.ID.JobID(), RunPool: clustertest.Pool, Workloads: []cluster.Workload{*w}},
			known: []profiling.Known{{Workload: *w, Knowledge: *k}},
		})
	}
	return out
}

// Where there are few arrangements, each is tried once.
func TestFewArrangementsAreAllTried(t *testing.T) {
	t.Parallel()
	a := arrangement{jobs: make([]*placement, 3), spots: [][]spot{make([]spot, 2), make([]spot, 3), make([]spot, 2)}}
	if n := a.possible(); n != 12 {
		t.Errorf("%d arrangements, want 12", n)
	}
	seen := map[[3]int]bool{}
	at := make([]int, 3)
	for a.following(at) {
		seen[[3]int(at)] = true
	}
	if len(seen) != 11 || seen[[3]int{}] {
		t.Errorf("%d arrangements besides the first, want 11: %v", len(seen), seen)
	}
}

// Jobs that all go by expected performance are arranged by what they lose.
func TestArrangedByThePolicysOwnObjective(t *testing.T) {
	t.Parallel()
	e, s, placed := crossed(t, 1)
	for _, p := range placed {
		p.known[0].Workload.Spec.Policy = "expected"
	}
	columns := e.cfg.Estimator.Columns()
	nodes := []cluster.NodeID{"n1", "n2"}
	before := policy.LossesOn(s, nodes, columns)
	e.arrange(s, placed)
	after := policy.LossesOn(s, nodes, columns)
	if !after.Less(before) {
		t.Errorf("arranged from %+v to %+v, want less to be lost", before, after)
	}
	if nodeOf(placed[0]) != nodeOf(placed[1]) {
		t.Errorf("the services are on %s and %s, want them together", nodeOf(placed[0]), nodeOf(placed[1]))
	}
}

// Jobs that come together are arranged before any of them waits: the one that would find only
// nodes with a service on it has one to itself. Where there is none, it waits, the services do not.
func TestJobsAreArrangedBeforeOneWaits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		causedByWeb float64
		patient     bool // encode
		waits       []string
	}{
		"the services tolerate each other": {17, true, nil}, "they do not": {95, true, []string{"encode"}},
		"what is in their way does not wait": {95, false, nil},
	} {
		tail := performance.Target{Kind: performance.QPS, QPS: 50, Latency: &performance.Latency{Percentile: 95}}
		e, s, batch := together(t, map[string]struct {
			target            performance.Target
			tolerated, caused float64
		}{"cache": {tail, 30, 17}, "web": {tail, 27, c.causedByWeb}, "encode": {rate(20), 100, 95}}, "cache", "web", "encode")
		for _, p := range batch {
			p.undo()
			p.known[0].Workload.Spec.Policy = "expected"
			if p != batch[2] || c.patient {
				p.known[0].WaitsUntil = e.cfg.Clock.Now().Add(time.Minute)
			}
		}
		decided := e.decideTogether(s, batch)
		var waits []string
		for _, p := range batch {
			if FirstQueued(p.decisions) != nil {
				waits = append(waits, p.known[0].Workload.ID.Job)
			}
			if p.known[0].WaitsUntil.IsZero() && (p != batch[2] || c.patient) {
				t.Errorf("%s: %s has lost its patience", name, p.job.ID)
			}
		}
		if !slices.Equal(waits, c.waits) || len(decided)+len(waits) != len(batch) {
			t.Errorf("%s: %d have a place, %v wait, want %v to", name, len(decided), waits, c.waits)
		}
	}
}

func TestObjectives(t *testing.T) {
	t.Parallel()
	_, s, _ := crossed(t, 1)
	columns := []interference.Source{interference.Integer}
	nodes := []cluster.NodeID{"n1", "n2"}
	losses, violations := policy.LossesOn(s, nodes, columns), policy.ViolationsOn(s, nodes, columns)
	if losses == violations {
		t.Fatalf("both objectives are %+v: the test is of no use", losses)
	}
	for name, c := range map[string]struct {
		policies []string
		want     policy.Violations
	}{
		"nobody": {nil, violations}, "expected": {[]string{"expected", "expected"}, losses}, "several": {[]string{"expected", "paragon"}, violations},
	} {
		if got := policy.ObjectiveOf(c.policies)(s, nodes, columns); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
