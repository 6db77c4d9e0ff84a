package profiler

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

func TestCalibratedCheck(t *testing.T) {
	t.Parallel()
	good := func() Calibrated {
		return Calibrated{Format: RequestFormat, ID: "a", Kernels: []CalibratedKernel{{Source: interference.Integer, PeakOpsPerSec: 1}}}
	}
	if err := good().Check(); err != nil {
		t.Error(err)
	}
	for name, c := range map[string]struct {
		change func(*Calibrated)
		want   string
	}{
		"another release": {func(c *Calibrated) { c.Format = 1 }, "one release"},
		"of nothing":      {func(c *Calibrated) { c.Kernels = nil }, "0 kernels"},
		"of no machine":   {func(c *Calibrated) { c.ID = "" }, `ID ""`},
		"unknown source":  {func(c *Calibrated) { c.Kernels[0].Source = "gpu" }, "gpu"},
		"no number":       {func(c *Calibrated) { c.Kernels[0].PeakOpsPerSec = math.NaN() }, "NaN"},
	} {
		bad := good()
		c.change(&bad)
		if err := bad.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReceipt(t *testing.T) {
	t.Parallel()
	r := NewReceipt("b", []byte("result"))
	if err := r.Check([]byte("result")); err != nil {
		t.Error(err)
	}
	if err := r.Check([]byte("resul")); !errors.Is(err, ErrTorn) {
		t.Errorf("half of it: %v", err)
	}
	if r.Format = 1; r.Check([]byte("result")) == nil {
		t.Error("of another release")
	}
}
