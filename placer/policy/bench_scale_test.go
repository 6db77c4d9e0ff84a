package policy_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/classify"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/clustertest"
	"github.com/nomad-placer/nomad-placer/placer/policy"
)

// BenchmarkPlaceKnown places one known workload on a cluster with two residents
// a node: what the agent does for each job of a burst.
func BenchmarkPlaceKnown(b *testing.B) {
	columns := clustertest.Columns(benchSources)
	for _, nodes := range []int{1000, 10000} {
		rng := rand.New(rand.NewPCG(1, 2))
		full := benchProfiles(rng, 40, columns)
		models, err := classify.TrainingFrom(full).Fit(classifier(b), 1)
		if err != nil {
			b.Fatal(err)
		}
		s := clustertest.Random(rng, nodes, 2, benchClasses, columns)
		s.Cache = &cluster.Cache{}
		for _, name := range []string{"expected", "paragon", "quasar", "tarcil"} {
			desc, err := policy.Lookup(name)
			if err != nil {
				b.Fatal(err)
			}
			b.Run(fmt.Sprintf("%s/nodes=%d", name, nodes), func(b *testing.B) {
				b.ReportAllocs()
				var took []float64
				for i := range b.N {
					begun := time.Now()
					knowledge := classify.Knowledge(&full[i%len(full)], models, columns, benchClasses)
					_, err := desc.New().Place(policy.Request{
						Workload: clustertest.Workload("newcomer"), JobType: "service", RunPool: clustertest.Pool, Knowledge: &knowledge, Snapshot: s, Columns: columns, Seed: uint64(i), MaySize: true,
					})
					if err != nil {
						b.Fatal(err)
					}
					took = append(took, float64(time.Since(begun))/float64(time.Millisecond))
				}
				slices.Sort(took)
				b.ReportMetric(took[len(took)*99/100], "p99-ms")
			})
		}
	}
}
