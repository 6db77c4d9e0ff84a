package nomadapi

import (
	"context"
	"fmt"
	"math"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/probe"
)

// observeParallel bounds how many allocations are read at once.
const observeParallel = 16

// observedStub is an allocation as the observer lists it.
type observedStub struct {
	ID                 string
	Namespace          string
	NodeID             string
	JobVersion         uint64
	CreateIndex        uint64
	DesiredStatus      string
	ClientStatus       string
	TaskStates         map[string]observedTask
	AllocatedResources observedResources
}

type observedResources struct {
	Tasks  map[string]struct{ Networks []observedNetwork }
	Shared struct {
		Networks []observedNetwork
		Ports    []struct {
			Label, HostIP string
			Value         int
		}
	}
}

type observedNetwork struct {
	IP                          string
	ReservedPorts, DynamicPorts []struct {
		Label string
		Value int
	}
}

type observedTask struct {
	State      string
	Failed     bool
	StartedAt  time.Time
	FinishedAt time.Time
	Events     []labTaskEvent
}

func (t observedTask) status() probe.Status {
	s := probe.Status{Running: t.State == "running", StartedAt: t.StartedAt, FinishedAt: t.FinishedAt}
	for _, e := range t.Events {
		if e.Type == "Terminated" {
			s.ExitCode = e.ExitCode
		}
	}
	return s
}

// Observe measures each allocation of the workload's newest version over one
// window. Where there is no number, the observation says why.
func (w *World) Observe(ctx context.Context, wl cluster.Workload, window time.Duration) ([]cluster.Observation, error) {
	subjects, err := w.subjects(ctx, wl)
	if err != nil {
		return nil, fmt.Errorf("observe %s: %w", wl.ID, err)
	}
	w.readAll(ctx, subjects, (*observed).first)
	if slices.ContainsFunc(subjects, (*observed).measurable) {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-w.clock.After(window):
		}
		w.readAll(ctx, subjects, (*observed).second)
	}
	out := make([]cluster.Observation, len(subjects))
	for i, s := range subjects {
		out[i] = s.result(w.clock.Now())
	}
	return out, nil
}

// subjects are the workload's allocations, each with its probe or why it has none.
func (w *World) subjects(ctx context.Context, wl cluster.Workload) ([]*observed, error) {
	allocs, err := w.observable(ctx, wl.ID)
	if err != nil {
		return nil, err
	}
	if _, _, err := w.listNodes(ctx); err != nil { // the hosts of ports without one
		return nil, err
	}
	task, err := w.probedTask(ctx, wl.ID, allocs)
	if err != nil {
		return nil, err
	}
	out := make([]*observed, len(allocs))
	for i, a := range allocs {
		out[i] = w.newObserved(a, wl, task)
	}
	return out, nil
}

// readAll reads the measurable subjects side by side.
func (w *World) readAll(ctx context.Context, subjects []*observed, read func(*observed, context.Context)) {
	var wait sync.WaitGroup
	slots := make(chan struct{}, observeParallel)
	for _, s := range subjects {
		if !s.measurable() {
			continue
		}
		wait.Add(1)
		slots <- struct{}{}
		go func() {
			defer func() { <-slots; wait.Done() }()
			read(s, ctx)
		}()
	}
	wait.Wait()
}

// observable lists the group's allocations that run or have finished, of the
// newest version among them, sorted by id.
func (w *World) observable(ctx context.Context, id cluster.WorkloadID) ([]observedStub, error) {
	var list []observedStub
	filter := fmt.Sprintf(`JobID == %q and TaskGroup == %q and ClientStatus != "lost"`, id.Job, id.Group)
	_, err := w.nomad.get(ctx, "/v1/allocations", api.QueryOptions{
		Namespace: id.Namespace, Filter: filter, Params: map[string]string{"resources": "true", "task_states": "true"},
	}, &list)
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(a observedStub) bool {
		// Stopped by Nomad: an older version, or moved away.
		return a.DesiredStatus != "run" && a.ClientStatus != "complete"
	})
	newest := uint64(0)
	for _, a := range list {
		newest = max(newest, a.JobVersion)
	}
	list = slices.DeleteFunc(list, func(a observedStub) bool { return a.JobVersion != newest })
	slices.SortFunc(list, func(a, b observedStub) int { return strings.Compare(a.ID, b.ID) })
	return list, nil
}

// observedAlloc reads the present state of one allocation.
func (w *World) observedAlloc(ctx context.Context, namespace, id string) (observedStub, error) {
	var list []observedStub
	_, err := w.nomad.get(ctx, "/v1/allocations", api.QueryOptions{Namespace: namespace, Prefix: id}, &list)
	if err != nil {
		return observedStub{}, err
	}
	for _, a := range list {
		if a.ID == id {
			return a, nil
		}
	}
	return observedStub{}, fmt.Errorf("allocation %s is gone", id)
}

// observed is one allocation under observation.
type observed struct {
	stub   observedStub
	target performance.Target
	probe  probe.Probe
	a, b   performance.Reading
	why    string // why there is no number, empty while there may be one
}

func (o *observed) measurable() bool { return o.why == "" && o.probe != nil }

func (w *World) newObserved(a observedStub, wl cluster.Workload, task string) *observed {
	o := &observed{stub: a, target: wl.Spec.Target}
	switch {
	case a.ClientStatus == "pending":
		o.why = "the allocation has not started yet"
	case a.ClientStatus == "failed":
		o.why = "the allocation failed: " + howItFailed(a)
	case a.ClientStatus != "running":
		return o // finished, or why not is said by result
	case wl.Spec.Probe == nil:
		o.why = "the performance block has no probe"
	case w.opts.Probe == nil:
		o.why = "this placer was started without probes"
	default:
		p, err := w.opts.Probe(*wl.Spec.Probe, w.newReach(a), task)
		if err != nil {
			o.why = err.Error()
			return o
		}
		o.probe = p
	}
	return o
}

func (w *World) newReach(a observedStub) *reach {
	return &reach{
		w: w, namespace: a.Namespace, allocID: a.ID, nodeID: a.NodeID,
		ports: portMap(a.AllocatedResources, w.hostOf(a.NodeID)),
		logs:  map[string]*remoteLog{},
	}
}

// hostOf is the host of a node's address as last listed, empty where unknown.
func (w *World) hostOf(id string) string {
	w.nodes.mu.Lock()
	defer w.nodes.mu.Unlock()
	cached, ok := w.nodes.byID[cluster.NodeID(id)]
	if !ok {
		return ""
	}
	host, _, err := net.SplitHostPort(cached.node.Address)
	if err != nil {
		return cached.node.Address
	}
	return host
}

// probedTask is the default task of a probe, the group's first that stays: the
// same one a profiling run reads. Allocations list their tasks without order, so
// the job is asked where there are several.
func (w *World) probedTask(ctx context.Context, id cluster.WorkloadID, allocs []observedStub) (string, error) {
	if len(allocs) == 0 {
		return "", nil
	}
	if states := allocs[0].TaskStates; len(states) == 1 {
		for name := range states {
			return name, nil
		}
	}
	raw, err := w.rawJob(ctx, id.JobID())
	if err != nil {
		return "", err
	}
	tasks := runningTasks(findGroup(raw, id.Group).objects("Tasks"))
	if len(tasks) == 0 {
		return "", fmt.Errorf("group %q has no task that keeps running", id.Group)
	}
	return tasks[0], nil
}

func (o *observed) first(ctx context.Context)  { o.read(ctx, &o.a) }
func (o *observed) second(ctx context.Context) { o.read(ctx, &o.b) }

func (o *observed) read(ctx context.Context, into *performance.Reading) {
	reading, err := o.probe.Read(ctx)
	if err != nil {
		o.why = err.Error()
		return
	}
	*into = reading
}

func (o *observed) result(now time.Time) cluster.Observation {
	out := cluster.Observation{Allocation: o.stub.ID, Node: cluster.NodeID(o.stub.NodeID), At: now, Unavailable: o.why}
	if o.stub.ClientStatus == "complete" {
		finished, err := runtimeOf(o.stub)
		out.FinishedIn = finished
		if err != nil {
			out.Unavailable = err.Error()
		}
		return out
	}
	if !o.measurable() {
		if out.Unavailable == "" {
			out.Unavailable = "the allocation is " + o.stub.ClientStatus
		}
		return out
	}
	out.At, out.Window = o.b.At, o.b.At.Sub(o.a.At)
	measure, err := performance.Between(o.a, o.b, o.target)
	if err != nil {
		out.Unavailable = err.Error()
		return out
	}
	out.Measure, out.Started = measure, startOf(o.stub)
	if work := o.b.Work; work >= 0 && !math.IsInf(work, 0) {
		out.Work = &work
	}
	return out
}

// startOf is when the first of an allocation's tasks started; zero where Nomad does not
// say.
func startOf(a observedStub) time.Time {
	var start time.Time
	for _, t := range a.TaskStates {
		if !t.StartedAt.IsZero() && (start.IsZero() || t.StartedAt.Before(start)) {
			start = t.StartedAt
		}
	}
	return start
}

// runtimeOf is how long a finished allocation worked: from the start of its first
// task to the end of its last.
func runtimeOf(a observedStub) (time.Duration, error) {
	var start, end time.Time
	for _, t := range a.TaskStates {
		if t.StartedAt.IsZero() || t.FinishedAt.IsZero() {
			continue
		}
		if start.IsZero() || t.StartedAt.Before(start) {
			start = t.StartedAt
		}
		if t.FinishedAt.After(end) {
			end = t.FinishedAt
		}
	}
	if start.IsZero() {
		return 0, fmt.Errorf("allocation %s is complete but Nomad has no times of its tasks", a.ID)
	}
	return end.Sub(start), nil
}

func howItFailed(a observedStub) string {
	for name, t := range a.TaskStates {
		if t.Failed {
			return fmt.Sprintf("task %q exited with code %d", name, t.status().ExitCode)
		}
	}
	return "Nomad does not say how"
}
