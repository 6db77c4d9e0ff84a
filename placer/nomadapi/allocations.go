package nomadapi

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// liveFilter selects the allocations that take resources in the scheduler's
// eyes; the server applies it.
const liveFilter = `DesiredStatus == "run" and (ClientStatus == "pending" or ClientStatus == "running")`

// allocCache keeps the live allocations until the table of allocations moves.
type allocCache struct {
	mu     sync.Mutex
	index  uint64
	byNode map[cluster.NodeID][]cluster.Allocation
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
	// The index is read before the list, so a change between the two is fetched
	// again next time instead of being missed.
	index, err := w.tableIndex(ctx, "/v1/allocations", allNamespaces)
	if err == nil && index == c.index {
		return c.byNode, c.index, nil
	}
	if err != nil {
		index = 0
	}
	var byNode map[cluster.NodeID][]cluster.Allocation
	q := api.QueryOptions{
		Namespace: allNamespaces,
		Filter:    liveFilter,
		Params:    map[string]string{"resources": "true", "task_states": "false"},
	}
	err = w.nomad.stream(ctx, "/v1/allocations", q, func(body io.Reader) error {
		byNode, err = decodeAllocations(body)
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	c.index, c.byNode = index, byNode
	return byNode, index, nil
}

// decodeAllocations reads a list of allocations element by element.
func decodeAllocations(r io.Reader) (map[cluster.NodeID][]cluster.Allocation, error) {
	d := json.NewDecoder(r)
	if t, err := d.Token(); err != nil {
		return nil, err
	} else if t == nil {
		return map[cluster.NodeID][]cluster.Allocation{}, nil
	} else if t != json.Delim('[') {
		return nil, fmt.Errorf("a list of allocations starts with %v", t)
	}
	names := interner{}
	byNode := map[cluster.NodeID][]cluster.Allocation{}
	for d.More() {
		var stub allocStub
		if err := d.Decode(&stub); err != nil {
			return nil, err
		}
		if !stub.live() {
			continue
		}
		a := stub.allocation(names)
		byNode[a.Node] = append(byNode[a.Node], a)
	}
	_, err := d.Token()
	return byNode, err
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
		Profiling: strings.HasPrefix(s.JobID, labJobPrefix),
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
