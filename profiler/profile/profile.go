// Package profile is the record a profiling run leaves: how fast a workload is
// on a node configuration, what pressure it tolerates and what pressure it exerts.
//
// It is words, like interference and performance, and imports only those.
package profile

import (
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// Format is the version of the JSON form; see store/FORMAT.md.
const Format = 1

// Machine is what a profile was measured on.
type Machine struct {
	NodeID        string `json:"node_id,omitempty"`
	NodeName      string `json:"node_name,omitempty"`
	Configuration string `json:"configuration"` // the node configuration: column of the utility matrix
	CPUModel      string `json:"cpu_model,omitempty"`
	CPUs          []int  `json:"cpus,omitempty"` // the workload's CPU set
	KernelRelease string `json:"kernel_release,omitempty"`
	Virtual       bool   `json:"virtual"`
}

// Measurement is a number with its 95 % confidence interval.
type Measurement struct {
	Value   float64 `json:"value"`
	Low     float64 `json:"low"`
	High    float64 `json:"high"`
	Unit    string  `json:"unit"`
	Windows int     `json:"windows"` // how many measuring windows it rests on
}

// RampPoint is one probed level of one kernel, with both sides of the pair.
// Ratios are with pressure over without; NaN-free: an unmeasured side is nil.
type RampPoint struct {
	Source           interference.Source `json:"source"`
	IntensityPercent float64             `json:"intensity_percent"`
	Pairs            int                 `json:"pairs"`
	WorkloadRatio    *float64            `json:"workload_ratio,omitempty"`
	WorkloadLow      *float64            `json:"workload_low,omitempty"`
	WorkloadHigh     *float64            `json:"workload_high,omitempty"`
	// PerCPURatio is that of the workload's progress per second of CPU time: what is lost to
	// contention inside the machine, apart from the CPU time that the kernel took.
	PerCPURatio     *float64 `json:"per_cpu_ratio,omitempty"`
	PerCPULow       *float64 `json:"per_cpu_low,omitempty"`
	PerCPUHigh      *float64 `json:"per_cpu_high,omitempty"`
	KernelRatio     *float64 `json:"kernel_ratio,omitempty"` // kernel next to the workload / kernel in isolation
	KernelLow       *float64 `json:"kernel_low,omitempty"`
	KernelHigh      *float64 `json:"kernel_high,omitempty"`
	AchievedPercent float64  `json:"achieved_percent"` // of the demanded operations; 0 where the kernel states no demand
	Placement       string   `json:"placement"`        // "same": the workload's CPUs, "beside": other CPUs of the node
}

// ScalePoint is the performance in isolation at one size of the workload's copy.
type ScalePoint struct {
	Cores    int         `json:"cores"`               // CPUs it may use
	MemoryMB int64       `json:"memory_mb,omitempty"` // memory it was configured to use, or limited to; 0 is not varied
	Speed    Measurement `json:"speed"`
}

// Provenance says how a measurement can be repeated.
type Provenance struct {
	Application string            `json:"application"`        // identifier in the catalogue, for example "zstd-19"
	Command     string            `json:"command"`            // as run, with the input's name
	Input       string            `json:"input,omitempty"`    // what it worked on, with size and seed
	Versions    map[string]string `json:"versions,omitempty"` // of the packages measured
	Kernels     string            `json:"kernels"`            // release of the interference kernels
	Calibration string            `json:"calibration,omitempty"`
	Repetitions int               `json:"repetitions"` // visits of a level
	FileSystem  string            `json:"file_system,omitempty"`
	// Refined are the sources measured a second time, for longer, because a score
	// could not be distinguished from noise.
	Refined []interference.Source `json:"refined,omitempty"`
	DataSet *DataSet              `json:"data_set,omitempty"` // set: measured by others, and imported
}

// Profile is what is known of one workload (a task group with its image,
// command and size), from one or more runs.
type Profile struct {
	Format      int                      `json:"format"`
	Key         string                   `json:"key"`      // content identity of the workload
	Workload    string                   `json:"workload"` // namespace/job/group, for people
	Taken       time.Time                `json:"taken"`
	Used        time.Time                `json:"used,omitzero"` // when a job was last seen to use it, to a day; zero: not seen yet
	Machine     Machine                  `json:"machine"`       // of the interference run
	SlowdownMax float64                  `json:"slowdown_max_percent"`
	Target      performance.Target       `json:"target"`
	Isolated    map[string]Measurement   `json:"alone"` // performance in isolation, by node configuration
	Sensitivity interference.Sensitivity `json:"sensitivity"`
	Ramp        []RampPoint              `json:"ramp,omitempty"`
	ScaleUp     []ScalePoint             `json:"scale_up,omitempty"`
	// CPUsIsolated is the CPU time used alone, in CPUs (seconds per second), by all that
	// was profiled together on Machine; 0 was not looked at.
	CPUsIsolated float64 `json:"cpus_alone,omitempty"`
	// CPUShareIsolated is the same by node configuration, as a part of the CPU time that
	// it may use there: 1 takes all.
	CPUShareIsolated map[string]float64 `json:"cpu_share_alone,omitempty"`
	// RunIsolatedMS is how long its threads run at a time in isolation, weighted by their CPU
	// time, in milliseconds; 0 was not looked at.
	RunIsolatedMS float64 `json:"run_ms_alone,omitempty"`
	// MemoryPeakMB is the most memory the sized task was seen to use, without page
	// cache where that is known; 0 was not looked at.
	MemoryPeakMB float64       `json:"memory_peak_mb,omitempty"`
	Provenance   *Provenance   `json:"provenance,omitempty"`
	Warnings     []string      `json:"warnings,omitempty"`
	Duration     time.Duration `json:"duration"`
	Complete     bool          `json:"complete"` // false: partial results of a run cut short
	// Ended says why the run ended before its time although nothing was wrong; empty where
	// it did not.
	Ended string `json:"ended,omitempty"`
}

// Application is what the profile is of, whatever its input, size and version: that of the
// catalogue, else the workload.
func (p *Profile) Application() string {
	if p.Provenance != nil && p.Provenance.Application != "" {
		return p.Provenance.Application
	}
	return p.Workload
}
