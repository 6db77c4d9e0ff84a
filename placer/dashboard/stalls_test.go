package dashboard

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

func TestStalls(t *testing.T) {
	t.Parallel()
	const group = "sys/fs/cgroup/nomad.slice/share.slice/8ad1c6a5-7f5e-4f2e-9b39-2b0c9bb2a3f1.web.scope"
	root := fstest.MapFS{
		"proc/pressure/cpu":                                 {Data: []byte("some avg10=1.00 avg60=0.50 avg300=0.10 total=2500000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n")},
		"proc/pressure/memory":                              {Data: []byte("some of another kernel\n")},
		group + "/io.pressure":                              {Data: []byte("some avg10=0.00 avg60=0.00 avg300=0.00 total=1000000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=500000\n")},
		group + "/cpu.pressure":                             {Data: []byte("some avg10=0.00 avg60=0.00 avg300=0.00 total=-3\n")},
		"sys/fs/cgroup/nomad.slice/share.slice/odd.scope/x": {},
	}
	want := `
# HELP placer_node_stalled_seconds_total Time in which some, or all, of what runs on this node waited for a resource.
# TYPE placer_node_stalled_seconds_total counter
placer_node_stalled_seconds_total{resource="cpu",share="full"} 0
placer_node_stalled_seconds_total{resource="cpu",share="some"} 2.5
# HELP placer_task_stalled_seconds_total Time in which some, or all, of a task on this node waited for a resource (control groups v2).
# TYPE placer_task_stalled_seconds_total counter
placer_task_stalled_seconds_total{alloc="8ad1c6a5-7f5e-4f2e-9b39-2b0c9bb2a3f1",resource="io",share="full",task="web"} 0.5
placer_task_stalled_seconds_total{alloc="8ad1c6a5-7f5e-4f2e-9b39-2b0c9bb2a3f1",resource="io",share="some",task="web"} 1
`
	if err := testutil.CollectAndCompare(stalls{root}, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
	for name, r := range map[string]prometheus.Collector{"none": stalls{}, "empty": stalls{fstest.MapFS{}}} {
		if n := testutil.CollectAndCount(r); n != 0 {
			t.Errorf("%s: %d samples of nothing", name, n)
		}
	}
}
