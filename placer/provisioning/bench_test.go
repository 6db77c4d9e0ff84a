package provisioning_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/clustertest"
	"github.com/nomad-placer/nomad-placer/placer/journal"
	"github.com/nomad-placer/nomad-placer/placer/profiling"
	"github.com/nomad-placer/nomad-placer/placer/provision"
	"github.com/nomad-placer/nomad-placer/placer/provision/tracker"
	"github.com/nomad-placer/nomad-placer/placer/provisioning"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/store/mem"
)

// BenchmarkRoute decides on the side of one job after the other on a thousand nodes, of which a
// tenth are rented, each on a new look at the cluster. §8.3.3 allows 20 ms for a decision.
func BenchmarkRoute(b *testing.B) {
	const nodes = 1000
	w := &world{}
	r, err := provisioning.New(provisioning.Config{
		Options: provisioning.Options{
			Settings: provision.DefaultSettings(), MaxPerHour: 1000,
			Types: []tracker.Type{{Type: provision.Type{Name: "small", Cores: 4, MemoryMB: 8192, PricePerHour: 1, SpinUp: 20 * time.Second}, NodeClass: "burst"}},
		},
		World: w, Clock: clock{}, Book: journal.Book{Store: mem.New()}, Columns: func() []interference.Source { return columns },
	})
	if err != nil {
		b.Fatal(err)
	}
	s := clustertest.Snapshot()
	s.Cache = &cluster.Cache{} // as package placement has it
	for i := range nodes {
		class := "owned"
		if i%10 == 0 {
			class = "burst"
		}
		id := fmt.Sprintf("node-%04d", i)
		s.Nodes = append(s.Nodes, clustertest.Node(id, class))
		if i%10 != 0 {
			clustertest.Run(s, clustertest.Workload(id, clustertest.Ask(cluster.Resources{CPUMHz: 9000, MemoryMB: 1000})), id)
		}
	}
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		workload := clustertest.Workload(fmt.Sprint("job-", i))
		k := profiling.Known{Workload: *workload, Knowledge: *clustertest.Knowledge(clustertest.Sensitivity(columns, []float64{90, 90}, []float64{10, 10}), nil)}
		next := *s
		began := time.Now()
		r.Route(&next, cluster.Job{ID: workload.ID.JobID(), RunPool: clustertest.Pool, SubmittedAt: began}, k)
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "ms-p99")
}
