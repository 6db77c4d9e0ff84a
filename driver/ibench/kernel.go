package ibench

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// Knob is how a kernel turns intensity into pressure.
type Knob string

// The three kinds of knob.
const (
	Footprint Knob = "footprint" // share of a capacity kept occupied
	Rate      Knob = "rate"      // share of the peak work per second
	Duty      Knob = "duty"      // share of time busy
)

// Descriptor describes one kernel. Every kernel file ends in its own.
type Descriptor struct {
	Source interference.Source
	Knob   Knob
	Means  string // what intensity 100 means
	Loads  string // what the kernel puts pressure on
	Spares string // what it must not put pressure on
	Unit   string // of one operation
	// Variants name other ways to put pressure on the same resource, for example by
	// writing; the first is the default. Empty: there is only one way.
	Variants []string
	// Dwell is how long calibration stays at one level.
	Dwell time.Duration
	// BriefBytes bounds MaxBytes while calibrating, for kernels that take long
	// to prepare more; 0 is no bound.
	BriefBytes int64
	// Supported returns nil, or the reason why this machine cannot run it.
	Supported func(m Machine) error
	// New prepares the kernel; it is called once, in the kernel's process.
	New func(ctx context.Context, s Setup) (*Load, error)
	// Knee sweeps footprints of growing size, to find the usable size of a
	// cache; nil for kernels that need none. It must stop when ctx ends.
	Knee func(ctx context.Context, s Setup) (KneeSweep, error)
	// Probe makes a working set of the calibrated capacity, whose losses are the
	// kernel's impact; nil for kernels without such a thing.
	Probe func(s Setup) (probeSet, error)
	// Shares is how much of the time of a calibration it needs, in that of most
	// others; 0 is one.
	Shares int
	// CPUsMin is how many CPUs it needs; 0 is one.
	CPUsMin int
	// MaxThreads is the most threads calibration tries for the peak on that
	// many CPUs; nil keeps the kernel's own number.
	MaxThreads func(cpus int) int
}

// Setup is what a kernel may know when it is prepared.
type Setup struct {
	Machine     Machine
	CPUs        []int // at least one
	Same        bool  // the CPUs are the workload's own
	Threads     int   // wanted; 0 leaves it to the kernel
	Calibration SourceCalibration
	Path        string // directory on the disk to put load on
	MaxBytes    int64  // bound of memory or disk space; 0 is the kernel's default
	Peer        string // host:port to send to; empty is a sink in the same process
	Variant     string // one of the descriptor's; never empty where it has any
	Seed        uint64
}

// threads returns the wanted number of threads, else the calibrated one up to
// limit, else fallback.
func (s Setup) threads(fallback, limit int) int {
	switch {
	case s.Threads > 0:
		return s.Threads
	case s.Calibration.Threads > 0:
		return min(s.Calibration.Threads, limit)
	}
	return fallback
}

// bounded returns bytes, or the bound of the setup where that is smaller.
func (s Setup) bounded(bytes int64) int64 {
	if s.MaxBytes > 0 {
		return min(bytes, s.MaxBytes)
	}
	return bytes
}

// Load is a prepared kernel.
type Load struct {
	Threads int
	// Worker makes the worker of one thread, on that thread, pinned.
	Worker func(thread int) (Worker, error)
	// ResidentBytes is the memory the kernel occupies by intent.
	ResidentBytes func() int64
	Notes         []string // what a reader of its numbers should know
	// Occupied measures which share of its capacity, 0..1, a footprint kernel
	// occupies now; nil where that cannot be measured.
	Occupied func() (float64, error)
	// Measures are further numbers of the kernel's own, by name with its unit;
	// nil where there are none.
	Measures func() map[string]float64
	// Alerts say what keeps the kernel from its intensity now; nil where
	// nothing can.
	Alerts func() []string
	// Healthy returns an error once the kernel cannot go on, for what its
	// workers do not meet themselves; nil where there is no such thing.
	Healthy func() error
	Close   func() error
}

// Worker is one thread's part of a kernel. It is used by that thread alone.
type Worker interface {
	// Tune prepares for knob u in 0..1 and returns the pace to keep. The peak
	// is the calibrated one of one thread in operations per second. It must
	// take well under a millisecond.
	Tune(u, peakPerThread float64) Pace
	// Work does one quantum, tens of microseconds of work where the resource
	// allows, of at most about maxOps operations, and returns what it did.
	Work(maxOps float64) (ops float64, err error)
	Close() error
}

// timedWorker is a Worker that times its quanta itself, because waking up is
// a large part of what the harness would see.
type timedWorker interface {
	// Took is how long the last quantum was busy.
	Took() time.Duration
}

// Pace bounds the work of one thread.
type Pace struct {
	OpsPerSecond float64       // +Inf is as fast as it goes
	Busy         float64       // longest busy share of a window, 0..1
	DemandPerSec float64       // operations per second the knob asks for; +Inf asks for what it gets
	Window       time.Duration // 0 is the harness's window
	// Aligned makes the windows of all threads begin at the same moments, for
	// workers that need each other.
	Aligned bool
}

func (p Pace) idle() bool { return p.OpsPerSecond <= 0 || p.Busy <= 0 }

// ratePace asks for the share u of the peak. At the top there is no limiter:
// the paper lets a kernel at 100 starve everybody (Delimitrou 2015, §5.3).
func ratePace(u, peakPerThread float64) Pace {
	p := Pace{OpsPerSecond: u * peakPerThread, Busy: 1, DemandPerSec: u * peakPerThread}
	if u >= 1 {
		p.OpsPerSecond = math.Inf(1)
	}
	return p
}

// dutyPace asks for the share u of the time.
func dutyPace(u, peakPerThread float64) Pace {
	return Pace{OpsPerSecond: math.Inf(1), Busy: u, DemandPerSec: u * peakPerThread}
}

// perCPU is the MaxThreads of kernels that run one thread per CPU.
func perCPU(cpus int) int { return cpus }

// Describe returns the kernel of a source. A source of the paper that no
// kernel of this release puts pressure on is ErrNoKernel.
func Describe(s interference.Source) (Descriptor, error) {
	for _, d := range Kernels() {
		if d.Source == s {
			return d, nil
		}
	}
	if _, err := interference.ParseSource(string(s)); err != nil {
		return Descriptor{}, err
	}
	return Descriptor{}, fmt.Errorf("source %s: %w", s, ErrNoKernel)
}

// variant returns the named variant, or the default where the name is empty.
func (d Descriptor) variant(name string) (string, error) {
	switch {
	case name == "" && len(d.Variants) > 0:
		return d.Variants[0], nil
	case name == "" || slices.Contains(d.Variants, name):
		return name, nil
	case len(d.Variants) == 0:
		return "", fmt.Errorf("source %s has no variants, so none is called %q", d.Source, name)
	}
	return "", fmt.Errorf("source %s has no variant %q; known: %s", d.Source, name, strings.Join(d.Variants, ", "))
}

// Supported returns nil, or the reason why the machine cannot run the kernel
// of the source.
func Supported(m Machine, s interference.Source) error {
	d, err := Describe(s)
	if err != nil {
		return err
	}
	if err := d.Supported(m); err != nil {
		return fmt.Errorf("source %s: %w", s, err)
	}
	return nil
}
