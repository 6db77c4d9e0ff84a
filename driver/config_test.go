package driver

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/nomad-placer/nomad-placer/driver/executor"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

type m = map[string]any

func pack(t *testing.T, v any) []byte {
	t.Helper()
	data, err := msgpack.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func kernel(extra m) m {
	k := m{"source": "mem_bw", "intensity": 50, "ramp": nil, "path": nil, "peer": nil}
	for name, value := range extra {
		k[name] = value
	}
	return k
}

func task(kernels ...any) m {
	return m{"kernel": kernels, "profile": nil, "domain": "auto", "target_task": nil, "max_duration": nil, "seed": 1}
}

// Nomad hands numbers over as integers, floats or, where no float holds them,
// as text.
func TestNumbers(t *testing.T) {
	t.Parallel()
	for _, v := range []any{int8(30), int16(30), int64(30), uint8(30), uint64(30), float32(30), 30.0, "30"} {
		c, err := decodeTaskConfig(pack(t, task(kernel(m{"intensity": v}))))
		if err != nil || c.Kernels[0].IntensityPercent != 30 {
			t.Errorf("%T: %v, %v", v, c, err)
		}
	}
	c, err := decodeTaskConfig(pack(t, task(kernel(m{"intensity": "0.3"}))))
	if err != nil || c.Kernels[0].IntensityPercent != 0.3 {
		t.Errorf("a decimal as text: %v, %v", c, err)
	}
}

func TestTaskConfig(t *testing.T) {
	t.Parallel()
	values := task(
		kernel(m{"source": "storage_bw", "path": "/data", "max_bytes": 1 << 20, "duration": "30s"}),
		kernel(m{"source": "net_bw", "peer": "10.0.0.1:9000", "intensity": 0}),
		kernel(m{"intensity": nil, "ramp": m{"from": 100, "to": "0.5", "step": 10, "dwell": "250ms"}}),
	)
	values["domain"], values["target_task"], values["max_duration"], values["seed"] = "beside", "redis", "90s", 7
	values["allow_pair"], values["config_version"] = true, 1
	c, err := decodeTaskConfig(pack(t, values))
	if err != nil {
		t.Fatal(err)
	}
	if k := c.Kernels[0]; k.MaxBytes != 1<<20 || k.Duration != 30*time.Second {
		t.Errorf("first kernel: %+v", k)
	}
	if !c.AllowPair {
		t.Error("allow_pair is lost")
	}
	if c.Domain != executor.DomainOther || c.TargetTask != "redis" || c.MaxDuration != 90*time.Second || c.Seed != 7 {
		t.Errorf("task: %+v", c)
	}
	if k := c.Kernels[0]; k.Source != interference.StorageBandwidth || k.Path != "/data" || k.IntensityPercent != 50 {
		t.Errorf("first kernel: %+v", k)
	}
	ramp := c.Kernels[2].Ramp
	if ramp == nil || *ramp != (executor.Ramp{FromPercent: 100, ToPercent: 0.5, StepPercent: 10, Dwell: 250 * time.Millisecond}) {
		t.Fatalf("ramp: %+v", ramp)
	}
	if levels := ramp.Levels(); len(levels) != 11 || levels[0] != 100 || levels[10] != 0.5 {
		t.Errorf("levels of a falling ramp: %v", levels)
	}
}

func TestProfileConfig(t *testing.T) {
	t.Parallel()
	values := task()
	values["profile"] = m{"request": `{"format":2,"task":"web","seconds":40,"sources":["llc_cap"]}`}
	c, err := decodeTaskConfig(pack(t, values))
	if err != nil || c.Profile == nil || c.Profile.Task != "web" || c.Profile.Seconds != 40 {
		t.Errorf("%+v, %v", c, err)
	}
}

// Each error names the attribute and, for a word, the nearest known one.
func TestBadTaskConfig(t *testing.T) {
	t.Parallel()
	with := func(name string, value any) m {
		out := task(kernel(nil))
		out[name] = value
		return out
	}
	profile := func(request string) m {
		out := task()
		out["profile"] = m{"request": request}
		return out
	}
	for _, c := range []struct {
		name string
		task m
		want []string
	}{
		{"intensity too high", task(kernel(m{"intensity": 130})), []string{"kernel[0].intensity", "130", "0 to 100"}},
		{"second kernel", task(kernel(nil), kernel(m{"intensity": -1})), []string{"kernel[1].intensity", "-1"}},
		{"intensity is no number", task(kernel(m{"intensity": "much"})), []string{"kernel[0].intensity", "much"}},
		{"intensity is NaN", task(kernel(m{"intensity": "NaN"})), []string{"kernel[0].intensity"}},
		{"unknown source", task(kernel(m{"source": "mem_bandw"})), []string{"kernel[0].source", `did you mean "mem_bw"`}},
		{"nothing near", task(kernel(m{"source": "zzzzzzzz"})), []string{"kernel[0].source", "known: "}},
		{"nothing at all", task(), []string{"at least one kernel block"}},
		{"no intensity", task(kernel(m{"intensity": nil})), []string{"kernel[0]", "intensity or a ramp"}},
		{"intensity and ramp", task(kernel(m{"ramp": m{"from": 0, "to": 1, "step": 1, "dwell": "1s"}})), []string{"kernel[0]", "not both"}},
		{"ramp without dwell", task(kernel(m{"intensity": nil, "ramp": m{"from": 0, "to": 1, "step": 1, "dwell": ""}})), []string{"kernel[0].ramp.dwell"}},
		{"ramp out of scale", task(kernel(m{"intensity": nil, "ramp": m{"from": 0, "to": 101, "step": 1, "dwell": "1s"}})), []string{"kernel[0].ramp.to", "101"}},
		{"ramp without step", task(kernel(m{"intensity": nil, "ramp": m{"from": 0, "to": 10, "step": 0, "dwell": "1s"}})), []string{"kernel[0].ramp.step"}},
		{"path of a memory kernel", task(kernel(m{"path": "/data"})), []string{"kernel[0].path", "storage"}},
		{"relative path", task(kernel(m{"source": "storage_bw", "path": "data"})), []string{"kernel[0].path", "absolute"}},
		{"peer without port", task(kernel(m{"source": "net_bw", "peer": "host"})), []string{"kernel[0].peer", "host:port"}},
		{"peer of another kernel", task(kernel(m{"peer": "a:1"})), []string{"kernel[0].peer", "net_bw"}},
		{"variant of a source without any", task(kernel(m{"source": "int", "variant": "nt"})), []string{"kernel[0].variant", "int has no variants"}},
		{"no size", task(kernel(m{"max_bytes": 0})), []string{"kernel[0].max_bytes", "not a size"}},
		{"size is no number", task(kernel(m{"max_bytes": "1 GiB"})), []string{"kernel[0].max_bytes", "1 GiB"}},
		{"kernel's duration", task(kernel(m{"duration": "-3s"})), []string{"kernel[0].duration", "positive"}},
		{"allow_pair", with("allow_pair", "yes"), []string{"allow_pair", "neither true nor false"}},
		{"newer configuration", with("config_version", 2), []string{"config_version: 2", PluginVersion, "reads version 1"}},
		{"too many kernels", task(slices.Repeat([]any{kernel(nil)}, maxKernels+1)...), []string{"33 blocks", "32 at most"}},
		{"domain", with("domain", "besides"), []string{"domain", `did you mean "beside"`}},
		{"domain without target", with("domain", "same"), []string{"domain", "target_task"}},
		{"duration", with("max_duration", "10"), []string{"max_duration", "10"}},
		{"negative duration", with("max_duration", "-1s"), []string{"max_duration", "positive"}},
		{"seed", with("seed", 1.5), []string{"seed", "1.5"}},
		{"kernel and profile", with("profile", m{"request": `{"format":2,"task":"web","seconds":1}`}), []string{"kernel, profile", "not both"}},
		{"request is no JSON", profile(`{"format":2`), []string{"profile.request"}},
		{"request of a newer format", profile(`{"format":3,"task":"web","seconds":1}`), []string{"profile.request", "format 3", "of one release"}},
		{"request with an unknown field", profile(`{"format":2,"tsk":"web"}`), []string{"profile.request", "tsk"}},
		{"request without task", profile(`{"format":2,"seconds":1}`), []string{"profile.request", "task"}},
		{"request without a workload, with a task", profile(`{"format":2,"machine":true,"task":"web","seconds":1,"sources":["int"]}`), []string{"profile.request", "machine", "no task"}},
		{"request without a workload or sources", profile(`{"format":2,"machine":true,"seconds":1}`), []string{"profile.request", "sources"}},
		{"request without time", profile(`{"format":2,"task":"web"}`), []string{"profile.request", "seconds"}},
		{"request of an unknown source", profile(`{"format":2,"task":"web","seconds":1,"sources":["llc"]}`), []string{"profile.request", "llc"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := decodeTaskConfig(pack(t, c.task))
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
		})
	}
}

// defaults is what Nomad sends for an empty plugin configuration.
func defaults() m {
	return m{
		"enabled": true, "calibrate": false, "calibration_file": "", "kill_switch": "", "max_duration": "1h",
		"allow": nil, "signers": nil, "sources": nil, "peers": nil, "storage_dir": "", "storage_max_mb": 1024, "disk_used_percent": 80, "memory_reserve_mb": 0, "runtime_dir": "/run/nomad-driver-ibench",
	}
}

func TestPluginConfig(t *testing.T) {
	t.Parallel()
	values := defaults()
	values["sources"], values["memory_reserve_mb"] = []string{"int", "mem_bw"}, 256
	c, err := decodePluginConfig(pack(t, values))
	if err != nil {
		t.Fatal(err)
	}
	if !c.Enabled || c.MaxDuration != time.Hour || c.MemoryReserveBytes != 256<<20 {
		t.Errorf("%+v", c)
	}
	if !c.allows(interference.Integer) || c.allows(interference.LLCCapacity) {
		t.Errorf("allowed sources: %v", c.Sources)
	}
	if !slices.Equal(c.Allow, []permission{permitProfile, permitTransfer}) {
		t.Errorf("allowed where nothing is said: %v", c.Allow)
	}
	if !slices.Equal(c.Peers, loopback) {
		t.Errorf("peers where nothing is said: %v", c.Peers)
	}
	values["allow"] = []string{}
	if c, err := decodePluginConfig(pack(t, values)); err != nil || len(c.Allow) != 0 {
		t.Errorf("an empty list allows %v, %v", c.Allow, err)
	}
	for name, value := range map[string]any{
		"allow": []string{"kernel"}, "signers": []string{"ed25519:AAAA"}, "peers": []string{"10.0.0.1"}, "disk_used_percent": 101, "storage_max_mb": "much", "max_duration": "soon", "runtime_dir": "run", "sources": []string{"membw"}, "memory_reserve_mb": -1, "enabled": "yes",
		"disk_reserve_mb": "much", "metrics_address": "localhost", "config_version": 2,
	} {
		bad := defaults()
		bad[name] = value
		if _, err := decodePluginConfig(pack(t, bad)); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s = %v: error %v does not name it", name, value, err)
		}
	}
}
