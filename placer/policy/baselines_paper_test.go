package policy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/board/boardtest"
)

// The tree finds what a look at every node finds, after any changes.
func TestTournamentAgainstScan(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 8))
		s := boardtest.Shape{Nodes: 1 + rng.IntN(60), Cores: 8, Configurations: 1, Columns: 1, Load: 0.8, Caused: 1}
		b := boardtest.Random(rng, s)
		selector := leastLoadedSelector.New(b, Options{})
		for step := range 100 {
			a := boardtest.Ask(rng, s)
			a.Size = boardtest.Cores(1 + rng.IntN(4))
			if rng.IntN(3) == 0 {
				a.Size.MemoryMB = 1 + rng.IntN(12000)
			}
			if rng.IntN(4) == 0 {
				a.Allowed = func(n board.Index) bool { return n%2 == 0 }
			}
			c, want := selector.Select(b, &a, rng), boardtest.Scan(b, &a)
			got := board.None
			if len(c.Replicas) > 0 {
				got = c.Replicas[0].Node
			}
			if got != want {
				t.Fatalf("seed %d, step %d: chose %d, a scan %d", seed, step, got, want)
			}
			if got != board.None {
				b.Place(got, boardtest.Resident(rng, board.Handle(1<<30+step), 1, s))
			}
			if n := board.Index(rng.IntN(b.Len())); len(b.Residents(n)) > 0 && rng.IntN(2) == 0 {
				if err := b.Remove(n, b.Residents(n)[0].Handle); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// §4.5.4: above 70 % one more, up to 8; back when one less would stay below 60 %.
func TestAutoscaleStep(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		count int
		load  float64
		want  int
	}{
		{1, 0.71, 2}, {1, 0.70, 1}, {8, 2, 8}, {4, 0.5, 4}, {4, 0.44, 3}, {2, 0.29, 1}, {1, 0, 1}, {3, math.NaN(), 3},
	} {
		if got := autoscaleStep(c.count, c.load); got != c.want {
			t.Errorf("%d at %v: %d, want %d", c.count, c.load, got, c.want)
		}
	}
}

func TestAutoscaleRestsBelowItsBound(t *testing.T) {
	t.Parallel()
	b := quasarBoard(0, 20)
	for _, c := range []struct {
		target float64
		want   int
	}{{600, 1}, {710, 2}, {3000, 5}, {90_000, 8}} {
		a := quasarAsk(c.target)
		a.Speed, a.ScaleOut = []float64{1000}, []float64{1, 2}
		if got := autoscaleSelector.New(b, Options{}).Select(b, &a, nil); len(got.Replicas) != c.want {
			t.Errorf("%v on 1,000 each: %d, want %d", c.target, len(got.Replicas), c.want)
		}
	}
}

// Sparrow: two probes per allocation at distinct nodes; it waits at all of them
// where none has room, and runs only where probed.
func TestSparrowProbes(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	s := boardtest.Shape{Nodes: 50, Cores: 2, Configurations: 1, Columns: 1, Caused: 1}
	b := boardtest.Random(rng, s)
	a := boardtest.Ask(rng, s)
	a.Count = 6
	sparrow := sparrowSelector.New(b, Options{})
	if c := sparrow.Select(b, &a, rng); c.Examined != 12 || len(c.Replicas) != 6 || len(c.Bind) != 0 {
		t.Errorf("idle: %+v", c)
	}
	for i := range b.Len() {
		b.Place(board.Index(i), boardtest.Resident(rng, board.Handle(i+1), b.Node(board.Index(i)).Total.Cores, s))
	}
	c := sparrow.Select(b, &a, rng)
	seen := map[board.Index]bool{}
	for _, n := range c.Bind {
		seen[n] = true
	}
	if len(c.Bind) != 12 || len(seen) != 12 || len(c.Replicas) != 0 {
		t.Errorf("busy: %+v", c)
	}
}

// §3.5: LL, NH, NI and Paragon differ where they should. Newcomer: tolerates 50,
// causes 50. n0 fast and emptiest but its resident tolerates nothing; n1 slow and a
// perfect match; n2 fast and without a violation; n3 slow and idle.
func TestBaselinesDiffer(t *testing.T) {
	t.Parallel()
	b := board.New(boardtest.Columns(1), []string{"slow", "fast"})
	for i, c := range []int{1, 0, 1, 0} {
		b.Add(boardtest.Node(fmt.Sprint(i), 8, boardtest.Configuration(c)))
	}
	place := func(n board.Index, cores int, tolerated, caused float64) {
		b.Place(n, board.Resident{Handle: board.Handle(n + 1), Size: boardtest.Cores(cores), Tolerated: []float64{tolerated}, Caused: []float64{caused}})
	}
	place(0, 1, 10, 0)
	place(1, 2, 50, 50)
	place(2, 3, 90, 20)
	a := board.Request{Handle: 9, Size: boardtest.Cores(1), Count: 1, Tolerated: []float64{50}, Caused: []float64{50}, Speed: []float64{100, 200}}
	for _, c := range []struct {
		d    SelectorDescriptor
		want board.Index
	}{{leastLoadedSelector, 3}, {niSelector, 0}, {nhSelector, 1}, {paragonSelector, 2}, {reservationParagonSelector, 2}} {
		got := c.d.New(b, Options{}).Select(b, &a, rand.New(rand.NewPCG(1, 1)))
		if len(got.Replicas) != 1 || got.Replicas[0].Node != c.want {
			t.Errorf("%s chose %+v, want %d", c.d.Name, got.Replicas, c.want)
		}
	}
}
