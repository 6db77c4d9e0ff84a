package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/hcl"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/store"
	"github.com/nomad-placer/nomad-placer/profiler/training"
)

// block is the performance block of every job: see the package comment for why
// there is no rate to reach.
const block = "target {\n  best_effort = true\n}\n"

// group is the name of every job's one group.
const group = "work"

// namespace of every job.
const namespace = "default"

// workload is a kind of job whose profile is known.
type workload struct {
	row      profile.Profile // of the training set: its scores
	cpuMHz   int
	memoryMB int
}

// knownWorkloads are the rows of the shipped training set, each with a size.
func knownWorkloads() ([]workload, error) {
	rows, err := training.Load()
	if err != nil {
		return nil, err
	}
	slices.SortFunc(rows, func(a, b profile.Profile) int { return cmp.Compare(a.Workload, b.Workload) })
	sizes := []int{200, 400, 800, 1200}
	var out []workload
	for i, r := range rows {
		mhz := sizes[i%len(sizes)]
		out = append(out, workload{row: r, cpuMHz: mhz, memoryMB: mhz / 2})
	}
	return out, nil
}

// request is a job as its user wants it.
type request struct {
	id       string
	jobType  string // api.JobTypeService or api.JobTypeBatch
	workload workload
	count    int // 0 is one
	mark     int // of an update; the first version has none
}

// allocations are how many are wanted.
func (q request) allocations() int { return max(1, q.count) }

// markKey is the task's meta that an update changes: its allocation is replaced, and what
// is known of its workload stays true.
const markKey = "mark"

// requestsOf are jobs of the workloads in turn: of each a service, then a batch job, so
// that half are batch.
func requestsOf(ids []string, workloads []workload) []request {
	types := []string{api.JobTypeService, api.JobTypeBatch}
	out := make([]request, len(ids))
	for i, id := range ids {
		out[i] = request{id: id, jobType: types[i%len(types)], workload: workloads[i/len(types)%len(workloads)]}
	}
	return out
}

// job makes the job, as `nomad job run` sends it; with pool and block as meta where they
// are not empty.
func (q request) job(pool, block string) *api.Job {
	id, w := q.id, q.workload
	task := api.NewTask("main", "exec")
	task.Config = map[string]any{"command": "/opt/work", "args": []string{w.row.Workload}}
	task.Resources = &api.Resources{CPU: &w.cpuMHz, MemoryMB: &w.memoryMB}
	if q.mark > 0 {
		task.Meta = map[string]string{markKey: strconv.Itoa(q.mark)}
	}
	g := api.NewTaskGroup(group, q.allocations())
	g.AddTask(task)
	job := api.NewServiceJob(id, id, "global", 50)
	job.Type = &q.jobType
	job.AddTaskGroup(g)
	if pool != "" {
		job.NodePool = &pool
	}
	if block != "" {
		g.Meta = map[string]string{hcl.MetaKey: block}
	}
	job.Canonicalize()
	return job
}

// everywhere is a system job, as every real cluster has some. Without it most
// nodes of the cluster would be empty, and Nomad 1.11 wakes the pending question
// of every empty node at every change of any allocation.
const everywhere = "everywhere"

func systemJob() *api.Job {
	mhz, mb := 50, 32
	task := api.NewTask("main", "exec")
	task.Config = map[string]any{"command": "/opt/everywhere"}
	task.Resources = &api.Resources{CPU: &mhz, MemoryMB: &mb}
	g := api.NewTaskGroup(everywhere, 1)
	g.AddTask(task)
	job := api.NewSystemJob(everywhere, everywhere, "global", 50)
	job.AddTaskGroup(g)
	return job
}

// source stands for the jobspec that the command line sends along.
func source(id string) *api.JobSubmission {
	return &api.JobSubmission{Format: "hcl2", Source: fmt.Sprintf("job %q {\n  # made by the scale rig\n}\n", id)}
}

func register(ctx context.Context, client *api.Client, job *api.Job) error {
	options := &api.RegisterOptions{Submission: source(*job.ID)}
	_, _, err := client.Jobs().RegisterOpts(job, options, (&api.WriteOptions{}).WithContext(ctx))
	if err != nil {
		return fmt.Errorf("job %s: %w", *job.ID, err)
	}
	return nil
}

// seed stores a profile of each workload under the key its jobs will have, services
// and batch jobs alike. The key is read off a job that Nomad has stored, and which is stopped again (Nomad
// 1.11.2 may crash on a job that is purged while its evaluation runs).
func (r *rig) seed(ctx context.Context, workloads []workload) error {
	profiles := store.Profiles{Store: r.store}
	for i, w := range workloads {
		id := fmt.Sprintf("seed-%03d", i)
		if err := register(ctx, r.api, request{id: id, jobType: api.JobTypeService, workload: w}.job(nomadapi.DefaultHoldPool, block)); err != nil {
			return err
		}
		job, err := r.world.Job(ctx, cluster.JobID{Namespace: namespace, ID: id})
		if err != nil {
			return err
		}
		if len(job.Workloads) != 1 {
			return fmt.Errorf("job %s: %v", id, job.Problems)
		}
		if _, _, err := r.api.Jobs().Deregister(id, false, nil); err != nil {
			return fmt.Errorf("job %s: %w", id, err)
		}
		if _, err := profiles.Put(ctx, w.known(job.Workloads[0]), store.Any); err != nil {
			return err
		}
	}
	return nil
}

// known is the row as the profile of a workload of this cluster: the scores as
// they were measured, the speed in isolation on each kind of node.
func (w workload) known(of cluster.Workload) profile.Profile {
	p := w.row
	p.Format, p.Key, p.Workload, p.Taken = profile.Format, of.ProfileKey, of.ID.String(), time.Now()
	p.Target = performance.Target{Kind: performance.BestEffort}
	p.Machine.Configuration = hardware[0].class
	p.Isolated = map[string]profile.Measurement{}
	for _, h := range hardware {
		p.Isolated[h.class] = profile.Measurement{
			Value: 100 * h.speed, Low: 99 * h.speed, High: 101 * h.speed, Unit: p.Target.RateUnit(), Windows: 30,
		}
	}
	p.Ramp, p.ScaleUp, p.Provenance, p.Warnings, p.Complete = nil, nil, nil, nil, true
	return p
}
