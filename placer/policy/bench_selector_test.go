package policy

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/board/boardtest"
)

// BenchmarkSelect times one choice of every selector on clusters of three sizes,
// 15 sources, 60 % load, compared with a plain scan; p99 over the iterations. Every
// tenth choice is placed and taken away again, so that indexes have to follow.
func BenchmarkSelect(b *testing.B) {
	for _, nodes := range []int{1000, 10_000, 100_000} {
		shape := boardtest.Shape{Nodes: nodes, Cores: 16, Configurations: 10, Columns: 15, Load: 0.6, Caused: 12}
		cluster := boardtest.Random(rand.New(rand.NewPCG(1, 1)), shape)
		b.Run(fmt.Sprintf("scan/%d", nodes), func(b *testing.B) {
			benchSelect(b, cluster, shape, scanner{})
		})
		for _, d := range Selectors() {
			b.Run(fmt.Sprintf("%s/%d", d.Name, nodes), func(b *testing.B) {
				fresh := boardtest.Random(rand.New(rand.NewPCG(1, 1)), shape)
				benchSelect(b, fresh, shape, d.New(fresh, Options{}))
			})
		}
	}
}

// BenchmarkGreedyBacktracking is the greedy where hardly any node keeps all
// bounds: nearly every choice has to relax some.
func BenchmarkGreedyBacktracking(b *testing.B) {
	shape := boardtest.Shape{Nodes: 10_000, Cores: 16, Configurations: 10, Columns: 15, Load: 0.6, Caused: 60}
	cluster := boardtest.Random(rand.New(rand.NewPCG(1, 1)), shape)
	for i := range cluster.Len() { // no idle node to fall back on
		if n := board.Index(i); len(cluster.Residents(n)) == 0 {
			cluster.Place(n, boardtest.Resident(rand.New(rand.NewPCG(uint64(i), 2)), board.Handle(-1-i), 1, shape))
		}
	}
	benchSelect(b, cluster, shape, paragonSelector.New(cluster, Options{}))
}

type scanner struct{}

func (scanner) Select(b *board.Board, a *board.Request, _ *rand.Rand) board.Choice {
	return board.Choice{Replicas: []board.Replica{{Node: boardtest.Scan(b, a)}}}
}

func benchSelect(b *testing.B, cluster *board.Board, shape boardtest.Shape, selector board.Selector) {
	rng := rand.New(rand.NewPCG(2, 2))
	requests := make([]board.Request, 64)
	for i := range requests {
		requests[i] = boardtest.Ask(rng, shape)
	}
	var took []time.Duration
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		a := &requests[i%len(requests)]
		start := time.Now()
		c := selector.Select(cluster, a, rng)
		took = append(took, time.Since(start))
		if i%10 == 0 && len(c.Replicas) > 0 {
			n := c.Replicas[0].Node
			cluster.Place(n, board.Resident{Handle: a.Handle, Size: a.Size, Tolerated: a.Tolerated, Caused: a.Caused})
			if err := cluster.Remove(n, a.Handle); err != nil {
				b.Fatal(err)
			}
		}
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}
