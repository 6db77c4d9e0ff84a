package ibench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

var testKey = MachineKey{CPUModel: "cpu", KernelRelease: "6.1", CPUs: "0-1"}

func testCalibration() Calibration {
	return Calibration{
		Format: CalibrationFormat, Key: testKey, At: time.Unix(1700000000, 0).UTC(),
		Sources: []SourceCalibration{
			{
				Source: interference.MemoryBandwidth, Status: StatusSupported, Unit: "bytes", PeakOpsPerSec: 3e10, Threads: 4,
				Peaks: []ThreadPeak{{1, 1, 1.6e10}, {2, 1, 1.7e10}, {2, 2, 2.8e10}, {4, 4, 3e10}},
				Curve: FitCurve([]float64{0, 50, 100}, []float64{0, 40, 100}),
			},
			{Source: interference.LLCCapacity, Status: StatusNonlinear, Reason: "by 7 points", Unit: "lines", CapacityBytes: 1 << 20},
			{Source: interference.TLB, Status: StatusUnsupported, Reason: ErrNoKernel.Error()},
		},
	}
}

func TestCalibrationFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "calibration.json")
	want := testCalibration()
	if err := want.Save(path); err != nil {
		t.Fatal(err)
	}
	got, err := LoadCalibration(path, testKey)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	files, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(files) != 1 {
		t.Errorf("left behind: %v, %v", files, err)
	}
	other := testKey
	other.KernelRelease = "6.2"
	if _, err := LoadCalibration(path, other); !errors.Is(err, ErrOtherMachine) {
		t.Errorf("another kernel release: %v", err)
	}
	if testKey.ID() == other.ID() {
		t.Error("two machines share an id")
	}
}

func TestCalibrationFileDamaged(t *testing.T) {
	t.Parallel()
	change := func(f func(*Calibration)) []byte {
		c := testCalibration()
		f(&c)
		data, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	for name, c := range map[string]struct {
		data []byte
		want error
	}{
		"empty":          {nil, ErrBadCalibration},
		"half":           {change(func(*Calibration) {})[:50], ErrBadCalibration},
		"another file":   {[]byte(`{"name":"x"}`), ErrBadCalibration},
		"newer":          {change(func(c *Calibration) { c.Format++ }), ErrNewerCalibration},
		"unknown source": {change(func(c *Calibration) { c.Sources[0].Source = "gpu" }), ErrBadCalibration},
		"unknown status": {change(func(c *Calibration) { c.Sources[0].Status = "fine" }), ErrBadCalibration},
		"negative peak":  {change(func(c *Calibration) { c.Sources[0].PeakOpsPerSec = -1 }), ErrBadCalibration},
		"peak of none":   {change(func(c *Calibration) { c.Sources[0].Peaks[0].Threads = 0 }), ErrBadCalibration},
		"falling curve":  {change(func(c *Calibration) { c.Sources[0].Curve.ImpactPercent = []float64{0, 60, 50} }), ErrBadCalibration},
		"lame curve":     {change(func(c *Calibration) { c.Sources[0].Curve.ImpactPercent = nil }), ErrBadCalibration},
		"knob too high":  {change(func(c *Calibration) { c.Sources[0].Curve.KnobPercent[2] = 101 }), ErrBadCalibration},
	} {
		path := filepath.Join(t.TempDir(), "calibration.json")
		if err := os.WriteFile(path, c.data, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadCalibration(path, testKey); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	if _, err := LoadCalibration(filepath.Join(t.TempDir(), "none"), testKey); !errors.Is(err, ErrNoCalibration) {
		t.Errorf("no file: %v", err)
	}
}

func TestAttributes(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"calibration.id": testKey.ID(),
		"soi.mem_bw":     "supported", "soi.mem_bw.peak": "3e+10 bytes/s",
		"soi.llc_cap": "nonlinear", "soi.llc_cap.reason": "by 7 points", "soi.llc_cap.capacity_bytes": "1048576",
		"soi.tlb": "unsupported", "soi.tlb.reason": "no kernel in this release",
	}
	if got := testCalibration().Attributes(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestPeakPerThread(t *testing.T) {
	t.Parallel()
	sc := testCalibration().Sources[0]
	for _, c := range []struct {
		threads, cpus int
		want          float64
	}{
		{1, 1, 1.6e10}, {1, 2, 1.7e10}, {2, 1, 1.5e10}, {2, 2, 1.4e10}, {3, 2, 1e10}, {2, 4, 1.4e10}, {4, 4, 7.5e9}, {8, 8, 3.75e9},
	} {
		if got, ok := sc.peakPerThread(c.threads, c.cpus); !ok || got != c.want {
			t.Errorf("%d threads on %d CPUs: %v, %v; want %v", c.threads, c.cpus, got, ok, c.want)
		}
	}
	sc.scalePeak(4, 4, 0.5)
	if got, _ := sc.peakPerThread(4, 4); got != 1.5e10/4 || sc.PeakOpsPerSec != 2.8e10 {
		t.Errorf("halved, the peak of four threads is %v each, and the peak of all %v", got, sc.PeakOpsPerSec)
	}
	if _, ok := (SourceCalibration{}).peakPerThread(1, 1); ok {
		t.Error("a peak out of nothing")
	}
}

func thisMachine(t *testing.T) (Machine, []int) {
	t.Helper()
	m, err := ReadMachine("/")
	if err != nil {
		t.Fatal(err)
	}
	cpus, err := AllowedCPUs()
	if err != nil {
		t.Fatal(err)
	}
	return m, cpus
}

// ensureCalibration returns the calibration in the file at path if it belongs
// to the machine, and otherwise calibrates and saves it there. warn hears why
// a file that exists was not used.
func ensureCalibration(ctx context.Context, path string, spec CalibrateSpec, progress func(CalibrationProgress), warn func(error)) (Calibration, error) {
	if err := spec.fillCPUs(); err != nil {
		return Calibration{}, err
	}
	c, err := LoadCalibration(path, KeyOf(spec.Machine, spec.CPUs))
	if err == nil {
		return c, nil
	}
	if !errors.Is(err, ErrNoCalibration) {
		warn(fmt.Errorf("calibrating again: %w", err))
	}
	if c, err = Calibrate(ctx, spec, progress); err != nil {
		return Calibration{}, err
	}
	return c, c.Save(path)
}

// One calibration end to end, through the child process and a damaged cache:
// plausible numbers, no judgement of a busy machine.
func TestEnsureCalibrationReplacesADamagedFile(t *testing.T) {
	t.Parallel()
	m, cpus := thisMachine(t)
	path := filepath.Join(t.TempDir(), "calibration.json")
	if err := os.WriteFile(path, []byte("{broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	spec := CalibrateSpec{
		Machine: m, Sources: []interference.Source{interference.Integer, interference.StorageBandwidth, interference.TLB},
		Seed: 1, MaxBytes: testBytes, Budget: time.Second,
	}
	var warned error
	steps := 0
	c, err := ensureCalibration(t.Context(), path, spec, func(CalibrationProgress) { steps++ }, func(err error) { warned = err })
	if err != nil {
		t.Fatal(err)
	}
	if !errors.Is(warned, ErrBadCalibration) || steps != 3 {
		t.Errorf("warned of %v, %d steps", warned, steps)
	}
	integer, storage, tlb := c.Sources[0], c.Sources[1], c.Sources[2]
	if integer.Status == StatusUnsupported || !(integer.PeakOpsPerSec > 0) || integer.Threads != len(cpus) {
		t.Errorf("int: %+v", integer)
	}
	if storage.Status != StatusUnsupported || storage.Reason == "" {
		t.Errorf("storage without a path: %+v", storage)
	}
	if tlb.Status == StatusUnsupported || !(tlb.CapacityBytes > 0) || !(tlb.ReachPercent >= 0) {
		t.Errorf("tlb: %+v", tlb)
	}
	again, err := ensureCalibration(t.Context(), path, spec, nil, func(err error) { t.Error(err) })
	if err != nil || !again.At.Equal(c.At) {
		t.Errorf("the cache is not used: %v, %v", again.At, err)
	}
	p := start(t, func() Spec {
		s := testSpec(t, interference.Integer)
		s.CalibrationFile, s.IntensityPercent = path, 50
		return s
	}())
	r, err := p.Report(t.Context())
	// Not integer.PeakOpsPerSec: on a shared host fewer threads may have reached more.
	each, ok := integer.peakPerThread(r.Threads, len(cpus))
	if err != nil || !ok || r.PeakOpsPerSec != each*float64(r.Threads) {
		t.Errorf("a kernel with a calibration: %+v, %v; each of its threads: %v, %v", r, err, each, ok)
	}
}

// A repair measures what is not linear, and nothing else; the rest is kept.
func TestRepairCalibration(t *testing.T) {
	t.Parallel()
	m, cpus := thisMachine(t)
	path := filepath.Join(t.TempDir(), "calibration.json")
	spec := CalibrateSpec{Machine: m, Seed: 1, MaxBytes: testBytes}
	if _, err := RepairCalibration(t.Context(), path, spec, nil); !errors.Is(err, ErrNoCalibration) {
		t.Errorf("without a file: %v", err)
	}
	kept := testCalibration()
	kept.Key = KeyOf(m, cpus)
	kept.Sources = append(kept.Sources[:1], uncalibrated(interference.Integer))
	if err := kept.Save(path); err != nil {
		t.Fatal(err)
	}
	var measured []interference.Source
	c, err := RepairCalibration(t.Context(), path, spec, func(p CalibrationProgress) { measured = append(measured, p.Source) })
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(measured, []interference.Source{interference.Integer}) || !reflect.DeepEqual(c.Sources[0], kept.Sources[0]) {
		t.Errorf("measured %v, kept %+v", measured, c.Sources[0])
	}
	if repaired := c.Sources[1]; !(repaired.PeakOpsPerSec > 0) {
		t.Errorf("int after the repair: %+v", repaired)
	}
}

func TestBetterCalibration(t *testing.T) {
	t.Parallel()
	measured := func(status Status, gap float64) SourceCalibration {
		return SourceCalibration{Status: status, MaxGapPercent: gap, PeakOpsPerSec: 1}
	}
	never := uncalibrated(interference.Integer)
	for i, c := range []struct {
		again, before SourceCalibration
		better        bool
	}{
		{measured(StatusSupported, 4), measured(StatusNonlinear, 9), true},
		{measured(StatusNonlinear, 7), measured(StatusNonlinear, 9), true},
		{measured(StatusNonlinear, 9), measured(StatusNonlinear, 7), false},
		{measured(StatusNonlinear, 9), never, true},
		{never, measured(StatusNonlinear, 9), false},
		{SourceCalibration{Status: StatusUnsupported}, measured(StatusNonlinear, 9), false},
	} {
		if better := c.again.betterThan(c.before); better != c.better {
			t.Errorf("case %d: better %v", i, better)
		}
	}
}
