package validate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/nomad-placer/nomad-placer/driver/ibench"
	"github.com/nomad-placer/nomad-placer/driver/validate/worker"
	"github.com/nomad-placer/nomad-placer/profiler"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// kernel is what the measurements need of a running kernel.
type kernel interface {
	Set(ctx context.Context, percent float64) error
	Report(ctx context.Context) (ibench.Report, error)
	Speed(a, b profiler.KernelStats) float64
	PID() int
	Close() error
}

// subject is what they need of a running worker.
type subject interface {
	Run()
	Pause()
	Read() (worker.Reading, error)
	Close() error
}

// bench starts kernels and workers; tests have one without a machine.
type bench interface {
	Kernel(ctx context.Context, s interference.Source, where place) (kernel, error)
	Worker(ctx context.Context, spec worker.Spec) (subject, error)
	// MemoryGroup makes a cgroup with a memory limit.
	MemoryGroup(limitBytes int64) (join func(pid int) error, remove func() error, err error)
	// Sleep lets them work.
	Sleep(ctx context.Context, d time.Duration) error
	// Tempo is how fast the cores were clocked meanwhile, in a unit of its own; NaN
	// where that is not known.
	Tempo(from, to time.Time) float64
	// Anonymous is the memory a process holds, in bytes, as the operating
	// system counts.
	Anonymous(pid int) (int64, error)
	// CPUTime is the processor time a process used so far.
	CPUTime(pid int) (time.Duration, error)
	// DiskBytes is the space the files take that a process has open.
	DiskBytes(pid int) (int64, error)
}

// The bounds of memory and disk that kernels may take while they are
// validated: enough to be seen, little enough to be filled in a moment.
const (
	boundMemoryBytes  = 512 << 20
	boundStorageBytes = 64 << 20
)

// bounds are the MaxBytes of the kernels that would take as much as there is.
var bounds = map[interference.Source]int64{
	interference.MemoryCapacity:   boundMemoryBytes,
	interference.StorageCapacity:  boundStorageBytes,
	interference.StorageBandwidth: boundStorageBytes,
}

// kernelLife bounds a kernel that is not ended: it dies with this process
// anyway.
const kernelLife = 30 * time.Minute

// machineBench is the running machine.
type machineBench struct {
	program     program
	scratch     string // directory of the control sockets
	storage     string // directory on the disk to put load on
	calibration string // file
	seed        uint64
	started     int // kernels so far, to name their sockets
	weight      weightGroup
	tempo       *ibench.Tempo
}

// program is how this program starts itself again.
type program struct {
	executable string
	kernel     []string // arguments before a kernel's own; nil is the default
	worker     []string // arguments before a worker's own
}

func (b *machineBench) Kernel(ctx context.Context, s interference.Source, where place) (kernel, error) {
	b.started++
	if info, _ := interference.Info(s); where.Same && info.Scope == interference.ScopeCore && where.Join == nil {
		where.Join = b.weight.join
	}
	p, err := ibench.Start(ctx, ibench.Spec{
		Executable: b.program.executable, Arguments: b.program.kernel,
		Source: s, CPUs: where.CPUs, Same: where.Same, MaxDuration: kernelLife,
		Socket: filepath.Join(b.scratch, fmt.Sprintf("k%d.sock", b.started)),
		Path:   b.storage, MaxBytes: bounds[s], CalibrationFile: b.calibration, Seed: b.seed,
		Join: where.Join,
	})
	if err != nil {
		return nil, err // not a nil *Process in an interface
	}
	return p, nil
}

func (b *machineBench) Worker(ctx context.Context, spec worker.Spec) (subject, error) {
	spec.Executable, spec.Arguments, spec.Seed = b.program.executable, b.program.worker, b.seed
	if spec.Dir == storageDir {
		spec.Dir = b.storage
	}
	p, err := worker.Start(ctx, spec)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// storageDir in a worker's spec means the directory to put pressure on.
const storageDir = "<storage>"

func (b *machineBench) Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (b *machineBench) Tempo(from, to time.Time) float64 { return b.tempo.Mean(from, to) }

// team holds the kernels and workers of a cell and ends them together.
type team struct {
	*session
	open []interface{ Close() error }
}

func (t *team) kernel(ctx context.Context, s interference.Source, where place) (kernel, error) {
	k, err := t.bench.Kernel(ctx, s, where)
	if err == nil {
		t.open = append(t.open, k)
	}
	return k, err
}

func (t *team) worker(ctx context.Context, spec worker.Spec) (subject, error) {
	w, err := t.bench.Worker(ctx, spec)
	if err == nil {
		t.open = append(t.open, w)
	}
	return w, err
}

// end closes what was opened, the last first.
func (t *team) end() error {
	var errs []error
	for i := len(t.open) - 1; i >= 0; i-- {
		errs = append(errs, t.open[i].Close())
	}
	t.open = nil
	return errors.Join(errs...)
}

// makeScratch makes a directory for control sockets, and how to remove it.
func makeScratch() (dir string, remove func() error, err error) {
	dir, err = os.MkdirTemp("", "ibench-validate-")
	if err != nil {
		return "", nil, fmt.Errorf("scratch directory: %w", err)
	}
	return dir, func() error { return os.RemoveAll(dir) }, nil
}
