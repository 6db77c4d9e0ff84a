package profiler

import (
	"context"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// Subject is the workload under measurement.
type Subject interface {
	// Read returns a reading of its probe.
	Read(ctx context.Context) (performance.Reading, error)
	// Pause stops all its processes, Resume lets them go on.
	Pause(ctx context.Context) error
	Resume(ctx context.Context) error
	// Alive returns nil while the workload runs, and says how it ended after.
	Alive(ctx context.Context) error
}

// CPUMeter is a Subject that can tell the CPU time its processes have used.
type CPUMeter interface {
	CPUTime() (CPUTime, error)
}

// CPUTime is what a workload has used of its CPUs, and what there was for it.
type CPUTime struct {
	Used   time.Duration
	Stolen time.Duration // taken of each CPU by the host, for other guests
	CPUs   float64       // that it may use at once; below the number of its CPU set under a quota
	// Threads are those that are there, by an identifier that does not change; nil: not known.
	Threads map[int]ThreadTime
}

// UsageMeter is a Subject that can tell at any moment the CPU time that its processes have
// used, finely enough for one window. An error means that it cannot for now.
type UsageMeter interface {
	Usage() (time.Duration, error)
}

// KernelStats are a kernel's running totals.
type KernelStats struct {
	At              time.Time `json:"at"`
	IntensityPct    float64   `json:"intensity_percent"` // demanded
	Ops             float64   `json:"ops"`               // completed unit operations
	DemandOps       float64   `json:"demand_ops"`        // asked for by the intensity
	BusyNanoseconds float64   `json:"busy_ns"`
	WallNanoseconds float64   `json:"wall_ns"`
	Unit            string    `json:"unit"` // of one op, e.g. "bytes"
}

// Kernel is a running interference kernel.
type Kernel interface {
	Set(ctx context.Context, percent float64) error
	Stats(ctx context.Context) (KernelStats, error)
	// Speed is the kernel's own performance between two stats, in ops/s: per
	// busy time, or per wall time for kernels that share the workload's CPUs.
	Speed(a, b KernelStats) float64
	// Placement is "same" (on the workload's CPUs) or "beside" (other CPUs).
	Placement() string
	Close() error
}

// Yielder is a kernel that can give up the CPU weight with which it takes its
// intensity from the workload. For a tolerated score it must press in full; for
// a caused score it must be a co-runner like any other, or it would not notice
// what the workload takes.
type Yielder interface {
	Yield(ctx context.Context) error
}

// Settler is a kernel whose level takes time to be reached, as one that fills
// memory.
type Settler interface {
	// Settle returns once the last level that was set is reached, or as near as it
	// gets.
	Settle(ctx context.Context) error
}

// Paced is a kernel that says how long a window must be for its pressure and its
// own speed to be even. For one that does not it is a quarter of a second.
type Paced interface {
	Window() time.Duration
}

// Bench starts kernels next to the subject.
type Bench interface {
	Kernel(ctx context.Context, s interference.Source) (Kernel, error)
}

// Request is what a profiling run is asked to do. Its JSON is the `request`
// of the driver's profile block.
type Request struct {
	Format          int                    `json:"format"`
	Key             string                 `json:"key"`
	Workload        string                 `json:"workload"`
	Configuration   string                 `json:"configuration"` // of this node
	NodeID          string                 `json:"node_id"`
	NodeName        string                 `json:"node_name"`
	Task            string                 `json:"task"`  // default task of the probe
	Tasks           []string               `json:"tasks"` // all tasks of the workload: paused and put under pressure together
	Target          performance.Target     `json:"target"`
	Probe           *performance.ProbeSpec `json:"probe,omitempty"`
	Sources         []interference.Source  `json:"sources,omitempty"`
	Further         []interference.Source  `json:"further,omitempty"` // measured only where that is advised while the run goes on
	Seconds         int                    `json:"seconds"`
	SlowdownPercent float64                `json:"slowdown_percent"`
	Seed            uint64                 `json:"seed"`
	Method          Method                 `json:"method,omitempty"`
	// Machine asks how fast kernels are here by themselves (MeasureSpeeds): there is no workload, and
	// its fields are empty.
	Machine bool `json:"machine,omitempty"`
}

// Method is how a run spends the time of a source.
type Method string

// The methods. Both close in on the crossing of the bound and use the same
// estimator; they differ in what they measure besides.
const (
	MethodSearch Method = "search" // little else; stops as soon as both scores are narrow. Also ""
	MethodSweep  Method = "sweep"  // the whole curve first: for training rows and simulators
)

// RequestFormat is the version of Request, and of where its result is left. Since 2 that is
// ResultDir.
const RequestFormat = 2

// The files a profiling run leaves in ResultDir, a directory of the allocation that the
// driver makes and no task of it can reach.
const (
	ResultDir    = "ibench-results"
	ResultFile   = "profile.json"
	ProgressFile = "profile-progress.json"
	SoFarFile    = "profile-so-far.json" // of a run that may be advised: what is measured by now
)

// Progress is written to ProgressFile while a run is under way.
type Progress struct {
	At               time.Time           `json:"at"`
	Phase            string              `json:"phase"` // waiting, baseline, ramp, done, failed
	Source           interference.Source `json:"source,omitempty"`
	IntensityPercent float64             `json:"intensity_percent,omitempty"`
	Fraction         float64             `json:"fraction"` // of the whole run, 0..1
	RemainingSeconds float64             `json:"remaining_seconds"`
	Message          string              `json:"message"`
}
