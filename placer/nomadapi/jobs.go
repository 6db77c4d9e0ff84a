package nomadapi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// metaOwner is the job meta key on every job this project makes; such jobs are
// never placed, profiled or rewritten.
const metaOwner = "placer.owner"

// heldPayloadAdvice is said of a dispatched child that cannot be rewritten.
const heldPayloadAdvice = "dispatched with a payload while its parent was held: Nomad does not let such a job be registered again; " +
	"stop it and dispatch it again, the rewritten parent lets it run"

// jobCache keeps what was read of each job until the job changes.
type jobCache struct {
	mu   sync.Mutex
	jobs map[cluster.JobID]cluster.Job
	once onceLog // warnings of a performance block, said once per text
}

// jobStub is the part of Nomad's job list that is looked at.
type jobStub struct {
	ID             string
	Namespace      string
	NodePool       string
	Stop           bool
	JobModifyIndex uint64
	Meta           map[string]string
}

// Jobs returns every job that is held or has a performance block, without
// stopped jobs and without our own, sorted by namespace and id.
func (w *World) Jobs(ctx context.Context) ([]cluster.Job, error) {
	stubs, err := w.listJobs(ctx)
	if err != nil {
		return nil, err
	}
	known := w.jobs.snapshot()
	fresh := make(map[cluster.JobID]cluster.Job, len(stubs))
	out := make([]cluster.Job, 0, len(stubs))
	for _, s := range stubs {
		id := cluster.JobID{Namespace: s.Namespace, ID: s.ID}
		job, ok := known[id]
		if !ok || job.ModifyIndex != s.JobModifyIndex {
			job, err = w.Job(ctx, id)
			if errors.Is(err, cluster.ErrGone) {
				continue // stopped between the list and the read
			}
			if err != nil {
				return nil, err
			}
		}
		fresh[id] = job
		out = append(out, job)
	}
	w.jobs.replace(fresh)
	slices.SortFunc(out, func(a, b cluster.Job) int { return strings.Compare(a.ID.String(), b.ID.String()) })
	return out, nil
}

// listJobs lets the server filter, so that a cluster of ten thousand other jobs
// costs nothing.
func (w *World) listJobs(ctx context.Context) ([]jobStub, error) {
	var stubs []jobStub
	_, err := w.nomad.get(ctx, "/v1/jobs", api.QueryOptions{
		Namespace: allNamespaces,
		Params:    map[string]string{"meta": "true"},
		Filter:    fmt.Sprintf("NodePool == %q or any TaskGroups as g { %q in g.Meta }", w.opts.HoldPool, MetaKey),
	}, &stubs)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(stubs, func(s jobStub) bool { return s.Stop || s.Meta[metaOwner] != "" }), nil
}

// Job reads one job afresh.
func (w *World) Job(ctx context.Context, id cluster.JobID) (cluster.Job, error) {
	raw, err := w.nomad.rawJob(ctx, id)
	if err != nil {
		return cluster.Job{}, err
	}
	return w.readJob(raw), nil
}

func (w *World) readJob(raw object) cluster.Job {
	id := jobIDOf(raw)
	job := cluster.Job{
		ID:          id,
		Version:     raw.index("Version"),
		ModifyIndex: raw.index("JobModifyIndex"),
		SubmittedAt: time.Unix(0, raw.number("SubmitTime")),
		Type:        raw.text("Type"),
		Held:        raw.text("NodePool") == w.opts.HoldPool,
		Stopped:     raw.boolean("Stop"),
		RunPool:     w.opts.RunPool,
	}
	if !job.Held {
		job.RunPool = raw.text("NodePool")
	}
	if job.Held && raw.text("Payload") != "" {
		job.Problems = append(job.Problems, heldPayloadAdvice)
	}
	for _, group := range raw.objects("TaskGroups") {
		text, ok := group.object("Meta")[MetaKey].(string)
		if !ok {
			continue
		}
		workload, problem := w.readWorkload(raw, group, text)
		if problem != "" {
			job.Problems = append(job.Problems, problem)
			continue
		}
		job.Workloads = append(job.Workloads, workload)
	}
	return job
}

func jobIDOf(raw object) cluster.JobID {
	return cluster.JobID{Namespace: raw.text("Namespace"), ID: raw.text("ID")}
}

func (w *World) readWorkload(raw, group object, text string) (cluster.Workload, string) {
	id := cluster.WorkloadID{Namespace: raw.text("Namespace"), Job: raw.text("ID"), Group: group.text("Name")}
	if w.opts.Decode == nil {
		return cluster.Workload{}, "this placer was started without a decoder of performance blocks"
	}
	spec, warnings, err := w.opts.Decode(text, id.Job+"/"+id.Group+"/performance")
	if err != nil {
		return cluster.Workload{}, fmt.Sprintf("group %q: %s", id.Group, err)
	}
	if len(warnings) > 0 && w.jobs.once.first(id.String(), strings.Join(warnings, "\n")) {
		w.log.Warn("performance block", "workload", id.String(), "warnings", warnings)
	}
	return cluster.Workload{
		ID:          id,
		Spec:        spec,
		ProfileKey:  profileKey(asSubmitted(group), spec.Target.Kind),
		Count:       int(group.number("Count")),
		Ask:         askOf(group),
		Drivers:     driversOf(group),
		Constraints: userConstraints(raw, group),
		Datacenters: raw.texts("Datacenters"),
		Sizable:     sizableOf(group, spec),
	}, ""
}

func driversOf(group object) []string {
	var out []string
	for _, task := range group.objects("Tasks") {
		if d := task.text("Driver"); d != "" && !slices.Contains(out, d) {
			out = append(out, d)
		}
	}
	slices.Sort(out)
	return out
}

// userConstraints are those of the job, the group and its tasks, without ours.
func userConstraints(raw, group object) []cluster.Constraint {
	var out []cluster.Constraint
	add := func(list []object) {
		for _, c := range list {
			if isOurs(c) {
				continue
			}
			operator := c.text("Operand")
			if operator == "" {
				operator = "="
			}
			out = append(out, cluster.Constraint{Attribute: c.text("LTarget"), Operator: operator, Value: c.text("RTarget")})
		}
	}
	add(raw.objects("Constraints"))
	add(group.objects("Constraints"))
	for _, task := range group.objects("Tasks") {
		add(task.objects("Constraints"))
	}
	return out
}

func (c *jobCache) snapshot() map[cluster.JobID]cluster.Job {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.jobs
}

func (c *jobCache) replace(jobs map[cluster.JobID]cluster.Job) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.jobs = jobs
}
