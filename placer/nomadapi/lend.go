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

// Names of a loan. Its job is called by the borrower's allocation, so that a list
// of allocations alone tells who lends to whom.
const (
	lendJobPrefix = "placer-lend-"
	lendIDDigits  = 8 // of the borrower's allocation
	lendTask      = "lend"
	metaBorrower  = "placer.borrower"
)

// Bounds of a loan, chosen by us: Nomad takes about a second to start one.
const (
	lendWithin      = 10 * time.Second
	lendRoomWithin  = 2 * time.Second // until a node that is full counts as full
	lendPoll        = 250 * time.Millisecond
	lendKillTimeout = 5 * time.Second
)

// What Nomad makes a task hold at the least.
const (
	leastCPUMHz   = 1
	leastMemoryMB = 10
)

// lendableDrivers keep the processes of a task in Nomad's own control group, which
// is where a loan arrives.
var lendableDrivers = []string{"exec", "java", "raw_exec"}

func impossible(format string, args ...any) error {
	return fmt.Errorf("%w: %w", fmt.Errorf(format, args...), cluster.ErrImpossible)
}

// Resize changes what an allocation holds while it runs: another allocation on the
// same node holds the difference in Nomad's books, and the driver there lends it
// (decision 0016). The size the allocation was given ends the loan.
func (w *World) Resize(ctx context.Context, id cluster.WorkloadID, allocation string, size cluster.Resources) error {
	a, node, err := w.running(ctx, id, allocation)
	if err != nil {
		return err
	}
	had := a.Given()
	more := cluster.Resources{CPUMHz: size.CPUMHz - had.CPUMHz, MemoryMB: size.MemoryMB - had.MemoryMB}
	loan := lendJobID(a)
	switch {
	case size.Cores != had.Cores:
		return impossible("cores are a task's own from its start to its end")
	case more.CPUMHz < 0 || more.MemoryMB < 0:
		return impossible("what Nomad gave an allocation is not taken away while it runs")
	case more == cluster.Resources{}:
		return w.endLoan(ctx, loan, allocation)
	case !node.Kernels:
		return impossible("node %s has no healthy driver to lend by", node.Name)
	}
	job, err := w.lendJob(ctx, &a, node, more)
	if err != nil {
		return err
	}
	return w.lend(ctx, loan, job)
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

func lendJobID(a cluster.Allocation) cluster.JobID {
	return cluster.JobID{Namespace: a.Workload.Namespace, ID: lendJobPrefix + a.ID[:min(lendIDDigits, len(a.ID))]}
}

// lendJob is the job that holds what is lent, on the borrower's node. It is a batch
// job: one that has ended, because the borrower has, is not started again.
func (w *World) lendJob(ctx context.Context, a *cluster.Allocation, node *cluster.Node, more cluster.Resources) (object, error) {
	user, err := w.nomad.rawJob(ctx, a.Workload.JobID())
	if err != nil {
		return nil, err
	}
	task, err := w.borrower(user, a)
	if err != nil {
		return nil, err
	}
	block := map[string]any{"allocation": a.ID, "task": task.text("Name")}
	if more.CPUMHz > 0 {
		block["cpu_mhz"] = ownAsk(task).CPUMHz
	}
	job := pick(user, []string{"Namespace", "Region", "Priority"})
	job["ID"] = lendJobID(*a).ID
	job["Name"] = job["ID"]
	job["Type"] = "batch"
	job["NodePool"] = cmp.Or(node.Pool, "default")
	job["Datacenters"] = []any{"*"}
	job["Meta"] = map[string]any{metaOwner: w.opts.Owner, metaBorrower: a.ID}
	job.setList("Constraints", []object{{"LTarget": nodeIDTarget, "Operand": "=", "RTarget": string(node.ID)}})
	job.setList("TaskGroups", []object{{
		"Name": lendTask, "Count": 1, "RestartPolicy": never(),
		"ReschedulePolicy": map[string]any{"Attempts": 0, "Unlimited": false},
		"EphemeralDisk":    map[string]any{"SizeMB": labExtraDiskMB},
		"Tasks": []any{map[string]any{
			"Name": lendTask, "Driver": kernelDriver, "RestartPolicy": never(), "KillTimeout": int64(lendKillTimeout),
			"Config":    map[string]any{"lend": []any{block}},
			"Resources": map[string]any{"CPU": max(leastCPUMHz, more.CPUMHz), "MemoryMB": max(leastMemoryMB, more.MemoryMB)},
			"LogConfig": map[string]any{"MaxFiles": labTaskLogFiles, "MaxFileSizeMB": labTaskLogFileMB},
		}},
	}})
	return job, nil
}

// borrower is the task of an allocation that may be lent to: the one whose size its
// scale block is about.
func (w *World) borrower(user object, a *cluster.Allocation) (object, error) {
	job := w.readJob(user)
	i := slices.IndexFunc(job.Workloads, func(wl cluster.Workload) bool { return wl.ID == a.Workload })
	group := findGroup(user, a.Workload.Group)
	if i < 0 || group == nil {
		return nil, fmt.Errorf("job %s has no group %q with a performance block any more: %w", job.ID, a.Workload.Group, cluster.ErrGone)
	}
	sizable := job.Workloads[i].Sizable
	task := findTask(group, sizable.Task)
	switch {
	case sizable.SizeFixed != "":
		return nil, impossible("%s", sizable.SizeFixed)
	case task == nil:
		return nil, impossible("the group has no task of which it is known that more helps it")
	case ownAsk(task).Cores > 0:
		return nil, impossible("task %q has reserved cores, which nothing can be added to while it runs", sizable.Task)
	case !slices.Contains(lendableDrivers, task.text("Driver")):
		return nil, impossible("task %q is run by %q, and only tasks of %s can be lent to", sizable.Task, task.text("Driver"), strings.Join(lendableDrivers, ", "))
	case askOf(group).CPUMHz != a.Given().CPUMHz:
		return nil, fmt.Errorf("allocation %s is of another version of job %s: %w", a.ID, job.ID, cluster.ErrStale)
	}
	return task, nil
}

// lend runs the job of a loan, in place of one of another size, and returns once the
// loan is out. One that does not come about leaves what was there before. Where ctx
// ends, what has been begun stays: it counts as lent, and ends with its borrower.
func (w *World) lend(ctx context.Context, id cluster.JobID, job object) error {
	standing, err := w.standingLoan(ctx, id, job.object("Meta").text(metaBorrower))
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
	if standing != nil && ownAsk(loanTask(standing)) == ownAsk(loanTask(job)) {
		return w.awaitLoan(ctx, id, since)
	}
	if since, err = w.writeLoan(ctx, id, job, since); err != nil {
		return err
	}
	why := w.awaitLoan(ctx, id, since)
	switch {
	case why == nil || ctx.Err() != nil:
		return why
	case standing == nil:
		return errors.Join(why, w.RemoveJob(ctx, id))
	}
	_, err = w.writeLoan(ctx, id, standing, since)
	return errors.Join(why, err)
}

// writeLoan registers the job of a loan over the one of that index. Nomad takes an
// allocation of another size away only where the new one has room.
func (w *World) writeLoan(ctx context.Context, id cluster.JobID, job object, over uint64) (index uint64, err error) {
	body := registration{Job: job, EnforceIndex: true, JobModifyIndex: over}
	var answer struct{ JobModifyIndex uint64 }
	err = w.nomad.writeSafe(ctx, jobPath(id, ""), id.Namespace, body, &answer)
	if isConflict(err) {
		err = errors.Join(err, cluster.ErrStale)
	}
	return answer.JobModifyIndex, wrap(err, "loan %s", id)
}

// standingLoan is the job of a loan as it is; nil where there is none.
func (w *World) standingLoan(ctx context.Context, id cluster.JobID, borrower string) (object, error) {
	var job object
	_, err := w.nomad.get(ctx, jobPath(id, ""), api.QueryOptions{Namespace: id.Namespace}, &job)
	if isNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if meta := job.object("Meta"); meta.text(metaOwner) != w.opts.Owner || meta.text(metaBorrower) != borrower {
		return nil, impossible("job %s exists and is not a loan to allocation %s: its name is needed for one", id, borrower)
	}
	return job, nil
}

func hasEnded(loan object) bool { return loan.boolean("Stop") || loan.text("Status") == "dead" }

func loanTask(job object) object {
	if group := findGroup(job, lendTask); group != nil {
		return findTask(group, lendTask)
	}
	return nil
}

// endLoan gives back what was lent. Where nothing is, nothing is done.
func (w *World) endLoan(ctx context.Context, id cluster.JobID, borrower string) error {
	standing, err := w.standingLoan(ctx, id, borrower)
	if err != nil || standing == nil {
		return err
	}
	return w.RemoveJob(ctx, id)
}

// awaitLoan waits until the driver says that the loan registered at an index is out,
// or says why it will not be.
func (w *World) awaitLoan(ctx context.Context, id cluster.JobID, since uint64) error {
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
			if len(why) > 0 && waited >= lendRoomWithin {
				return impossible("its node has no room for more: %s", strings.Join(why, ", "))
			}
		case alloc.lent():
			return nil
		case alloc.ClientStatus == "complete" || alloc.ClientStatus == "failed" || alloc.lost():
			return impossible("the loan ended at once: %s", alloc.lastWords(lendTask))
		}
		if waited >= lendWithin {
			return impossible("nothing was lent within %s", lendWithin)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-w.clock.After(lendPoll):
		}
	}
}

func (a *labAlloc) lent() bool {
	return slices.ContainsFunc(a.TaskStates[lendTask].Events, func(e labTaskEvent) bool {
		return strings.Contains(e.DisplayMessage, profiler.LentMessage)
	})
}

// lastWords are what the events of a task said of its failure, or last.
func (a *labAlloc) lastWords(task string) string {
	said := "it left no word"
	for _, e := range a.TaskStates[task].Events {
		if e.DisplayMessage != "" && e.Type != "Not Restarting" {
			said = e.DisplayMessage
		}
	}
	return said
}

// sweepLoans ends loans whose borrower is gone, and removes those that have ended.
func (w *World) sweepLoans(ctx context.Context) error {
	var stubs []struct {
		jobStub
		Status string
	}
	_, err := w.nomad.get(ctx, "/v1/jobs", api.QueryOptions{
		Namespace: allNamespaces, Prefix: lendJobPrefix, Params: map[string]string{"meta": "true"},
	}, &stubs)
	if err != nil || len(stubs) == 0 {
		return wrap(err, "loans")
	}
	allocs, _, err := w.listAllocations(ctx)
	if err != nil {
		return wrap(err, "loans")
	}
	live := map[string]bool{}
	for _, list := range allocs {
		for i := range list {
			live[list[i].ID] = true
		}
	}
	var failures []error
	for _, s := range stubs {
		if s.Meta[metaOwner] != w.opts.Owner || live[s.Meta[metaBorrower]] && s.Status != "dead" {
			continue
		}
		id := cluster.JobID{Namespace: s.Namespace, ID: s.ID}
		if err := w.RemoveJob(ctx, id); err != nil {
			failures = append(failures, err)
			continue
		}
		w.log.Info("left-over loan removed", "job", id.String(), "borrower", s.Meta[metaBorrower])
	}
	return errors.Join(failures...)
}

// withLoans counts what is lent as the borrower's: who lends is nobody's neighbour.
// A loan whose borrower is not there stays an allocation of its own.
func withLoans(byNode map[cluster.NodeID][]cluster.Allocation) map[cluster.NodeID][]cluster.Allocation {
	var out map[cluster.NodeID][]cluster.Allocation
	for node, list := range byNode {
		if !slices.ContainsFunc(list, lends) {
			continue
		}
		if out == nil {
			out = maps.Clone(byNode)
		}
		out[node] = foldLoans(list)
	}
	if out == nil {
		return byNode
	}
	return out
}

func lends(a cluster.Allocation) bool { return strings.HasPrefix(a.Workload.Job, lendJobPrefix) }

func foldLoans(list []cluster.Allocation) []cluster.Allocation {
	var out, loans []cluster.Allocation
	for _, a := range list {
		if lends(a) {
			loans = append(loans, a)
		} else {
			out = append(out, a)
		}
	}
	for _, loan := range loans {
		i := slices.IndexFunc(out, func(a cluster.Allocation) bool { return !lends(a) && lendJobID(a) == loan.Workload.JobID() })
		if i < 0 {
			out = append(out, loan)
			continue
		}
		out[i].Lent = out[i].Lent.Add(loan.Resources)
		out[i].Resources = out[i].Resources.Add(loan.Resources)
	}
	return out
}
