package policy_test

import (
	"fmt"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/clustertest"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// BenchmarkSizing tries every pair of four sizes and four counts on a large
// cluster, for a target that none reaches.
func BenchmarkSizing(b *testing.B) {
	nodes := make([]*cluster.Node, benchNodes)
	for i := range nodes {
		nodes[i] = clustertest.Node(fmt.Sprintf("n%04d", i), []string{"big", "small"}[i%2])
	}
	r := sizeRequest(1e9, performance.ScaleSpec{Cores: []int{1, 2, 3, 4}, Count: []int{1, 2, 4, 8}}, nodes...)
	p := descriptor(b, "quasar").New()
	b.ResetTimer()
	for range b.N {
		d, err := p.Place(r)
		if err != nil || len(d.Sizing.Tried) != 16 {
			b.Fatalf("%d tried, %v", len(d.Sizing.Tried), err)
		}
	}
}
