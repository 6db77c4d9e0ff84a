package driver

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/nomad-placer/nomad-placer/driver/executor"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// FuzzTaskConfig: whatever a job gives a task, as JSON of its attributes, the driver
// takes it with every number in its range, or says what is wrong.
func FuzzTaskConfig(f *testing.F) {
	for _, seed := range []string{
		`{"kernel":[{"source":"mem_bw","intensity":50}],"max_duration":"90s","seed":1}`,
		`{"kernel":[{"source":"int","ramp":{"from":0,"to":100,"step":"0.1","dwell":"1s"}}]}`,
		`{"kernel":[{"source":"int","ramp":{"from":50,"to":"50.00000000000001","step":"1e-17","dwell":"1ns"}}]}`,
		`{"kernel":[{"source":"storage_bw","intensity":"1e1","path":"/../../etc","max_bytes":1e18,"duration":"1h"}],"allow_pair":true}`,
		`{"kernel":[{"source":"net_bw","intensity":0,"peer":"169.254.169.254:80"}],"domain":"beside","target_task":"x"}`,
		`{"profile":{"request":"{\"format\":1,\"task\":\"t\",\"seconds\":8,\"sources\":[\"int\"]}"}}`,
		`{"pairs":{"request":"{}"}}`,
		`{"calibrate":{"seconds":"1e300"}}`,
		`{"lend":{"allocation":"../x","task":"t","cpu_mhz":-1,"time_slice":"1ms"}}`,
		`{"kernel":{"source":7},"seed":"NaN","config_version":2}`,
		`{"kernel":[[]],"profile":[],"seed":-0.5}`,
		`null`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var values any
		if json.Unmarshal(text, &values) != nil {
			return
		}
		data, err := msgpack.Marshal(values)
		if err != nil {
			t.Fatal(err)
		}
		c, err := decodeTaskConfig(data)
		if err != nil {
			return
		}
		if c.MaxDuration < 0 || len(c.Kernels) > maxKernels {
			t.Fatalf("%+v", c)
		}
		for _, k := range c.Kernels {
			checkKernel(t, k)
		}
		if c.Profile != nil && c.Profile.Seconds <= 0 {
			t.Fatalf("%+v", c.Profile)
		}
		if c.Calibrate != nil && (c.Calibrate.Budget < 0 || c.Calibrate.Budget > calibrateLongest*time.Second) {
			t.Fatalf("%+v", c.Calibrate)
		}
		if c.Transfer != nil && (c.Transfer.RecipientMHz < 0 || c.Transfer.AllocID == "" || c.Transfer.Task == "") {
			t.Fatalf("%+v", c.Transfer)
		}
	})
}

func checkKernel(t *testing.T, k executor.KernelSpec) {
	t.Helper()
	if _, err := interference.ParseSource(string(k.Source)); err != nil {
		t.Fatal(err)
	}
	if !(k.IntensityPercent >= 0 && k.IntensityPercent <= 100) || k.MaxBytes < 0 || k.Duration < 0 {
		t.Fatalf("%+v", k)
	}
	if k.Ramp == nil {
		return
	}
	if n := len(k.Ramp.Levels()); n > executor.MaxRampLevels+1 {
		t.Fatalf("%+v has %d levels", *k.Ramp, n)
	}
}

// FuzzConfigBytes: bytes that no job makes, as a broken agent might send them.
func FuzzConfigBytes(f *testing.F) {
	f.Add([]byte("\x81\xa6kernel\x91\x82\xa6source\xa3int\xa9intensity\x32"))
	f.Add([]byte("\xdf\xff\xff\xff\xff"))
	f.Add([]byte("\x81\xa6kernel\xdd\xff\xff\xff\xff"))
	f.Add([]byte("\x80"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if c, err := decodeTaskConfig(data); err == nil && c.MaxDuration < 0 {
			t.Fatalf("%+v", c)
		}
		if c, err := decodePluginConfig(data); err == nil && (c.MaxDuration < 0 || c.MemoryReserveBytes < 0 || c.DiskReserveBytes < 0 || c.MaxDuration > time.Duration(1<<63-1)) {
			t.Fatalf("%+v", c)
		}
	})
}
