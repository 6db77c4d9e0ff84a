package nomadapi

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// liveFilter selects the allocations that take resources in the scheduler's
// eyes; the server applies it.
const liveFilter = `DesiredStatus == "run" and (ClientStatus == "pending" or ClientStatus == "running")`

// allocCache keeps the live allocations until the table of allocations moves.
type allocCache struct {
	following
	index  uint64
	byNode map[cluster.NodeID][]cluster.Allocation // never written to once it was handed out
	shared bool                                    // byNode was handed out
	// What events need and a list gives: where an allocation is, and which jobs
	// are system jobs.
	live   map[string]liveAlloc // by ID
	system map[cluster.JobID]bool
	names  interner
}

// liveAlloc is what is noted of a live allocation.
type liveAlloc struct {
	node   cluster.NodeID
	modify uint64
}

// allocStub is the part of a listed allocation that is looked at. It is decoded
// one at a time and thrown away: a list of 5,000 is several MB of JSON.
type allocStub struct {
	ID                 string
	Namespace          string
	JobID              string
	JobType            string
	JobVersion         uint64
	TaskGroup          string
	NodeID             string
	DesiredStatus      string
	ClientStatus       string
	ModifyIndex        uint64
	AllocatedResources allocatedResources
}

// allocEvent is an allocation as the event stream shows it: without its job, so
// its version and type are to be found elsewhere.
type allocEvent struct {
	allocStub
	AllocModifyIndex uint64 // of the last change by the scheduler
}

type allocatedResources struct {
	Tasks map[string]struct {
		CPU struct {
			CPUShares     int
			ReservedCores []int
		}
		Memory struct{ MemoryMB int }
	}
	TaskLifecycles map[string]*lifecycle
	Shared         struct{ DiskMB int }
}

func (w *World) listAllocations(ctx context.Context) (map[cluster.NodeID][]cluster.Allocation, uint64, error) {
	c := &w.allocs
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shared = true
	c.asked = true
	if c.follow {
		return c.byNode, c.index, nil
	}
	index, err := w.tableIndex(ctx, "/v1/allocations", allNamespaces)
	if err == nil && index == c.index {
		return c.byNode, c.index, nil
	}
	if err := w.readAllocations(ctx); err != nil {
		return nil, 0, err
	}
	return c.byNode, c.index, nil
}

// readAllocations reads the list. The caller holds the cache's lock.
func (w *World) readAllocations(ctx context.Context) error {
	c := &w.allocs
	// The index is read before the list, so a change between the two is fetched
	// again next time, or comes as an event, instead of being missed.
	index, err := w.tableIndex(ctx, "/v1/allocations", allNamespaces)
	if err != nil {
		index = 0
	}
	var read allocList
	q := api.QueryOptions{
		Namespace: allNamespaces,
		Filter:    liveFilter,
		Params:    map[string]string{"resources": "true", "task_states": "false"},
	}
	err = w.nomad.stream(ctx, "/v1/allocations", q, func(body io.Reader) error {
		read, err = decodeAllocations(body)
		return err
	})
	if err != nil {
		return err
	}
	c.index, c.since, c.byNode, c.shared = index, index, read.byNode, true
	c.live, c.system, c.names = read.live, read.system, read.names
	return nil
}

// noteType remembers whether a job is a system job.
func (c *allocCache) noteType(id cluster.JobID, system bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !c.follow:
	case system:
		c.system[id] = true
	default:
		delete(c.system, id)
	}
}

// fold brings an event of an allocation in; versionAt tells the version of a job
// that the scheduler worked from at an index, where that is known.
func (c *allocCache) fold(index uint64, e *allocEvent, versionAt func(cluster.JobID, uint64) (uint64, bool)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.news(index) {
		return
	}
	known, was := c.live[e.ID]
	if was && e.ModifyIndex < known.modify {
		return
	}
	c.index = max(c.index, index)
	if !was && !e.live() {
		return
	}
	c.unshare()
	node := cluster.NodeID(c.names.one(e.NodeID))
	old, at := c.find(known.node, e.ID)
	if was && at >= 0 {
		c.byNode[known.node] = slices.Delete(slices.Clone(c.byNode[known.node]), at, at+1)
		if len(c.byNode[known.node]) == 0 {
			delete(c.byNode, known.node)
		}
	}
	if !e.live() {
		delete(c.live, e.ID)
		return
	}
	a := e.allocation(c.names)
	a.System = c.system[a.Workload.JobID()]
	a.Version = old.Version
	if v, ok := versionAt(a.Workload.JobID(), e.AllocModifyIndex); ok {
		a.Version = max(a.Version, v)
	}
	c.live[a.ID] = liveAlloc{node, e.ModifyIndex}
	c.byNode[node] = append(slices.Clip(slices.Clone(c.byNode[node])), a)
}

func (c *allocCache) find(node cluster.NodeID, id string) (cluster.Allocation, int) {
	at := slices.IndexFunc(c.byNode[node], func(a cluster.Allocation) bool { return a.ID == id })
	if at < 0 {
		return cluster.Allocation{}, -1
	}
	return c.byNode[node][at], at
}

// unshare copies the map where it was handed out; lists are copied one by one.
func (c *allocCache) unshare() {
	if c.shared {
		c.byNode, c.shared = maps.Clone(c.byNode), false
	}
}

// allocList is what a list of allocations tells.
type allocList struct {
	byNode map[cluster.NodeID][]cluster.Allocation
	live   map[string]liveAlloc
	system map[cluster.JobID]bool
	names  interner
}

// decodeAllocations reads a list of allocations element by element.
func decodeAllocations(r io.Reader) (allocList, error) {
	out := allocList{
		byNode: map[cluster.NodeID][]cluster.Allocation{}, live: map[string]liveAlloc{}, system: map[cluster.JobID]bool{}, names: interner{},
	}
	d := json.NewDecoder(r)
	if t, err := d.Token(); err != nil {
		return out, err
	} else if t == nil {
		return out, nil
	} else if t != json.Delim('[') {
		return out, fmt.Errorf("a list of allocations starts with %v", t)
	}
	for d.More() {
		var stub allocStub
		if err := d.Decode(&stub); err != nil {
			return out, err
		}
		if !stub.live() {
			continue
		}
		a := stub.allocation(out.names)
		out.byNode[a.Node] = append(out.byNode[a.Node], a)
		out.live[a.ID] = liveAlloc{a.Node, stub.ModifyIndex}
		if a.System {
			out.system[a.Workload.JobID()] = true
		}
	}
	_, err := d.Token()
	return out, err
}

func (s *allocStub) live() bool {
	return s.DesiredStatus == "run" && (s.ClientStatus == "pending" || s.ClientStatus == "running")
}

func (s *allocStub) allocation(names interner) cluster.Allocation {
	return cluster.Allocation{
		ID: s.ID,
		Workload: cluster.WorkloadID{
			Namespace: names.one(s.Namespace),
			Job:       names.one(s.JobID),
			Group:     names.one(s.TaskGroup),
		},
		Node:      cluster.NodeID(names.one(s.NodeID)),
		Resources: s.AllocatedResources.sum(),
		Version:   s.JobVersion,
		Profiling: strings.HasPrefix(s.JobID, labJobPrefix) || strings.HasPrefix(s.JobID, transferJobPrefix),
		System:    s.JobType == "system",
	}
}

func (r *allocatedResources) sum() cluster.Resources {
	tasks := make([]taskAsk, 0, len(r.Tasks))
	for name, t := range r.Tasks {
		ask := taskAsk{resources: cluster.Resources{Cores: len(t.CPU.ReservedCores), MemoryMB: t.Memory.MemoryMB}}
		if ask.resources.Cores == 0 {
			ask.resources.CPUMHz = t.CPU.CPUShares
		}
		if l := r.TaskLifecycles[name]; l != nil {
			ask.lifecycle = *l
		}
		tasks = append(tasks, ask)
	}
	return groupAsk(tasks, r.Shared.DiskMB)
}

// interner keeps one copy of each repeated name: 5,000 allocations on 1,000
// nodes share their node ids, jobs and groups.
type interner map[string]string

func (i interner) one(s string) string {
	if kept, ok := i[s]; ok {
		return kept
	}
	kept := strings.Clone(s)
	i[kept] = kept
	return kept
}

// all keeps one copy of each key and value of a map.
func (i interner) all(m map[string]string) map[string]string {
	if m == nil {
		return nil
	}
	out := make(map[string]string, len(m))
	for k, v := range m {
		if strings.HasPrefix(k, "unique.") {
			out[i.one(k)] = v // no two nodes have it in common
		} else {
			out[i.one(k)] = i.one(v)
		}
	}
	return out
}
