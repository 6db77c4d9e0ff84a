package driver

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/workload/network"
	"github.com/nomad-placer/nomad-placer/profiler/workload/network/replay"
)

// goodTraffic is a request to play the first of two servers.
func goodTraffic(t *testing.T) replay.Request {
	t.Helper()
	top, err := network.Uniform(1, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	traffic, err := network.NewTable(top, network.Span{To: time.Minute, Bin: time.Second}, []network.Record{{Source: 0, Destination: 1, Bytes: 1000}})
	if err != nil {
		t.Fatal(err)
	}
	o := network.DefaultFit()
	o.Windows = network.OneWindow()
	m, err := network.Fit(t.Context(), traffic, o)
	if err != nil {
		t.Fatal(err)
	}
	row, err := replay.Row(m, 0)
	if err != nil {
		t.Fatal(err)
	}
	return replay.Request{Format: replay.Format, Row: row, Listen: "127.0.0.1:0", Key: "a key of the job", LimitBytesPerSecond: 1e6, Peers: []replay.Peer{{Server: 1, Address: "127.0.0.1:7001"}}}
}

func TestTrafficConfig(t *testing.T) {
	t.Parallel()
	request := func(change func(*replay.Request)) m {
		r := goodTraffic(t)
		change(&r)
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return m{"request": string(text)}
	}
	good := request(func(*replay.Request) {})
	values := task()
	values["traffic"] = good
	c, err := decodeTaskConfig(pack(t, values))
	if err != nil || c.Traffic == nil || c.Traffic.Peers[0].Server != 1 {
		t.Fatalf("%+v, %v", c, err)
	}
	if c.work() != permitTraffic {
		t.Errorf("its work is %q", c.work())
	}
	if err := (pluginConfig{Allow: permittedByDefault}).checkPermission(c.work()); err == nil {
		t.Error("traffic is sent where the operator has not allowed it")
	}
	bad := map[string]struct {
		spoil func(m)
		want  string
	}{
		"kernels too": {func(v m) { v["kernel"] = task(kernel(nil))["kernel"] }, "traffic:"},
		"target task": {func(v m) { v["target_task"] = "t1" }, "traffic:"},
		"no JSON":     {func(v m) { v["traffic"] = m{"request": "{"} }, "traffic.request"},
		"new word":    {func(v m) { v["traffic"] = m{"request": `{"cap":1}`} }, "cap"},
		"no cap":      {func(v m) { v["traffic"] = request(func(r *replay.Request) { r.LimitBytesPerSecond = 0 }) }, "limit_bytes_per_s"},
	}
	for name, tt := range bad {
		values := task()
		values["traffic"] = good
		tt.spoil(values)
		if _, err := decodeTaskConfig(pack(t, values)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q in it", name, err, tt.want)
		}
	}
}
