package validate

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/driver/ibench"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

func TestUsage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"-h"}, exitOK, "apt-get install fio iperf3 stress-ng"},
		{[]string{"-sources", "nothing"}, exitUsage, "unknown source"},
		{[]string{"extra"}, exitUsage, "unexpected argument"},
		{[]string{"-no-such-flag"}, exitUsage, "flag provided but not defined"},
	} {
		var stdout, stderr bytes.Buffer
		if code := Main(c.args, &stdout, &stderr); code != c.code || !strings.Contains(stderr.String(), c.says) {
			t.Errorf("%v: exit %d, %s", c.args, code, stderr.String())
		}
	}
}

// TestQuick validates two sources on the running machine, with a calibration
// made up so that it need not be measured. What it measures is not looked at:
// the machine that runs tests does other things as well.
func TestQuick(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o, err := parse([]string{"-quick", "-sources", "int,fp", "-dir", dir, "-report", filepath.Join(dir, "out.html"), "-markdown", filepath.Join(dir, "out.md"), "-json"}, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	saveCalibration(t, dir, o.sources)
	var stdout, stderr bytes.Buffer
	if err := run(t.Context(), o, &stdout, &stderr); err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	var r Report
	if err := json.Unmarshal(stdout.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Linearity)+len(r.Failures) < 2 || len(r.Sources) != 2 {
		t.Errorf("measured %+v", r)
	}
	for _, f := range r.Failures {
		t.Log(f)
	}
	for _, name := range []string{"out.html", "out.md"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	// The second run measures nothing, except what failed.
	stdout.Reset()
	stderr.Reset()
	if err := run(t.Context(), o, &stdout, &stderr); err != nil || !strings.Contains(stderr.String(), "are measured already") {
		t.Errorf("%v, %s", err, stderr.String())
	}
}

func TestBusyNote(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "loadavg")
	for text, noted := range map[string]bool{"0.49 0.95 1.39 1/2 3\n": false, "8.36 4.21 2.35 1/2 3\n": true, "": false} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if note := busyNote(path, 2); (note != "") != noted {
			t.Errorf("%q: %q", text, note)
		}
	}
	if note := busyNote(path+".none", 2); note != "" {
		t.Errorf("no file: %q", note)
	}
}

func saveCalibration(t *testing.T, dir string, sources []interference.Source) {
	t.Helper()
	m, err := ibench.ReadMachine("/")
	if err != nil {
		t.Fatal(err)
	}
	cpus, err := ibench.AllowedCPUs()
	if err != nil {
		t.Fatal(err)
	}
	c := ibench.Calibration{Format: ibench.CalibrationFormat, Key: ibench.KeyOf(m, cpus), At: time.Now()}
	for _, s := range sources {
		status := ibench.StatusSupported
		if ibench.Supported(m, s) != nil {
			status = ibench.StatusUnsupported
		}
		c.Sources = append(c.Sources, ibench.SourceCalibration{Source: s, Status: status})
	}
	if err := c.Save(filepath.Join(dir, calibrationFile)); err != nil {
		t.Fatal(err)
	}
}
