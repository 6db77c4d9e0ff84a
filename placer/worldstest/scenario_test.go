package worldstest

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// submission is one job of the scenario, with what a complete profile says of it.
type submission struct {
	id                string
	size              cluster.Resources
	count             int
	target            float64            // units/s of the whole group; 0: none
	tolerated, caused []float64          // by column; NaN: could not be told
	speed             map[string]float64 // of one allocation alone, by node class
	lives             int                // submissions after which it ends
}

// plan is how many allocations go to which node.
type plan map[cluster.NodeID]int

// scene is a scenario. Submission i comes at step i+1.
type scene struct {
	columns []interference.Source
	classes []string // of the nodes, sorted
	nodes   []sceneNode
	jobs    []submission
	absent  cluster.NodeID // down until half of the jobs are there
}

type sceneNode struct {
	id       cluster.NodeID
	class    string
	cores    int
	memoryMB int
}

const (
	coreMHz   = 2500
	diskMB    = 10_000
	jobDiskMB = 300
	rateUnit  = "units/s"
)

// newScene draws a cluster of three classes and work that takes up to about
// two thirds of it.
func newScene(seed uint64) scene {
	rng := rand.New(rand.NewPCG(seed, 1))
	s := scene{}
	classes := []string{"large", "middle", "small"}
	for _, info := range interference.Sources()[:5] {
		s.columns = append(s.columns, info.Source)
	}
	shapes := map[string][2]int{"large": {8, 16_384}, "middle": {4, 8192}, "small": {2, 4096}}
	for i := range 14 {
		class := classes[rng.IntN(len(classes))]
		s.nodes = append(s.nodes, sceneNode{
			id: cluster.NodeID(fmt.Sprintf("00000000-0000-0000-0000-%012d", i)), class: class,
			cores: shapes[class][0], memoryMB: shapes[class][1],
		})
	}
	for _, class := range classes { // those that there are nodes of, as a cluster shows them
		if slices.ContainsFunc(s.nodes, func(n sceneNode) bool { return n.class == class }) {
			s.classes = append(s.classes, class)
		}
	}
	s.absent = s.nodes[rng.IntN(len(s.nodes))].id
	for i := range 24 {
		s.jobs = append(s.jobs, s.submission(rng, fmt.Sprintf("job-%02d", i)))
	}
	return s
}

// submission draws whole numbers, so that sums do not depend on their order.
func (s scene) submission(rng *rand.Rand, id string) submission {
	j := submission{
		id: id, count: 1 + rng.IntN(3), lives: 4 + rng.IntN(12), speed: map[string]float64{},
		size: cluster.Resources{CPUMHz: 500 * (1 + rng.IntN(4)), MemoryMB: 256 * (1 + rng.IntN(4)), DiskMB: jobDiskMB},
	}
	for range s.columns {
		j.tolerated = append(j.tolerated, float64(30+rng.IntN(70)))
		j.caused = append(j.caused, float64(rng.IntN(35)))
	}
	if rng.IntN(4) == 0 {
		k := rng.IntN(len(s.columns))
		j.tolerated[k], j.caused[k] = math.NaN(), math.NaN()
	}
	for _, class := range s.classes {
		j.speed[class] = float64(50 + 10*rng.IntN(10))
	}
	if rng.IntN(5) == 0 {
		delete(j.speed, s.classes[rng.IntN(len(s.classes))])
	}
	if rng.IntN(2) == 0 {
		fastest := slices.Max(slices.Collect(maps.Values(j.speed)))
		j.target = float64(j.count) * math.Round(fastest*(0.4+0.5*rng.Float64()))
	}
	return j
}

// step is the time between two submissions of the simulated world.
const step = 10 * time.Second

// returns is the number of jobs that are there when the absent node comes back.
func (s scene) returns() int { return len(s.jobs) / 2 }

// ended lists the jobs that end between submission i−1 and submission i.
func (s scene) ended(i int) []submission {
	var out []submission
	for k, j := range s.jobs[:i] {
		if k+j.lives == i-1 {
			out = append(out, j)
		}
	}
	return out
}

func (p plan) String() string {
	out := ""
	for _, n := range slices.Sorted(maps.Keys(p)) {
		out += fmt.Sprintf(" %s×%d", n[len(n)-2:], p[n])
	}
	return out
}
