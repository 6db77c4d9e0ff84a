package profiling

import (
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// A workload is profiled where its probe can be read. Where that is nowhere, a target cannot
// be compared with anything, and best effort needs none.
func TestProbeableNodes(t *testing.T) {
	t.Parallel()
	bare := &cluster.Node{Name: "bare", Attributes: cluster.NewAttributes(map[string]string{"driver.ibench.probe.instructions": "supported"})}
	virtual := &cluster.Node{Name: "virtual", Attributes: cluster.NewAttributes(map[string]string{
		"driver.ibench.probe.instructions": "unsupported", "driver.ibench.probe.instructions.reason": "no such counter",
	})}
	before := &cluster.Node{Name: "of the version before"}
	counted := &performance.ProbeSpec{Type: "instructions"}
	for _, c := range []struct {
		name  string
		probe *performance.ProbeSpec
		kind  performance.Kind
		nodes []*cluster.Node
		want  string // names, or the error
	}{
		{"some can", counted, performance.Rate, []*cluster.Node{virtual, bare, before}, "bare,of the version before"},
		{"none can", counted, performance.Rate, []*cluster.Node{virtual, virtual}, "no node that has room: no such counter"},
		{"none can, best effort", counted, performance.BestEffort, []*cluster.Node{virtual}, "virtual"},
		{"some can, best effort", counted, performance.BestEffort, []*cluster.Node{virtual, bare}, "bare"},
		{"another probe", &performance.ProbeSpec{Type: "log"}, performance.Rate, []*cluster.Node{virtual}, "virtual"},
		{"no probe", nil, performance.BestEffort, []*cluster.Node{virtual}, "virtual"},
		{"no nodes", counted, performance.Rate, nil, ""},
	} {
		w := cluster.Workload{Spec: performance.Spec{Probe: c.probe, Target: performance.Target{Kind: c.kind}}}
		nodes, err := probeable(w, c.nodes)
		var names []string
		for _, n := range nodes {
			names = append(names, n.Name)
		}
		got := strings.Join(names, ",")
		if err != nil {
			got = err.Error()
		}
		if err != nil && !strings.HasSuffix(got, c.want) || err == nil && got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
