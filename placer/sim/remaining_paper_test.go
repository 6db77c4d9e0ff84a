package sim_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/sim"
	"github.com/nomad-placer/nomad-placer/placer/sim/admission"
	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
)

// besides is a truth of three applications: A takes 60 s in isolation, 100 s next to B and
// 150 s next to C; B and C do not mind.
type besides struct{ a, b, c *truth.Application }

func (w besides) Speeds(_ int, on []truth.Placed, out []truth.Speed) []truth.Speed {
	out = out[:0]
	for i := range on {
		s := truth.Speed{Value: 1, Isolated: 1, IOPS: 100}
		for j := range on {
			switch {
			case i == j || on[i].Application != w.a:
			case on[j].Application == w.b:
				s.Value, s.IOPS = 60.0/100, 60
			case on[j].Application == w.c:
				s.Value, s.IOPS = 60.0/150, 40
			}
		}
		out = append(out, s)
	}
	return out
}

func (besides) Group(*truth.Application, int) float64                            { return 1 }
func (besides) Measure(_ *truth.Application, v, _ float64, _ *rand.Rand) float64 { return v }

// onlyNode puts everything on the first node.
type onlyNode struct{}

func (onlyNode) Select(_ *board.Board, a *board.Request, _ *rand.Rand) board.Choice {
	return board.Choice{Replicas: []board.Replica{{Node: 0, Size: a.Size}}, Reaches: true}
}

// Chiang and Huang 2011, §4.1, the rule of the remaining work: B ends at 80 s. With C
// from then on A ends at 110 s, in isolation at 92 s, with C from 86 s on at 101 s.
func TestRemainingWork(t *testing.T) {
	t.Parallel()
	application := func(name string) *truth.Application {
		return &truth.Application{Name: name, Cores: 1, MemoryMB: 1, Isolated: []float64{1}, Phases: []truth.Phase{{Share: 1, MemoryMB: 1, Intensity: 1}}}
	}
	for name, c := range map[string]struct {
		arrives time.Duration // C; 0: never
		want    float64
		iops    float64 // A's, weighted by time
	}{
		"C at once": {80 * time.Second, 110, (80*60 + 30*40) / 110.0},
		"nobody":    {0, 92, (80*60 + 12*100) / 92.0},
		"C at 86 s": {86 * time.Second, 101, (80*60 + 6*100 + 15*40) / 101.0},
	} {
		w := besides{application("A"), application("B"), application("C")}
		b := board.New(nil, []string{"one"})
		b.Add(board.Node{Total: cluster.Resources{CPUMHz: 3000, Cores: 3, MemoryMB: 3}, CoreMHz: 1000})
		size := cluster.Resources{Cores: 1, MemoryMB: 1}
		jobs := []sim.Job{
			{Number: 0, App: w.a, Count: 1, Size: size, Duration: time.Minute},
			{Number: 1, App: w.b, Count: 1, Size: size, Duration: 80 * time.Second},
		}
		if c.arrives > 0 {
			jobs = append(jobs, sim.Job{Number: 2, At: c.arrives, App: w.c, Count: 1, Size: size, Duration: time.Hour})
		}
		d, err := admission.Lookup("none")
		if err != nil {
			t.Fatal(err)
		}
		controller, err := d.New(b, admission.Options{}, rand.New(rand.NewPCG(1, 1)))
		if err != nil {
			t.Fatal(err)
		}
		world, err := sim.New(sim.Config{Board: b, Truth: w, Jobs: &sim.List{Jobs: jobs}, Selector: onlyNode{}, Controller: controller, Instant: true})
		if err != nil {
			t.Fatal(err)
		}
		result, err := world.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if a := result.Records[0]; math.Abs(a.Ended.Seconds()-c.want) > 1e-3 || math.Abs(float64(a.IOPS)-c.iops) > 0.01 {
			t.Errorf("%s: A ends at %v with %v requests/s, want %v and %v", name, a.Ended, a.IOPS, c.want, c.iops)
		}
	}
}
