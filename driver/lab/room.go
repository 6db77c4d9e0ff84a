package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/nomad-placer/nomad-placer/driver/cgroup"
	"github.com/nomad-placer/nomad-placer/driver/ibench"
	"github.com/nomad-placer/nomad-placer/profiler"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// GroupPrefix starts the name of every control group the driver makes.
const GroupPrefix = "ibench."

// unit is a running kernel process; ibench.Process is one.
type unit interface {
	profiler.Kernel
	Pause(ctx context.Context) error
	Resume(ctx context.Context) error
	PID() int
	Done() <-chan struct{}
	Wait(ctx context.Context) (ibench.Exit, error)
}

// room is what a child works in: the task's spec and the machine around it.
type room struct {
	spec    Spec
	dir     string // runtime directory
	tree    *cgroup.Tree
	procs   Proc
	journal *journal
	stderr  io.Writer
	now     func() time.Time
	start   func(ctx context.Context, s ibench.Spec) (unit, error)
	started int // kernels started so far; names their files and groups
}

func startProcess(ctx context.Context, s ibench.Spec) (unit, error) {
	p, err := ibench.Start(ctx, s)
	if err != nil {
		return nil, err
	}
	return p, nil
}

var _ profiler.Yielder = (*placed)(nil)

// placed is a kernel on its CPUs, in its own control group.
type placed struct {
	unit
	source    interference.Source
	placement Placement
	group     *cgroup.Group // nil where the machine has no control groups
}

// startTimeout bounds a kernel's start: a storage kernel writes its file first.
const startTimeout = 20 * time.Second

// kernel starts a kernel there. It dies with this process.
func (r *room) kernel(ctx context.Context, k KernelSpec, where Placement) (*placed, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	name := fmt.Sprintf("%s.%d", r.spec.Name, r.started)
	r.started++
	out := &placed{source: k.Source, placement: where}
	spec := ibench.Spec{
		Source: k.Source, IntensityPercent: k.IntensityPercent,
		CPUs: where.CPUs, Same: where.Same,
		MaxDuration: r.spec.MaxDuration, DieWithParent: true,
		Socket: filepath.Join(r.dir, fmt.Sprintf("k%d.sock", r.started)),
		Path:   k.Path, MaxBytes: r.spec.MaxBytes, Peer: k.Peer,
		CalibrationFile: r.spec.CalibrationFile, Seed: r.spec.Seed + uint64(r.started),
		Stdout: r.stderr, Stderr: r.stderr,
	}
	if spec.Path == "" {
		spec.Path = r.spec.StorageDir
	}
	if r.tree != nil {
		info, _ := interference.Info(k.Source) // Place has refused unknown ones
		group, err := r.tree.Create(GroupPrefix+name, cgroup.Limits{CPUs: where.CPUs, Weight: where.Weight(info.Scope)})
		if err != nil {
			return nil, fmt.Errorf("kernel %s: %w", k.Source, err)
		}
		out.group, spec.Join = &group, group.Join
	}
	var err error
	if out.unit, err = r.start(ctx, spec); err != nil {
		return nil, errors.Join(fmt.Errorf("kernel %s: %w", k.Source, err), out.removeGroup())
	}
	return out, nil
}

// Placement is the word of the profile record.
func (p *placed) Placement() string { return p.placement.Name() }

// Yield gives the kernel the CPU weight of any other task.
func (p *placed) Yield(context.Context) error {
	if p.group == nil {
		return nil
	}
	return p.group.SetWeight(cgroup.DefaultWeight)
}

// Close ends the kernel and removes its control group.
func (p *placed) Close() error { return errors.Join(p.unit.Close(), p.removeGroup()) }

func (p *placed) removeGroup() error {
	if p.group == nil {
		return nil
	}
	// Not the caller's context: what was made is removed also when it ended.
	return p.group.Remove(context.Background())
}

// allowed are the CPUs a kernel of this task may use: the driver's, without
// those that Nomad has reserved for other allocations.
func (r *room) allowed() (cgroup.CPUs, error) {
	cpus := r.spec.Allowed
	if r.tree == nil {
		return cpus, nil
	}
	reserved, err := r.tree.Reserved(r.spec.AllocID)
	if err != nil {
		return nil, err
	}
	return cpus.Without(reserved), nil
}

// stepAside moves this process off the target's CPUs where there are others, so
// that measuring does not disturb what is measured. The driver has made the
// group before it let the task start.
func (r *room) stepAside(target cgroup.CPUs) error {
	allowed, err := r.allowed()
	if err != nil || r.tree == nil {
		return err
	}
	return r.tree.Open("/" + GroupPrefix + r.spec.Name).SetCPUs(allowed.Without(target))
}

// target is the workload of those tasks.
func (r *room) target(tasks ...string) *Target {
	t := &Target{Procs: r.procs, Record: filepath.Join(r.dir, PausedFile)}
	if r.tree != nil {
		t.Tree = *r.tree
	}
	for _, task := range tasks {
		t.Tasks = append(t.Tasks, TaskID{r.spec.AllocID, task})
	}
	return t
}

// How long a target may take to appear, and how often it is looked for.
const (
	targetWait = 60 * time.Second
	targetPoll = 100 * time.Millisecond
)

// await waits until every task of the target runs.
func await(ctx context.Context, t *Target) error {
	ctx, cancel := context.WithTimeout(ctx, targetWait)
	defer cancel()
	for {
		_, err := t.Pids()
		if err == nil || !errors.Is(err, ErrNoProcess) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waited for the target: %w", errors.Join(err, context.Cause(ctx)))
		case <-time.After(targetPoll):
		}
	}
}
