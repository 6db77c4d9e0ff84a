package engine_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// memWorld is a whole cluster in memory: jobs with versions and
// compare-and-set, nodes, allocations made the moment a job is released, and a
// laboratory with planted results. Faults are planted through its hooks.
type memWorld struct {
	mu      sync.Mutex
	index   uint64
	jobs    map[cluster.JobID]*memJob
	nodes   []*cluster.Node
	notes   []string
	changed chan struct{}
	swept   []map[string]bool
	ran     []cluster.ProfileRequest  // every profiling run started
	runs    map[string]cluster.NodeID // that exist
	applied []cluster.Plan
	adopted []cluster.Plan

	hidden     map[cluster.JobID]bool // from the list
	reads      map[cluster.JobID]int
	everywhere bool // a system job has an allocation on every node
	unplaced   int  // workloads that were decided on and are not seen yet

	// beforeApply and lab are the planted faults; nil: none.
	beforeApply func(cluster.Plan) error
	lab         func(ctx context.Context, r cluster.ProfileRequest) (profile.Profile, error)
}

type memJob struct {
	job    cluster.Job
	allocs []cluster.Allocation
	plan   *cluster.Plan // what released it
}

func newWorld(nodes ...*cluster.Node) *memWorld {
	return &memWorld{jobs: map[cluster.JobID]*memJob{}, nodes: nodes, changed: make(chan struct{}, 1), index: 10}
}

// submit registers a version of a job, held, and returns it.
func (w *memWorld) submit(job cluster.Job) cluster.Job {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.index++
	old := w.jobs[job.ID]
	if old == nil {
		old = &memJob{}
		w.jobs[job.ID] = old
	} else {
		job.Version = old.job.Version + 1
	}
	job.ModifyIndex, job.SubmittedAt = w.index, time.Now()
	old.job, old.plan = job, nil
	w.wake()
	return job
}

func (w *memWorld) stop(id cluster.JobID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.index++
	w.jobs[id].job.Stopped = true
	w.jobs[id].job.ModifyIndex = w.index
	w.jobs[id].allocs = nil
	w.wake()
}

func (w *memWorld) purge(id cluster.JobID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.jobs, id)
	w.wake()
}

// complete ends a batch job's allocations.
func (w *memWorld) complete(id cluster.JobID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.jobs[id].job.Complete, w.jobs[id].allocs = true, nil
	w.wake()
}

// hide leaves a job out of the list, as a token does that may not see it.
func (w *memWorld) hide(id cluster.JobID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hidden = map[cluster.JobID]bool{id: true}
	w.wake()
}

// asked is how often a job was read by its name.
func (w *memWorld) asked(id cluster.JobID) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.reads[id]
}

func (w *memWorld) wake() {
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

func (w *memWorld) get(id cluster.JobID) memJob {
	w.mu.Lock()
	defer w.mu.Unlock()
	return *w.jobs[id]
}

func (w *memWorld) Changed() <-chan struct{} { return w.changed }

func (w *memWorld) Jobs(ctx context.Context) ([]cluster.Job, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []cluster.Job
	for id, j := range w.jobs {
		if !w.hidden[id] {
			out = append(out, j.job)
		}
	}
	slices.SortFunc(out, func(a, b cluster.Job) int { return int(a.ModifyIndex) - int(b.ModifyIndex) })
	return out, ctx.Err()
}

func (w *memWorld) Job(_ context.Context, id cluster.JobID) (cluster.Job, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.reads == nil {
		w.reads = map[cluster.JobID]int{}
	}
	w.reads[id]++
	if w.hidden[id] {
		return cluster.Job{}, errForbidden
	}
	j, ok := w.jobs[id]
	if !ok {
		return cluster.Job{}, cluster.ErrGone
	}
	return j.job, nil
}

func (w *memWorld) Snapshot(context.Context) (*cluster.Snapshot, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := &cluster.Snapshot{Index: w.index, Nodes: slices.Clone(w.nodes), Allocations: map[cluster.NodeID][]cluster.Allocation{}}
	for _, j := range w.jobs {
		for _, a := range j.allocs {
			s.Allocations[a.Node] = append(s.Allocations[a.Node], a)
		}
	}
	s.Reserved = map[cluster.NodeID][]cluster.Allocation{}
	for i := range w.unplaced {
		s.Reserved["elsewhere"] = append(s.Reserved["elsewhere"], cluster.Allocation{Workload: cluster.WorkloadID{Job: fmt.Sprint("burst-", i)}})
	}
	for _, n := range w.nodes {
		if w.everywhere {
			s.Allocations[n.ID] = append(s.Allocations[n.ID], cluster.Allocation{
				ID: "agent-" + n.Name, Workload: cluster.WorkloadID{Namespace: "default", Job: "agent", Group: "agent"}, Node: n.ID,
				Resources: cluster.Resources{CPUMHz: 50, MemoryMB: 32}, System: true,
			})
		}
	}
	return s, nil
}

// Apply places each decided group on its best candidates, and an undecided one
// on the first node, as a stock scheduler might.
func (w *memWorld) Apply(_ context.Context, p cluster.Plan) (cluster.PlanResult, error) {
	w.mu.Lock()
	before := w.beforeApply
	w.mu.Unlock()
	if before != nil {
		if err := before(p); err != nil {
			return cluster.PlanResult{}, err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	j, ok := w.jobs[p.Job.ID]
	if !ok || j.job.Stopped {
		return cluster.PlanResult{}, cluster.ErrGone
	}
	if j.job.ModifyIndex != p.Job.ModifyIndex {
		return cluster.PlanResult{}, cluster.ErrStale
	}
	w.index++
	j.job.Held, j.job.ModifyIndex = false, w.index
	j.job.Version++
	j.job.Workloads = slices.Clone(j.job.Workloads)
	j.plan = &p
	w.applied = append(w.applied, p)
	j.allocs = nil
	for i, wl := range j.job.Workloads {
		j.job.Workloads[i].Bound = boundBy(p, wl)
		count, size := sizeFor(p, wl)
		for i := range count {
			j.allocs = append(j.allocs, cluster.Allocation{
				ID: fmt.Sprintf("%s-%d", wl.ID, i), Workload: wl.ID, Node: nodeFor(p, wl, i, w.nodes), Resources: size,
			})
		}
	}
	w.wake()
	return cluster.PlanResult{Version: j.job.Version, ModifyIndex: w.index}, nil
}

func (w *memWorld) Adopt(p cluster.Plan) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.adopted = append(w.adopted, p)
}

// boundBy is the shortlist of the group's decision.
func boundBy(p cluster.Plan, wl cluster.Workload) cluster.ShortlistDigest {
	for _, d := range p.Decisions {
		if d.Workload == wl.ID {
			return d.ShortlistDigest(p.Job.Type)
		}
	}
	return 0
}

// sizeFor is what the group gets: as decided, where its size was.
func sizeFor(p cluster.Plan, wl cluster.Workload) (int, cluster.Resources) {
	for _, d := range p.Decisions {
		if d.Workload == wl.ID && d.Sizing != nil && d.Sizing.Chosen {
			return d.Count, d.Resources
		}
	}
	return wl.Count, wl.Ask
}

func nodeFor(p cluster.Plan, wl cluster.Workload, i int, nodes []*cluster.Node) cluster.NodeID {
	for _, d := range p.Decisions {
		if d.Workload == wl.ID && len(d.Candidates) > 0 {
			return d.Candidates[i%len(d.Candidates)].Node
		}
	}
	return nodes[0].ID
}

func (w *memWorld) Note(_ context.Context, id cluster.WorkloadID, message string, _ bool) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.notes = append(w.notes, id.String()+": "+message)
	return nil
}

func (w *memWorld) Publish(context.Context, iter.Seq2[cluster.NodeID, cluster.Pressure]) error {
	return nil
}

func (w *memWorld) Profile(ctx context.Context, r cluster.ProfileRequest) (profile.Profile, error) {
	w.mu.Lock()
	w.ran = append(w.ran, r)
	if w.runs == nil {
		w.runs = map[string]cluster.NodeID{}
	}
	w.runs[r.ID] = r.Node.ID
	lab := w.lab
	w.mu.Unlock()
	if lab == nil {
		lab = plantedRun
	}
	p, err := lab(ctx, r)
	w.mu.Lock()
	defer w.mu.Unlock()
	if ctx.Err() == nil {
		delete(w.runs, r.ID) // a killed leader leaves it
	}
	return p, err
}

func (w *memWorld) Runs(context.Context) (map[string]cluster.NodeID, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.runs), nil
}

// plantedRun takes as long as it was given and finds a workload that tolerates 40 points
// and causes 30 of every source.
func plantedRun(ctx context.Context, r cluster.ProfileRequest) (profile.Profile, error) {
	select {
	case <-ctx.Done():
		return profile.Profile{}, ctx.Err()
	case <-time.After(time.Duration(r.Seconds) * time.Second):
	}
	p := profile.Profile{
		Format: profile.Format, Key: r.Workload.ProfileKey, Workload: r.Workload.ID.String(), Taken: time.Now(),
		Machine:  profile.Machine{NodeID: string(r.Node.ID), Configuration: r.Node.Configuration},
		Target:   r.Workload.Spec.Target,
		Isolated: map[string]profile.Measurement{r.Node.Configuration: {Value: speedOn(r.Node.Configuration), Low: 95, High: 105, Unit: "requests/s", Windows: 10}},
		Complete: true,
	}
	p.Sensitivity = interference.Sensitivity{Tolerated: interference.Scores{}, Caused: interference.Scores{}}
	for _, s := range r.Sources {
		p.Sensitivity.Tolerated[s] = interference.Estimate{Score: interference.Percent(40), Origin: interference.Measured}
		p.Sensitivity.Caused[s] = interference.Estimate{Score: interference.Percent(30), Origin: interference.Measured}
	}
	return p, nil
}

func speedOn(configuration string) float64 {
	if configuration == "slow" {
		return 40
	}
	return 100
}

func (w *memWorld) Sweep(_ context.Context, keep map[string]bool) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.swept = append(w.swept, keep)
	return nil
}

func (w *memWorld) Observe(_ context.Context, wl cluster.Workload, window time.Duration) ([]cluster.Observation, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	j := w.jobs[wl.ID.JobID()]
	if j == nil {
		return nil, cluster.ErrGone
	}
	var out []cluster.Observation
	for _, a := range j.allocs {
		if a.Workload == wl.ID {
			out = append(out, cluster.Observation{Allocation: a.ID, Node: a.Node, At: time.Now(), Window: window,
				Measure: performance.Measure{RatePerSec: 97, Goodput: 97}})
		}
	}
	return out, nil
}

var errForbidden = errors.New("permission denied")

var errPassing = errors.New("connection refused")

// wallClock is real time, which synctest makes deterministic.
type wallClock struct{}

func (wallClock) Now() time.Time                         { return time.Now() }
func (wallClock) After(d time.Duration) <-chan time.Time { return time.After(d) }

func testNode(name, configuration string) *cluster.Node {
	return &cluster.Node{
		ID: cluster.NodeID("id-" + name), Name: name, Datacenter: "dc1", Pool: "default", Class: configuration,
		Configuration: configuration, Total: cluster.Resources{CPUMHz: 2600, Cores: 1, MemoryMB: 4096, DiskMB: 10000},
		CoreMHz: 2600, Ready: true, Kernels: true,
		Attributes: cluster.NewAttributes(map[string]string{"driver.raw_exec": "1", "driver.ibench": "1"}),
	}
}

func testJob(id string, change ...func(*cluster.Job)) cluster.Job {
	jid := cluster.JobID{Namespace: "default", ID: id}
	job := cluster.Job{ID: jid, Type: "service", Held: true, RunPool: "default", Workloads: []cluster.Workload{{
		ID: cluster.WorkloadID{Namespace: "default", Job: id, Group: "web"},
		Spec: performance.Spec{
			Target:             performance.Target{Kind: performance.QPS, QPS: 90},
			Probe:              &performance.ProbeSpec{Type: "prometheus", Port: "metrics", Rate: "requests_total"},
			SlowdownMaxPercent: 5,
		},
		ProfileKey: "key" + id, Count: 1, Ask: cluster.Resources{CPUMHz: 500, MemoryMB: 256},
		Drivers: []string{"raw_exec"}, Datacenters: []string{"*"},
	}}}
	for _, c := range change {
		c(&job)
	}
	return job
}
