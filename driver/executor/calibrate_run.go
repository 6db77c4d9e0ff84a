package executor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/nomad-placer/nomad-placer/driver/ibench"
	"github.com/nomad-placer/nomad-placer/profiler"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// CalibrateSpec says how a task calibrates the kernels of the machine.
type CalibrateSpec struct {
	File    string                `json:"file"`                  // that the driver reads
	Path    string                `json:"storage_dir,omitempty"` // on the disk to calibrate; without it storage is left out
	Sources []interference.Source `json:"sources,omitempty"`     // that tasks may use; empty is all
	Budget  time.Duration         `json:"budget,omitempty"`      // 0 is ibench's own
}

// calibrateRun is calibrate mode.
type calibrateRun struct {
	*profileRun // its progress, and its answers to commands
	calibrate   func(ctx context.Context, spec ibench.CalibrateSpec, progress func(ibench.CalibrationProgress)) (ibench.Calibration, error)
}

// runCalibrate measures the kernels on the CPUs of the driver, since that is what the driver looks
// for in the file, and keeps the result only once all are measured.
func (c *calibrateRun) runCalibrate(ctx context.Context) error {
	spec := *c.room.spec.Calibrate
	out, err := c.calibrate(ctx, ibench.CalibrateSpec{
		Machine: c.room.machine, CPUs: c.room.spec.Allowed, Sources: spec.Sources, Path: spec.Path, MaxBytes: c.room.spec.MaxBytes, Budget: spec.Budget,
	}, func(p ibench.CalibrationProgress) {
		done := float64(p.Done) / float64(p.Total)
		c.progress(profiler.Progress{Phase: profiler.PhaseRamp, Source: p.Source, Fraction: done, Message: fmt.Sprintf("kernel %d of %d", p.Done+1, p.Total)})
	})
	if ctx.Err() != nil {
		return fmt.Errorf("%w: %w", errNothing, context.Cause(ctx))
	}
	if err == nil {
		err = os.MkdirAll(filepath.Dir(spec.File), 0o755)
	}
	if err == nil {
		err = out.Save(spec.File)
	}
	if err == nil {
		err = leaveResult(c.out, profiler.CalibratedFile, calibrated(out))
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errNothing, err)
	}
	c.progress(profiler.Progress{Phase: profiler.PhaseDone, Fraction: 1, Message: "the kernels are calibrated"})
	return nil
}

// calibrated is what others are told of a calibration.
func calibrated(c ibench.Calibration) profiler.Calibrated {
	out := profiler.Calibrated{Format: profiler.RequestFormat, ID: c.Key.ID(), Taken: c.At}
	for _, s := range c.Sources {
		out.Kernels = append(out.Kernels, profiler.CalibratedKernel{
			Source: s.Source, Status: string(s.Status), Reason: s.Reason, PeakOpsPerSec: s.PeakOpsPerSec, Unit: s.Unit, MaxGapPercent: s.MaxGapPercent,
		})
	}
	return out
}

// CalibrateDuration bounds a calibration of that budget.
func CalibrateDuration(budget time.Duration) time.Duration {
	return ibench.CalibrateBound(budget) + profileGrace
}
