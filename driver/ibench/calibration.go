package ibench

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// CalibrationFormat is the version of the calibration file.
const CalibrationFormat = 1

// Status says what a kernel is worth on a machine.
type Status string

// The statuses, as they appear in node attributes.
const (
	StatusSupported   Status = "supported"
	StatusNonlinear   Status = "nonlinear"   // pressure misses the intensity by more than 5 points somewhere
	StatusUnsupported Status = "unsupported" // Reason says why
)

// MachineKey is what a calibration depends on.
type MachineKey struct {
	CPUModel      string `json:"cpu_model"`
	Microcode     string `json:"microcode,omitempty"`
	KernelRelease string `json:"kernel_release"`
	Virtual       bool   `json:"virtual"`
	CPUs          string `json:"cpus"` // the CPUs calibrated on, as a list
}

// KeyOf returns the key of a machine calibrated on those CPUs.
func KeyOf(m Machine, cpus []int) MachineKey {
	return MachineKey{
		CPUModel: m.CPUModel, Microcode: m.Microcode, KernelRelease: m.KernelRelease,
		Virtual: m.Virtual, CPUs: FormatCPUList(cpus),
	}
}

// ID is a short name of the key, the same on equal machines.
func (k MachineKey) ID() string {
	h := fnv.New64a()
	fmt.Fprintf(h, "%q %q %q %v %q", k.CPUModel, k.Microcode, k.KernelRelease, k.Virtual, k.CPUs)
	return strconv.FormatUint(h.Sum64(), 16)
}

// fits returns nil where the key is of the machine, whatever the CPUs: a
// kernel may run on a part of those calibrated.
func (k MachineKey) fits(m Machine) error {
	other := KeyOf(m, nil)
	other.CPUs = k.CPUs
	if k != other {
		return fmt.Errorf("made for %+v, this is %+v: %w", k, other, ErrOtherMachine)
	}
	return nil
}

// Calibration is what was measured of the kernels on one machine.
type Calibration struct {
	Format  int                 `json:"format"`
	Key     MachineKey          `json:"key"`
	At      time.Time           `json:"at"`
	Sources []SourceCalibration `json:"sources"` // every source of the paper, in its order
}

// SourceCalibration is the calibration of one kernel. Numbers that were not
// measured are 0 and left out of the file.
type SourceCalibration struct {
	Source interference.Source `json:"source"`
	Status Status              `json:"status"`
	Reason string              `json:"reason,omitempty"`
	Unit   string              `json:"unit,omitempty"`
	// PeakOpsPerSec is the most all threads together reached.
	PeakOpsPerSec float64 `json:"peak_ops_per_sec,omitempty"`
	Threads       int     `json:"threads,omitempty"` // that reached it
	// Peaks are the peaks by number of CPUs and threads.
	Peaks []ThreadPeak `json:"peaks,omitempty"`
	// CapacityBytes is the capacity a footprint kernel fills at intensity 100:
	// the smaller of the size reported and the knee measured.
	CapacityBytes int64 `json:"capacity_bytes,omitempty"`
	KneeBytes     int64 `json:"knee_bytes,omitempty"`
	// Curve maps the knob to the impact measured; its inverse maps an
	// intensity to the knob.
	Curve         Curve   `json:"curve"`
	MaxGapPercent float64 `json:"max_gap_percent"` // points between intensity and impact in the second sweep
	// RSquared is how well the line impact = intensity explains the second
	// sweep; 0 where there was none.
	RSquared float64 `json:"r_squared,omitempty"`
	// ReachPercent is the share of the capacity that the kernel displaces at
	// intensity 100, where that was measured.
	ReachPercent float64  `json:"reach_percent,omitempty"`
	Notes        []string `json:"notes,omitempty"`
}

// ThreadPeak is the most that a number of threads reached together.
type ThreadPeak struct {
	CPUs      int     `json:"cpus,omitempty"` // that they ran on; 0 is not known
	Threads   int     `json:"threads"`
	OpsPerSec float64 `json:"ops_per_sec"`
}

// peakPerThread returns the peak of one of that many threads on that many CPUs.
// Between the numbers measured, the next smaller ones are scaled up, to the
// overall peak at most. ok is false where nothing was measured that is not
// larger.
func (sc SourceCalibration) peakPerThread(threads, cpus int) (opsPerSec float64, ok bool) {
	var best ThreadPeak
	for _, p := range sc.Peaks {
		fits := p.Threads <= threads && p.CPUs <= cpus
		if fits && (p.CPUs > best.CPUs || p.CPUs == best.CPUs && p.Threads > best.Threads) {
			best = p
		}
	}
	if best.Threads == 0 {
		return 0, false
	}
	return min(best.OpsPerSec/float64(best.Threads), sc.PeakOpsPerSec/float64(threads)), true
}

// scalePeak corrects the peak of that many threads and CPUs by a factor.
func (sc *SourceCalibration) scalePeak(threads, cpus int, factor float64) {
	sc.Peaks = slices.Clone(sc.Peaks)
	sc.PeakOpsPerSec = 0
	for i := range sc.Peaks {
		p := &sc.Peaks[i]
		if p.Threads == threads && p.CPUs == cpus {
			p.OpsPerSec *= factor
		}
		sc.PeakOpsPerSec = max(sc.PeakOpsPerSec, p.OpsPerSec)
	}
}

// Source returns the calibration of one source.
func (c Calibration) Source(s interference.Source) (SourceCalibration, bool) {
	for _, sc := range c.Sources {
		if sc.Source == s {
			return sc, true
		}
	}
	return SourceCalibration{}, false
}

// Attributes returns what to publish of the calibration as node attributes,
// without a prefix: "calibration.id", "soi.<source>", "soi.<source>.reason",
// "soi.<source>.peak" with its unit, "soi.<source>.capacity_bytes".
func (c Calibration) Attributes() map[string]string {
	out := map[string]string{"calibration.id": c.Key.ID()}
	for _, sc := range c.Sources {
		name := "soi." + string(sc.Source)
		out[name] = string(sc.Status)
		if sc.Reason != "" {
			out[name+".reason"] = sc.Reason
		}
		if sc.PeakOpsPerSec > 0 {
			out[name+".peak"] = strconv.FormatFloat(sc.PeakOpsPerSec, 'g', 4, 64) + " " + sc.Unit + "/s"
		}
		if sc.CapacityBytes > 0 {
			out[name+".capacity_bytes"] = strconv.FormatInt(sc.CapacityBytes, 10)
		}
	}
	return out
}

// SupportAttributes returns "soi.<source>" and "soi.<source>.reason" from the
// machine alone, for a node that is not calibrated yet.
func SupportAttributes(m Machine) map[string]string {
	out := map[string]string{}
	for _, info := range interference.Sources() {
		name := "soi." + string(info.Source)
		out[name] = string(StatusSupported)
		if err := Supported(m, info.Source); err != nil {
			out[name] = string(StatusUnsupported)
			out[name+".reason"] = reasonOf(err, info.Source)
		}
	}
	return out
}

// reasonOf drops the source from an error that is shown next to its name.
func reasonOf(err error, s interference.Source) string {
	return strings.TrimPrefix(err.Error(), "source "+string(s)+": ")
}

// LoadCalibration reads a calibration and checks that it belongs to key. A
// file that is absent, of another machine, of a newer format or damaged is
// ErrNoCalibration, ErrOtherMachine, ErrNewerCalibration or ErrBadCalibration.
func LoadCalibration(path string, key MachineKey) (Calibration, error) {
	c, err := readCalibration(path)
	if err == nil && c.Key != key {
		err = fmt.Errorf("%s: made for %+v, this is %+v: %w", path, c.Key, key, ErrOtherMachine)
	}
	if err != nil {
		return Calibration{}, err
	}
	return c, nil
}

func readCalibration(path string) (Calibration, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Calibration{}, fmt.Errorf("%s: %w", path, ErrNoCalibration)
	}
	if err != nil {
		return Calibration{}, fmt.Errorf("read the calibration: %w", err)
	}
	var c Calibration
	if err := json.Unmarshal(data, &c); err != nil {
		return Calibration{}, fmt.Errorf("%s: %w: %w", path, ErrBadCalibration, err)
	}
	switch {
	case c.Format > CalibrationFormat:
		return Calibration{}, fmt.Errorf("%s: format %d, this release reads %d: %w", path, c.Format, CalibrationFormat, ErrNewerCalibration)
	case c.Format < 1 || len(c.Sources) == 0:
		return Calibration{}, fmt.Errorf("%s: %w: it holds no sources", path, ErrBadCalibration)
	}
	for _, sc := range c.Sources {
		if err := sc.check(); err != nil {
			return Calibration{}, fmt.Errorf("%s: source %s: %w: %w", path, sc.Source, ErrBadCalibration, err)
		}
	}
	return c, nil
}

func (sc SourceCalibration) check() error {
	if _, err := interference.ParseSource(string(sc.Source)); err != nil {
		return err
	}
	switch sc.Status {
	case StatusSupported, StatusNonlinear, StatusUnsupported:
	default:
		return fmt.Errorf("unknown status %q", sc.Status)
	}
	if sc.PeakOpsPerSec < 0 || sc.Threads < 0 || sc.CapacityBytes < 0 {
		return errors.New("a negative size or rate")
	}
	for _, p := range sc.Peaks {
		if p.Threads < 1 || p.CPUs < 0 || p.OpsPerSec <= 0 {
			return errors.New("a peak of nothing")
		}
	}
	return sc.Curve.check()
}

// Save writes the calibration to path in one step, so that a reader never
// sees half a file.
func (c Calibration) Save(path string) error {
	data, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the calibration: %w", err)
	}
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("save the calibration: %w", err)
	}
	defer func() { _ = os.Remove(file.Name()) }() // gone after the rename
	_, err = file.Write(append(data, '\n'))
	err = errors.Join(err, file.Chmod(0o644), file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("save the calibration: %w", err)
	}
	return nil
}
