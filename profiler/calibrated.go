package profiler

import (
	"fmt"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// CalibratedFile is what a calibration that a task asked for leaves in ResultDir. The driver of the
// node keeps the whole of it.
const CalibratedFile = "calibrated.json"

// Calibrated is what a calibration says of a machine.
type Calibrated struct {
	Format  int                `json:"format"` // RequestFormat
	ID      string             `json:"id"`     // the same on equal machines
	Taken   time.Time          `json:"taken"`
	Kernels []CalibratedKernel `json:"kernels"`
}

// CalibratedKernel is what it says of one kernel.
type CalibratedKernel struct {
	Source        interference.Source `json:"source"`
	Status        string              `json:"status"` // supported, nonlinear or unsupported
	Reason        string              `json:"reason,omitempty"`
	PeakOpsPerSec float64             `json:"peak_ops_per_sec,omitempty"` // of all threads together; 0: not measured
	Unit          string              `json:"unit,omitempty"`             // of an operation
	MaxGapPercent float64             `json:"max_gap_percent"`            // points between an intensity and its effect, at most
}

// mostOpsPerSec is far more than any machine does.
const mostOpsPerSec = 1e18

// Check refuses what no calibration can have measured.
func (c Calibrated) Check() error {
	if c.Format != RequestFormat {
		return fmt.Errorf("has format %d, this release reads %d: run nomad-placer and nomad-driver-ibench of one release", c.Format, RequestFormat)
	}
	if c.ID == "" || len(c.Kernels) == 0 {
		return fmt.Errorf("has %d kernels and the ID %q", len(c.Kernels), c.ID)
	}
	for _, k := range c.Kernels {
		if _, err := interference.ParseSource(string(k.Source)); err != nil {
			return err
		}
		if !(k.PeakOpsPerSec >= 0 && k.PeakOpsPerSec <= mostOpsPerSec) {
			return fmt.Errorf("%s does %g operations per second", k.Source, k.PeakOpsPerSec)
		}
	}
	return nil
}
