package chaostest

import (
	"context"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// measured is a world in which the work of a job with a target is slowed down by whatever
// runs on its node. What is measured is read from Nomad, as it is said there; how fast it is
// nobody in a history could tell.
type measured struct{ *nomadapi.World }

// Follow implements cluster.Follower.
func (m measured) Follow(ctx context.Context, w cluster.Workload, window time.Duration) ([]cluster.Observation, error) {
	snapshot, err := m.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	var out []cluster.Observation
	for _, n := range snapshot.Nodes {
		all := snapshot.Allocations[n.ID]
		for _, a := range all {
			if a.Workload != w.ID {
				continue
			}
			rate := float64(unitsPerSecond+10) / float64(max(1, w.Count))
			if len(all) > 1 && a.Transferred == (cluster.Resources{}) {
				rate /= 2
			}
			out = append(out, cluster.Observation{
				Allocation: a.ID, Node: n.ID, At: m.ServerClock().Now(), Window: window, Measure: performance.Measure{RatePerSec: rate, Goodput: rate},
				Use: &cluster.Use{At: m.ServerClock().Now(), CPUMHz: float64(a.Resources.CPUMHz), MemoryBytes: 0.9 * float64(a.Resources.MemoryMB) * (1 << 20)},
			})
		}
	}
	return out, nil
}
