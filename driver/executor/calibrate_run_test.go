package executor

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/driver/ibench"
	"github.com/nomad-placer/nomad-placer/profiler"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

func calibrateRunOf(t *testing.T, answer error) *calibrateRun {
	t.Helper()
	folder := t.TempDir()
	r := &room{
		spec:    Spec{Name: "x", Allowed: []int{0, 1}, MaxBytes: 7, Calibrate: &CalibrateSpec{File: filepath.Join(folder, "new", "c.json"), Path: "/disk", Sources: []interference.Source{interference.Integer}, Budget: time.Second}},
		machine: ibench.Machine{CPUModel: "m"}, now: time.Now, journal: newJournal(io.Discard, time.Now),
	}
	s := &profileRun{journal: r.journal, room: r, out: t.TempDir()}
	return &calibrateRun{s, func(ctx context.Context, spec ibench.CalibrateSpec, progress func(ibench.CalibrationProgress)) (ibench.Calibration, error) {
		if len(spec.CPUs) != 2 || spec.Path != "/disk" || spec.Budget != time.Second || spec.MaxBytes != 7 || len(spec.Sources) != 1 {
			t.Errorf("asked for %+v", spec)
		}
		progress(ibench.CalibrationProgress{Source: interference.Integer, Total: 1})
		return ibench.Calibration{
			Format: ibench.CalibrationFormat, Key: ibench.KeyOf(spec.Machine, spec.CPUs), At: time.Unix(1, 0),
			Sources: []ibench.SourceCalibration{{Source: interference.Integer, Status: ibench.StatusSupported, Unit: "operations", PeakOpsPerSec: 5, MaxGapPercent: 2}},
		}, errors.Join(ctx.Err(), answer)
	}}
}

// What the driver keeps is whole, and what others are told of it has a receipt.
func TestCalibrateRun(t *testing.T) {
	t.Parallel()
	c := calibrateRunOf(t, nil)
	if exit := exitOf(c.runCalibrate(t.Context())); exit.Code != CodeComplete {
		t.Fatal(exit)
	}
	kept, err := ibench.LoadCalibration(c.room.spec.Calibrate.File, ibench.KeyOf(c.room.machine, c.room.spec.Allowed))
	if err != nil || kept.Sources[0].PeakOpsPerSec != 5 {
		t.Errorf("kept %+v, %v", kept, err)
	}
	data, err := os.ReadFile(filepath.Join(c.out, profiler.CalibratedFile))
	if err != nil {
		t.Fatal(err)
	}
	var told profiler.Calibrated
	if err := json.Unmarshal(data, &told); err != nil || told.Check() != nil || told.ID != kept.Key.ID() || told.Kernels[0].MaxGapPercent != 2 {
		t.Errorf("told %+v, %v", told, err)
	}
	receipt := receiptLeft(t, c.out)
	if build, err := Build(); err != nil || receipt.Build != build || receipt.Check(data) != nil {
		t.Errorf("receipt %+v, %v", receipt, err)
	}
	if err := receipt.Check(data[:len(data)-1]); !errors.Is(err, profiler.ErrTorn) {
		t.Errorf("of a torn result: %v", err)
	}
}

// What did not come to its end leaves what was known of the node as it was.
func TestCalibrateRunThatFails(t *testing.T) {
	t.Parallel()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx context.Context
		run *calibrateRun
	}{
		"stopped": {ended, calibrateRunOf(t, nil)},
		"failed":  {t.Context(), calibrateRunOf(t, errors.New("no"))},
	} {
		if exit := exitOf(c.run.runCalibrate(c.ctx)); exit.Code != CodeFailed {
			t.Errorf("%s: %v", name, exit)
		}
		for _, path := range []string{c.run.room.spec.Calibrate.File, filepath.Join(c.run.out, profiler.ReceiptFile)} {
			if _, err := os.Stat(path); err == nil {
				t.Errorf("%s: %s is left", name, filepath.Base(path))
			}
		}
	}
}

func receiptLeft(t *testing.T, dir string) profiler.Receipt {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, profiler.ReceiptFile))
	if err != nil {
		t.Fatal(err)
	}
	var out profiler.Receipt
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}
