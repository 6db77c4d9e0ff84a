package rig

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/hcl"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi"
	"github.com/nomad-placer/nomad-placer/placer/policy"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// JobFile is a jobspec with performance blocks, read from disk.
type JobFile struct {
	Path  string
	ID    string
	Group string // the first group with a performance block
	Spec  performance.Spec

	plain string // the jobspec without the blocks
	block string // the text of the performance block
}

// ReadJobFile reads and checks a jobspec with one job.
func (r *Rig) ReadJobFile(path string) (JobFile, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return JobFile{}, err
	}
	stripped, blocks, problems := hcl.Extract(src, path)
	if problems.HasErrors() {
		return JobFile{}, problems
	}
	f := JobFile{Path: path, plain: string(stripped)}
	for group, block := range blocks {
		if f.Group != "" {
			return JobFile{}, fmt.Errorf("%s: more than one group has a performance block", path)
		}
		f.Group, f.block = group, block.Text
		if f.Spec, _, err = (hcl.Options{Policies: policy.Names()}).DecodeBlock(block, path); err != nil {
			return JobFile{}, err
		}
	}
	job, err := r.Parse(f.plain, r.variables(f.plain))
	if err != nil {
		return JobFile{}, fmt.Errorf("%s: %w", path, err)
	}
	f.ID = *job.ID
	return f, nil
}

// variables are the values of the variables a demo jobspec may declare.
func (r *Rig) variables(spec string) map[string]string {
	if strings.Contains(spec, `variable "bin"`) {
		return map[string]string{"bin": r.opts.Bin}
	}
	return nil
}

// SubmitStock registers the job as a user without nomad-placer would: no
// performance block, straight into the run pool.
func (r *Rig) SubmitStock(f JobFile) error { return r.submitStock(f, func(*api.Job) {}) }

// SubmitStockOn does so on the nodes of one class.
func (r *Rig) SubmitStockOn(f JobFile, class string) error {
	return r.submitStock(f, func(job *api.Job) { job.Constrain(api.NewConstraint("${node.class}", "=", class)) })
}

func (r *Rig) submitStock(f JobFile, change func(*api.Job)) error {
	job, err := r.Parse(f.plain, r.variables(f.plain))
	if err != nil {
		return fmt.Errorf("%s: %w", f.Path, err)
	}
	change(job)
	if _, _, err := r.API().Jobs().Register(job, nil); err != nil {
		return fmt.Errorf("%s: %w", f.Path, err)
	}
	return nil
}

// SubmitHeld registers the job in the hold pool, as stock "nomad job run" does
// with a job that carries its block as meta.
func (r *Rig) SubmitHeld(f JobFile) error {
	job, err := r.withBlock(f)
	if err != nil {
		return err
	}
	return r.SubmitHeldJob(job)
}

// withBlock is the job with its block as meta.
func (r *Rig) withBlock(f JobFile) (*api.Job, error) {
	job, err := r.Parse(f.plain, r.variables(f.plain))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Path, err)
	}
	for _, g := range job.TaskGroups {
		if *g.Name == f.Group {
			g.Meta = map[string]string{hcl.MetaKey: f.block}
		}
	}
	return job, nil
}

// ProfileKey is under what the placer keeps the profile of a job's group.
func (r *Rig) ProfileKey(f JobFile) (string, error) {
	job, err := r.withBlock(f)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(job)
	if err != nil {
		return "", err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var raw map[string]any
	if err := d.Decode(&raw); err != nil {
		return "", err
	}
	for _, w := range r.World.ReadJob(raw).Workloads {
		if w.ID.Group == f.Group {
			return w.ProfileKey, nil
		}
	}
	return "", fmt.Errorf("%s: the placer reads no group %s in it", f.Path, f.Group)
}

// SubmitHeldJob registers a job in the hold pool.
func (r *Rig) SubmitHeldJob(job *api.Job) error {
	pool := HoldPool
	job.NodePool = &pool
	_, _, err := r.API().Jobs().Register(job, nil)
	return err
}

// exitStock is the command line's exit code for "the job runs, but stock Nomad
// placed it".
const exitStock = 3

// SubmitPlacer runs `nomad-placer job run` on the file and returns when the
// job runs; out receives what the command prints. placed is false where the
// placer left the job to stock Nomad.
func (r *Rig) SubmitPlacer(ctx context.Context, f JobFile, out io.Writer) (placed bool, err error) {
	args := []string{"job", "run"}
	for name, value := range r.variables(f.plain) {
		args = append(args, "-var", name+"="+value)
	}
	err = r.Placer(ctx, out, append(args, f.Path)...)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == exitStock {
		return false, nil
	}
	return err == nil, err
}

// Placer runs the nomad-placer command line against the cluster.
func (r *Rig) Placer(ctx context.Context, out io.Writer, args ...string) error {
	cmd := exec.CommandContext(ctx, filepath.Join(r.opts.Bin, "nomad-placer"), args...)
	cmd.Env = r.Env(os.Environ())
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("nomad-placer %s: %w", strings.Join(args, " "), err)
	}
	return nil
}

// WaitRunning waits until every allocation the job wants runs (or, for batch
// work, ran).
func (r *Rig) WaitRunning(ctx context.Context, id string) error {
	for {
		allocs, _, err := r.API().Jobs().Allocations(id, false, nil)
		if err == nil && len(allocs) > 0 {
			waiting := false
			for _, a := range allocs {
				switch a.ClientStatus {
				case api.AllocClientStatusFailed, api.AllocClientStatusLost:
					return fmt.Errorf("job %s: allocation %s %s", id, a.ID[:8], a.ClientStatus)
				case api.AllocClientStatusPending:
					waiting = true
				}
			}
			if !waiting {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("job %s does not run: %w", id, errors.Join(ctx.Err(), err))
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// Nodes returns the names of the nodes the job's allocations are on.
func (r *Rig) Nodes(id string) ([]string, error) {
	allocs, _, err := r.API().Jobs().Allocations(id, false, nil)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, a := range allocs {
		if a.DesiredStatus == api.AllocDesiredStatusRun {
			out = append(out, a.NodeName)
		}
	}
	return out, nil
}

// Workload describes the file's group for Observe.
func (f JobFile) Workload() cluster.Workload {
	return cluster.Workload{
		ID:   cluster.WorkloadID{Namespace: "default", Job: f.ID, Group: f.Group},
		Spec: f.Spec,
	}
}

// Purge stops the job, waits until its tasks are gone, and forgets it. Nomad
// 1.11.2 crashes when a job with live allocations is purged at once. On a busy
// machine with many tasks that takes longer than the placer itself would wait.
func (r *Rig) Purge(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(ctx, purgeWithin)
	defer cancel()
	for {
		err := r.World.RemoveJob(ctx, cluster.JobID{Namespace: "default", ID: id})
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, nomadapi.ErrNotQuiet) || ctx.Err() != nil:
			return fmt.Errorf("purge %s: %w", id, err)
		}
	}
}

const purgeWithin = 2 * time.Minute

// Idle waits until nothing runs but system jobs: what was transferred to a job outlives it by
// moments, and still holds its resources.
func (r *Rig) Idle(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, purgeWithin)
	defer cancel()
	for {
		left, err := r.live()
		if err == nil && left == "" {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for an idle cluster, %q: %w", left, errors.Join(ctx.Err(), err))
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// live is a job that has live allocations and is no system job; empty where there is
// none.
func (r *Rig) live() (string, error) {
	allocs, _, err := r.API().Allocations().List(&api.QueryOptions{Namespace: api.AllNamespacesNamespace})
	if err != nil {
		return "", err
	}
	for _, a := range allocs {
		if a.JobType != api.JobTypeSystem && (a.ClientStatus == api.AllocClientStatusRunning || a.ClientStatus == api.AllocClientStatusPending) {
			return a.JobID, nil
		}
	}
	return "", nil
}

// BatchTimes returns when a batch job's allocation started and finished; ok is
// false while it runs. A failed allocation is an error.
func (r *Rig) BatchTimes(id string) (started, finished time.Time, ok bool, err error) {
	allocs, _, err := r.API().Jobs().Allocations(id, false, nil)
	if err != nil {
		return started, finished, false, err
	}
	for _, a := range allocs {
		switch a.ClientStatus {
		case api.AllocClientStatusFailed, api.AllocClientStatusLost:
			return started, finished, false, fmt.Errorf("job %s: allocation %s %s", id, a.ID[:8], a.ClientStatus)
		case api.AllocClientStatusComplete:
			for _, task := range a.TaskStates {
				if started.IsZero() || task.StartedAt.Before(started) {
					started = task.StartedAt
				}
				if task.FinishedAt.After(finished) {
					finished = task.FinishedAt
				}
			}
			return started, finished, true, nil
		}
	}
	return started, finished, false, nil
}
