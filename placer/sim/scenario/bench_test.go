package scenario_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/policy"
	"github.com/nomad-placer/nomad-placer/placer/sim"
	"github.com/nomad-placer/nomad-placer/placer/sim/admission"
)

// steady is a source that keeps a cluster busy without end: a job every gap, of
// random length.
type steady struct {
	random *rand.Rand
	left   int
	number int
	at     time.Duration
	gap    time.Duration
}

func (s *steady) Next() (sim.Job, bool, error) {
	if s.number >= s.left {
		return sim.Job{}, false, nil
	}
	s.at += s.gap
	s.number++
	return sim.Job{
		Number: s.number - 1, At: s.at, Count: 1, Size: cluster.Resources{CPUMHz: 500 + 500*s.random.IntN(3), MemoryMB: 512},
		Duration: time.Duration(1+s.random.IntN(20)) * time.Minute,
	}, true, nil
}

// BenchmarkEvents is the speed of the world with fixed durations: least-loaded
// on 1,000 nodes of 8 cores at about 80 % of them.
func BenchmarkEvents(b *testing.B) {
	const jobs = 200_000
	for _, nodes := range []int{100, 1000, 10_000} {
		b.Run(fmt.Sprint(nodes), func(b *testing.B) {
			events := 0
			for b.Loop() {
				events += steadyRun(b, nodes, jobs)
			}
			b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
			b.ReportMetric(float64(b.Elapsed())/float64(events), "ns/event")
		})
	}
}

func steadyRun(b *testing.B, nodes, jobs int) int {
	cluster1 := board.New(nil, []string{"a"})
	for i := range nodes {
		cluster1.Add(board.Node{ID: cluster.NodeID(fmt.Sprint(i)), CoreMHz: 1000, Total: cluster.Resources{CPUMHz: 8000, Cores: 8, MemoryMB: 32768, DiskMB: 1}})
	}
	selector, err := policy.LookupSelector("least-loaded")
	if err != nil {
		b.Fatal(err)
	}
	fifo, err := admission.Lookup("fifo")
	if err != nil {
		b.Fatal(err)
	}
	controller, err := fifo.New(cluster1, admission.Options{}, nil)
	if err != nil {
		b.Fatal(err)
	}
	// A job holds 1 core for 10.5 minutes on average.
	gap := time.Duration(630e9 / (0.8 * 8 * float64(nodes)))
	w, err := sim.New(sim.Config{
		Board: cluster1, Selector: selector.New(cluster1, policy.Options{}), Controller: controller, Expect: jobs,
		Jobs: &steady{random: rand.New(rand.NewPCG(1, 1)), left: jobs, gap: gap},
	})
	if err != nil {
		b.Fatal(err)
	}
	r, err := w.Run(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	return r.Counters.Events
}
