package driver

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nomad-placer/nomad-placer/driver/cgroup"
	"github.com/nomad-placer/nomad-placer/driver/ibench"
	"github.com/nomad-placer/nomad-placer/driver/protocol"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

func TestStateRoundTrip(t *testing.T) {
	t.Parallel()
	in := taskState{Dir: "/run/x", Name: "x", PID: 7, StartTicks: 9, BootID: "b", StartedAt: time.Unix(5, 0).UTC()}
	data, err := in.encode()
	if err != nil {
		t.Fatal(err)
	}
	out, err := decodeState(stateVersion, data)
	if err != nil || !reflect.DeepEqual(in, out) {
		t.Errorf("%+v, %v; want %+v", out, err, in)
	}
	if _, err := decodeState(stateVersion+1, data); err == nil || !strings.Contains(err.Error(), "version 2") {
		t.Errorf("a newer state was taken: %v", err)
	}
	if _, err := decodeState(stateVersion, []byte("{")); err == nil {
		t.Error("a damaged state was taken")
	}
}

func fakeNode() node {
	return node{machine: ibench.Machine{Virtual: true}, allowed: cgroup.CPUs{0, 1}, tree: &cgroup.Tree{}, root: true, build: "b0"}
}

func TestFingerprint(t *testing.T) {
	t.Parallel()
	killSwitch := filepath.Join(t.TempDir(), "stop")
	if err := os.WriteFile(killSwitch, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	ok := pluginConfig{Enabled: true}
	for _, c := range []struct {
		name   string
		change func(*node, *pluginConfig)
		health protocol.FingerprintResponse_HealthState
		reason string
	}{
		{"healthy", func(*node, *pluginConfig) {}, protocol.FingerprintResponse_HEALTHY, "Healthy"},
		{"disabled", func(_ *node, c *pluginConfig) { c.Enabled = false }, protocol.FingerprintResponse_UNDETECTED, "disabled"},
		{"not root", func(n *node, _ *pluginConfig) { n.root = false }, protocol.FingerprintResponse_UNHEALTHY, "root"},
		{"no cgroups", func(n *node, _ *pluginConfig) { n.tree = nil }, protocol.FingerprintResponse_UNHEALTHY, "cgroup"},
		{"no CPUs", func(n *node, _ *pluginConfig) { n.allowed = nil }, protocol.FingerprintResponse_UNHEALTHY, "CPU"},
		{"kill switch", func(_ *node, c *pluginConfig) { c.KillSwitch = killSwitch }, protocol.FingerprintResponse_UNHEALTHY, killSwitch},
	} {
		n, config := fakeNode(), ok
		c.change(&n, &config)
		got := fingerprint(n, config, nil)
		if got.GetHealth() != c.health || !strings.Contains(got.GetHealthDescription(), c.reason) {
			t.Errorf("%s: %v %q", c.name, got.GetHealth(), got.GetHealthDescription())
		}
	}
}

func TestFingerprintAttributes(t *testing.T) {
	t.Parallel()
	config := pluginConfig{Enabled: true, Sources: []interference.Source{interference.Integer}}
	calibration := &ibench.Calibration{Sources: []ibench.SourceCalibration{
		{Source: interference.Integer, Status: ibench.StatusNonlinear, Unit: "operations", PeakOpsPerSec: 2e9},
		{Source: interference.MemoryBandwidth, Status: ibench.StatusSupported, Unit: "bytes", PeakOpsPerSec: 1e10},
	}}
	n := fakeNode()
	n.noCount = errors.New("no such counter")
	got := fingerprint(n, config, calibration).GetAttributes()
	for name, want := range map[string]string{
		"version":                   PluginVersion,
		"build":                     "b0",
		"allow":                     "none",
		"cpus":                      "0-1",
		"soi.int":                   "nonlinear",
		"soi.int.peak":              "2e+09 operations/s",
		"soi.mem_bw":                "unsupported",
		"soi.mem_bw.reason":         "not among the sources the operator allows",
		"calibration.id":            calibration.Key.ID(),
		"probe.instructions":        "unsupported",
		"probe.instructions.reason": "no such counter",
	} {
		if v := got["driver.ibench."+name].GetStringVal(); v != want {
			t.Errorf("%s = %q, want %q", name, v, want)
		}
	}
	if _, ok := got["driver.ibench.soi.mem_bw.peak"]; ok {
		t.Error("a source that is not allowed still shows a peak")
	}
	if !got["driver.ibench.virtual"].GetBoolVal() {
		t.Error("the flag of a virtual machine is missing")
	}
	if v := fingerprint(fakeNode(), config, nil).GetAttributes()["driver.ibench.probe.instructions"].GetStringVal(); v != "supported" {
		t.Errorf("where instructions can be counted the node says %q", v)
	}
	for cpus, want := range map[string]string{"0": "unsupported", "0-1": "supported"} {
		n := fakeNode()
		n.allowed, _ = cgroup.ParseCPUs(cpus)
		n.machine.CPUs = []ibench.CPU{{ID: 0}, {ID: 1}}
		if v := fingerprint(n, pluginConfig{Enabled: true}, nil).GetAttributes()["driver.ibench.soi.interconnect"].GetStringVal(); v != want {
			t.Errorf("on CPUs %s the interconnect is %q, want %q", cpus, v, want)
		}
	}
	// Without a calibration the support is known, the peaks are not.
	for name := range fingerprint(fakeNode(), pluginConfig{Enabled: true}, nil).GetAttributes() {
		if strings.HasSuffix(name, ".peak") {
			t.Errorf("%s without a calibration", name)
		}
	}
}

func TestThrottle(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var sent []string
		tr := &throttle{send: func(_ time.Time, message string) { sent = append(sent, message) }}
		offer := func(messages ...string) {
			for _, message := range messages {
				tr.offer(time.Now(), message)
			}
		}
		offer("1", "2", "3", "4", "5", "6")
		time.Sleep(eventPeriod + time.Millisecond)
		synctest.Wait()
		offer("7", "8")
		tr.close()
		if got := strings.Join(sent, ", "); got != "1, 2, 3, 4, 5; 6, 7; 8" {
			t.Errorf("passed on %q, want a burst, those of the period in one, and what was held at the end", got)
		}
		sent = nil
		tr = &throttle{send: tr.send, said: eventBurst}
		offer("1", "2", "3", "4", "5", "6", "7", "8")
		tr.close()
		if got := strings.Join(sent, ", "); got != "(2 earlier ones) 3; 4; 5; 6; 7; 8" {
			t.Errorf("passed on %q, want the newest", got)
		}
		sent = nil
		tr = &throttle{send: tr.send}
		offer("1", "2")
		time.Sleep(10 * eventPeriod)
		synctest.Wait()
		if tr.timer != nil {
			t.Error("the timer runs for ever")
		}
		offer("3", "4", "5", "6")
		if got := strings.Join(sent, " "); got != "1 2 3 4 5 6" {
			t.Errorf("passed on %q, want all: there was time for another burst", got)
		}
		tr.close()
	})
}

func TestSampler(t *testing.T) {
	t.Parallel()
	s := sampler{mhzPerCore: 2000}
	first := s.sample("id", nil, time.Unix(1, 0))
	if f := first.GetAggResourceUsage(); len(f.GetCpu().GetMeasuredFields()) != 0 || len(f.GetMemory().GetMeasuredFields()) != 0 {
		t.Errorf("figures without a control group: %v", f)
	}
}

func TestNameOf(t *testing.T) {
	t.Parallel()
	a, b := nameOf("alloc/web/1"), nameOf("alloc/web/2")
	if a == b || len(a) != 16 || strings.ContainsAny(a, "/.") {
		t.Errorf("names %q, %q", a, b)
	}
}
