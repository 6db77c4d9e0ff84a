package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net"
	"sync"
	"time"

	"github.com/hashicorp/nomad/helper/pool"
	"github.com/hashicorp/nomad/nomad/structs"
)

// region is Nomad's default one.
const region = "global"

// The pauses of a node.
const (
	retryAfter = time.Second
	// metaDelay is how long a real client collects changes of its metadata before
	// it registers again.
	metaDelay = 5 * time.Second
)

// lightNode is one simulated node.
type lightNode struct {
	spec        *structs.Node
	conns       *pool.ConnPool
	server      net.Addr
	out         *events
	batchRunFor time.Duration

	mu       sync.Mutex // guards spec.Meta, identity and failed
	identity string     // signed by the server; without it every heartbeat asks for a new one
	known    map[string]*allocation
	metaSet  chan struct{} // a wake-up: the metadata changed
	failed   context.CancelFunc
}

// allocation is what a node knows of one of its allocations.
type allocation struct {
	modifyIndex uint64 // AllocModifyIndex acted upon
	done        bool   // reported complete
}

func (n *lightNode) call(method string, args, reply any) error {
	return n.conns.RPC(region, n.server, method, args, reply)
}

func (n *lightNode) query() structs.QueryOptions {
	return structs.QueryOptions{Region: region, AuthToken: n.token()}
}

func (n *lightNode) writing() structs.WriteRequest {
	return structs.WriteRequest{Region: region, AuthToken: n.token()}
}

// token is the node's identity, or its secret until the server has signed one,
// as a real client's.
func (n *lightNode) token() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return cmp.Or(n.identity, n.spec.SecretID)
}

func (n *lightNode) keepIdentity(reply structs.NodeUpdateResponse) {
	if reply.SignedIdentity == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.identity = *reply.SignedIdentity
}

// register announces the node; first says that the server has not seen it: only
// then the token must be empty.
func (n *lightNode) register(first bool) (ttl time.Duration, err error) {
	n.mu.Lock()
	node := *n.spec
	node.Meta = maps.Clone(n.spec.Meta)
	n.mu.Unlock()
	request := structs.NodeRegisterRequest{Node: &node, CreateNodePool: true, WriteRequest: n.writing()}
	if first {
		request.AuthToken = ""
	}
	var reply structs.NodeUpdateResponse
	err = n.call("Node.Register", &request, &reply)
	n.keepIdentity(reply)
	return reply.HeartbeatTTL, err
}

func (n *lightNode) heartbeat() (ttl time.Duration, err error) {
	request := structs.NodeUpdateStatusRequest{NodeID: n.spec.ID, Status: structs.NodeStatusReady, WriteRequest: n.writing()}
	var reply structs.NodeUpdateResponse
	err = n.call("Node.UpdateStatus", &request, &reply)
	n.keepIdentity(reply)
	return reply.HeartbeatTTL, err
}

// join registers the node and makes it ready; ready is called then.
func (n *lightNode) join(ctx context.Context, ready func()) {
	ctx = n.untilItFails(ctx)
	steps := []func() (time.Duration, error){func() (time.Duration, error) { return n.register(true) }, n.heartbeat}
	var ttl time.Duration
	for _, step := range steps {
		for {
			var err error
			if ttl, err = step(); err == nil {
				break
			}
			n.out.problem(n.spec.Name, err)
			if !sleep(ctx, retryAfter) {
				return
			}
		}
	}
	n.mu.Lock()
	n.spec.Status = structs.NodeStatusReady
	n.mu.Unlock()
	ready()
	go n.keepAlive(ctx, ttl)
	go n.keepMeta(ctx)
	go n.work(ctx)
}

// untilItFails is a context that ends when the node fails.
func (n *lightNode) untilItFails(ctx context.Context) context.Context {
	n.mu.Lock()
	defer n.mu.Unlock()
	ctx, n.failed = context.WithCancel(ctx)
	return ctx
}

// fail ends all that the node says to the server, without a word, as a machine that is
// switched off; the server sees it when the next heartbeat is late.
func (n *lightNode) fail() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.failed != nil {
		n.failed()
	}
}

// keepAlive heartbeats at half the time the server grants.
func (n *lightNode) keepAlive(ctx context.Context, ttl time.Duration) {
	for sleep(ctx, ttl/2) {
		next, err := n.heartbeat()
		if err != nil {
			n.out.problem(n.spec.Name, fmt.Errorf("heartbeat: %w", err))
			next = 2 * retryAfter
		}
		ttl = next
	}
}

// applyMeta is what the server asks when the node's metadata is written.
func (n *lightNode) applyMeta(change map[string]*string) map[string]string {
	n.mu.Lock()
	defer n.mu.Unlock()
	for k, v := range change {
		if v == nil {
			delete(n.spec.Meta, k)
		} else {
			n.spec.Meta[k] = *v
		}
	}
	select {
	case n.metaSet <- struct{}{}:
	default: // it will register anyway
	}
	return maps.Clone(n.spec.Meta)
}

// keepMeta registers the node again some time after its metadata changed.
func (n *lightNode) keepMeta(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-n.metaSet:
		}
		if !sleep(ctx, metaDelay) {
			return
		}
		if _, err := n.register(false); err != nil {
			n.out.problem(n.spec.Name, fmt.Errorf("register again: %w", err))
		}
	}
}

// work follows the node's allocations.
func (n *lightNode) work(ctx context.Context) {
	request := structs.NodeSpecificRequest{NodeID: n.spec.ID, SecretID: n.spec.SecretID, QueryOptions: n.query()}
	for ctx.Err() == nil {
		request.AuthToken = n.token() // it is renewed now and then
		var reply structs.NodeClientAllocsResponse
		if err := n.call("Node.GetClientAllocs", &request, &reply); err != nil {
			if ctx.Err() == nil {
				n.out.problem(n.spec.Name, fmt.Errorf("allocations: %w", err))
				sleep(ctx, retryAfter)
			}
			continue
		}
		if ctx.Err() != nil {
			return // it failed while the server held the question
		}
		if reply.Index <= request.MinQueryIndex {
			continue
		}
		if err := n.follow(ctx, reply); err != nil {
			n.out.problem(n.spec.Name, err)
			sleep(ctx, retryAfter)
			continue // the same index again
		}
		request.MinQueryIndex = reply.Index
		request.AllowStale = true
	}
}

// follow reads the allocations that changed on the server and acts on them.
func (n *lightNode) follow(ctx context.Context, reply structs.NodeClientAllocsResponse) error {
	var pull []string
	index := uint64(0)
	for id, modify := range reply.Allocs {
		if a := n.known[id]; a == nil || modify > a.modifyIndex {
			pull = append(pull, id)
			index = max(index, modify)
		}
	}
	for id := range n.known {
		if _, ok := reply.Allocs[id]; !ok {
			delete(n.known, id) // collected by the server
		}
	}
	if len(pull) == 0 {
		return nil
	}
	request := structs.AllocsGetRequest{AllocIDs: pull, QueryOptions: n.query()}
	request.AllowStale, request.MinQueryIndex = true, index-1
	var got structs.AllocsGetResponse
	if err := n.call("Alloc.GetAllocs", &request, &got); err != nil {
		return fmt.Errorf("reading allocations: %w", err)
	}
	var updates []*structs.Allocation
	for _, a := range got.Allocs {
		if u := n.answer(ctx, a); u != nil {
			updates = append(updates, u)
		}
	}
	return n.report(updates)
}

// answer is what the node reports of an allocation that the server changed; nil
// for nothing new.
func (n *lightNode) answer(ctx context.Context, a *structs.Allocation) *structs.Allocation {
	known := n.known[a.ID]
	if known == nil {
		known = &allocation{}
		n.known[a.ID] = known
	}
	first := known.modifyIndex == 0
	known.modifyIndex = a.AllocModifyIndex
	switch {
	case known.done:
		return nil
	case a.ServerTerminalStatus():
		known.done = true
		return update(a, structs.AllocClientStatusComplete)
	case !first && a.ClientStatus == structs.AllocClientStatusRunning && (a.Job.Type != structs.JobTypeService || a.DeploymentStatus.HasHealth()):
		return nil // changed in place
	}
	if a.Job.Type == structs.JobTypeBatch && n.batchRunFor > 0 && first {
		time.AfterFunc(n.batchRunFor, func() {
			if ctx.Err() == nil {
				n.complete(a)
			}
		})
	}
	return update(a, structs.AllocClientStatusRunning)
}

func (n *lightNode) complete(a *structs.Allocation) {
	if err := n.report([]*structs.Allocation{update(a, structs.AllocClientStatusComplete)}); err != nil {
		n.out.problem(n.spec.Name, err)
	}
}

func (n *lightNode) report(updates []*structs.Allocation) error {
	if len(updates) == 0 {
		return nil
	}
	request := structs.AllocUpdateRequest{Alloc: updates, WriteRequest: n.writing()}
	var reply structs.GenericResponse
	if err := n.call("Node.UpdateAlloc", &request, &reply); err != nil {
		return fmt.Errorf("reporting allocations: %w", err)
	}
	at := time.Now()
	for _, u := range updates {
		n.out.allocation(u, at)
	}
	return nil
}

// update is a client's report of an allocation.
func update(a *structs.Allocation, status string) *structs.Allocation {
	now := time.Now()
	state := &structs.TaskState{State: structs.TaskStateRunning, StartedAt: now}
	if status == structs.AllocClientStatusComplete {
		state = &structs.TaskState{State: structs.TaskStateDead, StartedAt: now, FinishedAt: now}
	}
	u := &structs.Allocation{
		ID: a.ID, NodeID: a.NodeID, JobID: a.JobID, Namespace: a.Namespace, TaskGroup: a.TaskGroup,
		ClientStatus: status, TaskStates: map[string]*structs.TaskState{},
	}
	for _, t := range a.Job.LookupTaskGroup(a.TaskGroup).Tasks {
		u.TaskStates[t.Name] = state
	}
	// A client says so of every service: a drain waits for it where there is no deployment.
	if a.Job.Type == structs.JobTypeService && status == structs.AllocClientStatusRunning {
		healthy := true
		u.DeploymentStatus = &structs.AllocDeploymentStatus{Healthy: &healthy, Timestamp: now}
	}
	return u
}

// sleep waits and reports whether ctx still lives.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
