package nomadapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler"
)

// Names of a transfer. Its job is called by the recipient's allocation, so that a list
// of allocations alone shows holder and recipient.
const (
	transferJobPrefix = "placer-lend-"
	transferIDDigits  = 8 // of the recipient's allocation
	transferTask      = "lend"
	metaRecipient     = "placer.borrower"
	transferredSlice  = "100us" // the least: who is transferred CPU has a bound on a tail
)

// Bounds of a transfer, chosen by us: Nomad takes about a second to start one, and much
// longer on a machine that has just been given more than it can do.
const (
	transferWithin      = 30 * time.Second
	transferRoomWithin  = 2 * time.Second // until a node that is full counts as full
	transferPoll        = 250 * time.Millisecond
	transferKillTimeout = 5 * time.Second
	blockedLooked       = 500 // blocked evaluations, at most
)

// What Nomad makes a task hold at the least.
const (
	leastCPUMHz   = 1
	leastMemoryMB = 10
)

// transferDrivers keep the processes of a task in Nomad's own control group, which
// is where a transfer arrives.
var transferDrivers = []string{"exec", "java", "raw_exec"}

func impossible(format string, args ...any) error {
	return fmt.Errorf("%w: %w", fmt.Errorf(format, args...), cluster.ErrImpossible)
}

// Resize changes what an allocation holds while it runs: another allocation on the
// same node holds the difference in Nomad's books, and the driver there hands it over
// (decision 0016). The size the allocation was given ends the transfer.
func (w *World) Resize(ctx context.Context, id cluster.WorkloadID, allocation string, size cluster.Resources) error {
	a, node, err := w.running(ctx, id, allocation)
	if err != nil {
		return err
	}
	had := a.Given()
	more := cluster.Resources{CPUMHz: size.CPUMHz - had.CPUMHz, MemoryMB: size.MemoryMB - had.MemoryMB}
	transfer := transferJobID(a)
	switch {
	case size.Cores != had.Cores:
		return impossible("reserved cores cannot change while a task runs")
	case more.CPUMHz < 0 || more.MemoryMB < 0:
		return impossible("a running allocation cannot get less than Nomad reserved for it")
	case more == cluster.Resources{}:
		return w.endTransfer(ctx, transfer, allocation)
	case !DriverAllows(node.Attributes, DriverTransfer):
		return impossible("the operator of node %s does not allow in-place resizes; to allow them, add %q to allow in the block of the driver ibench in its agent file", node.Name, DriverTransfer)
	case !node.Kernels && DriverAllows(node.Attributes, DriverProfile):
		return impossible("node %s has no healthy ibench driver, which an in-place resize needs", node.Name)
	}
	if why := w.refusesKey(node); why != "" {
		return impossible("%s", why)
	}
	// What a holder of memory holds at the least is no transfer of CPU.
	if more.CPUMHz <= leastCPUMHz {
		more.CPUMHz = 0
	}
	job, err := w.transferJob(ctx, &a, node, more)
	if err != nil {
		return err
	}
	if more.CPUMHz > 0 {
		wait, err := w.waitForCPU(ctx)
		if err != nil {
			return err
		}
		if wait.in(job.text("NodePool")) {
			return impossible("another job is blocked on this pool's unreserved CPU")
		}
	}
	return w.transfer(ctx, transfer, node.ID, job)
}

// running finds a live allocation of a workload, and its node.
func (w *World) running(ctx context.Context, id cluster.WorkloadID, allocation string) (cluster.Allocation, *cluster.Node, error) {
	s, err := w.Snapshot(ctx)
	if err != nil {
		return cluster.Allocation{}, nil, err
	}
	for _, n := range s.Nodes {
		for _, a := range s.Allocations[n.ID] {
			if a.ID == allocation && a.Workload == id {
				return a, n, nil
			}
		}
	}
	return cluster.Allocation{}, nil, fmt.Errorf("allocation %s of %s: %w", allocation, id, cluster.ErrGone)
}

func transferJobID(a cluster.Allocation) cluster.JobID {
	return cluster.JobID{Namespace: a.Workload.Namespace, ID: transferJobPrefix + a.ID[:min(transferIDDigits, len(a.ID))]}
}

// transferJob is the job that holds what is transferred, on the recipient's node. It is a batch
// job: one that has ended, because the recipient has, is not started again.
func (w *World) transferJob(ctx context.Context, a *cluster.Allocation, node *cluster.Node, more cluster.Resources) (object, error) {
	user, err := w.rawJob(ctx, a.Workload.JobID())
	if err != nil {
		return nil, err
	}
	tasks, err := w.holders(user, a, more)
	if err != nil {
		return nil, err
	}
	job := pick(user, []string{"Namespace", "Region", "Priority"})
	job["ID"] = transferJobID(*a).ID
	job["Name"] = job["ID"]
	job["Type"] = "batch"
	job["NodePool"] = cmp.Or(node.Pool, "default")
	job["Datacenters"] = []any{"*"}
	job["Meta"] = map[string]any{metaOwner: w.opts.Owner, metaRecipient: a.ID}
	job.setList("Constraints", []object{{"LTarget": nodeIDTarget, "Operand": "=", "RTarget": string(node.ID)}})
	job.setList("TaskGroups", []object{{
		"Name": transferTask, "Count": 1, "RestartPolicy": never(),
		"ReschedulePolicy": map[string]any{"Attempts": 0, "Unlimited": false},
		"EphemeralDisk":    map[string]any{"SizeMB": labExtraDiskMB},
		"Tasks":            tasks,
	}})
	w.sign(job, node.ID, w.serverTime.Now().Add(transferWithin), func(string) bool { return true })
	return job, nil
}

// holders are the tasks of a transfer, one for each task of the recipient that gets some.
// Memory is for the task that the scale block is about. CPU is for all of them, in
// proportion to what they hold: whichever waits for the CPU, the request waits.
func (w *World) holders(user object, a *cluster.Allocation, more cluster.Resources) ([]any, error) {
	job := w.readJob(user)
	i := slices.IndexFunc(job.Workloads, func(wl cluster.Workload) bool { return wl.ID == a.Workload })
	group := findGroup(user, a.Workload.Group)
	if i < 0 || group == nil {
		return nil, fmt.Errorf("job %s has no group %q with a performance block any more: %w", job.ID, a.Workload.Group, cluster.ErrGone)
	}
	sized, err := recipient(group, job.Workloads[i].Sizable)
	// The least that holders of CPU hold is no memory that anybody asked for.
	wantsMemory := more.CPUMHz == 0 || more.MemoryMB > leastMemoryMB*len(group.objects("Tasks"))
	switch {
	case err != nil && wantsMemory:
		return nil, err
	case askOf(group).CPUMHz != a.Given().CPUMHz:
		return nil, fmt.Errorf("allocation %s is of another version of job %s: %w", a.ID, job.ID, cluster.ErrStale)
	case more.CPUMHz == 0:
		return []any{holder(transferTask, a.ID, sized, 0, more.MemoryMB)}, nil
	}
	return cpuHolders(group, a.ID, sized, more)
}

// recipient is the task of a group that memory may be transferred to: the one whose size its
// scale block is about.
func recipient(group object, sizable cluster.Sizable) (object, error) {
	task := findTask(group, sizable.Task)
	switch {
	case sizable.SizeFixed != "":
		return nil, impossible("%s", sizable.SizeFixed)
	case task == nil:
		return nil, impossible("it is not known which task of the group needs more resources: name it with task in the probe block")
	}
	return task, mayReceive(task)
}

// mayReceive says why nothing can be transferred to a task.
func mayReceive(task object) error {
	switch name, driver := task.text("Name"), task.text("Driver"); {
	case ownAsk(task).Cores > 0:
		return impossible("task %q has reserved cores, which cannot be resized while it runs", name)
	case !slices.Contains(transferDrivers, driver):
		return impossible("task %q runs under the driver %q, and only tasks of %s can be resized in place", name, driver, strings.Join(transferDrivers, ", "))
	case slices.ContainsFunc(task.objects("ScalingPolicies"), enabled):
		return impossible("the scaling blocks of task %q control it", name)
	}
	return nil
}

// cpuHolders divide CPU among the tasks that run as long as the group does; memory,
// where some is transferred, goes to the sized one.
func cpuHolders(group object, recipient string, sized object, more cluster.Resources) ([]any, error) {
	var tasks []object
	total := 0
	for _, t := range group.objects("Tasks") {
		if l := t.object("Lifecycle"); l.text("Hook") != "" && !l.boolean("Sidecar") {
			continue
		}
		if err := mayReceive(t); err != nil {
			return nil, err
		}
		tasks, total = append(tasks, t), total+ownAsk(t).CPUMHz
	}
	var out []any
	mhz, left, memory := more.CPUMHz, total, more.MemoryMB-leastMemoryMB*(len(tasks)-1)
	for i, t := range tasks {
		own := ownAsk(t).CPUMHz
		part := mhz * own / max(1, left)
		mhz, left = mhz-part, left-own
		mb := 0
		if sized != nil && t.text("Name") == sized.text("Name") {
			mb = memory
		}
		name := transferTask
		if i > 0 {
			name = fmt.Sprintf("%s-%d", transferTask, i+1)
		}
		out = append(out, holder(name, recipient, t, max(leastCPUMHz, part), mb))
	}
	if len(out) == 0 {
		return nil, impossible("no task of the group runs for its whole lifetime")
	}
	return out, nil
}

// holder is a task that holds what is transferred to one task of the recipient.
func holder(name, recipient string, task object, mhz, memoryMB int) map[string]any {
	block := map[string]any{"allocation": recipient, "task": task.text("Name")}
	if mhz > 0 {
		block["cpu_mhz"] = ownAsk(task).CPUMHz
		block["time_slice"] = transferredSlice
	}
	return map[string]any{
		"Name": name, "Driver": KernelDriver, "RestartPolicy": never(), "KillTimeout": int64(transferKillTimeout),
		"Config":    map[string]any{"lend": []any{block}},
		"Resources": map[string]any{"CPU": max(leastCPUMHz, mhz), "MemoryMB": max(leastMemoryMB, memoryMB)},
		// What it says is an event. Nomad starts a process for every log, on the CPU of those
		// that are to be faster.
		"LogConfig": map[string]any{"Disabled": true, "MaxFiles": labTaskLogFiles, "MaxFileSizeMB": labTaskLogFileMB},
	}
}

// transfer runs the job of a transfer, in place of one of another size, and returns once the
// transfer is out. One that does not come about leaves what was there before. Where ctx
// ends, what has been begun stays: it counts as transferred, and ends with its recipient.
func (w *World) transfer(ctx context.Context, id cluster.JobID, node cluster.NodeID, job object) error {
	standing, err := w.presentTransfer(ctx, id, job.object("Meta").text(metaRecipient))
	if err != nil {
		return err
	}
	if standing != nil && hasEnded(standing) {
		if err := w.RemoveJob(ctx, id); err != nil {
			return err
		}
		standing = nil
	}
	since := standing.index("JobModifyIndex") // 0 of none: it must not exist
	if standing != nil && slices.Equal(terms(standing), terms(job)) {
		return w.awaitTransfer(ctx, id, since)
	}
	if since, err = w.writeTransfer(ctx, id, job, since); err != nil {
		return err
	}
	why := w.awaitTransfer(ctx, id, since)
	switch {
	case why == nil || ctx.Err() != nil:
		return why
	case standing == nil:
		return errors.Join(why, w.RemoveJob(ctx, id))
	}
	w.signAgain(standing, node, w.serverTime.Now().Add(transferWithin))
	_, err = w.writeTransfer(ctx, id, standing, since)
	return errors.Join(why, err)
}

// writeTransfer registers the job of a transfer over the one of that index. Nomad takes an
// allocation of another size away only where the new one has room.
func (w *World) writeTransfer(ctx context.Context, id cluster.JobID, job object, over uint64) (index uint64, err error) {
	body := registration{Job: job, EnforceIndex: true, JobModifyIndex: over}
	var answer struct{ JobModifyIndex uint64 }
	err = w.nomad.writeSafe(ctx, jobPath(id, ""), id.Namespace, body, &answer)
	if isConflict(err) {
		err = errors.Join(err, cluster.ErrStale)
	}
	return answer.JobModifyIndex, wrap(err, "reservation transfer %s", id)
}

// presentTransfer is the job of a transfer as it is; nil where there is none.
func (w *World) presentTransfer(ctx context.Context, id cluster.JobID, recipient string) (object, error) {
	var job object
	_, err := w.nomad.get(ctx, jobPath(id, ""), api.QueryOptions{Namespace: id.Namespace}, &job)
	if isNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if meta := job.object("Meta"); meta.text(metaOwner) != w.opts.Owner || meta.text(metaRecipient) != recipient {
		return nil, impossible("job %s is not a reservation transfer to allocation %s, which needs its name: rename that job", id, recipient)
	}
	return job, nil
}

func hasEnded(transfer object) bool {
	return transfer.boolean("Stop") || transfer.text("Status") == "dead"
}

// transferTasks are the tasks of a transfer's job.
func transferTasks(job object) []object {
	if group := findGroup(job, transferTask); group != nil {
		return group.objects("Tasks")
	}
	return nil
}

// terms are what a transfer's tasks hold, and for whom.
func terms(job object) []string {
	var out []string
	for _, t := range transferTasks(job) {
		for _, block := range t.object("Config").objects("lend") {
			out = append(out, fmt.Sprint(block.text("task"), ownAsk(t)))
		}
	}
	return out
}

// endTransfer gives back what was transferred. Where nothing is, nothing is done.
func (w *World) endTransfer(ctx context.Context, id cluster.JobID, recipient string) error {
	standing, err := w.presentTransfer(ctx, id, recipient)
	if err != nil || standing == nil {
		return err
	}
	return w.RemoveJob(ctx, id)
}

// awaitTransfer waits until the driver says that the transfer registered at an index is out,
// or says why it will not be.
func (w *World) awaitTransfer(ctx context.Context, id cluster.JobID, since uint64) error {
	began := w.clock.Now()
	for {
		alloc, err := w.newestAllocation(ctx, id)
		if err != nil {
			return err
		}
		waited := w.clock.Now().Sub(began)
		switch {
		case alloc == nil || alloc.CreateIndex < since:
			why, err := w.placementFailures(ctx, id)
			if err != nil {
				return err
			}
			if len(why) > 0 && waited >= transferRoomWithin {
				return impossible("its node has no room for more: %s", strings.Join(why, ", "))
			}
		case alloc.transferred():
			return nil
		case alloc.ClientStatus == "complete" || alloc.ClientStatus == "failed" || alloc.lost():
			return impossible("the in-place resize ended at once: %s", alloc.transferWords())
		}
		if waited >= transferWithin {
			return impossible("the in-place resize did not begin within %s", transferWithin)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-w.clock.After(transferPoll):
		}
	}
}

// transferred: every task of a transfer has said that its part is out.
func (a *labAlloc) transferred() bool {
	for _, state := range a.TaskStates {
		if !slices.ContainsFunc(state.Events, func(e labTaskEvent) bool { return strings.Contains(e.DisplayMessage, profiler.TransferMessage) }) {
			return false
		}
	}
	return len(a.TaskStates) > 0
}

// lastWords are what the events of a task said of its failure, or last.
func (a *labAlloc) lastWords(task string) string {
	said := "no reason is known"
	for _, e := range a.TaskStates[task].Events {
		if e.DisplayMessage != "" && e.Type != "Not Restarting" {
			said = e.DisplayMessage
		}
	}
	return said
}

// transferWords are those of the task that failed, of a transfer.
func (a *labAlloc) transferWords() string {
	for _, task := range slices.Sorted(maps.Keys(a.TaskStates)) {
		if a.TaskStates[task].Failed {
			return a.lastWords(task)
		}
	}
	return a.lastWords(transferTask)
}

// waiting are the node pools in which a job is blocked on CPU; "" is any.
type waiting map[string]bool

func (w waiting) in(pool string) bool { return w[pool] || w[""] }

// waitForCPU asks Nomad who is blocked for want of CPU. A transfer that has no room
// itself keeps no job waiting. The first part of a long queue is enough.
func (w *World) waitForCPU(ctx context.Context) (waiting, error) {
	evals, err := w.blocked(ctx)
	if err != nil {
		return nil, err
	}
	out := waiting{}
	for _, e := range evals {
		for _, failed := range e.FailedTGAllocs {
			if !strings.HasPrefix(e.JobID, transferJobPrefix) && failed.DimensionExhausted["cpu"] > 0 {
				out[failed.NodePool] = true
			}
		}
	}
	return out, nil
}

// sweepTransfers ends transfers whose recipient is gone, and those of CPU that somebody else
// waits for; it removes those that have ended.
func (w *World) sweepTransfers(ctx context.Context) error {
	var stubs []struct {
		jobStub
		Status string
	}
	_, err := w.nomad.get(ctx, "/v1/jobs", api.QueryOptions{
		Namespace: allNamespaces, Prefix: transferJobPrefix, Params: map[string]string{"meta": "true"},
	}, &stubs)
	if err != nil || len(stubs) == 0 {
		return wrap(err, "loans")
	}
	allocs, _, err := w.listAllocations(ctx)
	if err != nil {
		return wrap(err, "loans")
	}
	wait, err := w.waitForCPU(ctx)
	if err != nil {
		return wrap(err, "loans")
	}
	live, cpu := map[string]bool{}, map[cluster.JobID]bool{}
	for _, list := range allocs {
		for _, a := range list {
			live[a.ID] = true
			if isHolder(a) && a.Resources.CPUMHz > leastCPUMHz {
				cpu[a.Workload.JobID()] = true
			}
		}
	}
	var failures []error
	for _, s := range stubs {
		id := cluster.JobID{Namespace: s.Namespace, ID: s.ID}
		needed := live[s.Meta[metaRecipient]] && s.Status != "dead" && !(cpu[id] && wait.in(s.NodePool))
		if s.Meta[metaOwner] != w.opts.Owner || needed {
			continue
		}
		if err := w.RemoveJob(ctx, id); err != nil {
			failures = append(failures, err)
			continue
		}
		w.log.Info("in-place resize ended", "job", id.String(), "borrower", s.Meta[metaRecipient])
	}
	return errors.Join(failures...)
}

// withTransfers counts what is transferred as the recipient's: a holder is no co-runner.
// A transfer whose recipient is not there stays an allocation of its own.
func withTransfers(byNode map[cluster.NodeID][]cluster.Allocation) map[cluster.NodeID][]cluster.Allocation {
	var out map[cluster.NodeID][]cluster.Allocation
	for node, list := range byNode {
		if !slices.ContainsFunc(list, isHolder) {
			continue
		}
		if out == nil {
			out = maps.Clone(byNode)
		}
		out[node] = foldTransfers(list)
	}
	if out == nil {
		return byNode
	}
	return out
}

func isHolder(a cluster.Allocation) bool { return strings.HasPrefix(a.Workload.Job, transferJobPrefix) }

func foldTransfers(list []cluster.Allocation) []cluster.Allocation {
	var out, transfers []cluster.Allocation
	for _, a := range list {
		if isHolder(a) {
			transfers = append(transfers, a)
		} else {
			out = append(out, a)
		}
	}
	for _, transfer := range transfers {
		i := slices.IndexFunc(out, func(a cluster.Allocation) bool { return !isHolder(a) && transferJobID(a) == transfer.Workload.JobID() })
		if i < 0 {
			out = append(out, transfer)
			continue
		}
		out[i].Transferred = out[i].Transferred.Add(transfer.Resources)
		out[i].Resources = out[i].Resources.Add(transfer.Resources)
	}
	return out
}
