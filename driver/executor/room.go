package executor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
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
	Report(ctx context.Context) (ibench.Report, error)
}

// room is what a child works in: the task's spec and the machine around it.
type room struct {
	spec    Spec
	dir     string // runtime directory
	tree    *cgroup.Tree
	procs   Proc
	machine ibench.Machine
	journal *journal
	stderr  io.Writer
	now     func() time.Time
	start   func(ctx context.Context, s ibench.Spec) (unit, error)
	// awake keeps CPUs from idling until it is closed.
	awake   func(cpus []int, join func(pid int) error) (io.Closer, error)
	started int // kernels started so far; names their files and groups
	claims  *claims
}

func startProcess(ctx context.Context, s ibench.Spec) (unit, error) {
	p, err := ibench.Start(ctx, s)
	if err != nil {
		return nil, err
	}
	return p, nil
}

func keepAwake(cpus []int, join func(pid int) error) (io.Closer, error) {
	return ibench.KeepAwake(cpus, join)
}

// awakeWeight is the CPU weight of what keeps CPUs awake: the least there is. Its
// threads give way to everybody in their own control group only, so that group must
// give way too.
const awakeWeight = 1

// keepAwake keeps CPUs from idling, in a control group that takes what is left.
func (r *room) keepAwake(name string, cpus cgroup.CPUs) (io.Closer, error) {
	if r.tree == nil {
		return r.awake(cpus, nil)
	}
	group, err := r.tree.Create(GroupPrefix+name+".awake", cgroup.Limits{CPUs: cpus, Weight: awakeWeight})
	if err != nil {
		return nil, fmt.Errorf("keep CPUs awake: %w", err)
	}
	process, err := r.awake(cpus, group.Join)
	if err != nil {
		return nil, errors.Join(err, group.Remove(context.Background()))
	}
	return awakeIn{process, group}, nil
}

// awakeIn removes the control group with what was in it.
type awakeIn struct {
	process io.Closer
	group   cgroup.Group
}

// Close ends the process and removes the group.
func (a awakeIn) Close() error {
	return errors.Join(a.process.Close(), a.group.Remove(context.Background()))
}

var (
	_ profiler.Yielder = (*placed)(nil)
	_ profiler.Settler = (*placed)(nil)
	_ profiler.Paced   = (*placed)(nil)
)

// placed is a kernel on its CPUs, in its own control group.
type placed struct {
	unit
	source    interference.Source
	placement Placement
	group     *cgroup.Group // nil where the machine has no control groups
	words     *lastWords
	keepAwake func() (io.Closer, error)
	awake     io.Closer // nil before Yield, and for kernels that do not need it
	dir       *os.File  // of a storage kernel, which names it by this process's file
}

// startTimeout bounds a kernel's start: a storage kernel writes its file first.
const startTimeout = 20 * time.Second

// kernelOverheadBytes is what a kernel's process needs besides its working set:
// the Go runtime with the heap that its memory limit allows, and program text.
const kernelOverheadBytes = 128 << 20

// kernel starts a kernel there. It dies with this process.
func (r *room) kernel(ctx context.Context, k KernelSpec, where Placement) (*placed, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	limited, err := r.limit(ctx, k)
	if err != nil {
		return nil, fmt.Errorf("kernel %s: %w", k.Source, err)
	}
	name := fmt.Sprintf("%s.%d", r.spec.Name, r.started)
	r.started++
	out := &placed{source: k.Source, placement: where, words: &lastWords{out: r.stderr}, dir: limited.dir}
	out.keepAwake = func() (io.Closer, error) { return r.keepAwake(name, where.CPUs) }
	spec := ibench.Spec{
		Source: k.Source, IntensityPercent: k.IntensityPercent, Variant: k.Variant,
		CPUs: where.CPUs, Same: where.Same, MaxDuration: r.spec.MaxDuration,
		Socket: filepath.Join(r.dir, fmt.Sprintf("k%d.sock", r.started)),
		Path:   limited.path, MaxBytes: limited.maxBytes, Peer: limited.peer,
		CalibrationFile: r.spec.CalibrationFile, Seed: r.spec.Seed + uint64(r.started),
		Stdout: r.stderr, Stderr: out.words,
	}
	if r.tree != nil {
		info, _ := interference.Info(k.Source) // Place has refused unknown ones
		limits := cgroup.Limits{CPUs: where.CPUs, Weight: where.Weight(info.Scope)}
		if r.spec.MaxBytes > 0 {
			limits.MemoryBytes = r.spec.MaxBytes + kernelOverheadBytes
		}
		group, err := r.tree.Create(GroupPrefix+name, limits)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("kernel %s: %w", k.Source, err), out.closeDir())
		}
		out.group, spec.Join = &group, group.Join
	}
	if out.unit, err = r.start(ctx, spec); err != nil {
		return nil, errors.Join(fmt.Errorf("kernel %s: %w", k.Source, err), out.removeGroup(), out.closeDir())
	}
	return out, nil
}

// bound is how much memory a kernel may take; 0 leaves it to the kernel.
func (r *room) bound(k KernelSpec) int64 {
	if k.MaxBytes > 0 && r.spec.MaxBytes > 0 {
		return min(k.MaxBytes, r.spec.MaxBytes)
	}
	return max(k.MaxBytes, r.spec.MaxBytes)
}

// lastWords passes a kernel's error output on and keeps its last line: why the
// kernel ended.
type lastWords struct {
	out io.Writer

	mu   sync.Mutex
	line []byte // the last line so far
}

// lastWordsMax bounds the line kept.
const lastWordsMax = 1024

func (w *lastWords) Write(data []byte) (int, error) {
	w.mu.Lock()
	text := append(w.line, data...)
	lines := bytes.Split(bytes.TrimRight(text, "\n"), []byte("\n"))
	last := lines[len(lines)-1]
	if bytes.HasSuffix(text, []byte("\n")) {
		last = append(bytes.Clone(last), '\n')
	}
	w.line = bytes.Clone(last[:min(len(last), lastWordsMax)])
	w.mu.Unlock()
	return w.out.Write(data)
}

func (w *lastWords) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.TrimPrefix(strings.TrimSpace(string(w.line)), "kernel: ")
}

// Placement is the word of the profile record.
func (p *placed) Placement() string { return p.placement.Name() }

// Yield gives the kernel the CPU weight of any other task. From here on its own
// speed counts, with and without the workload: a kernel that works in bursts on the
// workload's CPUs must find them awake both times.
func (p *placed) Yield(context.Context) error {
	if p.group != nil {
		if err := p.group.SetWeight(cgroup.DefaultWeight); err != nil {
			return err
		}
	}
	d, err := ibench.Describe(p.source)
	if err != nil || d.Knob != ibench.Footprint || p.Placement() != profiler.PlacementSame || p.awake != nil {
		return nil
	}
	p.awake, err = p.keepAwake()
	return err
}

// Settle waits until the kernel holds what its level says.
func (p *placed) Settle(ctx context.Context) error {
	return ibench.AwaitLevel(ctx, p.Report, profiler.SystemClock{}.Sleep)
}

// Window is the shortest time in which the kernel can be measured.
func (p *placed) Window() time.Duration {
	d, err := ibench.Describe(p.source)
	if err != nil {
		return 0
	}
	return d.Window(p.placement.Same)
}

// Close ends the kernel and removes its control group.
func (p *placed) Close() error {
	var err error
	if p.awake != nil {
		err = p.awake.Close()
	}
	return errors.Join(err, p.unit.Close(), p.removeGroup(), p.closeDir())
}

func (p *placed) closeDir() error {
	if p.dir == nil {
		return nil
	}
	if err := p.dir.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return fmt.Errorf("directory of a storage kernel: %w", err)
	}
	return nil
}

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

// claim records that a kernel there puts pressure on its resource, unless another one
// does.
func (r *room) claim(k KernelSpec, where Placement) (claim, error) {
	info, _ := interference.Info(k.Source) // Place has refused unknown ones
	if k.Path == "" {
		k.Path = r.spec.Storage.Dir
	}
	c := claim{
		Source: k.Source, Domains: domains(r.machine, info, where.CPUs, k),
		AllocID: r.spec.AllocID, Task: r.spec.Task,
	}
	c.Where = strings.Join(c.Domains, ", ")
	return c, r.claims.add(c, r.spec.AllowPair)
}

// stepAside moves this process off the target's CPUs where there are others, so
// that measuring does not disturb what is measured. The driver has made the
// group before it let the task start.
func (r *room) stepAside(target cgroup.CPUs) error {
	allowed, err := r.allowed()
	if err != nil || r.tree == nil {
		return err
	}
	return r.tree.Child(GroupPrefix + r.spec.Name).SetCPUs(allowed.Without(target))
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
