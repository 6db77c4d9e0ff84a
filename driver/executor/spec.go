package executor

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"github.com/nomad-placer/nomad-placer/driver/cgroup"
	"github.com/nomad-placer/nomad-placer/profiler"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/pairs"
	"github.com/nomad-placer/nomad-placer/profiler/workload/network/replay"
)

// SpecFormat is the version of Spec.
const SpecFormat = 1

// Spec is what a child is to do: exactly one of Kernels, Profile, Pairs, Calibrate,
// Transfer and Traffic.
type Spec struct {
	Format   int    `json:"format"`
	Name     string `json:"name"` // unique on the machine; names the control groups
	AllocID  string `json:"alloc_id"`
	AllocDir string `json:"alloc_dir"` // on this machine; the child ends when it is gone
	Task     string `json:"task"`

	Kernels    []KernelSpec      `json:"kernels,omitempty"`
	Domain     Domain            `json:"domain,omitempty"`
	TargetTask string            `json:"target_task,omitempty"`
	Profile    *profiler.Request `json:"profile,omitempty"`
	Pairs      *pairs.Request    `json:"pairs,omitempty"`
	Calibrate  *CalibrateSpec    `json:"calibrate,omitempty"`
	Transfer   *TransferSpec     `json:"lend,omitempty"`
	Traffic    *replay.Request   `json:"traffic,omitempty"`

	AllowPair bool `json:"allow_pair,omitempty"` // two kernels of a source may put pressure on one domain

	CPUs        cgroup.CPUs   `json:"cpus,omitempty"`        // of the task itself; used without a target
	Allowed     cgroup.CPUs   `json:"allowed,omitempty"`     // of the driver
	MaxDuration time.Duration `json:"max_duration"`          // of a transfer 0 is without end
	KillSwitch  string        `json:"kill_switch,omitempty"` // the child ends when this file exists
	Storage     StorageSpec   `json:"storage"`
	// Peers are the networks that kernels may send to; a sink of their own is none.
	Peers           []netip.Prefix `json:"peers,omitempty"`
	MaxBytes        int64          `json:"max_bytes,omitempty"` // memory a kernel may take
	CalibrationFile string         `json:"calibration_file,omitempty"`
	Seed            uint64         `json:"seed"`
}

// StorageSpec bounds the storage kernels of a task.
type StorageSpec struct {
	Root string `json:"root"` // no link below it leads out of it
	Dir  string `json:"dir"`  // that kernels keep to, at or below Root
	// MaxBytes of disk are what the kernels of the task take together; 0 is no bound.
	MaxBytes     int64   `json:"max_bytes,omitempty"`
	ReserveBytes int64   `json:"reserve_bytes,omitempty"` // are left free on the disk
	UsedPercent  float64 `json:"used_percent,omitempty"`  // of the disk is the most that it is filled to; 0 is no bound
}

// KernelSpec is one kernel of a task.
type KernelSpec struct {
	Source           interference.Source `json:"source"`
	IntensityPercent float64             `json:"intensity_percent"`
	Ramp             *Ramp               `json:"ramp,omitempty"`
	Path             string              `json:"path,omitempty"` // storage: directory
	Peer             string              `json:"peer,omitempty"` // network: host:port
	Variant          string              `json:"variant,omitempty"`
	MaxBytes         int64               `json:"max_bytes,omitempty"` // memory, or disk space, it may take; 0 is what the task may
	Duration         time.Duration       `json:"duration,omitempty"`  // the kernel ends after it; 0 is with the task
}

// Storage reports whether the kernel puts pressure on a disk.
func (k KernelSpec) Storage() bool {
	return k.Source == interference.StorageBandwidth || k.Source == interference.StorageCapacity
}

// Ramp walks the intensity from From to To in steps, and stays at To.
type Ramp struct {
	FromPercent float64       `json:"from_percent"`
	ToPercent   float64       `json:"to_percent"`
	StepPercent float64       `json:"step_percent"` // positive; the direction follows from From and To
	Dwell       time.Duration `json:"dwell"`        // at each level
}

// A ramp has no finer steps than a tenth of a percent, which bounds its levels. A step so
// small that adding it to a level changes nothing would be one without end.
const (
	leastStepPercent = 0.1
	MaxRampLevels    = 1001
)

// Check says what is wrong with a ramp.
func (r Ramp) Check() error {
	for name, percent := range map[string]float64{"from": r.FromPercent, "to": r.ToPercent} {
		if !(percent >= 0 && percent <= 100) {
			return fmt.Errorf("%s: %v is outside 0 to 100 percent", name, percent)
		}
	}
	if !(r.StepPercent >= leastStepPercent) {
		return fmt.Errorf("step: %v is not a step from 0.1 to 100 percent", r.StepPercent)
	}
	if r.Dwell <= 0 {
		return errors.New("dwell: a ramp needs a time at each level")
	}
	return nil
}

// Levels lists the ramp's levels, both ends included.
func (r Ramp) Levels() []float64 {
	step := r.StepPercent
	if r.ToPercent < r.FromPercent {
		step = -step
	}
	var out []float64
	for x := r.FromPercent; (r.ToPercent-x)*step > 0; x += step {
		out = append(out, x)
	}
	return append(out, r.ToPercent)
}

// WriteSpec leaves the spec in a runtime directory for the child.
func WriteSpec(dir string, s Spec) error {
	s.Format = SpecFormat
	if err := writeJSON(filepath.Join(dir, SpecFile), s); err != nil {
		return fmt.Errorf("task spec: %w", err)
	}
	return nil
}

func readSpec(dir string) (Spec, error) {
	data, err := os.ReadFile(filepath.Join(dir, SpecFile))
	if err != nil {
		return Spec{}, fmt.Errorf("task spec: %w", err)
	}
	var s Spec
	if err := json.Unmarshal(data, &s); err != nil {
		return Spec{}, fmt.Errorf("task spec: %w", err)
	}
	if s.Format != SpecFormat {
		return Spec{}, fmt.Errorf("task spec: format %d, this release reads %d", s.Format, SpecFormat)
	}
	return s, nil
}
